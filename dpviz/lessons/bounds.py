"""Lesson: why bounds matter. Bounds that are too wide make the noise grow; too narrow ones move the people."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpviz.domain import Domain
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import GROUPS, Values, groups_panel, values_panel
from dpviz.lessons.ground import Ground, Runs, ground, same_for_all
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import length, number, ratio_words
from dpviz.trace import Trace

__all__ = ["EPSILON", "FACTORS", "LEGEND", "panels", "run"]

EPSILON = 2.0
FACTORS = (1 / 4, 1 / 3, 1.0, 4.0, 8.0)  # widths of the bounds, as multiples of the intended width
LEGEND = (*GROUPS, ("box", "declared bounds"))


class WidthRuns(Runs):
    """One run for every width of the bounds."""

    @property
    def noise(self) -> list[float]:
        """Return the sd of the noise in the smallest neighborhood's mean, in data units, from the ledger alone."""
        people = int(self.ground.groups.sizes.min())
        sums = [next(entry for entry in trace.ledger if entry.name == "update.sums") for trace in self.traces]
        return [
            math.sqrt(2) * entry.scale * float(trace.domain.half_width.max()) / people  # Laplace: sd = sqrt(2) scale
            for entry, trace in zip(sums, self.traces, strict=True)
        ]


def run(seed: int) -> Exhibit:
    """Run SuLloyd on the town, once for every width of the bounds."""
    town = ground("town")
    traces = tuple(_run(town, factor, "sulloyd", seed) for factor in FACTORS)
    runs = WidthRuns(town, traces)
    noise, hits = runs.noise, [town.found(trace.cluster_centers) for trace in traces]
    ratios = runs.ratios
    widths = [f"{number(2 * factor * float(town.data.domain.half_width.max()))} km" for factor in FACTORS]
    outside = 1 - np.mean(_inside(town, FACTORS[0]))
    odds = [trace.claimed.odds for trace in traces]
    groups = len(town.groups.means)
    titles = tuple(
        f"Declared {width} wide · noise of a mean ±{length(sd, 'km', 2)}; {there} of {groups} neighborhoods have a "
        f"center; loss {ratio_words(ratio)} times KMeans'; ε {number(EPSILON)}"
        for width, sd, there, ratio in zip(widths, noise, hits, ratios, strict=True)
    )
    meant, wide = FACTORS.index(1.0), len(FACTORS) - 1
    learns = _run(town, FACTORS[-1], "nsm", seed)
    facts = {
        "people": f"{len(town.data.X):,}", "few": int(town.groups.sizes.min()),
        "meant": widths[meant], "wide": widths[wide], "narrow": widths[0],
        "times": number(FACTORS[-1]), "epsilon": number(EPSILON),
        "noise": f"±{length(noise[meant], 'km', 2)}", "noise_wide": f"±{length(noise[wide], 'km', 2)}",
        "found": hits[meant], "found_wide": hits[wide], "groups": groups, "found_narrow": hits[0],
        "loss_wide": ratio_words(ratios[wide]), "loss_narrow": ratio_words(ratios[0]),
        "outside": f"{100 * outside:.0f}", "odds": odds[meant],
        "kind": same_for_all(traces[meant].claimed),
        "learns": ratio_words(town.ratio(learns.cluster_centers)),
    }  # fmt: skip
    alone = hits[meant] == groups and all(there < groups for i, there in enumerate(hits) if i != meant)
    worse = alone and noise[wide] > 4 * noise[meant] and len(set(odds)) == 1
    return Exhibit(facts, titles, frozenset({0 if worse else 1}), first=meant, hint=wide, runs=runs)


def _bounds(town: Ground, factor: float) -> Domain:
    """Return the town's bounds, widened by a factor around the same middle."""
    domain = town.data.domain
    half = factor * (domain.high - domain.low) / 2
    return dataclasses.replace(domain, low=domain.middle - half, high=domain.middle + half)


def _run(town: Ground, factor: float, slug: str, seed: int) -> Trace:
    data = town.data
    return town.algorithm(slug, epsilon=EPSILON).run(
        data.X, domain=_bounds(town, factor), seed=seed, dataset_id=data.dataset_id
    )


def _inside(town: Ground, factor: float) -> np.ndarray:
    """Return which rows (n,) lie within the bounds."""
    domain, X = _bounds(town, factor), town.data.X
    return np.all((domain.low <= X) & (domain.high >= X), axis=1)


def panels(runs: WidthRuns, colors: Theme) -> list[Panel]:
    """Return two panels: the map with the declared bounds, and the sd of the noise for every width."""
    town, noise = runs.ground, runs.noise
    view = town.view(runs.traces[FACTORS.index(1.0)], colors)
    boxes = [(trace.domain.low, trace.domain.high) for trace in runs.traces]
    centers = [trace.cluster_centers for trace in runs.traces]
    widths = [f"{number(2 * factor * float(town.data.domain.half_width.max()))} km" for factor in FACTORS]
    meant = FACTORS.index(1.0)
    claim = f"{town.found(centers[meant])} of {len(town.groups.means)} neighborhoods have a center"
    plane = groups_panel(view, f"{widths[meant]} wide: {claim}", town.groups, centers, boxes=boxes)
    words = [f"±{length(sd, 'km', 2)}" for sd in noise]
    title = f"Noise of a mean over {town.groups.sizes.min()} people: {words[0]} to {words[-1]}"
    values = Values(title, "± km, by declared width", widths, noise, words)
    return [plane, values_panel(colors, values)]
