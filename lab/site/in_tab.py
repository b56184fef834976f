"""Answer the page "Run it here" inside a browser tab: JSON in, JSON out, on public or made-up people alone.

The site's worker imports this file as a module of its own, so it imports nothing from this package.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset, load
from dpviz.datasets.blobs import Blobs
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.metrics import reference_name, run_loss
from dpviz.numbers import on_screen, ratio_words
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.verdict import Groups, Verdict, demo_verdict, groups_of, private_verdict, regions_verdict
from dpviz.runs.reruns import rerun
from dpviz.runs.single import Reference, reference, replay, rivals
from dpviz.takeaway.replay import replay_parts
from dpviz.trace import Trace

__all__ = ["AGAIN", "GROUPS", "again", "run"]

AGAIN = 20  # number of runs with other seeds
GROUPS = {"n_clusters": "Groups", "seed": "Seed of the groups"}  # labels of made-up data, beside those of a method
_MOST_SEED = 2**53  # seeds above it differ from each other in Python but not in the page


def run(asked: str, say: Callable[[int, int], None]) -> str:
    """Run a method on a data set; return the film, the verdict and the trace, or `refused` with a sentence.

    Parameters
    ----------
    asked : JSON with the texts of the form: `data`, `blobs` and `values` by name, `method` and `seed`
    say : function that receives the numbers of releases made and planned
    """
    return _answered(asked, lambda data, algorithm, seed: _ran(data, algorithm, seed, say))


def again(asked: str, say: Callable[[int, int], None]) -> str:
    """Run the same method `AGAIN` times with other seeds; return how the results differ, or `refused`."""
    return _answered(asked, lambda data, algorithm, seed: _reran(data, algorithm, seed, say))


def _answered(asked: str, answer: Callable[[Dataset, Algorithm, int], dict[str, Any]]) -> str:
    form = json.loads(asked)
    try:
        data = _data(form["data"], json.dumps(form["blobs"]))
        cls = ALGORITHMS[form["method"]]
        algorithm = cls(**_values(cls.name, params.specs(cls), form["values"]))
        found = answer(data, algorithm, _seed(form["seed"]))
    except ValueError as problem:
        found = {"refused": _in_words(str(problem), form["method"])}
    except MemoryError:
        found = {"refused": "The tab has no memory left for this run. Fewer rows, columns or centers need less."}
    return json.dumps(found, ensure_ascii=False)


@lru_cache(maxsize=2)
def _data(name: str, blobs: str) -> Dataset:
    return load(name) if name != "blobs:" else Blobs(**_values("Blobs", params.specs(Blobs), json.loads(blobs))).make()


def _values(owner: str, specs: Mapping[str, params.ParamSpec], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the form's texts.

    Raises
    ------
    ValueError
        If a text is no value of its kind.
    """
    values = {}
    for name, text in texts.items():
        spec = specs[name]
        try:
            values[name] = params.parse(spec, text.strip())
        except ValueError:
            kind = "a whole number" if spec.kind == "int" else "a number"
            empty = " or empty" * spec.optional
            raise ValueError(f"{owner}: {name} must be {kind}{empty}; got {text!r}.") from None
    return values


def _seed(text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdecimal() and int(text) < _MOST_SEED):
        raise ValueError(f"Seed must be a whole number from 0 to {_MOST_SEED - 1:,}; got {text!r}.")
    return int(text)


def _in_words(problem: str, method: str) -> str:
    cls = ALGORITHMS[method]
    for name, label in GROUPS.items() if problem.startswith("Blobs: ") else ():
        problem = problem.replace(name, label)
    text = problem.removeprefix(f"{cls.name}: ").removeprefix("Blobs: ").removeprefix("datasets: ")
    return on_screen(params.in_labels(text, {**params.specs(Blobs), **params.specs(cls)}))


def _ran(data: Dataset, algorithm: Algorithm, seed: int, say: Callable[[int, int], None]) -> dict[str, Any]:
    done = replay(data, algorithm, seed, say)
    trace, kmeans = done.trace, _reference(data, algorithm, seed)
    centers = kmeans.trace.cluster_centers
    view = View(trace, LIGHT, data.view, data.columns, data.units, data.X, centers, hidden=True, noun=data.noun)
    title, film, _ = replay_parts(trace, view)
    return {
        "title": title,
        "film": film.replace("<h1>", "<h2>").replace("</h1>", "</h2>"),  # the page has a title of its own
        "released": _sentence(private_verdict(trace, data.columns, data.units)),
        "secret": _sentence(_verdict(data, trace, kmeans)),
        "seconds": done.seconds,
        "trace": trace.to_json(),
    }


def _reran(data: Dataset, algorithm: Algorithm, seed: int, say: Callable[[int, int], None]) -> dict[str, Any]:
    if algorithm.regions:
        raise ValueError(f"{algorithm.name} releases regions, which have no loss to compare over runs.")
    runs = rerun([data], algorithm, range(seed + 1, seed + 1 + AGAIN), say)
    kmeans = _reference(data, algorithm, seed)
    there = _groups(data, kmeans)
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


def _reference(data: Dataset, algorithm: Algorithm, seed: int) -> Reference:
    """Return KMeans, or k-median if the method minimizes distances, with the method's number of centers."""
    k = getattr(algorithm, "n_clusters", data.n_clusters)
    return _kmeans(data, k, seed, getattr(algorithm, "objective", "means"))


def _groups(data: Dataset, kmeans: Reference) -> Groups:
    return groups_of(data.X, data.domain, kmeans.trace.cluster_centers, data.groups)


def _verdict(data: Dataset, trace: Trace, kmeans: Reference) -> Verdict:
    """Return the verdict from the raw rows, without the bet, which is released: NOT PRIVATE."""
    centers = kmeans.trace.cluster_centers
    if has_regions(trace):
        return _without_bet(regions_verdict(trace, data.X, data.labels, centers))
    there = _groups(data, kmeans)
    if not there.known and not there.found_by(data.domain.normalize(trace.cluster_centers)).all():
        there = there.doubted(map(data.domain.normalize, rivals(data, kmeans.trace)))
    losses = run_loss(trace, data.X), kmeans.loss
    return _without_bet(demo_verdict(trace, there, centers, losses, data.columns, data.units))


def _without_bet(verdict: Verdict) -> Verdict:
    return dataclasses.replace(verdict, parts=verdict.parts[:-1])


def _sentence(verdict: Verdict) -> str:
    return f"{verdict}. {verdict.why}".strip()
