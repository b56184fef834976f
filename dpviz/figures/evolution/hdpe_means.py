"""Draw HDPE-means: trial points in a public projection (left), recovered centers in all columns (right)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.figures.evolution.pe_means import LEGEND, add_layers, film, layers, shots, warning
from dpviz.figures.kit.events import Event
from dpviz.figures.kit.layers import NOWHERE, center, waiting
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import MAX_PEOPLE, ledger_panel, ledger_table, plane, reference, spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin, xy
from dpviz.figures.kit.votes import votes_panel
from dpviz.numbers import counted, percent
from dpviz.trace import Trace

__all__ = ["PANE", "budget_table"]

PARTS = {"votes": "votes", "recover.sums": "sums", "recover.counts": "counts"}


def budget_table(trace: Trace) -> pd.DataFrame:
    """Return how the budget is divided: columns part, releases, share (of mu^2)."""
    table = ledger_table(trace)
    table["part"] = [PARTS[entry.name] for entry in trace.ledger]
    shares = table.groupby("part", sort=False).agg(releases=("release", "size"), share=("share", "sum"))
    return shares.reindex(PARTS.values()).reset_index()


def _two(Z: np.ndarray) -> np.ndarray:
    """Return the first two columns of points (n, p); if there is only one column, the second is 0."""
    return np.pad(Z[:, :2], ((0, 0), (0, max(2 - Z.shape[1], 0))))


def _projected(view: View, shots: list[Shot]) -> Panel:
    trace, colors = view.trace, view.colors
    rounds = [step.released for step in trace.steps if "population" in step.released]
    p = rounds[0]["projection"].shape[1]
    mask = rounds[-1]["kept"]
    title = f"{int(mask.sum()):,} of {len(mask):,} trial points survive in {counted(p, 'projected column')}"
    figure = base(colors, title, height=508)
    # the first trial points that do not survive lie farther out, and may be cut off
    first, *later = (np.abs(one["population"][:, :2]) for one in rounds)
    first = first[rounds[0]["kept"]] if rounds[0]["kept"].any() else first
    reach = 1.3 * max(np.quantile(first, 0.95), *(np.quantile(one, 0.995) for one in later), 0.0)
    figure.update_xaxes(range=[-reach, reach], title_text="projected column 1", fixedrange=False)
    figure.update_yaxes(range=[-reach, reach], title_text="projected column 2" if p > 1 else "", fixedrange=False)
    figure.update_xaxes(constrain="domain", constraintoward="left")
    figure.update_yaxes(scaleanchor="x", constrain="domain", constraintoward="top")
    figure.update_layout(meta={"ar": 1.0, "h": 508, "projected": True})

    def project(X: np.ndarray) -> np.ndarray:
        return _two(trace.domain.normalize(X) @ rounds[0]["projection"])

    if view.hidden and view.people is not None:
        figure.add_scatter(
            **xy(project(view.people[thin(len(view.people), MAX_PEOPLE)])), mode="markers", name="person",
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 3.5, "color": colors.person, "opacity": 0.55},
        )  # fmt: skip
    traces = add_layers(figure, colors)
    if view.hidden and view.reference is not None:
        figure.add_scatter(
            **xy(project(view.reference)), mode="markers", name="KMeans (not private)",
            marker={"symbol": "diamond-open", "size": 20, "color": colors.hidden, "line": {"width": 2.2}},
        )  # fmt: skip
        tag(figure, colors, f"NOT PRIVATE  ◇ KMeans · ○ {view.noun}", below=True)
    add_frames(figure, traces, layers(trace, shots, _two, "projected_centers"))
    return Panel(
        "plane", figure, f"The trial points of {len(rounds)} rounds in {min(p, 2)} of {counted(p, 'projected column')}."
    )


def _recovered(view: View, shots: list[Shot]) -> Panel:
    trace = view.trace
    d, k = trace.domain.n_features, len(trace.cluster_centers)
    figure = plane(view, f"{counted(k, 'center')} in all {d} columns", height=340)
    first = len(figure.data)
    figure.add_scatter(**center(view.colors))
    reference(view, figure)
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    last = waiting(figure, view.colors, (left + right) / 2, low + 0.07 * (high - low))  # off the people
    updates = []
    for shot in shots:
        centers = trace.steps[shot.step].released.get("centers")
        words = "" if centers is not None else "centers appear at the last step"
        updates.append([xy(NOWHERE if centers is None else view.plane(centers)), {"text": [words]}])
    add_frames(figure, [first, last], updates)
    return Panel("side", figure, f"A plane with {k} centers, brought back to all {d} columns by the last release.")


def _budget(view: View, shots: list[Shot]) -> Panel:
    table, colors = budget_table(view.trace), view.colors
    most = table.loc[table.share.idxmax()]
    figure = base(colors, f"{most.part.capitalize()} take {percent(most.share)} of μ²", height=150, margin_left=118)
    words = [f"{row.part} ({row.releases} ×)" for row in table.itertuples()]
    share = table.share.to_numpy()
    figure.add_bar(
        orientation="h", y=words, x=share.tolist(), marker={"color": colors.grid}, hoverinfo="skip",
        text=[percent(part) for part in share], textposition="outside", cliponaxis=False,
    )  # fmt: skip
    figure.add_bar(orientation="h", marker={"color": colors.released}, hoverinfo="skip")
    figure.update_layout(barmode="overlay", bargap=0.3)
    figure.update_xaxes(range=[0, 1.15], tickformat=".0%", dtick=0.25)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    parts, each = [PARTS[entry.name] for entry in view.trace.ledger], ledger_table(view.trace).share.to_numpy()
    updates = []
    for shot in shots:
        done = parts[: shot.releases]
        spent = [float(each[: shot.releases][[name == part for name in done]].sum()) for part in table.part]
        updates.append([{"y": words, "x": spent}])
    add_frames(figure, [1], updates)
    shares = ", ".join(f"{row.part} {percent(row.share)}" for row in table.itertuples())
    return Panel("side", figure, f"Bars: shares of the budget: {shares}.")


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: projected population, votes, recovered centers, shares of the budget, spend and ledger."""
    votes = dataclasses.replace(votes_panel(view, shots), name="plane")  # shown below the projection in which rows vote
    return [
        _projected(view, shots),
        votes,
        _recovered(view, shots),
        _budget(view, shots),
        spend_panel(view, shots),
        ledger_panel(view, shots),
    ]


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of a run: people vote in the projected columns, where the trial points are."""
    p = view.trace.steps[0].released["projection"]
    shown = view.hidden and view.people is not None
    crowd = thin(len(view.people), MAX_PEOPLE) if shown and view.people is not None else np.empty(0, dtype=int)
    where = f" in {counted(p.shape[1], 'projected column')} instead of {p.shape[0]}"
    return film(view, shots, _two, "projected_centers", crowd, lambda X: view.trace.domain.normalize(X) @ p, where)


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    legend=LEGEND,
    caution="The two pictures show different spaces: groups that are far apart in all columns may overlap in two "
    "projected ones. The most distant trial points of the first rounds lie outside the picture. A single run is "
    "one draw of the noise and of the projection.",
    warning=warning,
)
