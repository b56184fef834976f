"""Run methods on public or made-up people: the film with hidden layers, both verdicts, and runs with other seeds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset, load
from dpviz.datasets.blobs import Blobs
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.metrics import reference_name, run_loss
from dpviz.numbers import ratio_words
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.verdict import Groups, Verdict, demo_verdict, groups_of, private_verdict, regions_verdict
from dpviz.runs.public import started
from dpviz.runs.reruns import rerun
from dpviz.runs.single import Reference, reference, replay, rivals
from dpviz.takeaway.replay import replay_parts
from dpviz.trace import Trace

from . import own
from .clusters import clusters
from .forms import algorithm_of, answered, seed_of, values_of

__all__ = ["AGAIN", "again", "data_of", "groups_beside", "reference_of", "run", "sentence", "verdicts"]

AGAIN = 20  # number of runs with other seeds


def run(asked: str, say: Callable[[int, int], None]) -> str:
    """Run a method on a data set; return the film, the verdict and the trace, or `refused` with a sentence.

    Parameters
    ----------
    asked : JSON with the texts of the form: `data`, `blobs` and `values` by name, `method`, `seed`, and for an own file
        its `columns`; of an own file, the answer has the `cards` of the clusters, too
    say : function that receives the numbers of releases made and planned
    """

    def answer(form: dict[str, Any]) -> dict[str, Any]:
        data = data_of(form)
        found, trace = _ran(data, started(algorithm_of(form), data), seed_of(form["seed"]), say)
        return found | (clusters(trace, data) if form["data"] == own.NAME else {})

    return answered(asked, answer)


def again(asked: str, say: Callable[[int, int], None]) -> str:
    """Run the same method `AGAIN` times with other seeds; return how the results differ, or `refused`."""

    def answer(form: dict[str, Any]) -> dict[str, Any]:
        data = data_of(form)
        return _reran(data, started(algorithm_of(form), data), seed_of(form["seed"]), say)

    return answered(asked, answer)


def data_of(form: dict[str, Any]) -> Dataset:
    """Return the people that the form names.

    Raises
    ------
    ValueError
        If they cannot be made of its texts, no file is open, or the open file is private.
    """
    if form["data"] == own.NAME:
        return own.public(json.dumps(form["columns"]))
    return _made(form["data"], json.dumps(form["blobs"]))


@lru_cache(maxsize=2)
def _made(name: str, blobs: str) -> Dataset:
    return (
        load(name) if name != "blobs:" else Blobs(**values_of("Blobs", params.specs(Blobs), json.loads(blobs))).make()
    )


def _ran(
    data: Dataset, algorithm: Algorithm, seed: int, say: Callable[[int, int], None]
) -> tuple[dict[str, Any], Trace]:
    done = replay(data, algorithm, seed, say)
    trace, kmeans = done.trace, reference_of(data, algorithm, seed)
    centers = kmeans.trace.cluster_centers
    view = View(trace, LIGHT, data.view, data.columns, data.units, data.X, centers, hidden=True, noun=data.noun)
    title, film, _ = replay_parts(trace, view)
    found = {
        "title": title,
        "film": film.replace("<h1>", "<h2>").replace("</h1>", "</h2>"),  # the page has a title of its own
        **verdicts(data, trace, kmeans),
        "seconds": done.seconds,
        "trace": trace.to_json(),
    }
    return found, trace


def _reran(data: Dataset, algorithm: Algorithm, seed: int, say: Callable[[int, int], None]) -> dict[str, Any]:
    if algorithm.regions:
        raise ValueError(f"{algorithm.name} releases regions, which have no loss to compare over runs.")
    runs = rerun([data], algorithm, range(seed + 1, seed + 1 + AGAIN), say)
    kmeans = reference_of(data, algorithm, seed)
    there = groups_beside(data, kmeans)
    found = sum(bool(there.found_by(data.domain.normalize(centers)).all()) for centers in runs.centers)
    name = reference_name(kmeans.trace)
    low, middle, high = (ratio_words(value / kmeans.loss) for value in np.quantile(runs.losses, (0, 0.5, 1)))
    return {
        "again": f"All {len(there.sizes)} {there.words} found in {found} of {AGAIN} runs with other seeds; loss {low} "
        f"to {high} × {name}', half of the runs at most {middle}."
    }


@lru_cache(maxsize=8)
def _kmeans(data: Dataset, n_clusters: int, seed: int, objective: str) -> Reference:
    return reference(data, n_clusters, seed, objective)


def reference_of(data: Dataset, algorithm: Algorithm, seed: int) -> Reference:
    """Return KMeans, or k-median if the method minimizes distances, with the method's number of centers."""
    k = getattr(algorithm, "n_clusters", data.n_clusters)
    return _kmeans(data, k, seed, getattr(algorithm, "objective", "means"))


def verdicts(data: Dataset, trace: Trace, kmeans: Reference) -> dict[str, str]:
    """Return what a run `released` in a sentence, and what its rows say of it, which is `secret`: NOT PRIVATE."""
    return {
        "released": sentence(private_verdict(trace, data.columns, data.units)),
        "secret": sentence(_verdict(data, trace, kmeans)),
    }


def sentence(verdict: Verdict) -> str:
    """Return a verdict with its reason."""
    return f"{verdict}. {verdict.why}".strip()


def groups_beside(data: Dataset, kmeans: Reference) -> Groups:
    """Return the groups that a run should find."""
    return groups_of(data.X, data.domain, kmeans.trace.cluster_centers, data.groups)


def _verdict(data: Dataset, trace: Trace, kmeans: Reference) -> Verdict:
    """Return the verdict from the raw rows, without the bet, which is released: NOT PRIVATE."""
    centers = kmeans.trace.cluster_centers
    if has_regions(trace):
        return _without_bet(regions_verdict(trace, data.X, data.labels, centers))
    there = groups_beside(data, kmeans)
    if not there.known and not there.found_by(data.domain.normalize(trace.cluster_centers)).all():
        there = there.doubted(map(data.domain.normalize, rivals(data, kmeans.trace)))
    losses = run_loss(trace, data.X), kmeans.loss
    return _without_bet(demo_verdict(trace, there, centers, losses, data.columns, data.units))


def _without_bet(verdict: Verdict) -> Verdict:
    return dataclasses.replace(verdict, parts=verdict.parts[:-1])
