"""Lesson: small groups. A group of 60 among 4,960 people gets no center, and the loss does not reveal this."""

from __future__ import annotations

from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import GROUPS, Values, groups_panel, values_panel
from dpviz.lessons.ground import Runs, ground
from dpviz.lessons.lesson import Stage
from dpviz.numbers import fraction, number, ratio_words
from dpviz.postprocessing.verdict import FAR

__all__ = ["EPSILONS", "LEGEND", "panels", "run"]

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
LEGEND = GROUPS


def run(seed: int) -> Stage:
    """Run NSM on the sample with a small minority, once for every ε."""
    there = ground("minority")
    sizes = there.groups.sizes
    small, groups = int(sizes.argmin()), len(sizes)
    traces = tuple(there.run("nsm", seed, epsilon=e) for e in EPSILONS)
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
    middle = EPSILONS.index(1.0)
    hint = middle if middle in lost or not lost else lost[0]
    facts = {
        "hinted": fraction(EPSILONS[hint]),
        "people": f"{len(there.data.X):,}", "small": int(sizes[small]),
        "share": f"{100 * sizes[small] / sizes.sum():.1f}",
        "groups": groups, "budgets": len(EPSILONS), "lost": len(lost), "k": there.data.n_clusters,
        "worst": ratio_words(max((ratios[i] for i in lost), default=1.0)), "far": number(FAR),
        "kmeans": "a center" if kmeans else "no center",
    }  # fmt: skip
    hidden = bool(lost) and all(ratios[i] <= FAR for i in lost)
    return Stage(facts, titles, frozenset({2 if hidden else 1}), first=0, hint=hint, runs=runs)


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
