"""Draw two to four runs side by side, with a common clock, common ranges, matched centers and trade-off curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures import pane
from dpviz.figures.kit.panels import spend_table
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import STYLES, Theme, base, halo
from dpviz.figures.kit.view import Panel, View, add_last, xy
from dpviz.numbers import number
from dpviz.postprocessing.beside import LETTERS
from dpviz.postprocessing.bound import Bound
from dpviz.trace import Trace

__all__ = ["CURVES", "Timeline", "curve_table", "curves_panel", "planes", "timeline"]

CURVES = tuple(STYLES[slug] for slug in ("pe-means", "fastlloyd", "dpm", "nsm"))  # styles of A, B, C, D
Film = Sequence[Sequence[Mapping[str, Any]]]  # see `kit.film.told`
MS = (300, 6000)  # shortest and longest tick of a common clock
Partners = tuple[Sequence[str], Sequence[str]]  # see `beside.partners`
MOST_WORDS = 4  # maximum number of labels for centers without a partner; more labels would overlap
_ALARMS = np.concatenate(
    [np.geomspace(1e-4, 0.05, 24), np.linspace(0.055, 0.945, 179), 1 - np.geomspace(0.05, 1e-4, 24)]
)


@dataclasses.dataclass(frozen=True)
class Timeline:
    """Several runs aligned on a common clock.

    Attributes
    ----------
    frames : for each run, the number of its last whole frame at every tick; -1 before its first picture
    ends : for each run, how many events of its film are over at the end of every tick
    ms : duration of every tick in milliseconds, that of the longest run
    spent : for each run, the epsilon spent by every tick; NaN for a run without a promise
    releases : for each run, the number of releases made by every tick
    titles : one line of text for every tick
    """

    frames: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    ms: tuple[int, ...]
    spent: tuple[tuple[float, ...], ...]
    releases: tuple[tuple[int, ...], ...]
    titles: tuple[str, ...]

    @property
    def ticks(self) -> int:
        """Return the number of ticks."""
        return len(self.titles)


def timeline(traces: Sequence[Trace], by: str, films: Sequence[Film]) -> Timeline:
    """Align runs by "event", by "step", or by the epsilon "spent" according to their ledgers.

    `films` holds the events of each run, by frame, as `kit.film.told` puts them. When runs are aligned by event or by
    step, a shorter run stays at its last picture. When they are aligned by epsilon, there is a tick for each amount
    that any run has spent; every run then shows its last picture within that amount, and a run without a promise shows
    its result.
    """
    shots = [pane(trace).shots(trace) for trace in traces]
    counts = [[shot.releases for shot in own] for own in shots]
    tables = [spend_table(trace).epsilon.to_numpy() for trace in traces]
    spent = [
        np.array([table[n] for n in count]) if trace.claimed.private else np.full(len(count), np.nan)
        for trace, table, count in zip(traces, tables, counts, strict=True)
    ]
    over = [
        [0, *np.cumsum([len(events) for events in film]).tolist()] for film in films
    ]  # events that are over before each frame, and at the end
    heads = None
    if by == "event":
        ends = [[min(tick + 1, done[-1]) for tick in range(max(done[-1] for done in over))] for done in over]
        frames = [(np.searchsorted(done, own, side="right") - 2).tolist() for done, own in zip(over, ends, strict=True)]
    else:
        if by == "step":
            frames = [[min(tick, len(count) - 1) for tick in range(max(map(len, counts)))] for count in counts]
        else:
            levels = _levels([values for values in spent if not np.isnan(values).any()])
            frames = [
                [int(np.searchsorted(values, level * (1 + 1e-9), side="right")) - 1 for level in levels]
                if not np.isnan(values).any()
                else [len(values) - 1] * len(levels)
                for values in spent
            ]
            heads = [f"Spent so far: ε {number(level)} · " for level in levels]
        ends = [[done[frame + 1] for frame in own] for done, own in zip(over, frames, strict=True)]
    told = [[event for events in film for event in events] for film in films]

    def line(tick: int) -> str:
        return " · ".join(
            _line(i, trace, shots[i], spent[i], frames[i][tick], told[i][ends[i][tick] - 1] if by == "event" else None)
            for i, trace in enumerate(traces)
        )

    lengths = [
        np.diff(np.cumsum([0, *(event["ms"] for event in own)])[[0, *at]]) for own, at in zip(told, ends, strict=True)
    ]
    ticks = range(len(ends[0]))
    return Timeline(
        frames=tuple(map(tuple, frames)),
        ends=tuple(map(tuple, ends)),
        ms=tuple(int(np.clip(max(own[tick] for own in lengths), *MS)) for tick in ticks),
        spent=tuple(tuple(_at(values, i, 0.0) for i in own) for values, own in zip(spent, frames, strict=True)),
        releases=tuple(tuple(int(_at(n, i, 0)) for i in own) for n, own in zip(counts, frames, strict=True)),
        titles=tuple(f"{heads[tick] if heads else ''}{line(tick)}" for tick in ticks),
    )


def _levels(amounts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the distinct amounts in ascending order; amounts that differ only by rounding count as equal."""
    ordered = np.sort(np.concatenate(amounts)) if amounts else np.zeros(1)
    new = np.append(np.diff(ordered) > 1e-9 * np.maximum(ordered[1:], 1e-300), True)
    return ordered[new]  # the largest of each set of equal amounts


def _at(values: Sequence[float] | np.ndarray, frame: int, before: float) -> float:
    """Return the value at a frame, or `before` if the run has not begun yet."""
    return before if frame < 0 else float(values[frame])


def _line(
    run: int, trace: Trace, shots: Sequence[Shot], spent: np.ndarray, frame: int, event: Mapping[str, Any] | None
) -> str:
    """Return what a run shows: the head of its event or, without one, of its picture."""
    if frame < 0 and event is None:
        return f"{LETTERS[run]} has not begun: its first picture costs ε {number(spent[0])}"
    cost = f" (ε {number(_at(spent, frame, 0.0))})" if trace.claimed.private else ""
    return f"{LETTERS[run]}: {event['says'].partition(' · ')[0] if event else shots[frame].head}{cost}"


def planes(views: Sequence[View], partners: Sequence[Partners], *, height: int) -> list[Panel]:
    """Return each run's plane, or its sheet of pictures, as JSON; all planes have the same ranges as the first.

    `partners` holds, for each run, the numbers of its centers and the labels of centers without a partner.
    """
    panels: list[Panel] = []
    for letter, view, (numbers, words) in zip(LETTERS, views, partners, strict=False):
        panel = next(panel for panel in pane(view.trace).panels(view) if panel.name == "plane")
        figure = panel.figure
        if panels and view.picture is None:
            layout = panels[0].figure.layout
            figure.update_xaxes(range=layout.xaxis.range)
            figure.update_yaxes(range=layout.yaxis.range)
        meta = figure.layout.meta
        figure.update_layout(height=height, meta={**meta, "h": height} if "ar" in meta else meta)
        if view.picture is None:
            _number(view, figure, numbers, words)
        else:
            _renumber(figure, numbers, words)
        panels.append(Panel(panel.name, figure, f"Run {letter}. {panel.alt}"))
    return [panel.printed() for panel in panels]


def _number(view: View, figure: go.Figure, numbers: Sequence[str], words: Sequence[str]) -> None:
    """Number the final centers; mark centers without a partner with a dashed ring and a label."""
    centers = view.flat(np.asarray(view.trace.cluster_centers))
    paired = np.array([bool(number) for number in numbers], dtype=bool)
    alone = np.array([bool(word) for word in words], dtype=bool)
    low, high = view.bounds()
    width = 0.035 * float(np.max(high - low)) if view.trace.domain.one_scale else 0.035 * (high - low)
    angle = np.linspace(0, 2 * np.pi, 37)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1) * width
    gap = np.full((1, 2), np.nan)
    rings = np.concatenate([np.empty((0, 2)), *(part for at in centers[alone] for part in (at + circle, gap))])
    ink, shown_words = view.colors.ink, _few([word for word in words if word])
    looks = [
        {
            "mode": "markers+text",
            "textposition": "top right",
            "textfont": {"size": 15, "color": ink, "shadow": halo(view.colors)},
            "name": "place",
            # this invisible mark keeps the number clear of the marks of a center and of KMeans
            "marker": {"size": 20, "opacity": 0},
        },
        {"mode": "lines", "line": {"color": ink, "width": 2, "dash": "dash"}, "name": "no partner"},
        {
            "mode": "text",
            "textposition": "bottom center",
            "name": "where",
            "textfont": {"size": 12, "color": ink, "shadow": halo(view.colors)},
        },
    ]
    last = [
        {**xy(centers[paired]), "text": [f"<b>{number}</b>" for number in numbers if number]},
        xy(rings),
        {**xy(centers[alone] - np.array([0, 1]) * width), "text": shown_words},
    ]
    add_last(figure, [{"hoverinfo": "skip", **look} for look in looks], last)


def _few(words: Sequence[str]) -> list[str]:
    """Return the labels of centers without a partner, or empty labels if there are too many to read."""
    return list(words) if sum(map(bool, words)) <= MOST_WORDS else [""] * len(words)


def _renumber(figure: go.Figure, numbers: Sequence[str], words: Sequence[str]) -> None:
    """Number the pictures of the final centers, and label those without a partner."""
    frames = [frame.to_plotly_json() for frame in figure.frames]
    (at,) = (i for i, trace in enumerate(figure.data) if trace.name == "number")
    texts = [
        f"<b>{number}</b> {word}".strip() if number else word for number, word in zip(numbers, _few(words), strict=True)
    ]
    frames[-1]["data"][list(frames[-1]["traces"]).index(at)]["text"] = figure.data[at].text = texts
    frames[-1]["group"] = "last"  # the last frame equals no other, because only it has labels
    figure.frames = frames


def curve_table(bounds: Mapping[str, Bound]) -> pd.DataFrame:
    """Return the error rates of the best attacker against each run: columns run, false_alarm, miss."""
    return pd.concat(
        [pd.DataFrame({"run": run, "false_alarm": _ALARMS, "miss": b.miss(_ALARMS)}) for run, b in bounds.items()],
        ignore_index=True,
    )


def _safest(bounds: Mapping[str, Bound]) -> str:
    """State against which run an attacker wins the fewest bets."""
    odds = {run: bound.odds for run, bound in bounds.items()}
    best = min(odds, key=lambda run: odds[run])
    if len(set(odds.values())) == 1:
        return f"An attacker wins at most {odds[best]} of 100 bets on any run"
    return f"An attacker wins the fewest bets on {best}: at most {odds[best]} of 100"


def curves_panel(colors: Theme, bounds: Mapping[str, Bound]) -> Panel:
    """Draw the trade-off curves of several promises in one figure, with that of a coin toss."""
    table = curve_table(bounds)
    height = 380
    figure = base(colors, _safest(bounds), height=height)
    figure.update_xaxes(
        title_text="false alarms: “in” when the truth is out", range=[0, 1], tickformat=".0%", dtick=0.25
    )
    figure.update_yaxes(title_text="misses: “out” when the truth is in", range=[0, 1], tickformat=".0%", dtick=0.25)
    figure.update_layout(meta={"ar": 1.0, "h": height})
    figure.add_scatter(
        x=[0, 1],
        y=[1, 0],
        mode="lines",
        name="coin",
        hoverinfo="skip",
        line={"color": colors.muted, "width": 1.4, "dash": "dot"},
    )
    for (run, bound), style, share in zip(bounds.items(), CURVES, (0.5, 0.36, 0.64, 0.25), strict=False):
        own = table[table.run == run]
        figure.add_scatter(
            x=own.false_alarm.to_numpy(), y=own.miss.to_numpy(), mode="lines", name=run,
            line={"color": style.color(colors), "width": 2.4, "dash": style.dash},
            hovertemplate=f"{run}: at %{{x:.1%}} false alarms at least %{{y:.1%}} misses<extra></extra>",
        )  # fmt: skip
        at = 0.5 * share
        figure.add_scatter(
            x=[at], y=[float(bound.miss(np.array(at)))], mode="text", text=[f"<b>{run}</b>"], hoverinfo="skip",
            textposition="top right", textfont={"size": 14, "color": colors.ink}, cliponaxis=False,
        )  # fmt: skip
    best = "; ".join(f"{run} {bound.odds} of 100 bets" for run, bound in bounds.items())
    return Panel("plane", figure, f"Trade-off curves of the promises and of a coin. An attacker wins at most: {best}.")
