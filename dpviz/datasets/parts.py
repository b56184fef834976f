"""Divide a file larger than memory into parts; a part is sent to other processes instead of its rows."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpviz.datasets.readers.columns import own_numbers
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.table import TableError, faults_as

if TYPE_CHECKING:
    import pyarrow.parquet as parquet

__all__ = ["Part", "columns_in", "parts_of", "resized"]

PART_ROWS = 2**17
PART_CELLS = 2**27  # maximum number of cells in a part: 1 GB of numbers in memory, however small the file is
_KINDS = {"c": "complex numbers", "O": "objects", "S": "text", "U": "text", "V": "records", "M": "dates", "m": "times"}


@dataclasses.dataclass(frozen=True)
class Part:
    """Range of rows of a file, sent to other processes instead of the rows.

    Attributes
    ----------
    path : a .npy or .parquet file, readable under this name on every machine that uses the part
    start : number of the first row; in a Parquet file, a part consists of whole row groups
    stop : number of the row after the last
    groups : numbers of the row groups of a Parquet file
    columns : names of a Parquet file's columns, or numbers of a .npy matrix's columns, in this order; () for all
    padding : number of empty rows appended to the rows of the file
    signs : the decimal sign and the thousands sign in cells of text, see `readers.form.Form`
    missing_marks : the marks of missing cells, see `readers.form.Form`
    """

    path: str
    start: int
    stop: int
    groups: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    padding: int = 0
    signs: tuple[str, str] = (".", ",")
    missing_marks: tuple[str, ...] = ()

    def read(self) -> np.ndarray:
        """Return the rows, shape (stop - start + padding, d), in original units."""
        X = self._read()[: self.stop - self.start]
        return np.concatenate([X, np.full((self.padding, X.shape[1]), np.nan)]) if self.padding else X

    def _read(self) -> np.ndarray:
        if self.path.endswith(".npy"):
            rows = _mapped(self.path)[self.start : self.stop]
            return np.array(rows[:, [int(i) for i in self.columns]] if self.columns else rows, dtype=np.float64)
        import pyarrow.parquet as parquet  # a browser has no Arrow, and .npy files need none

        from dpviz.datasets.readers.arrow import raw_of

        with parquet.ParquetFile(self.path) as file:
            table = file.read_row_groups(list(self.groups), columns=list(self.columns) or None)
        table = table.select(self.columns) if self.columns else table
        return np.column_stack(
            [own_numbers(raw_of(column), self.signs, self.missing_marks) for column in table.columns]
        )


def parts_of(
    path: Path, columns: Sequence[str] = (), *, part_rows: int = PART_ROWS, form: Form | None = None
) -> tuple[Part, ...]:
    """Divide a file into parts of about `part_rows` rows; a Parquet file is divided only between row groups.

    A file without rows becomes one empty part, because an error would distinguish the file from its neighbors.

    The types of a public file's columns are checked here, from the header alone, because an error during conversion
    would quote a cell. In a private file, whose `form` is declared, a cell that is not a number counts as missing, as
    in every reader.

    Raises
    ------
    ValueError
        If the file has another format or is not a matrix of numbers, or if a part would need too much memory.
    """
    name = str(path.resolve())
    if path.suffix == ".npy":
        matrix = _matrix(path)
        shape = matrix.shape
        if matrix.dtype.kind not in "biuf":
            kind = _KINDS.get(matrix.dtype.kind, "something else")  # the type of records would reveal field names
            raise ValueError(f"datasets: {path.name} must hold real numbers; it holds {kind}.")
        _fits(path, 1, shape[1])
        part_rows = min(part_rows, PART_CELLS // max(shape[1], 1))
        starts = range(0, max(shape[0], 1), part_rows)
        return tuple(Part(name, a, min(a + part_rows, shape[0]), (), tuple(columns)) for a in starts)
    with _parquet(path) as file:
        import pyarrow.types as types

        from dpviz.datasets.readers.arrow import kind_of

        for place, field in enumerate(file.schema_arrow, 1):
            kind = "text" if types.is_dictionary(field.type) else kind_of(field.type)
            private = form is not None and form.private
            if not private and kind not in ("number", "true/false", "empty") and (not columns or field.name in columns):
                raise TableError(f"datasets: column {place} of {path.name} must hold numbers; it holds {kind}.")
        width = len(columns) or len(file.schema_arrow)
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    _fits(path, max(sizes, default=0), width)
    part_rows = min(part_rows, PART_CELLS // max(width, 1))
    parts, start, group = [], 0, 0
    signs, marks = (form or Form()).signs, (form or Form()).missing_marks
    while group < len(sizes):
        first, rows = group, 0
        while group < len(sizes) and (rows == 0 or rows + sizes[group] <= part_rows):
            rows, group = rows + sizes[group], group + 1
        parts.append(Part(name, start, start + rows, tuple(range(first, group)), tuple(columns), 0, signs, marks))
        start += rows
    return tuple(parts) or (Part(name, 0, 0, (), tuple(columns), signs=signs),)


def columns_in(path: Path) -> list[str]:
    """Return the names of a file's columns from its header alone; the columns of a .npy matrix are numbered.

    Raises
    ------
    ValueError
        If the file has another format, is damaged, or is not a matrix.
    """
    if path.suffix == ".npy":
        return [str(i) for i in range(_matrix(path).shape[1])]
    with _parquet(path) as file:
        return list(file.schema_arrow.names)


_header = threading.Lock()  # up to Python 3.11.7, parsing headers (literals) in several threads at the same time fails


def _mapped(path: str) -> np.ndarray:
    with _header:
        return np.load(path, mmap_mode="r")


def _matrix(path: Path) -> np.ndarray:
    with faults_as(f"datasets: {path.name} is damaged, or not a .npy file of numbers; save it again."):
        matrix = _mapped(str(path.resolve()))
    if matrix.ndim != 2:
        raise ValueError(f"datasets: {path.name} must have two dimensions (rows, columns); got {matrix.ndim}.")
    return matrix


@contextmanager
def _parquet(path: Path) -> Iterator[parquet.ParquetFile]:
    if path.suffix != ".parquet":
        raise ValueError(f"datasets: only .npy and .parquet files are read in parts; got {path.name}.")
    import pyarrow.parquet as parquet

    damaged = f"datasets: the Parquet file {path.name} is damaged or cut off; write it again."
    with faults_as(damaged), parquet.ParquetFile(path.resolve()) as file:
        yield file


def _fits(path: Path, rows: int, columns: int) -> None:
    """Refuse a file if one row group or row needs too much memory, as is possible even in a small Parquet file."""
    if rows * columns > PART_CELLS:
        kind = "row group" if path.suffix == ".parquet" else "row"
        mend = "write it with smaller row groups" if path.suffix == ".parquet" else "use fewer columns"
        raise TableError(f"datasets: a {kind} of {path.name} has more than {PART_CELLS:,} cells; {mend}.")


def resized(parts: Sequence[Part], n_rows: int) -> tuple[Part, ...]:
    """Return parts with `n_rows` rows: the first rows of the given parts, and then empty rows if these are too few."""
    cut = [dataclasses.replace(part, stop=min(part.stop, n_rows)) for part in parts if part.start < n_rows]
    end = cut[-1].stop
    pads = (min(PART_ROWS, n_rows - at) for at in range(end, n_rows, PART_ROWS))
    return *cut, *(dataclasses.replace(cut[-1], start=end, stop=end, groups=(), padding=pad) for pad in pads)
