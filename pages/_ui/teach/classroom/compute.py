"""Compute what a class needs: its points as a data set, the frames that phones mirror, local reports, the game."""

from __future__ import annotations

import dataclasses
import math
import secrets

import numpy as np

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.audits.game import Question, present
from dpviz.datasets import Dataset, load_sample
from dpviz.domain import Domain
from dpviz.figures import pane
from dpviz.figures.kit.shots import complete
from dpviz.postprocessing.verdict import Groups
from dpviz.privacy.local import OUE, flip_probability
from dpviz.privacy.noise import Secure
from dpviz.trace import Trace
from pages._ui.frame.words import on_screen

__all__ = [
    "ACROSS", "ALONG", "BESIDE", "COLUMNS", "HIGH", "LOCAL_EPSILON", "LOW", "METHODS", "NOBODY", "PhoneRun", "blurs",
    "cell_of", "cells", "data_of", "estimates", "frames_of", "game_of", "report",
]  # fmt: skip

LOW, HIGH = np.array([-12.0, -9.0]), np.array([12.0, 9.0])  # the town's map, in km
COLUMNS, UNITS = ("east", "north"), ("km", "km")
ACROSS, ALONG = 4, 3  # numbers of cells of a local report, across and along the map; each is a 6 km square
LOCAL_EPSILON = 2.0
METHODS = ("pe-means", "nsm", "fastlloyd", "dpm", "kmeans")
BESIDE = (0, 200, 1_000)  # choices for the number of made-up people added to the class
NOBODY = np.empty((0, 2))


@dataclasses.dataclass(frozen=True, eq=False)
class PhoneRun:
    """A run as the phones see it.

    Attributes
    ----------
    titles : the sentence of every frame
    centers : released centers at every frame, arrays (k', 2) in km
    data : data set of the run
    algorithm : algorithm of the run
    odds : maximum number of bets, out of 100, that an attacker wins
    private : bool, whether anything is promised; if not, the centers are exact, like those of KMeans
    groups : number of groups in the data; NOT PRIVATE
    groups_found : number of groups that got a center; NOT PRIVATE
    """

    titles: tuple[str, ...]
    centers: tuple[np.ndarray, ...]
    data: Dataset
    algorithm: Algorithm
    odds: int
    private: bool
    groups: int
    groups_found: int


def data_of(points: np.ndarray, beside: int, n_public: int, n_clusters: int) -> Dataset:
    """Return the points of a class (m, 2), together with made-up people, as a data set of this session alone.

    The lecturer declares `n_public`, so prices do not depend on the number of people who came.
    """
    town = load_sample("town").X
    chosen = np.random.default_rng(0).choice(len(town), beside, replace=False)
    X = np.vstack([points, town[np.sort(chosen)]])
    X.setflags(write=False)
    domain = Domain.box(LOW, HIGH, 2, scale="common", n_public=n_public, columns=COLUMNS, units=UNITS)
    came = f"{len(points)} point{'s' * (len(points) != 1)}"
    title = f"This class, {came}" + f", and {beside} made-up people" * bool(beside)
    return Dataset(X, COLUMNS, UNITS, domain, None, secrets.token_urlsafe(9), title, n_clusters=n_clusters)


def frames_of(trace: Trace, data: Dataset, groups: Groups) -> PhoneRun:
    """Return the phones' frames: the centers that each step has released, none before the first release."""
    how, titles, centers = pane(trace), [], []
    shots = how.shots(trace)
    for shot, done in zip(shots, complete(shots), strict=True):
        released = [step.released["centers"] for step in trace.steps[: done + 1] if "centers" in step.released]
        titles.append(on_screen(shot.sentence))
        centers.append(trace.domain.denormalize(np.asarray(released[-1])) if released else np.empty((0, 2)))
    centers[-1] = np.asarray(trace.cluster_centers)
    algorithm = ALGORITHMS[trace.algorithm](**trace.parameters)
    hits, private = groups.found_by(data.domain.normalize(trace.cluster_centers)), trace.claimed.private
    odds = trace.claimed.odds if private else 100
    return PhoneRun(tuple(titles), tuple(centers), data, algorithm, odds, private, len(hits), int(hits.sum()))


def cells() -> int:
    """Return the number of cells in a report."""
    return ACROSS * ALONG


def cell_of(x: float, y: float) -> int:
    """Return the number of a point's cell, counted row by row from the south-west."""
    share = (np.array([x, y]) - LOW) / (HIGH - LOW)
    column, row = np.clip((share * (ACROSS, ALONG)).astype(int), 0, (ACROSS - 1, ALONG - 1))
    return int(row * ACROSS + column)


def report(x: float, y: float) -> tuple[bool, ...]:
    """Return a phone's randomized report of its point: one bit per cell, each from its own secure coin."""
    bits = OUE(cells(), flip_probability(LOCAL_EPSILON)).reports(Secure(), np.array([cell_of(x, y)]))
    return tuple(bool(bit) for bit in bits[0])


def estimates(reports: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the number of people in each cell, estimated from reports (m, cells), and its standard deviation."""
    flip = flip_probability(LOCAL_EPSILON)
    counts = (reports.sum(axis=0) - len(reports) * flip) / (0.5 - flip)
    return counts, OUE(cells(), flip).sd(len(reports))


def blurs(people: int) -> tuple[float, float]:
    """Return the sd of a cell's number of people without a trusted server, and with one, at the same ε.

    Both hide one phone's point changed to any other. With a server, that moves one person from one cell to another, so
    the numbers change by 2 in all, and Laplace noise of scale 2/ε hides it.
    """
    return OUE(cells(), flip_probability(LOCAL_EPSILON)).sd(people), math.sqrt(2) * 2 / LOCAL_EPSILON


def game_of(run: PhoneRun, point: tuple[float, float]) -> Question:
    """Return the game's question: was the person at this point in the run's data?"""
    X, here = run.data.X, np.array(point)
    same = np.flatnonzero((here == X).all(axis=1))
    row = int(same[0]) if len(same) else None
    return present(run.algorithm, X, run.data.domain, run.data.n_public, here, row)
