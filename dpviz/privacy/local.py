"""Randomizers of the local model: every answer is randomized before it is sent, so that nobody is trusted with a row.

Every report is epsilon-DP by itself: no report is more than e^epsilon times as likely under one true answer as under
another. `flip` is the probability that a bit is flipped, 1 / (1 + e^epsilon) rounded up to a whole multiple of 2^-40,
so that coins with that probability can be drawn exactly.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Protocol

import numpy as np

from dpviz.geometry import bincount
from dpviz.privacy.noise import COIN, Noise

__all__ = ["ORACLES", "OUE", "Hadamard", "OneBit", "Randomizer", "flip_probability", "public_hash", "transform"]


def flip_probability(epsilon: float) -> float:
    """Return the smallest multiple of 2^-40 that is at least 1 / (1 + e^epsilon)."""
    return math.ceil(COIN / (1 + math.exp(epsilon))) / COIN


def public_hash(seed: int, ids: np.ndarray, salt: int = 0) -> np.ndarray:
    """Return 64 public pseudorandom bits per id, in the shape of `ids` (splitmix64), which anybody can recompute."""
    with np.errstate(over="ignore"):
        z = np.asarray(ids).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed % 2**64) ^ (np.uint64(salt) * np.uint64(0xD1B54A32D192ED03))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        z = (z + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        return z ^ (z >> np.uint64(29))


class Randomizer(Protocol):
    """Interface of the randomizers that the curator uses: frozen dataclasses with a field `flip`."""

    def gather(self, noise: Noise, answers: np.ndarray, ids: np.ndarray, shown: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (unbiased estimates, the reports of the first `shown` people)."""
        ...

    def sd(self, users: int) -> float:
        """Return the standard deviation of the estimate for an answer that nobody gave."""
        ...


@dataclasses.dataclass(frozen=True)
class OUE:
    """Optimized unary encoding (Wang et al. 2017): one bit per category; the true category's is 1 with probability 1/2.

    Parameters
    ----------
    size : int, number of categories K
    flip : float, probability of a 1 in any other bit
    seed : int, not used
    """

    size: int
    flip: float
    seed: int = 0

    def reports(self, noise: Noise, answers: np.ndarray) -> np.ndarray:
        """Return every person's bits, shape (n, K), bool.

        Two answers differ in the distribution of two bits, whose likelihood ratio is at most (1 - flip) / flip.
        """
        probabilities = np.where(answers[:, None] == np.arange(self.size), 0.5, self.flip)
        return noise.coins(probabilities)

    def gather(self, noise: Noise, answers: np.ndarray, ids: np.ndarray, shown: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (estimated counts (K,), real reports of the first people (shown, K)).

        All bits are independent, so the sum of the other people's reports is drawn from binomials, which is exactly its
        distribution.
        """
        sample = self.reports(noise, answers[:shown])
        counts = bincount(answers[shown:], minlength=self.size)
        ones = noise.binomial(counts, 0.5) + noise.binomial(counts.sum() - counts, self.flip)
        return (ones + sample.sum(axis=0) - len(answers) * self.flip) / (0.5 - self.flip), sample

    def sd(self, users: int) -> float:
        """Return sqrt(n flip (1 - flip)) / (1/2 - flip) = sqrt(4 n e^eps) / (e^eps - 1)."""
        return math.sqrt(users * self.flip * (1 - self.flip)) / (0.5 - self.flip)


@dataclasses.dataclass(frozen=True)
class Hadamard:
    """Hadamard response: a person sends one noisy bit, the answer's entry in a public random row of the matrix.

    Parameters
    ----------
    size : int, number of categories K
    flip : float, probability that the bit is flipped
    seed : int, seed of the public hash that gives every person a row
    """

    size: int
    flip: float
    seed: int = 0

    @property
    def rows(self) -> int:
        """Return the size of the matrix, the first power of two above K (row and column 0 carry no information)."""
        return 2 ** max(1, math.ceil(math.log2(self.size + 1)))

    def reports(self, noise: Noise, answers: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (public row of every person (n,), bits (n,) bool: True for +1)."""
        row = (public_hash(self.seed, ids) % np.uint64(self.rows)).astype(np.int64)
        positive = _parity(row & (answers + 1)) == 0
        return row, noise.coins(np.where(positive, 1 - self.flip, self.flip))

    def gather(self, noise: Noise, answers: np.ndarray, ids: np.ndarray, shown: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (estimated counts (K,), (row, bit) of the first people (shown, 2))."""
        row, bits = self.reports(noise, answers, ids)
        sums = bincount(row, weights=np.where(bits, 1.0, -1.0), minlength=self.rows)
        sample = np.column_stack([row[:shown], bits[:shown]])
        return transform(sums)[1 : self.size + 1] / (1 - 2 * self.flip), sample

    def sd(self, users: int) -> float:
        """Return sqrt(n) (e^eps + 1) / (e^eps - 1)."""
        return math.sqrt(users) / (1 - 2 * self.flip)


@dataclasses.dataclass(frozen=True)
class OneBit:
    """One bit for a number v in [-1, 1]: +1 with probability 1/2 + v (1/2 - flip), else -1.

    Parameters
    ----------
    flip : float, probability of the less likely bit at v = 1 or -1
    """

    flip: float

    def probabilities(self, answers: np.ndarray) -> np.ndarray:
        """Return the probability of +1 per person, a multiple of 2^-40 in [flip, 1 - flip]."""
        exact = np.rint((0.5 + answers * (0.5 - self.flip)) * COIN) / COIN
        return np.clip(exact, self.flip, 1 - self.flip)

    def gather(self, noise: Noise, answers: np.ndarray, ids: np.ndarray, shown: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (every person's unbiased estimate of their own number (n,), bits of the first people (shown,))."""
        bits = noise.coins(self.probabilities(answers))
        return np.where(bits, 1.0, -1.0) / (1 - 2 * self.flip), bits[:shown]

    def sd(self, users: int) -> float:
        """Return the standard deviation of the sum of n such estimates, at v = 0: sqrt(n) (e^eps + 1) / (e^eps - 1)."""
        return math.sqrt(users) / (1 - 2 * self.flip)


ORACLES: dict[str, type[OUE] | type[Hadamard]] = {"oue": OUE, "hadamard": Hadamard}


def transform(values: np.ndarray) -> np.ndarray:
    """Return the Walsh-Hadamard transform sum_j (-1)^popcount(i & j) values_j of 2^m values."""
    out = np.array(values, dtype=np.float64)
    half = 1
    while half < len(out):
        pairs = out.reshape(-1, 2, half)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return out


def _parity(bits: np.ndarray) -> np.ndarray:
    return np.bitwise_count(bits.astype(np.uint64)) % 2
