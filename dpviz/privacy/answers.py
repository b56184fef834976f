"""The curator's answers: noisy values with standard deviations, keys, reports, and true statistics in DEMO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Hidden", "Noisy", "NoisyKeys", "Reports"]


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
