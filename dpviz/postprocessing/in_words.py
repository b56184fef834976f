"""Describe a center in plain words: in which columns it is higher or lower than most people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.numbers import listed
from dpviz.postprocessing.at_bound import bounds_words
from dpviz.postprocessing.released import center_noise
from dpviz.trace import Trace

__all__ = ["LIKE_MOST", "center_words", "standing"]

LEAST = 0.05  # values count as equal if they differ by less than this share of a column's declared width
MOST = 3  # maximum number of columns named for a center
LIKE_MOST = "like most, as far as one can tell through the noise"


def _shares(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of rows clearly below and clearly above each center in each column, shape (k, d) each.

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
    clear = (apart > least).astype(float), (apart < -least).astype(float)
    return np.einsum("ijd,j->id", clear[0], share), np.einsum("ijd,j->id", clear[1], share)


def standing(trace: Trace, columns: Sequence[str]) -> list[str]:
    """Return a phrase for each center, such as "higher petal length and lower sepal width than most".

    One of two centers is compared with the other. A center that is neither higher nor lower than most may lie between
    others that are clearly lower and clearly higher.
    """
    (below, above), centers = _shares(trace), np.asarray(trace.cluster_centers)
    width = trace.domain.high - trace.domain.low
    middle, two = np.average(centers, axis=0), len(centers) == 2
    phrases = []
    for center, row, amid in zip(centers, below - above, np.minimum(below, above), strict=True):
        clear = np.flatnonzero(np.abs(row) > (0 if two else 0.5))
        clear = clear[np.argsort(-np.abs(center - middle)[clear] / width[clear], kind="stable")][:MOST]
        sides = (("higher", clear[row[clear] > 0]), ("lower", clear[row[clear] < 0]))
        words = [f"{word} {listed([columns[int(j)] for j in side])}" for word, side in sides if len(side)]
        text = " and ".join(words)
        between = [columns[int(j)] for j in np.argsort(-amid, kind="stable")[:MOST] if amid[j] > 0]
        if text:
            phrases.append(f"{text} than {'the other' if two else 'most'}")
        else:
            phrases.append(f"between the others in {listed(between)}" if between else LIKE_MOST)
    return phrases


def center_words(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> list[str]:
    """Return the phrases of `standing`; a center at a declared bound says so after that, see `at_bound.py`."""
    pairs = zip(standing(trace, columns), bounds_words(trace, columns, units), strict=True)
    return [f"{phrase}; {bounds}" if bounds else phrase for phrase, bounds in pairs]
