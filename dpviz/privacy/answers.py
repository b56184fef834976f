"""The curator's answers: noisy values with standard deviations, keys, reports, and true statistics in DEMO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Chosen", "Hidden", "Noisy", "NoisyKeys", "Reports"]


class Chosen(NamedTuple):
    """The best candidate of a private choice, with all that it released; of the others nothing exists outside DEMO.

    Attributes
    ----------
    start : index of its public start
    centers : the start and the centers after every round, each of shape (k, d), z units
    sums, counts : noisy sums (k, d) and noisy counts (k,) of every round
    cost : its noisy cost, the clipped squared distances added up
    sd : standard deviation of the noise in "sums", "counts" and "cost"
    """

    start: int
    centers: tuple[np.ndarray, ...]
    sums: tuple[np.ndarray, ...]
    counts: tuple[np.ndarray, ...]
    cost: float
    sd: Mapping[str, float]


class Hidden(NamedTuple):
    """A true statistic behind a release, which exists in DEMO runs only and is NOT PRIVATE."""

    label: str
    scope: int
    statistic: Mapping[str, np.ndarray]


class Noisy(NamedTuple):
    """A released statistic.

    Attributes
    ----------
    value : ndarray, or a dict from part to ndarray if the query has several parts
    sd : standard deviation of the noise, a float or a dict with the same parts
    """

    value: Any
    sd: Any


class NoisyKeys(NamedTuple):
    """Released keys of a sparse histogram.

    Attributes
    ----------
    keys : ndarray of shape (m, p), int64
    counts : ndarray of shape (m,), noisy, whole numbers, >= threshold
    sd : standard deviation of the noise, the same for every count
    threshold : counts below it are not released; the same for every key
    """

    keys: np.ndarray
    counts: np.ndarray
    sd: float
    threshold: float


class Reports(NamedTuple):
    """The sum of many people's randomized reports.

    Attributes
    ----------
    value : ndarray, unbiased estimates
    sd : float, standard deviation of the estimate for an answer that nobody gave
    users : int, number of people who reported; public, because groups follow from public numbers
    sample : ndarray, a few people's reports as sent, one per row
    """

    value: np.ndarray
    sd: float
    users: int
    sample: np.ndarray
