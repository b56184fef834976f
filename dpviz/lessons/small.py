"""Lesson: small groups. KMeans gives a small group a center; noise takes it away, and the loss does not reveal this."""

from __future__ import annotations

from dpviz.datasets import Blobs
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import GROUPS, Values, groups_panel, values_panel
from dpviz.lessons.ground import Runs, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import fraction, ratio_words
from dpviz.postprocessing.verdict import FAR

__all__ = ["DATA", "EPSILONS", "LEGEND", "panels", "run"]

DATA = Blobs(n_rows=5_000, n_clusters=7, imbalance=0.4, seed=1).key
EPSILONS = (2.0, 3.0, 4.0, 8.0)
LEGEND = GROUPS


def run(seed: int) -> Exhibit:
    """Run NSM on seven groups, one of which is small, once for every ε."""
    there = ground(DATA)
    sizes = there.groups.sizes
    small, groups = int(sizes.argmin()), len(sizes)
    traces = tuple(there.run("nsm", seed, epsilon=e, summary="candidates") for e in EPSILONS)
    runs = Runs(there, traces)
    masks = [there.mask(trace.cluster_centers) for trace in traces]
    served = [bool(mask[small]) for mask in masks]
    ratios = runs.ratios
    lost = [i for i, there_is in enumerate(served) if not there_is]
    titles = tuple(
        f"ε {fraction(epsilon)} · {int(mask.sum())} of {groups} groups have a center; the group of {sizes[small]} has "
        f"{'one' if mask[small] else 'none'}; loss {ratio_words(ratio)} times KMeans'"
        for epsilon, mask, ratio in zip(EPSILONS, masks, ratios, strict=True)
    )
    kmeans = bool(there.mask(there.reference)[small])
    hint = lost[0] if lost else 0
    facts = {
        "hinted": fraction(EPSILONS[hint]),
        "people": f"{len(there.data.X):,}", "small": int(sizes[small]),
        "share": f"{100 * sizes[small] / sizes.sum():.1f}",
        "groups": groups, "others": groups - 1, "largest": f"{int(sizes.max()):,}",
        "budgets": len(EPSILONS), "lost": len(lost), "k": there.data.n_clusters,
        "worst": ratio_words(max((ratios[i] for i in lost), default=1.0)),
        "least": fraction(EPSILONS[0]), "most": fraction(EPSILONS[-1]),
    }  # fmt: skip
    alone = all(mask.sum() == groups - (not there_is) for mask, there_is in zip(masks, served, strict=True))
    hidden = alone and bool(lost) and all(ratios[i] <= FAR for i in lost) and served[-1]
    return Exhibit(facts, titles, frozenset({1 if hidden and kmeans else 2}), first=0, hint=hint, runs=runs)


def panels(runs: Runs, colors: Theme) -> list[Panel]:
    """Return two panels: the groups with their radii, and the loss for every ε."""
    there, ratios = runs.ground, runs.ratios
    view = there.view(runs.traces[-1], colors)
    centers = [trace.cluster_centers for trace in runs.traces]
    labels, words = [f"ε {fraction(e)}" for e in EPSILONS], [f"{ratio_words(ratio)}×" for ratio in ratios]
    claim = f"{there.found(centers[0])} of {len(there.groups.means)} groups have a center"
    plane = groups_panel(view, f"{labels[0]}: {claim}", there.groups, centers)
    title = f"The loss is {words[0]} KMeans' at {labels[0]}, {words[-1]} at {labels[-1]}"
    losses = Values(title, "× KMeans", labels, ratios, words, line=(1.0, "KMeans"), private=True)
    return [plane, values_panel(colors, losses)]
