"""The only place where noise is drawn. Every additive noise value lies on the grid 2^-24, so sums stay exact."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import opendp.prelude as dp

from dpviz.geometry import GRID, snap

__all__ = ["Noise", "Secure", "Seeded"]

dp.enable_features("contrib")


class Noise(Protocol):
    """What a noise source can draw."""

    reproducible: bool

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Gaussians of standard deviation `sd` on the grid."""
        ...


class Seeded:
    """numpy's generator: reproducible, for DEMO only, because whoever knows the seed can subtract the noise.

    Floating-point Gaussians are rounded to the grid (to nearest), which is post-processing of their sum with a
    statistic that lies on the grid; the tails and gaps of double-precision sampling remain a documented limit.
    """

    reproducible = True

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent centered Gaussians of standard deviation `sd` on the grid."""
        return snap(self._rng.normal(0.0, sd, shape))


class Secure:
    """OpenDP's exact samplers on operating-system randomness, for private releases. There is no seed.

    A Gaussian is drawn as an integer discrete Gaussian in units of the grid, counts included: on whole numbers the
    discrete Gaussian of a small standard deviation costs more than the continuous one that the plan accounts for.
    """

    reproducible = False

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw independent discrete Gaussians of standard deviation `sd` on the grid."""
        measurement = _discrete_gaussian(sd / GRID)
        return np.array(measurement([0] * math.prod(shape)), dtype=np.float64).reshape(shape) * GRID


@lru_cache(maxsize=256)
def _discrete_gaussian(scale: float) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=scale)
