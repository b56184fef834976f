"""Make painted people: a few hundred made-up rows in two columns. The painting itself is their public name."""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

import numpy as np

from dpviz.datasets.dataset import Dataset
from dpviz.datasets.dictionary import complete, domain_of

__all__ = ["Painted"]

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# number of places along each side of the box from -10 to 10; three letters name one of the 512 x 512 places
_PLACES = 512
_CODE = re.compile(r"(?:(?:[\w-]{3})+(?:\.(?:[\w-]{3})+)*)?(?:~(?:[\w-]{3})*)?", re.ASCII)
_VALUE = np.full(128, 255, dtype=np.uint8)
_VALUE[[ord(letter) for letter in _ALPHABET]] = np.arange(64)


@dataclasses.dataclass(frozen=True)
class Painted:
    """People painted by a visitor; because they are made up, their positions may appear in names and links.

    Parameters
    ----------
    code : three letters per person; dots separate the groups, and outliers follow at the end after "~"; written by
        `figures/scenes/paint.js`

    Raises
    ------
    ValueError
        If the code is invalid, or holds too few or too many people or groups.
    """

    name: ClassVar[str] = "Painted"
    PREFIX: ClassVar[str] = "painted:"
    FEWEST: ClassVar[int] = 10
    MOST: ClassVar[int] = 300
    MOST_GROUPS: ClassVar[int] = 12
    code: str

    def __post_init__(self) -> None:
        check(self.code)
        if not self.FEWEST <= self.n_rows:
            raise ValueError(f"Painted: at least {self.FEWEST} people are needed; got {self.n_rows}.")

    @property
    def n_rows(self) -> int:
        """Return the number of people."""
        return len(re.sub("[.~]", "", self.code)) // 3

    @property
    def key(self) -> str:
        """Return the public name from which the same rows can be made again."""
        return self.PREFIX + self.code

    @classmethod
    def parse(cls, key: str) -> Painted:
        """Parse a `key`."""
        return cls(key.removeprefix(cls.PREFIX))

    def make(self) -> Dataset:
        """Return the data set, of shape (n_rows, 2); every person is in the middle of a cell of the grid."""
        groups, _, outliers = self.code.partition("~")
        parts = [part for part in groups.split(".") if part]
        letters = _VALUE[np.frombuffer("".join([*parts, outliers]).encode(), dtype=np.uint8)].reshape(-1, 3)
        place = letters.astype(np.int64) @ (4096, 64, 1)
        X = np.column_stack(np.divmod(place, _PLACES)) * (20 / _PLACES) + (10 / _PLACES - 10)
        X.setflags(write=False)
        sizes = [len(part) // 3 for part in parts]
        n, k = len(X), max(len(parts), 1)
        facts = complete(
            {
                "title": f"Painted, {n} people in {k} group{'s' * (k > 1)}",
                "description": "Painted under Your data; the bounds are the edges of the canvas.",
                "columns": [
                    {"name": name, "low": -10, "high": 10, "description": f"made-up coordinate, {way}"}
                    for name, way in (("x", "to the right"), ("y", "up"))
                ],
                "n_clusters": k,
                "scale": "common",
                "n_public": n,
                "unit_of_privacy": "one row is one made-up person",
                "origin": "painted by hand; the link to it contains every person",
                "licence": "CC0 1.0",
            }
        )
        return Dataset(
            X=X,
            columns=("x", "y"),
            units=("", ""),
            domain=domain_of(facts),
            labels=np.repeat([*range(len(parts)), -1], [*sizes, n - sum(sizes)]),
            dataset_id=self.key,
            title=facts["title"],
            description=facts["description"],
            n_clusters=k,
            facts=facts,
        )


def check(code: object) -> None:
    """Check the code of a painting, except for the smallest number of people; it may come from any browser.

    Raises
    ------
    ValueError
        If the code is not valid, or has too many people or groups.
    """
    if isinstance(code, str) and len(re.sub("[.~]", "", code[: 5 * Painted.MOST])) > 3 * Painted.MOST:
        raise ValueError(f"Painted: at most {Painted.MOST} people can be painted.")
    if not isinstance(code, str) or not _CODE.fullmatch(code[: 5 * Painted.MOST]) or len(code) > 5 * Painted.MOST:
        raise ValueError("Painted: this is not a painting of people inside the box.")
    if code.count(".") >= Painted.MOST_GROUPS:
        raise ValueError(f"Painted: at most {Painted.MOST_GROUPS} groups can be painted.")
