"""Locate one person by noisy sums and counts of Lloyd's rounds, as somebody can who knows everybody else.

Without the other rows, every published sum and count is noise, except for one cluster in each round, to which the
person adds a row. How likely each place is follows from the noise alone, so the attack weakens as the noise grows. This
is the attacker whom differential privacy assumes; nothing of the person's row is used.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from dpviz.audits.reconstruct import Publication
from dpviz.domain import Domain
from dpviz.geometry import bincount

__all__ = ["Belief", "belief", "blind", "evidence", "without"]

_SIDE = 64  # number of places along each side of a grid
_LOST = 1e-4  # share of the belief outside a smaller box to which the search zooms in
_SMALLER = 0.7  # a box is smaller if its sides are at most this long, relative to the previous box


@dataclasses.dataclass(frozen=True, eq=False)
class Belief:
    """Places (m, d), z units, at which the attacker believes the person to be, with weights (m,) that add up to 1."""

    places: np.ndarray
    weights: np.ndarray

    def off(self, place: np.ndarray) -> float:
        """Return the distance, in z units, within which half of the belief lies around a place (d,)."""
        away = np.linalg.norm(self.places - place, axis=1)
        order = np.argsort(away)
        return float(away[order][np.searchsorted(np.cumsum(self.weights[order]), 0.5 - 1e-12)])

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return `count` places (count, d) that are drawn with the belief's weights."""
        return self.places[rng.choice(len(self.places), count, p=self.weights)]


def blind(domain: Domain) -> Belief:
    """Return the belief of somebody who knows only the public bounds."""
    places = _grid(-domain.box_z, np.array(domain.box_z))
    return Belief(places, np.full(len(places), 1 / len(places)))


def _grid(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return places (_SIDE^d, d) that fill a box."""
    axes = [np.linspace(*ends, _SIDE) for ends in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def without(rounds: Sequence[Publication], others: np.ndarray) -> list[Publication]:
    """Return the rounds with the rows of everybody else (n - 1, d), z units, taken off their sums and counts."""
    left = []
    for one in rounds:
        nearest, k = cKDTree(one.centers).query(others)[1], len(one.centers)
        sums = np.stack([bincount(nearest, column, minlength=k) for column in others.T], axis=1)
        left.append(dataclasses.replace(one, sums=one.sums - sums, counts=one.counts - bincount(nearest, minlength=k)))
    return left


def evidence(left: Sequence[Publication], places: np.ndarray) -> np.ndarray:
    """Return ln(chance of these values with a row at a place / chance without the row), shape (m,), for places (m, d).

    The noise is Laplace noise, as in DP-Lloyd and SuLloyd; unknown sums count for nothing.
    """
    total = np.zeros(len(places))
    for one in left:
        own = cKDTree(one.centers).query(places)[1]
        sums, counts = one.sums[own], one.counts[own]
        total += (np.abs(counts) - np.abs(counts - 1)) * math.sqrt(2) / one.counts_sd
        gained = (np.abs(sums) - np.abs(sums - places)).sum(axis=1) * math.sqrt(2) / one.sums_sd
        total += np.where(np.isnan(gained), 0.0, gained)
    return total


def belief(left: Sequence[Publication], domain: Domain) -> Belief:
    """Return where somebody must believe the person to be who knew only the public bounds, a plane, and then `left`.

    The belief is computed on a grid, and on a finer grid as long as nearly all of it lies in a smaller box. Without
    noise a single place remains.

    Raises
    ------
    ValueError
        If the data have more than two columns, or the rounds without noise reveal no row.
    """
    if domain.n_features > 2:
        raise ValueError(f"locate: a grid needs at most 2 columns; these data have {domain.n_features}.")
    if not left[0].counts_sd:
        rows = [one.sums[j] for one in left for j in np.flatnonzero(np.rint(one.counts) == 1)]
        known = [row for row in rows if np.isfinite(row).all()]
        if not known:
            raise ValueError("locate: these rounds reveal no sum of the person's cluster.")
        return Belief(known[0][None], np.ones(1))
    low, high = -domain.box_z, np.array(domain.box_z)
    while True:
        places = _grid(low, high)
        logs = evidence(left, places)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        order = np.argsort(-weights)
        kept = places[order[: 1 + np.searchsorted(np.cumsum(weights[order]), 1 - _LOST)]]
        step = (high - low) / (_SIDE - 1)
        inner = np.maximum(kept.min(axis=0) - step, low), np.minimum(kept.max(axis=0) + step, high)
        if ((inner[1] - inner[0]) > _SMALLER * (high - low)).any():
            return Belief(places, weights)
        low, high = inner
