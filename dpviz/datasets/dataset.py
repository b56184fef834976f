"""Define a data set: rows with their declared public facts."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.datasets.earth import Equirectangular
from dpviz.domain import Domain
from dpviz.numbers import plural

__all__ = ["Dataset"]


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of a table, with their declared public facts.

    Attributes
    ----------
    X : ndarray of shape (n, d), original units, read-only
    columns : names of the d columns; public
    units : units of the d columns; public
    domain : Domain
    labels : ndarray of shape (n,) or None, known groups, for evaluation in DEMO only; -1 means that a row has no group
    dataset_id : a public name such as "sample:town", or a random token; never derived from a file's rows
    title, description, n_clusters, facts : texts and settings for the pages; `facts` is the whole data dictionary
    private : bool; if True, nothing about the rows may be shown, and noise must come from a secure generator
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
                f"{self.title}: n_public must be declared, because the data are private; a round number is enough "
                "(on the command line: --n-public)."
            )

    @property
    def n_public(self) -> int:
        """Return the declared number of rows or, for public data without a declaration, the actual number."""
        return len(self.X) if self.domain.n_public is None else self.domain.n_public

    @functools.cached_property
    def groups(self) -> np.ndarray | None:
        """Return the labels if their number of groups is `n_clusters`, else None. NOT PRIVATE."""
        fits = self.labels is not None and len(set(self.labels.tolist()) - {-1}) == self.n_clusters
        return self.labels if fits else None

    @functools.cached_property
    def incomplete(self) -> int:
        """Return the number of rows with a missing cell. NOT PRIVATE; 0 for private data."""
        return 0 if self.private else int((~np.isfinite(self.X).all(axis=1)).sum())

    @property
    def noun(self) -> str:
        """Return the noun for a row: the last word of the unit of privacy, or "person" if the data are private."""
        unit = "" if self.private else str(self.facts.get("unit_of_privacy", ""))
        words = re.findall(r"\w[\w'-]*", unit)
        return words[-1] if words else "person"

    @property
    def nouns(self) -> str:
        """Return the plural of `noun`."""
        return plural(self.noun)

    @property
    def view(self) -> tuple[int, int]:
        """Return the two columns to draw first: the dictionary's choice, longitude and latitude, or the first two.

        If there is only one column, it stands for both.
        """
        x, y = self.facts.get("view") or _map(self.columns) or (self.columns[0], self.columns[:2][-1])
        return self.columns.index(x), self.columns.index(y)

    @property
    def picture(self) -> tuple[int, int] | None:
        """Return the height and width of a picture if the columns are its cells, row by row, else None."""
        size = self.facts.get("picture")
        return None if size is None or size[0] * size[1] != len(self.columns) else (size[0], size[1])

    @property
    def projection(self) -> Equirectangular | None:
        """Return the projection from latitude and longitude to kilometers that the dictionary declares, else None."""
        facts = self.facts.get("projection")
        return None if facts is None else Equirectangular.parse(facts, self.title)

    @property
    def shape(self) -> str:
        """Return how rows are drawn: as a "picture", on a "map" (both columns share unit and scale), or as "bars"."""
        if self.picture is not None:
            return "picture"
        flat = len(self.columns) == 2 and self.domain.one_scale
        return "map" if flat and self.units[0] and self.units[0] == self.units[1] else "bars"


def _map(columns: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the columns named like a longitude and a latitude, or None if either is missing."""
    named = {name.strip().lower(): name for name in columns}
    for x, y in (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"), ("easting", "northing")):
        if x in named and y in named:
            return named[x], named[y]
    return None
