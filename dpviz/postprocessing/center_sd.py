"""State the noise of centers that are averages, by formulas that use released values only.

A family that has a formula declares the noise in the step that gives its centers: `center_sd` (k, d), the standard
deviation per column in z units, and `center_noise`, the kind of that noise. Other families declare neither, because no
standard deviation describes the error of a center if noise decides which candidates win.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.geometry import bincount
from dpviz.trace import Trace

__all__ = [
    "AVERAGES",
    "BEST",
    "CELLS",
    "POINTS",
    "POOLED",
    "REGIONS",
    "UNKNOWN",
    "average_sd",
    "blurred",
    "declared",
    "lone",
    "members",
    "stated",
]

AVERAGES = "of the last noisy sums and counts"
BEST = "of one candidate's last noisy sums and counts; the best of several has less, and other runs find another k"
POOLED = "of all noisy Lloyd steps together; moves that noise alone would explain are damped"
REGIONS = "of the averages of the center's regions; another run also cuts the regions differently"
POINTS = "of the released points that are nearest to the center"
CELLS = "of the counts of the center's cells; where rows lie inside a cell is not known either"
_BLURRED = 0.65  # a warning appears if the averages' mean squared noise exceeds this share of the squared radius
_LONE = 1.3  # it also appears if the effective number of centers is below this; 5% false alarms (see cliffs.md)
UNKNOWN = (
    "This method states no noise per center: noise decides which candidates or cuts win, and no formula says how far "
    "away another run's centers would be."
)


def average_sd(
    centers: np.ndarray,
    weights: np.ndarray,
    weights_sd: np.ndarray | float,
    sums_sd: np.ndarray | float,
    *,
    origins: np.ndarray | float = 0.0,
    of: np.ndarray | None = None,
) -> np.ndarray:
    """Return the standard deviations (k, d), per column, of centers that are noisy sums divided by noisy weights.

    A center is the average of its parts i: c = sum_i (w_i o_i + S_i) / sum_i w_i, where S_i is a noisy sum of offsets
    from the origin o_i. To first order, the noise of a sum moves c by the noise divided by W = sum_i w_i, and the noise
    of a weight moves c by the noise times the distance of c from the origin, divided by W: var = sum_i (sums_sd_i^2 +
    (o_i - c)^2 weights_sd_i^2) / W^2.

    Parameters
    ----------
    centers : ndarray of shape (k, d), z units
    weights : ndarray of shape (m,), noisy; the W of a center is raised to at least 1
    weights_sd, sums_sd : ndarrays of shape (m,) or floats, standard deviations of the noise; for a sum, per column
    origins : ndarray of shape (m, d) or 0, origins of the sums
    of : ndarray of shape (m,), index of the center to which each part belongs; by default, each part is a center
    """
    k = len(centers)
    of = np.arange(k) if of is None else of
    away = np.broadcast_to(origins, (len(of), centers.shape[1])) - centers[of]
    weights_sd, sums_sd = (np.broadcast_to(sd, len(of))[:, None] for sd in (weights_sd, sums_sd))
    squares = sums_sd**2 + (away * weights_sd) ** 2
    total = np.maximum(bincount(of, weights, k), 1.0)
    return np.stack([np.sqrt(bincount(of, column, k)) / total for column in squares.T], axis=1)


def blurred(noisy_counts: np.ndarray, sd: np.ndarray, radius: float) -> bool:
    """Return whether the averages have noise about as large as the domain.

    Centers with few rows get little weight, and no center counts as moved by more than the radius of the domain.

    Parameters
    ----------
    noisy_counts : ndarray of shape (k,)
    sd : ndarray of shape (k, d), z units
    """
    noise = np.minimum((sd**2).sum(axis=1), radius**2)
    return bool(_shares(noisy_counts) @ noise > _BLURRED * radius**2)


def lone(noisy_counts: np.ndarray) -> bool:
    """Return whether nearly all rows belong to one center.

    This is the case if the inverse Simpson index of the noisy counts (k,), an effective number of centers, is below
    1.3.
    """
    return len(noisy_counts) > 1 and bool(1 / (_shares(noisy_counts) ** 2).sum() < _LONE)


def _shares(noisy_counts: np.ndarray) -> np.ndarray:
    weights = np.maximum(noisy_counts, 0) if (noisy_counts > 0).any() else np.ones(len(noisy_counts))
    return weights / weights.sum()


def members(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the index (m,) of the center nearest to every released point (m, d)."""
    return cdist(points, centers, "sqeuclidean").argmin(axis=1)


def declared(sd: np.ndarray, meaning: str) -> dict[str, Any]:
    """Return the entries by which a step declares the noise of its centers."""
    return {"center_sd": sd, "center_noise": meaning}


def stated(trace: Trace) -> np.ndarray | None:
    """Return the standard deviations (k, d), z units, that a run states for its centers; None if it states none."""
    if not trace.claimed.private:
        return None
    last = next(step for step in reversed(trace.steps) if "centers" in step.released)
    sd = last.released.get("center_sd")
    return None if sd is None else np.asarray(sd)
