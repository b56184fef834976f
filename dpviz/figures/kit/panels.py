"""Draw the panels that all families share: the plane with its public bounds, loss, spend and ledger."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.domain import Domain
from dpviz.figures.kit.release_labels import turns
from dpviz.figures.kit.rings import rings
from dpviz.figures.kit.shots import Shot, complete
from dpviz.figures.kit.theme import Theme, base, halo, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin, xy
from dpviz.numbers import chance, counted, number, ratio_words
from dpviz.postprocessing.release_names import release_name
from dpviz.privacy.ledger import spent
from dpviz.trace import Trace

__all__ = [
    "bounded",
    "closing",
    "distance_title",
    "ledger_panel",
    "ledger_table",
    "loss_panel",
    "loss_title",
    "people_drawn",
    "plane",
    "reference",
    "spend_panel",
    "spend_table",
    "whole",
]

MAX_PEOPLE = 800


def plane(view: View, title: str, *, height: int = 508) -> go.Figure:
    """Return a plane with the public bounds and, if hidden layers are on, with people. Call `reference` last."""
    colors = view.colors
    figure = bounded(colors, title, *view.bounds(), view.axis_titles(), view.trace.domain, height=height)
    if view.axes is None and view.trace.domain.n_features > 1:  # directions other than columns have no declared box
        figure.layout.shapes = ()
        if not view.trace.domain.one_scale:  # a coordinate along such a direction then has no unit
            figure.update_xaxes(showticklabels=False, ticks="")
            figure.update_yaxes(showticklabels=False, ticks="")
    if view.hidden and view.people is not None:
        rows, sizes = people_drawn(view.flat(view.people))
        spots = view.flat(view.people[rows])
        figure.add_scatter(
            **xy(spots), mode="markers", name="person", hoverinfo="skip",
            marker={"symbol": "circle-open", "size": sizes, "color": colors.person, "opacity": 0.55},
        )  # fmt: skip
    return figure


def people_drawn(people: np.ndarray) -> tuple[np.ndarray, float | np.ndarray]:
    """Return the numbers of the rows of `people` (n, 2) that are drawn, at most `MAX_PEOPLE`, and their marks' sizes.

    If most people share their position with others, as answers from 1 to 5 do, one of them stands for all, and the area
    of its mark shows how many there are.
    """
    if len(people) <= _MOST_COUNTED:
        known = np.flatnonzero(np.isfinite(people).all(axis=1))
        spots, rows, counts = np.unique(people[known], axis=0, return_index=True, return_counts=True)
        if 2 * len(spots) <= len(people):
            sample = thin(len(spots), MAX_PEOPLE)
            sizes = np.clip(_PERSON * np.sqrt(counts[sample]), _PERSON, _CROWD)
            return known[rows[sample]], sizes.astype(np.float32)
    return thin(len(people), MAX_PEOPLE), _PERSON


_PERSON, _CROWD = 3.5, 30.0  # Sizes in pixels of one person's mark and of the largest mark of a crowd.
_MOST_COUNTED = 100_000  # Maximum number of people whose positions are compared.
_TURN = re.compile(r"(\w+) (\d+) of \d+")  # head of a shot that counts rounds, levels or iterations
_SPEND = 128  # Height of the panel that shows epsilon, in pixels.
FLATTEST = 0.3  # Smallest ratio of the short to the long side of a plane with equal scales.


def bounded(
    colors: Theme,
    title: str,
    low: np.ndarray,
    high: np.ndarray,
    titles: tuple[str, str],
    domain: Domain,
    *,
    height: int,
) -> go.Figure:
    """Return an empty plane with the public box (low, high), given in drawn coordinates, at the scale of the domain.

    Equal scales would make a long strip unreadable, so its short side is stretched, as the axis title says.
    """
    figure = base(colors, title, height=height)
    pad, shape = 0.04 * (high - low), float((high - low)[1] / (high - low)[0])
    strip = domain.one_scale and domain.n_features > 1 and not FLATTEST <= shape <= 1 / FLATTEST
    names = [f"{words}, stretched" if strip and i == (shape < 1) else words for i, words in enumerate(titles)]
    figure.update_xaxes(range=[low[0] - pad[0], high[0] + pad[0]], title_text=names[0], fixedrange=False)
    figure.update_yaxes(range=[low[1] - pad[1], high[1] + pad[1]], title_text=names[1], fixedrange=False)
    if domain.n_features == 1:
        figure.update_yaxes(showticklabels=False)
    if strip:
        figure.update_layout(meta={"ar": FLATTEST if shape < 1 else 1 / FLATTEST, "h": height})
    elif domain.one_scale:  # equal scales: the player adapts the height to the width, using `meta`
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(scaleanchor="x", constrain="domain", constraintoward="top")
        figure.update_layout(meta={"ar": shape, "h": height})
    figure.add_shape(
        type="rect",
        x0=low[0],
        x1=high[0],
        y0=low[1],
        y1=high[1],
        line={"color": colors.line, "dash": "dot", "width": 1},
    )
    return figure


def reference(view: View, figure: go.Figure, *more: str) -> None:
    """Draw the reference's centers as hollow diamonds above all other marks; tag the figure, with `more` in the tag."""
    if not view.hidden:
        return
    marks, first = [], len(figure.data)
    if view.reference is not None:
        figure.add_scatter(
            **xy(view.flat(view.reference)), mode="markers", name=f"{view.against} (not private)",
            marker={"symbol": "diamond-open", "size": 20, "color": view.colors.hidden, "line": {"width": 2.2}},
        )  # fmt: skip
        marks.append(f"◇ {view.against}")
    if view.missed is not None and len(view.missed[2]):
        rings(view, figure, *view.missed)
        marks.append("◌ no center")
    for late in figure.data[first:]:
        late.meta = {"end": True}  # a film shows the answer with its last picture
    if view.people is not None:
        marks.append(f"○ {view.noun}")
    marks += more
    tag(figure, view.colors, "NOT PRIVATE  " + " · ".join(marks), below=True)


def spend_table(trace: Trace) -> pd.DataFrame:
    """Return the epsilon spent after every release, at the run's delta: columns release, label, epsilon."""
    delta = trace.claimed.delta
    values = [spent(trace.ledger[:i], delta).epsilon for i in range(len(trace.ledger) + 1)]
    labels = ["", *(entry.name for entry in trace.ledger)]
    return pd.DataFrame({"release": range(len(values)), "label": labels, "epsilon": values})


def ledger_table(trace: Trace) -> pd.DataFrame:
    """Return one row per release: release, label, mechanism, sensitivity, scale, share, epsilon, reason.

    `share` is the release's share of mu^2 if all releases are Gaussian, else NaN; `epsilon` is the total so far.
    """
    gaussian = all(entry.mechanism == "Gaussian" for entry in trace.ledger)
    squares = np.array([(entry.sensitivity / entry.scale) ** 2 if gaussian else np.nan for entry in trace.ledger])
    return pd.DataFrame(
        {
            "release": range(1, len(trace.ledger) + 1),
            "label": [release_name(entry) for entry in trace.ledger],
            "mechanism": [entry.mechanism for entry in trace.ledger],
            "sensitivity": [entry.sensitivity for entry in trace.ledger],
            "scale": [entry.scale for entry in trace.ledger],
            "share": squares / squares.sum(),
            "epsilon": spend_table(trace).epsilon.to_numpy()[1:],
            "reason": [entry.reason for entry in trace.ledger],
        }
    )


def spend_panel(view: View, shots: Sequence[Shot]) -> Panel:
    """Draw the epsilon spent at each step of the player."""
    if view.trace.noiseless:
        return _no_promise(view, len(shots))
    table, colors, delta = spend_table(view.trace), view.colors, view.trace.claimed.delta
    at = f" at δ {chance(delta)}" if delta else ""
    n = len(table) - 1
    title = f"{counted(n, 'release')}: ε {number(float(table.epsilon.iloc[-1]))}{at}"
    figure = base(colors, title, height=_SPEND)
    steps, epsilon = list(range(1, len(shots) + 1)), [float(table.epsilon[shot.releases]) for shot in shots]
    marks = "lines+markers" if len(steps) <= 40 else "lines"
    figure.add_scatter(
        x=steps, y=epsilon, mode=marks, line={"color": colors.released_soft, "width": 1.6}, hoverinfo="skip"
    )
    figure.add_scatter(
        x=[1], y=[0], mode=marks, line={"color": colors.released, "width": 2.4},
        name="spent", hovertemplate="ε = %{y:,.3~r} so far<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[1], y=[0], mode="text", text=[""], textposition="top left", cliponaxis=False, hoverinfo="skip",
        textfont={"shadow": halo(colors)},
    )  # fmt: skip
    _along_steps(figure, shots)
    figure.update_yaxes(title_text="ε", range=[0, 1.25 * float(table.epsilon.max())])
    figure.update_layout(meta={"meter": True})
    updates: list[list[dict[str, Any]]] = [
        [
            {"x": np.arange(1, i + 2, dtype=np.uint16), "y": np.asarray(epsilon[: i + 1], dtype=np.float32)},
            {"x": [i + 1], "y": [now], "text": [number(now)], "textposition": _off_the_curve(i, epsilon)},
        ]
        for i, now in enumerate(epsilon)
    ]
    add_frames(figure, [1, 2], updates)
    return Panel(
        "side", figure, f"A line: epsilon spent rises to {number(epsilon[-1])} over {n} release{'s' * (n != 1)}."
    )


def _no_promise(view: View, n: int) -> Panel:
    """Draw the panel that a run without a promise has in place of its spending."""
    figure = base(view.colors, "ε spent: ∞ from the first release", height=_SPEND)
    figure.add_scatter(
        x=[0.5], y=[0.5], mode="text", text=["NO PRIVACY"], textfont={"size": 22, "color": view.colors.hidden},
        hoverinfo="skip",
    )  # fmt: skip
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(visible=False, range=[0, 1])
    add_frames(figure, [0], [[{"text": ["NO PRIVACY"]}]] * n)
    return Panel("side", figure, "No privacy: every release is the true answer, so epsilon is infinite.")


def _along_steps(figure: go.Figure, shots: Sequence[Shot]) -> None:
    """Give the x axis one position for each stop of the player, and name the rounds if the shots' heads count them."""
    n, turns_ = len(shots), [_TURN.fullmatch(shot.head) for shot in shots]
    figure.update_xaxes(title_text="step", range=[0.6, n + 0.4], tick0=1, dtick=whole(n))
    words = {turn[1] for turn in turns_ if turn}
    if len(words) != 1:
        return
    first = {int(turn[2]): i + 1 for i, turn in reversed(list(enumerate(turns_))) if turn}
    shown = [number for number in sorted(first) if number % whole(len(first)) == 0]
    figure.update_xaxes(
        title_text=words.pop().lower(), tickvals=[first[number] for number in shown], ticktext=list(map(str, shown))
    )


def _off_the_curve(i: int, rising: Sequence[float]) -> str:
    """Return the position of a label beside mark i of a rising curve, where neither curve nor axes are in its way."""
    if 4 * i >= len(rising):
        return "top left"
    return "bottom right" if i and rising[i] > max(rising) / 3 else "top right"  # the first one rises from the axis


def _toward_middle(i: int, n: int) -> str:
    """Return the position of a label, relative to its mark, that keeps it inside the figure at frame i of n."""
    return "top left" if 2 * i >= n else "top right"


def loss_panel(view: View, shots: Sequence[Shot], *, name: str = "step") -> Panel:
    """Draw the loss at each step of the player, with KMeans' loss as a line; `name` is the run's name for a step."""
    steps = complete(shots)
    colors, losses = view.colors, view.losses
    what, against = view.measure, view.against
    if losses is None:
        raise ValueError("figures: loss_panel needs losses.")
    best = view.reference_loss
    end = f"{ratio_words(losses[-1] / best)} × {against}" if best else number(losses[-1])
    figure = base(colors, f"{what} ends at {end}", height=150)
    tag(figure, colors, below=True)
    frames = {step: i for i, step in reversed(list(enumerate(steps))) if step >= 0}  # step -> its first frame
    values = [None if np.isnan(loss) else float(loss) / (best or 1.0) for loss in losses]
    known = sorted((i + 1, values[step]) for step, i in frames.items() if values[step] is not None)
    figure.add_scatter(
        x=[x for x, _ in known], y=[y for _, y in known], mode="lines+markers" if len(known) <= 40 else "lines",
        hovertemplate=f"%{{y:,.3~r}}{f' × {against}' * bool(best)}<extra></extra>",
        line={"color": colors.person, "width": 1.6}, marker={"symbol": "circle-open", "size": 8},
    )  # fmt: skip
    figure.add_scatter(
        x=[None], y=[None], mode="markers+text", cliponaxis=False, hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 13, "color": colors.hidden, "line": {"width": 2.4}},
    )  # fmt: skip
    if best:
        figure.add_hline(
            y=1,
            line={"color": colors.hidden, "dash": "dot", "width": 1.6},
            annotation={"text": against, "font": {"color": colors.hidden, "size": 12}},
            annotation_position="bottom right",
        )
    _along_steps(figure, shots)
    every = [y for _, y in known if y is not None] + ([1.0] if best else [0.0])
    low, top = min(every), max(every)
    span = max(top - low, 0.04 * top) or 1.0  # small differences fill the height, but a constant loss is a flat line
    limits = [max(low - 0.35 * span, 0), top + 0.35 * span]
    figure.update_yaxes(title_text=loss_title(view), range=limits)
    updates = []
    for i, step in enumerate(steps):
        here = values[step] if step >= 0 else None
        if here is None:  # there are no centers yet
            place = {"x": [(len(steps) + 1) / 2], "y": [sum(limits) / 2], "text": ["no centers yet"]}
            updates.append([{**place, "marker": {"opacity": 0}, "textposition": "middle center"}])
            continue
        place = {"x": [frames[step] + 1], "y": [here], "text": [f"{ratio_words(here)}×" if best else number(here)]}
        updates.append([{**place, "marker": {"opacity": 1}, "textposition": _toward_middle(i, len(steps))}])
    add_frames(figure, [1], updates)
    beside = f", {ratio_words(losses[-1] / best)} times {against}'" if best else ""
    alt = f"A line: {what.lower()} after each {name} ends at {number(losses[-1])}{beside}. Not private."
    return Panel("wide", figure, alt)


def loss_title(view: View) -> str:
    """Return the title of an axis of losses: multiples of the reference's loss if it is known and not 0."""
    return f"× {view.against}" if view.reference_loss else distance_title(view.against == "KMedians")


def distance_title(plain: bool) -> str:
    """Return the title of an axis of losses that are not multiples; a `plain` distance is not squared."""
    return f"mean {'' if plain else 'squared '}distance"


def ledger_panel(view: View, shots: Sequence[Shot]) -> Panel:
    """Draw a segment per release, lit once the release is made; its width is the share of mu^2, if there is one."""
    table, colors = ledger_table(view.trace), view.colors
    n = len(table)
    shared = bool(n) and not table.share.isna().any()
    width = table.share.to_numpy() * n if shared else np.ones(n)
    gap = min(0.004 * n, 0.3 * width.min()) if n else 0.0
    equal = shared and np.ptp(width) < 1e-9
    kinds = counted(len({entry.name for entry in view.trace.ledger}), "kind")
    words = f"take {'equal' if equal else 'different'} shares of μ²" if shared and n > 1 else f"of {kinds}"
    groups = turns(table.label.tolist(), width)
    figure = base(colors, f"{counted(n, 'release')} {words}", height=74 + 28 * bool(groups))
    figure.update_layout(
        margin={"l": 6, "r": 6, "t": 30, "b": 6}, bargap=0, barmode="overlay",
        uniformtext={"minsize": 12, "mode": "hide"},
    )  # fmt: skip
    figure.update_xaxes(visible=False, range=[0, max(n, 1)])
    figure.update_yaxes(visible=False, range=[-1.25 if groups else -0.5, 0.5])
    frames = [shot.releases for shot in shots]
    first_frame = [next((i for i, count in enumerate(frames) if count > j), len(frames) - 1) for j in range(n)]
    figure.add_bar(
        orientation="h", y=[0] * n, x=(width - gap).tolist(), base=(np.cumsum(width) - width + gap / 2).tolist(),
        text=table.label.tolist(), textposition="inside", insidetextanchor="middle",
        textangle=0, customdata=first_frame, hoverinfo="text",
        marker={"cmin": 0, "cmax": 1, "colorscale": [[0, colors.grid], [1, colors.released]]},
        hovertext=[
            f"{row.label}: {row.mechanism}, sensitivity {number(row.sensitivity)}, scale {number(row.scale)}, "
            f"ε so far {number(row.epsilon)}"
            for row in table.itertuples()
        ],
    )  # fmt: skip
    if groups:  # invisible bars below the strip, because Plotly omits a bar's name if there is no room for it
        names, first, last = zip(*groups, strict=True)
        starts, ends = np.cumsum(width)[list(first)] - width[list(first)], np.cumsum(width)[list(last)]
        figure.add_bar(
            orientation="h", y=[-1] * len(names), x=(ends - starts).tolist(), base=starts.tolist(), text=list(names),
            textposition="inside", insidetextanchor="middle", textangle=0, hoverinfo="skip",
            marker={"color": "rgba(0,0,0,0)"}, textfont={"size": 12, "color": colors.muted},
        )  # fmt: skip
    updates = [
        [
            {
                "marker": {"color": (np.arange(n) < count).astype(np.uint8)},
                **(
                    {"textfont": {"size": 12, "color": [colors.bg if j < count else colors.muted for j in range(n)]}}
                    if n <= 40
                    else {}
                ),
            }
        ]
        for count in frames
    ]
    add_frames(figure, [0], updates)
    return Panel("wide", figure, f"The ledger as a strip: {counted(n, 'release')} in order, all made at the end.")


def closing(view: View, shots: Sequence[Shot], name: str = "step") -> list[Panel]:
    """Return the last panels of every family: loss if hidden layers are on; spend and ledger if there is a release."""
    panels = []
    if view.hidden and view.losses is not None and not np.isnan(view.losses).all():
        panels.append(loss_panel(view, shots, name=name))
    if view.trace.ledger:
        panels += [spend_panel(view, shots), ledger_panel(view, shots)]
    return panels


def whole(n: int) -> int:
    """Return a distance between ticks at which all ticks are whole numbers."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6) if n / step <= 10)
