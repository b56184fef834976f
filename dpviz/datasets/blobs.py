"""Make blobs on demand: Gaussian groups whose number, relative sizes and spread are declared."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from dpviz import params
from dpviz.datasets.dataset import Dataset
from dpviz.datasets.dictionary import complete, domain_of
from dpviz.params import param

__all__ = ["Blobs", "middles", "round_groups"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blobs:
    """Round groups of made-up people. Everything, including the bounds, follows from the public parameters.

    Parameters
    ----------
    n_rows, n_features, n_clusters : numbers of rows, columns and groups
    spread : standard deviation of a group; the bounds of every column are -10 and 10
    imbalance : 0 for groups of equal size; the closer to 1, the smaller each group is relative to the previous one
    outliers : share of rows scattered evenly over the whole box
    seed : seed of the generator; the rows are made up, so the seed is not secret
    """

    name: ClassVar[str] = "Blobs"
    PREFIX: ClassVar[str] = "blobs:"
    n_rows: int = param(2000, low=10, high=200_000, help="Number of made-up people.")
    n_features: int = param(2, low=1, high=64, help="How many columns.")
    n_clusters: int = param(4, low=1, high=40, help="How many groups.")
    spread: float = param(1.0, low=0.05, high=5.0, help="Standard deviation of a group; the box is 20 wide.")
    imbalance: float = param(
        0.0,
        low=0.0,
        high=0.9,
        help="At 0, groups are equally large; at 0.5, each is half as large as the previous one.",
    )
    outliers: float = param(0.0, low=0.0, high=0.5, help="Share of people scattered over the whole box.")
    seed: int = param(0, low=0, help="Another seed gives other blobs. Nobody's privacy depends on it.")

    def __post_init__(self) -> None:
        params.check("Blobs", self)

    @property
    def key(self) -> str:
        """Return the public name from which the same rows can be made again."""
        return self.PREFIX + ",".join(f"{name}={getattr(self, name)!r}" for name in params.specs(type(self)))

    @classmethod
    def parse(cls, key: str) -> Blobs:
        """Return the blobs with a given `key`.

        Raises
        ------
        ValueError
            If `key` is not the name of blobs, or if a parameter is out of range.
        """
        try:
            pairs = dict(part.split("=", 1) for part in key.removeprefix(cls.PREFIX).split(","))
            values = {name: params.parse(params.specs(cls)[name], text) for name, text in pairs.items()}
        except (KeyError, ValueError):
            raise ValueError(f"datasets: {key[:80]!r} does not name blobs.") from None
        return cls(**values)

    def make(self) -> Dataset:
        """Return the data set, of shape (n_rows, n_features)."""
        rng = np.random.default_rng(self.seed)
        shares = (1 - self.imbalance) ** np.arange(self.n_clusters)
        X, labels = round_groups(rng, (self.n_rows, self.n_features), shares, self.spread)
        scattered = rng.random(self.n_rows) < self.outliers
        X[scattered] = rng.uniform(-10, 10, (int(scattered.sum()), self.n_features))
        X.setflags(write=False)
        facts = complete(
            {
                "title": f"{self.n_clusters} blobs, {self.n_rows:,} made-up people",
                "description": "Made under Your data; the bounds follow from the generator, not from the rows.",
                "columns": [
                    {"name": f"x{j + 1}", "low": -10, "high": 10, "description": f"made-up coordinate {j + 1}"}
                    for j in range(self.n_features)
                ],
                "n_clusters": self.n_clusters,
                "scale": "common",
                "n_public": self.n_rows,
                "unit_of_privacy": "one row is one made-up person",
                "origin": f"made by dpviz: {self.key}",
                "licence": "CC0 1.0",
            }
        )
        return Dataset(
            X=X,
            columns=tuple(column["name"] for column in facts["columns"]),
            units=("",) * self.n_features,
            domain=domain_of(facts),
            labels=np.where(scattered, -1, labels),
            dataset_id=self.key,
            title=facts["title"],
            description=facts["description"],
            n_clusters=self.n_clusters,
            facts=facts,
        )


def round_groups(
    rng: np.random.Generator, shape: tuple[int, int], shares: np.ndarray, spread: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of Gaussian groups, shape (n, d), and the group of each row, shape (n,).

    Each row's group is drawn at random, with probabilities proportional to `shares`, around its center (`middles`).
    """
    n_rows, n_features = shape
    centers = middles(rng, len(shares), n_features)
    labels = rng.choice(len(shares), n_rows, p=shares / shares.sum())
    return centers[labels] + rng.normal(0, spread, shape), labels


def middles(rng: np.random.Generator, k: int, n_features: int) -> np.ndarray:
    """Return the centers of k groups, shape (k, d), within ±7.

    Each center after the first is, of 20 random points, the one farthest from the earlier centers.
    """
    centers = rng.uniform(-7, 7, (1, n_features))
    while len(centers) < k:
        tries = rng.uniform(-7, 7, (20, n_features))
        nearest = np.linalg.norm(tries[:, None] - centers, axis=2).min(axis=1)
        centers = np.vstack([centers, tries[nearest.argmax()]])
    return centers
