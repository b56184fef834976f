"""Hold a column as a file writes it, before its cells are read as numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
import pandas as pd

__all__ = ["Raw", "Words"]

_TEXT = np.dtypes.StringDType()  # a fourth of the memory of Python's strings


@dataclasses.dataclass(frozen=True, eq=False)
class Words:
    """Text cells of a part of a column, each different cell once.

    Attributes
    ----------
    cells : ndarray of strings, shape (m,), the different cells in the order in which they first appear
    codes : ndarray of integers, shape (n,): for each row the index of its cell, -1 if it is missing
    """

    cells: np.ndarray
    codes: np.ndarray

    @classmethod
    def of(cls, cells: Sequence[str | None] | np.ndarray) -> Words:
        """Return the cells of a list; None is a missing cell."""
        column = np.empty(len(cells), object)
        column[:] = cells
        codes, different = pd.factorize(column)
        return cls(np.array(different, _TEXT), codes.astype(np.int32))

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells.tolist())

    def numbers(self, number: Callable[[str], float]) -> np.ndarray:
        """Return the number of each row's cell, shape (n,); NaN for a missing cell."""
        found = np.fromiter(map(number, self), float, len(self.cells))
        return np.append(found, np.nan)[self.codes]

    def without(self, is_missing: Callable[[str], bool]) -> Words:
        """Return the words with some cells missing."""
        keep = np.fromiter((not is_missing(cell) for cell in self), bool, len(self.cells))
        if keep.all():
            return self
        codes = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)[self.codes]
        return Words(self.cells[keep], codes.astype(np.int32))


@dataclasses.dataclass(frozen=True, eq=False)
class Raw:
    """One column of a file.

    Attributes
    ----------
    kind : "text", or the kind that the file's own types state: "number", "true/false", "date", "time", "nested" or
        "empty"
    values : ndarray of shape (n,): numbers, or days from 1970-01-01 to each date; NaN for a missing cell, and for all
        cells of other kinds; None for text
    parts : the cells of text, in parts
    """

    kind: str
    values: np.ndarray | None = None
    parts: tuple[Words, ...] = ()

    @classmethod
    def text(cls, cells: Sequence[str | None]) -> Raw:
        """Return a column of text."""
        return cls("text", None, (Words.of(cells),))

    def __len__(self) -> int:
        return sum(len(part.codes) for part in self.parts) if self.values is None else len(self.values)

    def __iter__(self) -> Iterator[str]:
        """Yield the different cells of each part."""
        for part in self.parts:
            yield from part

    def numbers(self, number: Callable[[str], float]) -> np.ndarray:
        """Return the number of each row's cell of text, shape (n,); NaN for a missing cell."""
        return np.concatenate([part.numbers(number) for part in self.parts] or [np.empty(0)])

    def without(self, marks: Collection[str], values: Collection[float]) -> Raw:
        """Return the column without cells that are one of the marks or, if they are numbers, one of the values."""
        if self.kind == "text":
            return dataclasses.replace(
                self, parts=tuple(part.without(lambda cell: cell.strip() in marks) for part in self.parts)
            )
        if self.kind != "number" or self.values is None:
            return self
        return dataclasses.replace(self, values=np.where(np.isin(self.values, list(values)), np.nan, self.values))
