"""Draw vote splitting: top-k voting and k-means selection side by side, with the same rows and first trial points."""

from __future__ import annotations

import dataclasses

import pandas as pd

from dpviz.figures.evolution.pe_means import add_layers, events, layers, shots
from dpviz.figures.kit.events import Event, direct
from dpviz.figures.kit.layers import NOWHERE
from dpviz.figures.kit.panels import plane, reference
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from dpviz.figures.kit.votes import KEEP
from dpviz.figures.scenes.lessons import FOUND, MISSED, add_rings, found_rings
from dpviz.numbers import having, number, ratio_words
from dpviz.postprocessing.verdict import Groups, groups_of

__all__ = ["PHASES", "found_table", "panels", "sentences"]

PHASES = 3  # pictures of a round: trial points; noisy votes; survivors and centers


def groups(view: View) -> Groups:
    """Return KMeans' groups; their radii are drawn and decide which groups count as found."""
    if view.reference is None or view.people is None:
        raise ValueError("figures: vote splitting needs people and the centers of KMeans.")
    return groups_of(view.people, view.trace.domain, view.reference)


def found_table(view: View) -> pd.DataFrame:
    """Return columns round, loss_ratio (to KMeans) and found: the number of KMeans' groups with a center."""
    if view.losses is None or not view.reference_loss:
        raise ValueError("figures: vote splitting needs every step's loss.")
    there = groups(view)
    hits = [int(there.found_by(step.released["centers"]).sum()) for step in view.trace.steps]
    ratio = view.losses / view.reference_loss
    return pd.DataFrame({"round": range(1, len(hits) + 1), "loss_ratio": ratio, "found": hits})


def sentences(voted: View, clustered: View) -> list[str]:
    """Return a sentence for each picture: trial points, votes, and what became of them."""
    k, rounds = len(clustered.trace.cluster_centers), len(clustered.trace.steps)
    tables = found_table(voted), found_table(clustered)
    spoken = []
    for t, steps in enumerate(zip(voted.trace.steps, clustered.trace.steps, strict=True)):
        left, right = (step.released for step in steps)
        spoken += [
            f"{len(left['population']):,} trial points on the left, {len(right['population']):,} on the right",
            f"everybody votes for the nearest trial point; noise moves each count by about "
            f"±{number(left['noise_sd'], 2)}",
            f"left, the {k} trial points with the most votes: {having(tables[0].found[t], k, 'groups')} a center; "
            f"right, k-means on {int(right['kept'].sum())} survivors: {tables[1].found[t]} of {k}",
        ]
    return [f"Round {i // PHASES + 1} of {rounds} · {words}" for i, words in enumerate(spoken)]


def _plane(view: View, name: str) -> Panel:
    k = len(view.trace.cluster_centers)
    first, last = found_table(view).iloc[0], found_table(view).iloc[-1]
    figure = plane(view, f"{name}, round 1: {having(int(first.found), k, 'groups')} a center", height=430)
    rings = add_rings(figure, view.colors)
    traces = [*rings, *add_layers(figure, view.colors)]
    reference(dataclasses.replace(view, reference=None), figure)
    there, pictures = groups(view), shots(view.trace)
    frames, found = [], found_rings(view, there, NOWHERE)
    for shot, update in zip(pictures, layers(view.trace, pictures, view.plane, "centers"), strict=True):
        if shot.phase == KEEP:
            found = found_rings(view, there, view.trace.steps[shot.step].released["centers"])
        frames.append([*found, *update])
    add_frames(figure, traces, frames)
    direct(figure, [tuple(_named(event, name) for event in told) for told in events(view, pictures)])
    words = f"{having(int(last.found), k, 'groups')} a center"
    alt = f"A plane of {name}: in the end {words}, loss {ratio_words(last.loss_ratio)} times KMeans'."
    return Panel("plane", figure, f"{alt}{view.placed(view.trace.cluster_centers)}")


def _named(event: Event, name: str) -> Event:
    """Return an event with the method's name in a caption for a narrow plane, and with the groups' rings."""
    what = event.head.rpartition(": ")[2]
    before, new = {"cut": -1}.get(event.kind, 0), {"opacity": [0, 1]} if event.kind == "agree" else {}
    rings = tuple({"layer": layer, "at": before, **new} for layer in (FOUND, MISSED))
    return dataclasses.replace(event, head=f"{name}: {what[0].lower()}{what[1:]}", tail="", acts=(*event.acts, *rings))


def _losses(views: dict[str, View]) -> Panel:
    colors = next(iter(views.values())).colors
    updates: list[list[dict]] = []
    tables = {name: found_table(view) for name, view in views.items()}
    better, worse = sorted(tables, key=lambda name: tables[name].loss_ratio.iloc[-1])
    ratio = tables[worse].loss_ratio.iloc[-1] / tables[better].loss_ratio.iloc[-1]
    figure = base(colors, f"{worse.capitalize()} ends with {ratio_words(ratio)} times the loss of {better}", height=210)
    tag(figure, colors, below=True)
    rounds = max(len(table) for table in tables.values())
    for (name, table), symbol in zip(tables.items(), ("triangle-up-open", "circle-open"), strict=True):
        figure.add_scatter(
            x=table["round"], y=table.loss_ratio, mode="lines+markers", name=name, cliponaxis=False,
            hovertemplate=f"{name}, round %{{x}}: %{{y:.2f}} × KMeans<extra></extra>",
            line={"color": colors.person, "width": 1.6}, marker={"symbol": symbol, "size": 9},
        )  # fmt: skip
        figure.add_annotation(
            x=1.005, xref="paper", y=table.loss_ratio.iloc[-1], text=name, showarrow=False, xanchor="left", xshift=10,
            font={"color": colors.ink},
        )  # fmt: skip
    for table in tables.values():
        figure.add_scatter(
            mode="markers", hoverinfo="skip", cliponaxis=False,
            marker={"symbol": "circle-open", "size": 15, "color": colors.hidden, "line": {"width": 2.4}},
        )  # fmt: skip
        kept = [{"x": [row.round], "y": [row.loss_ratio]} for row in table.itertuples()]
        before = [xy(NOWHERE), *kept]
        updates.append([one for pair in zip(before, before, kept, strict=False) for one in pair])
    figure.add_hline(y=1, line={"color": colors.hidden, "dash": "dot", "width": 1.6})
    figure.update_layout(margin_r=118)
    figure.update_xaxes(title_text="round", range=[0.7, rounds + 0.3], dtick=max(1, rounds // 10))
    top = max(table.loss_ratio.max() for table in tables.values())
    figure.update_yaxes(title_text="× KMeans", range=[0, 1.12 * top])
    add_frames(figure, [2, 3], [list(pair) for pair in zip(*updates, strict=True)])
    ends = ", ".join(f"{name} {ratio_words(table.loss_ratio.iloc[-1])}" for name, table in tables.items())
    return Panel("wide", figure, f"Lines: loss as a multiple of KMeans' ends at: {ends}. Not private.")


def panels(voted: View, clustered: View) -> list[Panel]:
    """Return two planes and the losses, which advance together. The two runs must have equally many rounds."""
    views = {"top-k voting": voted, "k-means": clustered}
    return [
        _plane(voted, "Top-k"),
        _plane(clustered, "K-means"),
        _losses(views),
    ]
