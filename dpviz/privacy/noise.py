"""The only way to noise. Every additive noise value lies on the 2^-24 grid, so sums stay exact."""

from __future__ import annotations

import bisect
import itertools
import math
import os
import secrets
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from dpviz.geometry import GRID, snap

__all__ = ["COIN", "Noise", "Secure", "Seeded", "caution"]

COIN = 2**40  # probabilities of coins are whole multiples of 1 / COIN, so that coins are exact
_COINS = 4_000_000  # maximum number of coins held at a time


class Noise(Protocol):
    """The distributions that a noise source can draw from."""

    reproducible: bool

    @property
    def sampler(self) -> str:
        """Name what draws all noise but coins, for a run's label."""
        ...

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Gaussians of standard deviation `sd` on the grid."""
        ...

    def laplace(self, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Laplace values of scale `scale` on the grid."""
        ...

    def integer(self, below: int) -> int:
        """Draw one of 0, ..., below - 1 uniformly."""
        ...

    def weighted(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight, a whole number of any length."""
        ...

    def gumbel_argmax(self, utilities: np.ndarray, scale: float) -> int:
        """Return the index of the largest utility + Gumbel noise of scale `scale`; -inf never wins."""
        ...

    def permutation(self, n: int) -> np.ndarray:
        """Draw a uniformly random order of n items, shape (n,)."""
        ...

    def coins(self, probabilities: np.ndarray) -> np.ndarray:
        """Draw one independent coin per probability (a whole multiple of 2^-40), True with that probability."""
        ...

    def binomial(self, counts: np.ndarray, probability: float) -> np.ndarray:
        """Draw the number of heads in `counts` independent coins with this probability (a multiple of 2^-40)."""
        ...


class Seeded:
    """numpy's generator: reproducible, for DEMO only, because anyone who knows the seed can subtract the noise.

    Floating-point Gaussians are rounded to the grid (to nearest), which is post-processing of their sum with a
    statistic that lies on the grid; the tails and gaps of double-precision sampling remain a documented limit.
    """

    reproducible = True
    sampler = "a seeded generator, which everybody can repeat"

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Gaussians of standard deviation `sd` on the grid."""
        return snap(self._rng.normal(0.0, sd, shape))

    def laplace(self, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Laplace values of scale `scale` on the grid."""
        return snap(self._rng.laplace(0.0, scale, shape))

    def integer(self, below: int) -> int:
        """Draw one of 0, ..., below - 1 uniformly."""
        return int(self._rng.integers(below))

    def weighted(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight, to within rounding."""
        whole = sum(weights)
        return int(self._rng.choice(len(weights), p=[weight / whole for weight in weights]))

    def gumbel_argmax(self, utilities: np.ndarray, scale: float) -> int:
        """Return the index of the largest utility + Gumbel noise of scale `scale`; -inf never wins."""
        return int(np.argmax(utilities + self._rng.gumbel(0.0, scale, utilities.shape)))

    def permutation(self, n: int) -> np.ndarray:
        """Draw a uniformly random order of n items, shape (n,)."""
        return self._rng.permutation(n)

    def coins(self, probabilities: np.ndarray) -> np.ndarray:
        """Draw one independent coin per probability (a whole multiple of 2^-40), True with that probability."""
        return self._rng.integers(0, COIN, probabilities.shape) < probabilities * COIN

    def binomial(self, counts: np.ndarray, probability: float) -> np.ndarray:
        """Draw the number of heads in `counts` independent coins with this probability (a multiple of 2^-40)."""
        return self._rng.binomial(counts, probability)


@cache
def _samplers() -> Any:
    """Return the module with OpenDP's samplers if OpenDP is installed, else that with ours: the same in all runs."""
    try:
        from dpviz.privacy import from_opendp

        return from_opendp
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "opendp":
            raise
        from dpviz.privacy import exact

        return exact


def caution() -> str:
    """Return a sentence about the samplers of a private run if they are not OpenDP's, else ""."""
    if _samplers().__name__.endswith("from_opendp"):
        return ""
    return "OpenDP is not installed here: where this method adds noise, dpviz's own exact samplers drew it."


class Secure:
    """Exact samplers, without a seed, on the operating system's randomness, for private releases.

    A Gaussian is drawn as an integer-valued discrete Gaussian in units of the grid, even for counts, because on whole
    numbers a discrete Gaussian with a small standard deviation costs more than the continuous one that the plan
    accounts for.
    """

    reproducible = False

    @property
    def sampler(self) -> str:
        """Name whose samplers draw, which are the same in all runs of a process."""
        return str(_samplers().NAME)

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent discrete Gaussians of standard deviation `sd` on the grid."""
        draws = _samplers().gaussian(sd / GRID, math.prod(shape))
        return np.array(draws, dtype=np.float64).reshape(shape) * GRID

    def laplace(self, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent discrete Laplace values of scale `scale` on the grid."""
        draws = _samplers().laplace(scale / GRID, math.prod(shape))
        return np.array(draws, dtype=np.float64).reshape(shape) * GRID

    def integer(self, below: int) -> int:
        """Draw one of 0, ..., below - 1 uniformly."""
        return secrets.randbelow(below)

    def weighted(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight, a whole number of any length."""
        return bisect.bisect_right(list(itertools.accumulate(weights)), secrets.randbelow(sum(weights)))

    def gumbel_argmax(self, utilities: np.ndarray, scale: float) -> int:
        """Return the index of the largest utility + Gumbel noise of scale `scale`; -inf never wins."""
        open_to_choice = np.flatnonzero(np.isfinite(utilities))
        return int(open_to_choice[_samplers().choose(utilities[open_to_choice].tolist(), scale)])

    def permutation(self, n: int) -> np.ndarray:
        """Draw an order of n items by sorting random 64-bit keys, which are redrawn until all differ."""
        while True:
            keys = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
            if len(np.unique(keys)) == n:
                return np.argsort(keys, kind="stable")

    def coins(self, probabilities: np.ndarray) -> np.ndarray:
        """Draw one independent coin per probability (a whole multiple of 2^-40), True with that probability."""
        words = np.frombuffer(os.urandom(8 * probabilities.size), dtype=np.uint64) >> np.uint64(64 - 40)
        return words.reshape(probabilities.shape) < probabilities * COIN

    def binomial(self, counts: np.ndarray, probability: float) -> np.ndarray:
        """Draw the number of heads in `counts` independent coins with this probability, by tossing all of them."""
        successes = np.zeros(counts.shape, dtype=np.int64)
        for index, count in np.ndenumerate(counts):
            for start in range(0, int(count), _COINS):
                successes[index] += int(self.coins(np.full(min(_COINS, int(count) - start), probability)).sum())
        return successes
