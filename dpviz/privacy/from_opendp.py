"""Draw exact discrete noise with OpenDP's samplers, which the operating system seeds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import opendp.prelude as dp

__all__ = ["NAME", "choose", "gaussian", "laplace"]

NAME = f"exact samplers of OpenDP {version('opendp')}"

dp.enable_features("contrib")


def gaussian(sd: float, n: int) -> list[int]:
    """Draw n whole numbers x with probabilities proportional to exp(-x^2 / (2 sd^2))."""
    return _gaussian(sd)([0] * n)


def laplace(scale: float, n: int) -> list[int]:
    """Draw n whole numbers x with probabilities proportional to exp(-|x| / scale)."""
    return _laplace(scale)([0] * n)


def choose(utilities: Sequence[float], scale: float) -> int:
    """Return an index i with probability proportional to exp(utilities[i] / scale); all utilities are finite."""
    return int(_noisy_max(scale)(list(utilities)))


@lru_cache(maxsize=256)
def _gaussian(sd: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=sd)


@lru_cache(maxsize=256)
def _laplace(scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


@lru_cache(maxsize=256)
def _noisy_max(scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.linf_distance(T="f64")
    return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
