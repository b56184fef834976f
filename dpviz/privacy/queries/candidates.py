"""Candidates of a private choice: noisy Lloyd from public starts of several sizes, and the score that compares them."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.frozen import ReadOnly, freeze
from dpviz.geometry import clip_ball, fold, snap
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.sums import ClippedCost, NearestSums

__all__ = ["Candidates"]


@dataclasses.dataclass(frozen=True, eq=False)
class Candidates(ReadOnly):
    """Public facts about the candidates: each takes one of the starts and runs a fixed number of noisy Lloyd rounds.

    A candidate releases the sums and counts of every round and the clipped cost of its last centers, all with Gaussian
    noise. What it does between these releases depends on them and on public facts alone, and it never stops early.

    Parameters
    ----------
    starts : tuple of ndarrays of shape (k, d), on the grid; k differs from one start to another
    rounds : int
    half : ndarray of shape (d,), half-widths of the box
    radius : float, rows are clipped to this l2 norm before they are added
    reach : float, distances are clipped to it before they are squared and added to the cost
    shares : tuple of three floats that add up to at most 1, the shares of mu^2 of all sums, all counts and the cost
    """

    starts: tuple[np.ndarray, ...]
    rounds: int
    half: np.ndarray
    radius: float
    reach: float
    shares: tuple[float, float, float]
    reason: ClassVar[str] = (
        "one row changes one count by 1 and one sum by itself, clipped, in each round, and the cost by its squared "
        "distance, clipped"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "starts", freeze(self.starts))
        if not all((start == snap(start)).all() for start in self.starts):
            raise ValueError("Candidates: starts must lie on the 2^-24 grid; call geometry.snap.")
        if not all(share > 0 for share in self.shares) or math.fsum(self.shares) > 1 + 1e-12:
            raise ValueError(f"Candidates: shares must be > 0 and add up to at most 1; got {self.shares}.")

    def moved(self, centers: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the next centers (k, d): noisy means, folded into the box; a center with a count <= 1 stays."""
        alive = counts > 1
        means = np.where(alive[:, None], sums / np.where(alive, counts, 1.0)[:, None], centers)
        return clip_ball(fold(means, self.half), self.radius)

    def update(self, centers: np.ndarray) -> NearestSums:
        """Return the query of one round."""
        return NearestSums(centers, self.radius)

    def loss(self, centers: np.ndarray) -> ClippedCost:
        """Return the query for the cost of the last centers."""
        return ClippedCost(centers, self.reach)

    def score(self, k: int, cost: float) -> float:
        """Return the noisy cost times k^(2/d), the rate at which k-means' loss falls where rows have no groups."""
        return max(cost, 0.0) * k ** (2 / len(self.half))

    def units(self) -> dict[str, float]:
        """Return the standard deviation of each release's noise, as a multiple of the noise scale 1 / mu."""
        sums, counts, cost = self.shares
        return {
            "sums": self.radius / math.sqrt(sums / self.rounds),
            "counts": 1 / math.sqrt(counts / self.rounds),
            "cost": self.reach**2 / math.sqrt(cost),
        }

    def changes(self, neighboring: Neighboring) -> dict[str, float]:
        """Return the l2 sensitivity of each release, which is the same for all centers."""
        one = self.starts[0]
        cost = self.loss(one).sensitivity(2, neighboring)[""]
        return {**self.update(one).sensitivity(2, neighboring), "cost": cost}

    def sensitivity(self, neighboring: Neighboring) -> float:
        """Return the largest l2 change of all that one candidate releases, each release in its own unit."""
        times, units = {"sums": self.rounds, "counts": self.rounds, "cost": 1}, self.units()
        squares = (times[part] * (change / units[part]) ** 2 for part, change in self.changes(neighboring).items())
        return math.sqrt(math.fsum(squares))
