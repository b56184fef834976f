"""Describe a center in plain words: in which columns it is higher or lower than most people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.postprocessing.at_bound import bounds_words
from dpviz.postprocessing.released import center_noise
from dpviz.trace import Trace

__all__ = ["center_words", "ranks"]

LEAST = 0.05  # values count as equal if they differ by less than this share of a column's declared width
MOST = 3  # maximum number of columns named for a center


def ranks(trace: Trace) -> np.ndarray:
    """Return, for each center and column, shape (k, d), the share of rows clearly below minus the share clearly above.

    Every row counts with the values of its center. A difference is clear if it exceeds 5% of the declared width and, if
    the noise is known, twice its standard deviation. Shares follow from the noisy sizes or, if sizes are unknown, are
    equal for all centers.
    """
    centers, domain, noise = np.asarray(trace.cluster_centers), trace.domain, center_noise(trace)
    sizes = np.ones(len(centers)) if noise.sizes is None else np.maximum(noise.sizes, 0.0)
    share = sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(centers), 1 / len(centers))
    apart = centers[:, None] - centers[None]  # (k, k, d): first minus second
    least = np.broadcast_to(LEAST * (domain.high - domain.low), apart.shape)
    if noise.sd is not None:
        squares = (noise.sd * domain.half_width) ** 2
        least = np.maximum(least, 2 * np.sqrt(squares[:, None] + squares[None]))
    return np.einsum("ijd,j->id", (apart > least).astype(float) - (apart < -least), share)


def center_words(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> list[str]:
    """Return a phrase for each center, such as "higher petal length and lower sepal width than most".

    A center at a declared bound says so after that, see `at_bound.py`.
    """
    rank = ranks(trace)
    width = trace.domain.high - trace.domain.low
    middle = np.average(trace.cluster_centers, axis=0)
    phrases = []
    at = bounds_words(trace, columns, units)
    for center, row, bounds in zip(np.asarray(trace.cluster_centers), rank, at, strict=True):
        clear = np.flatnonzero(np.abs(row) > 0.5)
        clear = clear[np.argsort(-np.abs(center - middle)[clear] / width[clear], kind="stable")][:MOST]
        sides = (("higher", clear[row[clear] > 0]), ("lower", clear[row[clear] < 0]))
        words = [f"{word} {', '.join(columns[int(j)] for j in side)}" for word, side in sides if len(side)]
        text = " and ".join(words)
        phrase = f"{text} than most" if text else "like most, as far as one can tell through the noise"
        phrases.append(f"{phrase}; {bounds}" if bounds else phrase)
    return phrases
