"""The public facts behind a plan, and the made-up people who stand in for the rows, which are not read."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from dpviz import validate
from dpviz.datasets import Dataset, load
from dpviz.domain import Domain
from dpviz.numbers import number
from dpviz.planning.towns import Town, equal, towns

__all__ = ["MOST_CLUSTERS", "MOST_ROWS", "Facts", "numbers"]

# maximum number of stand-in rows; for more people, the noise is made smaller in proportion (`rehearsal.rehearse`)
MOST_ROWS = 20_000
_MOST_COLUMNS, MOST_CLUSTERS = 200, 40  # maximum numbers of columns and of clusters in a plan
MOST_PEOPLE = 10**10


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """Declared facts about the data; none of them is read from rows.

    Attributes
    ----------
    domain : bounds, scale, n_public, names and units of the columns
    n_clusters : int, the requested number of centers
    like : "" for a made-up town, else the name of a public data set that the rows are assumed to resemble
    filled : share of each column's bounds that the people fill; if it is below 1, the declared bounds are too wide
    made : the made-up town (`town`), or None for k groups that are equal and apart
    """

    domain: Domain
    n_clusters: int
    like: str = ""
    filled: float = 1.0
    made: Town | None = None

    def __post_init__(self) -> None:
        validate.in_range("plan", 0.0, 1.0, filled=self.filled)
        validate.integer("plan", 1, MOST_CLUSTERS, centers=self.n_clusters)
        if self.n_clusters > self.n_people:
            raise ValueError(
                f"plan: centers must be at most the number of people, {self.n_people:,}; got {self.n_clusters}."
            )
        if self.like and load(self.like).domain.n_features != self.domain.n_features:
            raise ValueError(
                f"plan: the look-alike {self.like} has {load(self.like).domain.n_features} columns, and "
                f"{self.domain.n_features} are declared."
            )
        if len(self.town.shares) != self.n_clusters:
            raise ValueError(f"plan: a town of {len(self.town.shares)} groups needs as many centers.")

    @classmethod
    def declare(
        cls,
        n_people: int,
        low: Sequence[float],
        high: Sequence[float],
        n_clusters: int,
        *,
        columns: Sequence[str] = (),
        units: Sequence[str] = (),
        scale: str = "column",
        like: str = "",
        weights: Sequence[float] = (),
    ) -> Facts:
        """Return facts from typed values; a single unit applies to all columns.

        Raises
        ------
        ValueError
            If a value is missing or impossible; the message is one sentence about the first such value.
        """
        if not len(low) or not len(high):
            raise ValueError("plan: declare the lowest and the highest possible value of every column.")
        if len(low) != len(high):
            raise ValueError(
                f"plan: there are {len(low)} lowest and {len(high)} highest values; every column needs both."
            )
        names = list(columns) or [f"column {i + 1}" for i in range(len(low))]
        units = list(units) * len(low) if len(units) == 1 else list(units)
        for what, given in (("names of columns", names), ("units", units or names), ("weights", weights or names)):
            if len(given) != len(low):
                raise ValueError(f"plan: there are {len(given)} {what}, and bounds for {len(low)}.")
        for name, a, b in zip(names, low, high, strict=True):
            if not (math.isfinite(a) and math.isfinite(b) and a < b):
                raise ValueError(
                    f"plan: the lowest value of {name} must be below its highest; "
                    f"got {number(a, 6)} and {number(b, 6)}."
                )
        validate.integer("plan", 1, _MOST_COLUMNS, columns=len(low))
        validate.integer("plan", 2, MOST_PEOPLE, people=n_people)
        domain = Domain.box(
            np.asarray(low), np.asarray(high), scale=scale, n_public=n_people, columns=names, units=units,
            weights=weights,
        )  # fmt: skip
        return cls(domain, n_clusters, like)

    @property
    def n_people(self) -> int:
        """Return the declared number of people.

        Raises
        ------
        ValueError
            If none is declared.
        """
        if self.domain.n_public is None:
            raise ValueError("plan: declare the approximate number of people.")
        return self.domain.n_public

    @property
    def n_rows(self) -> int:
        """Return the number of made-up people that stand in for the real ones."""
        return min(self.n_people, MOST_ROWS)

    @property
    def key(self) -> str:
        """Return a key for caches, which consists of public values."""
        return repr((self.domain.key, self.n_clusters, self.like, self.filled, self.town))

    @property
    def town(self) -> Town:
        """Return the made-up town; a look-alike has none."""
        return self.made or equal(self.n_clusters)

    @property
    def title(self) -> str:
        """Return the name on screen of the made-up or public people."""
        return f"as {load(self.like).title.split(',')[0]}" if self.like else self.town.name

    def everywhere(self, own: Town | None = None) -> list[Facts]:
        """Return the facts with every town to rehearse: those of `towns`, the owner's own, and the look-alike."""
        made = [*towns(self.n_clusters), *([own] if own else [])]
        alone = dataclasses.replace(self, like="")
        return [*(dataclasses.replace(alone, made=town) for town in made), *([self] if self.like else [])]

    def with_centers(self, k: int) -> Facts:
        """Return the facts with k centers and the same kind of town; an owner's own town becomes one that touches."""
        if self.like:
            return dataclasses.replace(self, n_clusters=k)
        names, made = [town.name for town in towns(self.n_clusters)], towns(k)
        index = names.index(self.town.name) if self.town.name in names else len(names) - 1
        return dataclasses.replace(self, n_clusters=k, made=made[min(index, len(made) - 1)])

    def tight(self) -> Facts:
        """Return the facts about the same people, with bounds that they fill."""
        middle, half = self.domain.middle, self.filled * (self.domain.high - self.domain.low) / 2
        domain = Domain.box(
            middle - half, middle + half, scale=self.domain.scale, n_public=self.n_people,
            columns=self.domain.columns, units=self.domain.units, weights=self.domain.weights,
        )  # fmt: skip
        return dataclasses.replace(self, domain=domain, filled=1.0)

    def stand_in(self) -> Dataset:
        """Return `n_rows` made-up or public people within the declared bounds.

        A look-alike's rows are drawn with replacement and keep their relative positions between the bounds. The people
        of a made-up town carry their group as a label.
        """
        labels = None
        if self.like:
            public = load(self.like)
            X = public.X[np.isfinite(public.X).all(axis=1)]
            Z = (X - public.domain.middle) / ((public.domain.high - public.domain.low) / 2)
            Z = Z[np.random.default_rng(0).integers(len(Z), size=self.n_rows)]
            Z = np.clip(Z, -1, 1) * self.filled
        else:
            Z, labels = self.town.people(self.n_rows, self.domain.n_features, self.filled)
        return Dataset(
            X=Z * (self.domain.high - self.domain.low) / 2 + self.domain.middle,
            columns=self.domain.columns,
            units=self.domain.units or ("",) * self.domain.n_features,
            domain=dataclasses.replace(self.domain, n_public=self.n_rows),
            labels=labels,
            dataset_id="stand-in",
            title="stand-ins for the people",
            n_clusters=self.n_clusters,
        )


def numbers(text: str, what: str) -> list[float]:
    """Parse numbers that are separated by commas or spaces.

    Raises
    ------
    ValueError
        If an entry is not a number; the message is one sentence that names the first such entry.
    """
    values = []
    for word in text.replace(",", " ").replace("−", "-").split():
        try:
            values.append(float(word))
        except ValueError:
            raise ValueError(f"plan: {what} must be numbers separated by commas; {word[:40]!r} is not.") from None
    return values
