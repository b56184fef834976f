"""Define the result of a reader: named columns and, for each, whether it can be clustered or why not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.marks import LARGEST
from dpviz.datasets.readers.recode import MOST_CATEGORIES, recoded

__all__ = ["Column", "Limits", "Stopped", "Table", "TableError"]

INDEX = "__index_level_"  # prefix of the name that pandas gives to a column of row numbers
NO_ROWS = "there is no row below the header line; at least one is needed."
FRUGAL_CELLS = 1_000_000  # number of cells above which numbers are stored in single precision


class TableError(ValueError):
    """Raised if a file cannot be used, with a message of one sentence that quotes no cell."""


class Stopped(Exception):
    """Raised by an `on_progress` callback to stop reading."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Size limits, all inclusive.

    Attributes
    ----------
    bytes : size of the file, in bytes
    inflated : total size, in bytes, of the unpacked content of an Excel workbook or a gzip archive
    ratio : unpacked bytes per byte of the file
    rows, columns, cells : numbers of rows, columns and cells in the table
    excel_cells : number of cells in an Excel table, which is read slowly
    seconds : processor time of the separate process that reads a file, in seconds
    memory : address space of that process, in bytes
    """

    bytes: int = 300_000_000
    inflated: int = 400_000_000
    ratio: int = 200
    rows: int = 5_000_000
    columns: int = 200
    cells: int = 60_000_000
    excel_cells: int = 3_000_000
    seconds: int = 60
    memory: int = 3_000_000_000

    def check(self, name: str, n_rows: int, n_columns: int) -> None:
        """Refuse a table that is too large; the message states the limit, not the size."""
        if n_columns > self.columns:
            raise TableError(f"{name}: a table may have at most {self.columns} columns; leave some out.")
        if n_rows > self.rows:
            raise TableError(f"{name}: a table may have at most {self.rows:,} rows; leave some out.")
        if n_rows * n_columns > self.cells:
            raise TableError(f"{name}: a table may have at most {self.cells:,} cells; leave out rows or columns.")


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One column. The names and kinds of columns are public by declaration.

    Attributes
    ----------
    name : str, unique in its table
    kind : "number", "true/false", "text", "mixed", "date", "time", "index", "nested", "empty", "ambiguous", "units",
        "recoded" or "unknown"
    reason : one sentence that says why the column cannot be clustered; "" if it can be clustered
    values : ndarray of shape (n,), float64 or float32, read-only, NaN for a missing cell; None if not usable
    codes : ndarray of shape (n,), integers, read-only: for each row the index of its word in `words`, -1 if missing;
        None unless the file is public and the column holds at most `MOST_GROUPS` words, which can name known groups
    words : the different words of the column; () in a private file, whose words are secret
    suggestion : a rule that turns the words or dates of a public file into numbers, for `Recoding.of`, or ""
    doubt : a cell of a public file, such as 1,234, whose sign may group thousands or be the decimal sign, if no other
        cell decides which; "" if no cell is ambiguous
    """

    name: str
    kind: str
    reason: str = ""
    values: np.ndarray | None = dataclasses.field(default=None, repr=False)
    codes: np.ndarray | None = dataclasses.field(default=None, repr=False)
    words: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    suggestion: str = dataclasses.field(default="", repr=False)
    doubt: str = dataclasses.field(default="", repr=False)


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """A file's table. Everything except `n_rows`, `missing` and the values describes the file's form and may be shown.

    Attributes
    ----------
    name : str
    columns : tuple of Column
    n_rows : int, NOT PRIVATE
    notes : sentences about the file's form: encoding, separators, renamed columns
    """

    name: str
    columns: tuple[Column, ...]
    n_rows: int = dataclasses.field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def doubtful(self) -> tuple[Column, ...]:
        """Return the columns of a public file that contain an ambiguous number."""
        return tuple(column for column in self.columns if column.doubt)

    @property
    def lost(self) -> tuple[Column, ...]:
        """Return the columns of a public file with numbers that cannot be read."""
        return tuple(column for column in self.columns if column.kind in ("mixed", "units", "ambiguous"))

    def question(self, names: Collection[str] | None = None) -> str:
        """Return a question about the ambiguous numbers in a public file, or "" if no number is ambiguous.

        `names` are the columns to ask about; None means all.
        """
        asked = [column for column in self.doubtful if names is None or column.name in names]
        if not asked:
            return ""
        cell, name = asked[0].doubt, asked[0].name
        sign = "," if "," in cell else "."
        other = ".,"[sign == "."]
        more = "".join(f", and so is {column.name!r}" for column in asked[1:4])
        return (
            f"column {name!r} has a cell written {cell}, which may mean {cell.replace(sign, '')} (then give --decimal "
            f"'{name}={other}') or {cell.replace(',', '.')} (then give --decimal '{name}={sign}'){more}; "
            f"--decimal {other} or --decimal {sign} decides for the whole file."
        )

    @property
    def usable(self) -> tuple[str, ...]:
        """Return the names of the columns that can be clustered."""
        return tuple(column.name for column in self.columns if column.values is not None)

    def without_names(self, public: Collection[str]) -> Table:
        """Return the table with columns named by position, except for those whose names are already public."""
        names = [c.name if c.name in public else f"column {i}" for i, c in enumerate(self.columns, 1)]
        columns = (dataclasses.replace(c, name=name) for c, name in zip(self.columns, names, strict=True))
        return dataclasses.replace(self, columns=tuple(columns))

    def only(self, names: Sequence[str]) -> Table:
        """Return the table with these columns, in this order.

        Raises
        ------
        TableError
            If the table lacks one of the columns, or a name occurs twice.
        """
        by_name = {column.name: column for column in self.columns}
        for name in names:
            if name not in by_name:
                raise TableError(f"{self.name}: there is no column {name!r}; `dpviz describe` lists them.")
        if len(set(names)) < len(names) or not names:
            raise TableError(f"{self.name}: name at least one column, and each only once.")
        return dataclasses.replace(self, columns=tuple(by_name[name] for name in names))

    @property
    def groupings(self) -> tuple[str, ...]:
        """Return the names of the columns that can be known groups: few words, or few whole numbers. NOT PRIVATE."""
        return tuple(column.name for column in self.columns if column.codes is not None or _few(column.values))

    def groups(self, column: str) -> np.ndarray | None:
        """Return the known group of each row, shape (n,), or None for a column without groups. NOT PRIVATE."""
        for entry in self.columns:
            if entry.name == column:
                return entry.values if entry.codes is None else entry.codes
        return None

    def values(self, column: str) -> np.ndarray:
        """Return a usable column, shape (n,), NaN where a cell is missing."""
        for entry in self.columns:
            if entry.name == column and entry.values is not None:
                return entry.values
        raise TableError(f"{self.name}: {column!r} is not a usable column.")

    def missing(self, columns: Sequence[str]) -> int:
        """Return the number of rows without a number in at least one of the columns. NOT PRIVATE."""
        return int(np.logical_or.reduce([np.isnan(self.values(name)) for name in columns]).sum())

    def matrix(self, columns: Sequence[str], fill: Mapping[str, float] | None = None) -> np.ndarray:
        """Return the chosen columns, shape (n, d), read-only, in the precision in which they were read.

        A missing cell becomes the value declared in `fill`; without such a value it stays NaN, and `Rows` decides how
        to treat the row. Either way, each row is treated independently.
        """
        if not columns:
            raise TableError(f"{self.name}: choose at least one column.")
        X = np.empty((self.n_rows, len(columns)), dtype=np.result_type(*(self.values(name) for name in columns)))
        for j, name in enumerate(columns):
            X[:, j] = self.values(name)
            if fill and name in fill:
                np.nan_to_num(X[:, j], copy=False, nan=fill[name])
        X.setflags(write=False)
        return X


def too_large(name: str, limits: Limits) -> TableError:
    """Return the error for a file of too many bytes, which is not read."""
    return TableError(f"{name}: the file is larger than {limits.bytes // 1_000_000:,} MB; drop a smaller one.")


def too_much(name: str) -> TableError:
    """Return the error for a file whose reader exceeded a limit."""
    return TableError(f"{name}: reading it takes more time or memory than is allowed; save the table as CSV.")


@contextmanager
def faults_as(sentence: str) -> Iterator[None]:
    """Replace any error of an external parser by one sentence, because the error may quote cells."""
    try:
        yield
    except (TableError, Stopped, MemoryError):
        raise
    except Exception:
        raise TableError(sentence) from None


def usable(name: str, kind: str, numbers: np.ndarray, *, private: bool = False) -> Column:
    """Return a usable column; values that are not finite, or larger than 1e30, count as missing."""
    keep = np.abs(numbers) <= LARGEST  # written so that NaN counts as too large
    if not keep.any() and not private:
        return refused(name, "empty")
    numbers = numbers if keep.all() else np.where(keep, numbers, np.nan).astype(numbers.dtype)
    numbers.setflags(write=False)
    return Column(name, kind, values=numbers)


def precision(n_rows: int, n_columns: int, form: Form) -> type:
    """Return the type in which numbers are stored; it never depends on the number of rows of a private table."""
    return np.float32 if n_rows * n_columns > FRUGAL_CELLS and not form.private else np.float64


MOST_GROUPS = 100  # maximum number of different words in a column that can define known groups

_REASONS = {
    "empty": "It is empty. Formulas are never evaluated: save the file with their values.",
    "date": "It holds dates. Recode it as days between two declared dates, or leave it out.",
    "time": "It holds times of day or durations. Write them as numbers, such as 8.5 for 08:30, or leave it out.",
    "many": f"It holds text, with more than the {MOST_CATEGORIES} different words that a rule may list.",
    "nested": "It holds lists or bytes, not numbers.",
    "text": "It holds text. Distances need numbers: declare its categories, or leave it out.",
    "unknown": "None of its cells is one of the declared categories or dates.",
    "units": "Its numbers carry different symbols, such as € and %. Write them in one unit.",
    "index": "It looks like a row number, which identifies people.",
    "ambiguous": "Its commas and points can mean decimals or thousands. Write it without thousands separators.",
}


def refused(name: str, kind: str, why: str = "") -> Column:
    """Return a column that cannot be clustered, with the reason for its kind, or the one called `why`."""
    return Column(name, kind, _REASONS[why or kind])


def own_columns(name: str, values: Sequence[np.ndarray], form: Form) -> list[Column]:
    """Return the columns made from one column of a private file, whatever its cells contain.

    The owner decides which columns hold numbers: all of these are usable, and a cell without a number is missing.
    """
    rule = recoded(form.recode, name)
    names = [name] if rule is None else [column["name"] for column in rule.columns]
    return [usable(label, "number", column, private=True) for label, column in zip(names, values, strict=True)]


_LIKE = {  # a cell that is a number or a date to people -> what it looks like, and how to write it
    r"[+-]?[0-9]{1,2}(,[0-9]{2})+,[0-9]{3}([.][0-9]*)?": "a number in lakhs: write it without signs between its digits",
    r"[+-]?[0-9.,]+ ?([KkMm]|[Mm]io|[Tt]sd|[Bb]n)[.]?": "a number with a word for its thousands: write it in full",
    r"[+-]?[0-9.,]+ ?[A-Za-zµ°²³/]{1,5}[.]?": "a number with its unit: write the unit into the name",
    r"[<>≤≥~] ?[0-9.,]+": "a limit in place of a number: write a number",
    r"[0-9.,]+ ?(-|–|to|bis) ?[0-9.,]+": "a range of numbers: write its middle, or recode the column",
    r"[0-9]{1,4}[-. ][A-Za-z]{3,9}[-. ][0-9]{2,4}": "a date with a month's name: write it as 2020-01-31",
}


def mixed(name: str, row: int, cell: str = "") -> Column:
    """Return a public column as refused for mixed cells; `row` is the first row with another kind of cell, `cell`."""
    like = next((words for pattern, words in _LIKE.items() if re.fullmatch(pattern, cell.strip())), "")
    mend = (
        f"That cell looks like {like}"
        if like
        else "Say which cells stand for a missing one (on the command line: --missing-marks A,B), or recode the column"
    )
    return Column(name, "mixed", f"It mixes numbers and other cells, first in row {row}. {mend}.")


def _few(values: np.ndarray | None) -> bool:
    """Return whether a column holds at most `MOST_GROUPS` different whole numbers, each twice or more on average."""
    if values is None or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    return len(np.unique(values)) <= min(MOST_GROUPS, len(values) // 2)


def table_of(
    name: str, columns: Sequence[Column], n_rows: int, notes: Sequence[str], *, unnamed_first: bool = False
) -> Table:
    """Return the finished table; an unnamed first column of numbers is taken for row numbers and refused."""
    columns = list(columns)
    if unnamed_first and len(columns) > 1 and columns[0].kind == "number":
        columns[0] = refused(columns[0].name, "index")
    return Table(name, tuple(columns), n_rows, tuple(notes))
