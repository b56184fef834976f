"""Read a noisy second moment: in which directions rows spread, and which shape of noise matches that spread."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpviz.geometry import clip_ball, snap
from dpviz.privacy.curator import Noisy

__all__ = ["Leftover", "Shape", "Spread", "leftover", "symmetric"]

_LEAST = 1e-3  # each direction gets at least this share of the largest variance
_DRAWS = 8_000  # maximum number of simulated rows
# Number of simulated rows that are compared with all candidates at a time, so few that they fit into the cache.
_BLOCK = 100


def symmetric(moment: Noisy) -> np.ndarray:
    """Return a noisy second moment made symmetric, because the true moment is symmetric."""
    return (moment.value + moment.value.T) / 2


@dataclasses.dataclass(frozen=True)
class Spread:
    """How far rows spread around a center in each direction.

    Attributes
    ----------
    variances : ndarray of shape (p,)
    directions : ndarray of shape (p, p), one direction per column
    total : float, mean squared distance
    """

    variances: np.ndarray
    directions: np.ndarray
    total: float

    @classmethod
    def of(cls, noisy: np.ndarray, sd: float, n_rows: float, reach: float) -> Spread:
        """Return the spread that underlies a symmetric noisy second moment, debiased as a spiked matrix.

        Eigenvalues y below the bulk 2 sqrt(e2), e2 = p sd^2 / 2, carry no information; above the bulk, the signal is l
        = (y + sqrt(y^2 - 4 e2)) / 2, of which the share 1 - e2 / l^2 lies along the measured direction.
        """
        p = len(noisy)
        values, directions = np.linalg.eigh(noisy)
        e2 = p * sd * sd / 2
        signal = np.where(values > 2 * math.sqrt(e2), (values + np.sqrt(np.maximum(values**2 - 4 * e2, 0.0))) / 2, 0.0)
        aside = np.divide(e2, signal, out=np.zeros_like(signal), where=signal > 0)
        effective = np.maximum(signal - aside, 0.0)
        total = float(np.clip(np.trace(noisy), sd * math.sqrt(p), n_rows * reach**2))
        variances = (effective + max(total - effective.sum(), 0.02 * total) / p) / n_rows
        variances *= min(1.0, total / n_rows / variances.sum())
        return cls(variances, directions, total / n_rows)

    def draw(self, n: int, reach: float, rng: np.random.Generator) -> np.ndarray:
        """Draw n points (n, p) that spread like the rows, clipped to a ball and on the grid."""
        rows = rng.normal(size=(n, len(self.variances))) * np.sqrt(self.variances)
        return clip_ball(snap(rows @ self.directions.T), reach)


@dataclasses.dataclass(frozen=True)
class Shape:
    """Linear map of offsets under which equal noise in all columns distorts the sum of the offsets least.

    If offsets have the variances w, stretching them by w^(-1/4) minimizes the sum of the noise's variances for a
    clipping radius proportional to the root mean square of the stretched offsets; the map is scaled to keep the mean
    square, sum a^2 w = sum w.

    Attributes
    ----------
    directions : ndarray of shape (d, d), one direction per column
    stretch : ndarray of shape (d,), the factors a
    """

    directions: np.ndarray
    stretch: np.ndarray

    @classmethod
    def of(cls, variances: np.ndarray, directions: np.ndarray) -> Shape:
        """Return the shape for offsets with these variances along these directions."""
        w = np.maximum(variances, _LEAST * variances.max())
        a = w**-0.25
        return cls(directions, a * math.sqrt(float(w.sum() / (a * a * w).sum())))

    @property
    def matrix(self) -> np.ndarray:
        """Return the matrix of the map; offsets are mapped by offsets @ matrix."""
        return self.directions * self.stretch

    @property
    def widths(self) -> np.ndarray:
        """Return the standard deviation in each column (d,), after `undo`, of noise with standard deviation 1."""
        return np.sqrt(((self.directions / self.stretch) ** 2).sum(axis=1))

    def undo(self, stretched: np.ndarray) -> np.ndarray:
        """Return stretched offsets (..., d) mapped back to the original columns."""
        return (stretched / self.stretch) @ self.directions.T


@dataclasses.dataclass(frozen=True)
class Leftover:
    """The part of the rows that candidates do not explain, by direction: a row x is about explained * candidate.

    Attributes
    ----------
    explained : ndarray of shape (p,), in [0, 1]
    variances : ndarray of shape (p,), variances of what is not explained
    """

    explained: np.ndarray
    variances: np.ndarray


def leftover(spread: Spread, candidates: np.ndarray, reach: float, rng: np.random.Generator) -> Leftover:
    """Simulate rows from the released spread, and regress them on their nearest candidates, at no cost.

    If candidates explain too little, `explained` is 0, so that offsets are taken from zero.
    """
    m, p = min(20 * len(candidates), _DRAWS), len(spread.variances)
    seen = candidates @ spread.directions
    rows = rng.normal(size=(m, p)) * np.sqrt(spread.variances)
    rows *= np.minimum(1.0, reach / np.maximum(np.linalg.norm(rows, axis=1), 1e-300))[:, None]
    squares, doubled = (seen**2).sum(axis=1), np.ascontiguousarray(-2 * seen.T)
    nearest = np.empty(m, dtype=np.intp)
    for start in range(0, m, _BLOCK):
        scores = rows[start : start + _BLOCK] @ doubled
        scores += squares
        nearest[start : start + _BLOCK] = scores.argmin(axis=1)
    at = seen[nearest]
    explained = np.clip((rows * at).sum(axis=0) / np.maximum((at * at).sum(axis=0), 1e-300), 0, 1)
    # factor 1.5: real rows are not Gaussian, so candidates explain them less well than they explain simulated rows
    variances = np.minimum(1.5 * ((rows - explained * at) ** 2).mean(axis=0), spread.variances)
    if variances.sum() > 0.6 * spread.variances.sum():
        return Leftover(np.zeros(p), spread.variances)
    return Leftover(explained, variances)
