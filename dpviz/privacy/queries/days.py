"""Derive the day on which a row arrives, by a public rule, from the row alone."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.privacy.block import Block
from dpviz.privacy.queries.base import Predicate

__all__ = ["ArrivesBefore", "arrival_days"]

ARRIVALS = ("scattered", "by first column")
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # splitmix64


def arrival_days(x: np.ndarray, half: float, days: int, arrivals: str) -> np.ndarray:
    """Return the day 0, 1, ..., days - 1 of every row, shape (n,); it follows from the row and public values alone.

    Parameters
    ----------
    x : ndarray of shape (n, d), on the 2^-24 grid
    half : half-width of the first column's bounds
    arrivals : "scattered" (a public hash of the row: as if people came in random order) or "by first column" (the first
        column is time, from its lower to its upper bound)
    """
    if arrivals == "by first column":
        day = np.floor((x[:, 0] + half) * (days / (2 * half))).astype(np.int64)
        return np.clip(day, 0, days - 1)
    code = np.zeros(len(x), dtype=np.uint64)
    for column in x.T:
        code = (code + np.rint(column * 2.0**24).astype(np.int64).astype(np.uint64)) * _MIX[0]
        code = (code ^ (code >> np.uint64(30))) * _MIX[1]
        code = (code ^ (code >> np.uint64(27))) * _MIX[2]
        code ^= code >> np.uint64(31)
    return (code % np.uint64(days)).astype(np.int64)


@dataclasses.dataclass(frozen=True, eq=False)
class ArrivesBefore(Predicate):
    """Part 0: rows that arrive before a day; part 1: all other rows.

    Parameters
    ----------
    day : int, the day, counted from 0
    days : int, the number of days
    half, arrivals : as for `arrival_days`
    """

    day: int
    days: int
    half: float
    arrivals: str

    def assign(self, block: Block) -> np.ndarray:
        return (arrival_days(block.x, self.half, self.days, self.arrivals) >= self.day).astype(np.int64)
