"""Provide the parts that lessons share: a public sample, KMeans' centers on it, its groups, and measures of a run."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset, load
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import View
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.bet import odds_of_any
from dpviz.postprocessing.verdict import Groups, groups_of
from dpviz.privacy.guarantee import Guarantee
from dpviz.trace import Trace

__all__ = ["Ground", "Runs", "ground", "odds", "same_for_all"]


@dataclasses.dataclass(frozen=True, eq=False)
class Ground:
    """A public data set with its reference centers and groups; NOT PRIVATE.

    Attributes
    ----------
    data : the rows with their declared public facts
    reference : ndarray of shape (k, d), KMeans' centers, original units
    loss : KMeans' normalized loss
    groups : the declared groups if there are k of them, else those of KMeans
    """

    data: Dataset
    reference: np.ndarray
    loss: float
    groups: Groups

    def algorithm(self, slug: str, **parameters: Any) -> Algorithm:
        """Return an algorithm with the data's number of centers and these parameters."""
        return ALGORITHMS[slug](**{"n_clusters": self.data.n_clusters, **parameters})

    def run(self, slug: str, seed: int, **parameters: Any) -> Trace:
        """Run an algorithm on the rows."""
        data = self.data
        return self.algorithm(slug, **parameters).run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)

    def ratio(self, centers: np.ndarray) -> float:
        """Return the loss of centers (k', d), original units, as a multiple of KMeans' loss."""
        return normalized_loss(self.data.X, centers, self.data.domain) / self.loss

    def found(self, centers: np.ndarray) -> int:
        """Return how many groups have one of these centers (k', d), original units, within their radius."""
        return int(self.mask(centers).sum())

    def mask(self, centers: np.ndarray) -> np.ndarray:
        """Return a mask (g,) of the groups that these centers find."""
        return self.groups.found_by(self.data.domain.normalize(centers))

    def view(self, trace: Trace, colors: Theme, *, kmeans: bool = False) -> View:
        """Return the view of a run on the rows; `kmeans` adds KMeans' centers."""
        data = self.data
        reference = self.reference if kmeans else None
        return View(trace, colors, data.view, data.columns, data.units, data.X, reference, hidden=True, noun=data.noun)


@cache
def ground(name: str) -> Ground:
    """Return a public data set by name; it is read only once."""
    data = load(name)
    kmeans = KMeans(n_clusters=data.n_clusters).run(data.X, domain=data.domain, seed=0).cluster_centers
    groups = groups_of(data.X, data.domain, kmeans, data.groups)
    return Ground(data, kmeans, normalized_loss(data.X, kmeans, data.domain), groups)


@dataclasses.dataclass(frozen=True, eq=False)
class Runs:
    """Several runs on one data set."""

    ground: Ground
    traces: tuple[Trace, ...]

    @property
    def ratios(self) -> list[float]:
        """Return the loss of every run as a multiple of KMeans' loss."""
        return [self.ground.ratio(trace.cluster_centers) for trace in self.traces]


def odds(promise: Guarantee) -> str:
    """State how often a bet on one person can be right: against this method, and against any with the same ε and δ."""
    return f"{promise.person.odds} times in 100 ({same_for_all(promise)})"


def same_for_all(promise: Guarantee) -> str:
    """State how often a bet on one person can be right against any method with the same ε and δ."""
    any_, delta = odds_of_any(promise), " and δ" * bool(promise.delta)
    here = "the same as against" if any_ == promise.person.odds else "against"
    return f"{here} any method with this ε{delta}" + f": {any_}" * (any_ != promise.person.odds)
