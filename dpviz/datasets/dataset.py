"""A data set: rows with their declared public facts."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.datasets.earth import Equirectangular
from dpviz.domain import Domain

__all__ = ["Dataset"]


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their declared public facts.

    Attributes
    ----------
    X : ndarray of shape (n, d), original units, read-only
    columns : names of the d columns; public
    units : units of the d columns; public
    domain : Domain
    labels : ndarray of shape (n,) or None, known groups, for evaluation in DEMO only; -1 belongs to none
    dataset_id : "sample:NAME" or a random token, never derived from the data
    title, description, n_clusters, facts : for the pages; `facts` is the whole data dictionary
    private : bool, nothing of the rows may be shown, and noise must be secure
    """

    X: np.ndarray = dataclasses.field(repr=False)
    columns: tuple[str, ...]
    units: tuple[str, ...]
    domain: Domain
    labels: np.ndarray | None = dataclasses.field(repr=False)
    dataset_id: str
    title: str
    description: str = ""
    n_clusters: int = 3
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    private: bool = False

    def __post_init__(self) -> None:
        if self.private and self.domain.n_public is None:
            raise ValueError(
                f"{self.title}: n_public must be declared, because the data are private; a round number will do "
                "(on the command line: --n-public)."
            )

    @property
    def n_public(self) -> int:
        """The declared number of rows; counted only where none is declared, and then the data are public."""
        return len(self.X) if self.domain.n_public is None else self.domain.n_public

    @functools.cached_property
    def groups(self) -> np.ndarray | None:
        """The labels, where there are as many known groups as `n_clusters` says. NOT PRIVATE."""
        fits = self.labels is not None and len(set(self.labels.tolist()) - {-1}) == self.n_clusters
        return self.labels if fits else None

    @functools.cached_property
    def incomplete(self) -> int:
        """How many rows lack a cell. NOT PRIVATE, and 0 for private data."""
        return 0 if self.private else int((~np.isfinite(self.X).all(axis=1)).sum())

    @property
    def view(self) -> tuple[int, int]:
        """The two columns to draw first: those of the data dictionary, else a map's, else the first two."""
        x, y = self.facts.get("view") or _map(self.columns) or self.columns[:2]
        return self.columns.index(x), self.columns.index(y)

    @property
    def picture(self) -> tuple[int, int] | None:
        """Height and width where the declared columns are the cells of a picture, row by row."""
        size = self.facts.get("picture")
        return None if size is None or size[0] * size[1] != len(self.columns) else (size[0], size[1])

    @property
    def projection(self) -> Equirectangular | None:
        """How kilometers were made from latitude and longitude, where the dictionary declares it."""
        facts = self.facts.get("projection")
        return None if facts is None else Equirectangular.parse(facts, self.title)

    @property
    def shape(self) -> str:
        """What a row is: a "picture", a place on a "map" (two columns of one unit and scale), or "bars" of numbers."""
        if self.picture is not None:
            return "picture"
        flat = len(self.columns) == 2 and self.domain.scale == "common"
        return "map" if flat and self.units[0] and self.units[0] == self.units[1] else "bars"


def _map(columns: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the columns of a longitude and a latitude, by their names, if there is one of each."""
    named = {name.strip().lower(): name for name in columns}
    for x, y in (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"), ("easting", "northing")):
        if x in named and y in named:
            return named[x], named[y]
    return None
