"""The uncertainty of a mean over runs: its standard error and the half-width of its 95% interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

__all__ = ["margin_of_error", "margins_of_error", "standard_error"]


def standard_error(values: npt.ArrayLike) -> float:
    """Return the standard error of the mean of values, shape (runs,); NaN for a single value."""
    values = np.asarray(values, dtype=float)
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def margin_of_error(values: npt.ArrayLike) -> float:
    """Return the half-width of a 95% t-interval of the mean of values, shape (runs,); NaN for a single value."""
    values = np.asarray(values, dtype=float)
    sd = np.std(values, ddof=1) if len(values) > 1 else np.nan
    return float(margins_of_error([sd], [len(values)])[0])


def margins_of_error(sd: npt.ArrayLike, runs: npt.ArrayLike) -> np.ndarray:
    """Return the half-width of each mean's 95% interval, from the standard deviation of its runs; NaN for one run."""
    n = np.asarray(runs, dtype=float)
    return np.where(n > 1, student.ppf(0.975, np.maximum(n - 1, 1)) * np.asarray(sd) / np.sqrt(n), np.nan)
