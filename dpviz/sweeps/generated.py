"""Generated benchmark sets: the papers' recipes by name. These sets are public by construction."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_blobs

from dpviz.datasets import Dataset
from dpviz.domain import Domain

__all__ = ["RECIPES", "Recipe", "generated", "unequal_clusters"]

Labelled = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Recipe for a family of generated data sets.

    Attributes
    ----------
    pattern : pattern of the names; the numbers in a name are the arguments of `make`
    make : function that turns the numbers into rows (n, d) and labels (n,)
    words : description
    box : half-width of the declared box, or None for the smallest box around the data (NOT PRIVATE)
    """

    pattern: str
    make: Callable[..., Labelled]
    words: str
    box: float | None = None


def unequal_clusters(k: int, d: int, seed: int, n: int = 10_000) -> Labelled:
    """Return n rows: k normal clusters of sizes 1:2:...:k, and up to 100 rows anywhere between them (label k).

    The recipe follows the idea of the R package clusterGeneration, which the FastLloyd and PE-means papers use, but
    does not reproduce its output. Every cluster has random axes and spreads, and neighboring centers are so far apart
    that their separation is about .16 to .26, as in the package (the gap between the 95% ranges of two clusters along
    the line between their centers, as a share of both ranges and the gap).
    """
    rng = np.random.default_rng([k, d, seed])
    outliers = int(rng.integers(0, 101))
    sizes = np.diff(np.rint(np.cumsum(np.arange(k + 1)) / (k * (k + 1) / 2) * (n - outliers)).astype(int))
    separation = rng.uniform(0.16, 0.26)
    distance = 2 * 1.96 * (1 + separation) / (1 - separation)  # distance between the centers of clusters of spread 1
    centers = _apart(k, d, distance, rng)
    rows = [
        center + (rng.normal(size=(size, d)) * rng.uniform(0.7, 1.3, d)) @ _turn(d, rng)
        for center, size in zip(centers, sizes, strict=True)
    ]
    scattered = rng.uniform(centers.min(axis=0) - 4, centers.max(axis=0) + 4, (outliers, d))
    labels = np.repeat(np.arange(k + 1), [*sizes, outliers])
    return np.concatenate([*rows, scattered]), labels


def _apart(k: int, d: int, distance: float, rng: np.random.Generator) -> np.ndarray:
    """Return k centers (k, d), each about `distance` from its nearest neighbor."""
    centers = np.zeros((1, d))
    while len(centers) < k:
        step = rng.normal(size=d)
        candidate = centers[rng.integers(len(centers))] + distance * step / np.linalg.norm(step)
        if np.linalg.norm(centers - candidate, axis=1).min() >= 0.999 * distance:
            centers = np.vstack([centers, candidate])
    return centers


def _turn(d: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random rotation (d, d); it turns only the first 64 columns, because more would be slow."""
    turn, some = np.eye(d), min(d, 64)
    turn[:some, :some] = np.linalg.qr(rng.normal(size=(some, some)))[0]
    return turn


def _blobs(d: int) -> Labelled:
    return make_blobs(100_000, d, centers=64, center_box=(-100, 100), random_state=42)


def _sklearn(k: int, d: int) -> Labelled:
    X, labels = make_blobs(20_000, d, centers=k, random_state=1)
    return np.round(X, 4), labels


def _spheres(d: int) -> Labelled:
    return make_blobs(20_000, d, centers=16, random_state=1)


def _balanced(thousands: int, k: int, d: int) -> Labelled:
    return make_blobs(1000 * thousands, d, centers=k, random_state=0)


RECIPES = (
    Recipe(r"synth_(\d+)d", _blobs, "100,000 rows in 64 groups, as in the DPM paper", 100.0),
    Recipe(r"sklearn_(\d+)_(\d+)", _sklearn, "20,000 rows of make_blobs, as in the PE-means paper"),
    Recipe(r"blobs(\d{1,3})", _spheres, "20,000 rows of make_blobs in 16 groups"),
    Recipe(r"timesynth_(\d+)k_(\d+)_(\d+)", _balanced, "equal groups, as in FastLloyd's Table 3"),
    Recipe(r"unequal_(\d+)_(\d+)_(\d+)", unequal_clusters, "10,000 rows in groups of sizes 1:2:...:k, with outliers"),
)


def generated(name: str) -> Dataset | None:
    """Return a generated set by its name, or None if no recipe makes it.

    Examples of names, with the meaning of their numbers: "synth_10d", "blobs16" (d), "sklearn_16_4" (k, d),
    "timesynth_10k_5_2" (thousands of rows, k, d), "unequal_8_4_0" (k, d, seed).

    Raises
    ------
    ValueError
        If a number in the name is 0 or too large.
    """
    for recipe in RECIPES:
        match = re.fullmatch(recipe.pattern, name)
        if match is None:
            continue
        numbers = [int(number) for number in match.groups()]
        if min(numbers[: 2 if "unequal" in name else None], default=1) < 1 or math.prod(numbers[:2]) > 70_000:
            raise ValueError(f"datasets: bench:{name} asks for numbers that are 0 or too large.")
        X, labels = recipe.make(*numbers)
        d = X.shape[1]
        domain = tight_box(X) if recipe.box is None else Domain.box(-recipe.box, recipe.box, d, n_public=len(X))
        k = numbers[0] if name.startswith(("sklearn", "unequal")) else len(np.unique(labels))
        columns = tuple(f"x{i}" for i in range(d))
        return Dataset(
            X, columns, ("",) * d, domain, labels, f"bench:{name}", name, description=recipe.words, n_clusters=k
        )
    return None


def tight_box(X: np.ndarray) -> Domain:
    """Return the smallest box around rows (n, d), the papers' preprocessing. NOT PRIVATE."""
    low, high = X.min(axis=0), X.max(axis=0)
    domain = Domain.box(low - 1e-9 - (high == low), high + 1e-9 + (high == low), n_public=len(X))
    return dataclasses.replace(domain, origin="the smallest box around the data: NOT PRIVATE, for benchmarks only")
