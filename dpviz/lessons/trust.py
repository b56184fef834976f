"""Lesson: whom do you trust? The lesson compares central, federated, shuffled and local methods at one epsilon."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.datasets import Blobs
from dpviz.federated import CLIENTS, simulate, spread
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import GROUPS, Values, groups_panel, values_panel
from dpviz.lessons.ground import Runs, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import number, ratio_words
from dpviz.privacy.guarantee import Guarantee, Neighboring

__all__ = ["DATA", "LEGEND", "MODELS", "panels", "run"]

DATA = Blobs(n_rows=6_000, n_clusters=6).key
EPSILON, HOSPITALS = 1.0, 10
MODELS = ("Central", "Federated", "Shuffled", "Local")
TRUST = {
    "Central": "one curator sees all rows",
    "Federated": f"each of {HOSPITALS} hospitals sees only its own patients",
    "Shuffled": "a mixer of reports tells nobody who sent which",
    "Local": "nobody",
}
LEGEND = GROUPS


@dataclasses.dataclass(frozen=True, eq=False)
class TrustRuns(Runs):
    """One run for every model of trust."""

    @property
    def promises(self) -> list[Guarantee]:
        """Return the guarantee of each method for one row changed to any value: equal ε then mean equal guarantees."""
        return [trace.claimed.under(Neighboring.REPLACE) for trace in self.traces]


def run(seed: int) -> Exhibit:
    """Run EUGkM with one curator and over clients, and Stemmer-Kaplan on reports, with and without shuffling.

    Central and federated DP are claimed for one row added or removed; they spend ε/2, which promises ε for one row
    changed, as the shuffled and the local model do.
    """
    there = ground(DATA)
    data = there.data
    parts = spread(data.X, HOSPITALS, "even", np.random.default_rng(seed))
    method = there.algorithm("eugkm", epsilon=EPSILON / 2)
    federated = simulate(method, parts, data.domain, seed=seed, dataset_id=data.dataset_id, drawn_by=CLIENTS).trace
    assert federated is not None
    traces = (
        there.run("eugkm", seed, epsilon=EPSILON / 2),
        federated,
        there.run("stemmer-kaplan-shuffle", seed, epsilon=EPSILON, delta=0.1 / len(data.X)),
        there.run("stemmer-kaplan-local", seed, epsilon=EPSILON),
    )
    runs = TrustRuns(there, traces)
    ratios, hits = runs.ratios, [there.found(trace.cluster_centers) for trace in traces]
    groups = len(there.groups.means)
    titles = tuple(
        f"{model} · trusted: {TRUST[model]}; ε {number(promise.epsilon)} for one row changed; "
        f"{there_are} of {groups} groups have a center; loss {ratio_words(ratio)} times KMeans'"
        for model, promise, there_are, ratio in zip(MODELS, runs.promises, hits, ratios, strict=True)
    )
    facts = {"people": f"{len(data.X):,}", "groups": groups, "epsilon": number(EPSILON), "hospitals": HOSPITALS}
    for model, ratio, there_are in zip(MODELS, ratios, hits, strict=True):
        facts |= {model.lower(): ratio_words(ratio), f"{model.lower()}_found": there_are}
    report = dict(traces[2].ledger[0].cost).get("epsilon")
    facts["report"] = f"{float(report or 0):.1f}"
    price = ratios[3] > 1.5 * max(ratios[:3]) and hits[3] < min(hits[:3])
    return Exhibit(facts, titles, frozenset({2 if price else 0}), first=0, hint=3, runs=runs)


def panels(runs: TrustRuns, colors: Theme) -> list[Panel]:
    """Return two panels: the groups and centers in every model of trust, and the loss in every model."""
    there, ratios = runs.ground, runs.ratios
    view = there.view(runs.traces[0], colors)
    shots = [trace.cluster_centers for trace in runs.traces]
    words, worst = [f"{ratio_words(ratio)}×" for ratio in ratios], ratios.index(max(ratios))
    title = f"{MODELS[worst]} has the highest loss, {words[worst]} KMeans'"
    values = Values(title, "× KMeans", MODELS, ratios, words, line=(1.0, "KMeans"), private=True)
    claim = f"{there.found(shots[0])} of {len(there.groups.means)} groups have a center"
    return [groups_panel(view, f"{MODELS[0]}: {claim}", there.groups, shots), values_panel(colors, values)]
