"""Lesson: k is a question, too. An elbow over rows tells of one person; noisy ways to find k cost, or are free."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import View
from dpviz.figures.scenes.lesson_maps import ways_panel
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.lessons.lesson import Exhibit
from dpviz.metrics import normalized_loss
from dpviz.numbers import listed, number
from dpviz.postprocessing.weighted import solve
from dpviz.trace import Trace

__all__ = ["ALEX", "LEGEND", "RUNS", "SAVED", "WAYS", "elbow", "panels", "run"]

HALF, CORNER, WIDE = 12.0, 6.0, 0.8  # half-width of the bounds, place of a neighborhood, its standard deviation; km
FEW, MANY = 10, 1_000  # people of a neighborhood in the small town and in the large one
ALEX = (11.0, 0.0)  # km
EPSILON, MOST, SAVED = 1.0, 6, 1 / 3  # the largest k that is tried, and what one more center has to save
RUNS = 8  # runs of each method that finds k itself
WAYS = ("rows", "rows, Alex", "DPM", "DP-DBSCAN", "a table")
NAMES, UNITS = ("east", "north"), ("km", "km")
LEGEND = (
    ("center", "released center"),
    ("diamond", "KMeans' center"),
    ("marked_ring", "Alex"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Choices:
    """Five ways to a k.

    Attributes
    ----------
    small, large : ndarrays of shape (n, 2), the people of both towns without Alex, km
    found : k by every way
    centers : centers of every way (k, 2), km
    ks : the k of every run of DPM and of DP-DBSCAN
    trace : DPM's first run
    """

    small: np.ndarray
    large: np.ndarray
    found: tuple[int, ...]
    centers: tuple[np.ndarray, ...]
    ks: tuple[tuple[int, ...], tuple[int, ...]]
    trace: Trace


def elbow(losses: np.ndarray) -> int:
    """Return the k after which one more center no longer saves SAVED of the loss; losses (K,) are those of 1 to K."""
    saved = 1 - losses[1:] / losses[:-1]
    short = np.flatnonzero(saved < SAVED)
    return int(short[0]) + 1 if len(short) else len(losses)


def town(rng: np.random.Generator, each: int) -> np.ndarray:
    """Return people (4 each, 2), km, of four neighborhoods at the corners of a square."""
    corners = CORNER * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    return rng.normal(np.repeat(corners, each, axis=0), WIDE)


def domain_of(X: np.ndarray) -> Domain:
    """Return the bounds, which are the same for both towns."""
    return Domain.box(-HALF, HALF, 2, columns=NAMES, units=UNITS, n_public=len(X))


def by_rows(X: np.ndarray) -> np.ndarray:
    """Return the centers of KMeans with the k of the elbow over raw rows (n, 2). NOT PRIVATE."""
    domain = domain_of(X)
    runs = [ALGORITHMS["kmeans"](n_clusters=k).run(X, domain=domain, seed=0) for k in range(1, MOST + 1)]
    losses = np.array([normalized_loss(X, one.cluster_centers, domain) for one in runs])
    return runs[elbow(losses) - 1].cluster_centers


def by_table(trace: Trace, seed: int) -> np.ndarray:
    """Return the centers with the k of the elbow over a run's released table, which costs nothing more; km."""
    table = next(step.released for step in reversed(trace.steps) if "coreset_points" in step.released)
    points, weights = np.asarray(table["coreset_points"]), np.maximum(np.asarray(table["coreset_weights"]), 0.0)
    rng, every, losses = np.random.default_rng(seed), [], []
    for k in range(1, MOST + 1):
        centers = solve(points, weights, k, rng, jitter=0.01)
        losses.append(weights @ ((points[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1))
        every.append(centers)
    return trace.domain.denormalize(every[elbow(np.array(losses)) - 1])


def run(seed: int) -> Exhibit:
    """Choose k for 40 people without and with Alex, and privately for a town of 4,000 people."""
    rng = np.random.default_rng(seed)
    small, large = town(rng, FEW), town(rng, MANY)
    seeds, domain = range(RUNS * seed, RUNS * (seed + 1)), domain_of(large)
    budget: dict[str, Any] = {"epsilon": EPSILON}
    own = [
        [ALGORITHMS[slug](**budget).run(large, domain=domain, seed=one) for one in seeds]
        for slug in ("dpm", "dp-dbscan")
    ]
    best = ALGORITHMS["choose-k"](**budget, **{"k_max": MOST}).run(large, domain=domain, seed=seed)
    table = ALGORITHMS["eugkm"](n_clusters=4, **budget).run(large, domain=domain, seed=seed)
    centers = (
        by_rows(small), by_rows(np.vstack([small, ALEX])), *(traces[0].cluster_centers for traces in own),
        by_table(table, seed),
    )  # fmt: skip
    dpm, dbscan = (tuple(len(trace.cluster_centers) for trace in traces) for traces in own)
    found = tuple(map(len, centers))
    runs = Choices(small, large, found, centers, (dpm, dbscan), own[0][0])
    used = own[0][0].parameters
    spent = number(100 * (used["count_share"] + used["split_share"]), 2)
    people, many = len(small), f"{len(large):,}"
    private = f"{many} people, ε {number(EPSILON)}"
    titles = (
        f"{people} people, without noise · the elbow over their rows says k = {found[0]}",
        f"Alex joins, without noise · the elbow over {people + 1} rows says k = {found[1]}",
        f"DPM, {private} · finds {found[2]} clusters; in all, {_often(dpm)}; {spent}% of ε goes to this",
        f"DP-DBSCAN, {private} · finds {found[3]} regions; in all, {_often(dbscan)}",
        f"EUGkM's table, {private} · the elbow over the noisy table says k = {found[4]}, for free",
    )
    facts = {
        "people": people, "many": many, "without": found[0], "with": found[1],
        "dpm": _often(dpm), "dbscan": _often(dbscan), "table": found[4], "spent": spent,
        "chosen": len(best.cluster_centers), "saved": "third",
    }  # fmt: skip
    right = 2 if found[:2] == (4, 5) and found[4] == 4 else 0
    return Exhibit(facts, titles, frozenset({right}), first=1, hint=0, runs=runs)


def _often(ks: tuple[int, ...]) -> str:
    """Return how often a method found which number of clusters."""
    counts = sorted(Counter(ks).items())
    return f"{listed([f'k = {k} in {n}' for k, n in counts])} of {len(ks)} runs"


def panels(runs: Choices, colors: Theme) -> list[Panel]:
    """Return two panels: the people and centers of every way, and its k."""
    view = View(runs.trace, colors, (0, 1), NAMES, UNITS, hidden=True)
    people = [runs.small, np.vstack([runs.small, ALEX]), *[runs.large] * 3]
    title = f"{len(WAYS)} ways to a number of clusters"
    values = Values(
        f"k without Alex: {runs.found[0]}, with Alex: {runs.found[1]}", "k", WAYS, runs.found,
        list(map(str, runs.found)), private=True,
    )  # fmt: skip
    return [ways_panel(view, title, people, runs.centers, ALEX), values_panel(colors, values)]
