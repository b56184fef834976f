"""Read Excel workbooks cell by cell, protected against zip bombs; formulas and links are not followed."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._read_only import ReadOnlyWorksheet
from openpyxl.worksheet._reader import ROW_TAG, WorkSheetParser
from openpyxl.xml.functions import iterparse

from dpviz.datasets.readers.cells import columns_of_cells
from dpviz.datasets.readers.footers import drop_footers
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.names import cleaned, confirmed, named, numbered, width_of
from dpviz.datasets.readers.table import (
    NO_ROWS,
    Limits,
    Table,
    TableError,
    faults_as,
    precision,
    table_of,
)

__all__ = ["read_excel"]

_WORDS = {
    "notes",
    "note",
    "readme",
    "read me",
    "about",
    "info",
    "information",
    "contents",
    "cover",
    "legend",
    "metadata",
}
# maximum number of consecutive empty rows: row numbers may have gaps, which the reader fills with empty rows
_GAP = 10_000
_BOOK = 1_000_000  # maximum size, in bytes, of the list of sheets and names, which is parsed as a whole
_HEARD = 500  # number of rows between two checks whether to stop


def read_excel(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read one sheet of an .xlsx workbook."""
    _guard(data, name, limits)
    sentence = f"{name}: the file cannot be read as an Excel workbook; save it again as .xlsx, or as CSV."
    with faults_as(sentence), warnings.catch_warnings():  # safe, because this process has one thread (see `apart`)
        warnings.simplefilter("ignore")  # the warnings of openpyxl quote cells
        reader = _Reader(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        reader.read()
        book = reader.wb
        try:
            sheets = book.worksheets
            if not sheets:
                raise TableError(f"{name}: the workbook has no sheet with cells.")
            sheet, notes = _sheet(sheets, name, form)
            rows = _guarded(_rows(sheet, form.header_row or 1, limits.columns + 1), name, advance)
            has_header, renamed = form.header is not False, list[str]()
            first: tuple[Any, ...] = ()
            if form.private and not has_header:
                names = numbered(width_of(name, form))
            else:
                first = next((row for row in rows if row), ())
                if not first:
                    which = "first sheet" if sheet is sheets[0] else "sheet"
                    raise TableError(f"{name}: the {which} is empty; add a header line and rows.")
                limits.check(name, 0, len(first))
                texts = ["" if cell is None else str(cell) for cell in first]
                if form.private:
                    names, renamed = confirmed(name, texts, form)
                else:
                    names, renamed = (
                        named(name, texts, sure=bool(form.header)) if has_header else (numbered(len(first)), [])
                    )
            width = len(names)
            notes += renamed
            for _ in range(form.lines_below or 0):
                next(rows, None)
            columns = _read_rows(
                rows if has_header else chain([first] if first else [], rows), name, width, form, limits
            )
        finally:
            book.close()
    notes += [] if form.private else drop_footers(columns)
    n_rows = len(columns[0])
    if n_rows == 0 and not form.private:
        raise TableError(f"{name}: {NO_ROWS}")
    dtype = precision(n_rows, width, form)
    pairs = zip(names, columns, strict=True)
    parsed = [column for public, cells in pairs for column in columns_of_cells(public, cells, dtype, form)]
    return table_of(name, parsed, n_rows, notes, unnamed_first=has_header and first[0] is None)


class _Sheet(ReadOnlyWorksheet):
    """Sheet that is not read before it is needed; openpyxl itself parses a sheet without a stated size to its end."""

    def _get_size(self) -> None:
        pass


class _Reader(ExcelReader):
    """Reader of a workbook whose sheets are not read before they are needed."""

    def read_worksheets(self) -> None:
        """List the sheets."""
        for sheet, rel in self.parser.find_sheets():
            if rel.target in self.valid_files and "chartsheet" not in rel.Type:
                one = _Sheet(self.wb, sheet.name, rel.target, self.shared_strings)
                one.sheet_state = sheet.state
                self.wb._sheets.append(one)


class _Narrow(WorkSheetParser):
    """Parser that keeps at most the first `most` cells of a row, because a row may have any length.

    It ignores everything in a sheet except the rows.
    """

    most = 0

    def parse(self) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """Yield the number and the cells of each row."""
        row, depth, ended = None, 0, 0
        for event, element in iterparse(self.source, ("start", "end")):
            if event == "start":
                if row is None and element.tag == ROW_TAG:
                    row, depth, ended = element, 0, 0
                depth += 1
                continue
            depth -= 1
            if row is None:
                element.clear()
            elif depth == 0:
                if ended < self.most:
                    yield self.parse_row(row)
                row.clear()
                row = None
            elif depth == 1:
                ended += 1
                if ended == self.most:
                    yield self.parse_row(row)
                if ended >= self.most:
                    del row[:]

    def parse_row(self, row: Any) -> Any:
        """Parse the first cells of a row; the XML parser may already be thousands of cells ahead."""
        del row[self.most :]
        return super().parse_row(row)


def _rows(sheet: Any, first: int, most: int) -> Iterator[tuple[Any, ...]]:
    """Yield at most `most` values of each row, starting with row `first`; absent rows are empty."""
    book, at = sheet.parent, first
    with sheet._get_source() as source:
        parser = _Narrow(
            source, sheet._shared_strings, data_only=True, epoch=book.epoch, date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )  # fmt: skip
        parser.most = most
        for number, cells in parser.parse():
            for _ in range(at, number):
                yield ()
            if number >= at:
                values = {cell["column"]: cell["value"] for cell in cells if cell["column"] <= most}
                yield tuple(values.get(column) for column in range(1, max(values, default=0) + 1))
            at = max(at, number + 1)


def _sheet(sheets: list[Any], name: str, form: Form) -> tuple[Any, list[str]]:
    """Return the declared sheet, or else the first visible one whose name does not suggest notes."""
    if form.sheet is not None:
        for place, sheet in enumerate(sheets, 1):
            if form.sheet in (sheet.title, str(place)):
                return sheet, []
        raise TableError(f"{name}: there is no sheet {form.sheet!r}; give its name, or its number, counted from 1.")
    if len(sheets) == 1:
        return sheets[0], []
    shown = [place for place, sheet in enumerate(sheets) if sheet.sheet_state == "visible"] or [0]
    place = next((place for place in shown if sheets[place].title.strip().lower() not in _WORDS), shown[0])
    which = f"sheet {place + 1}" if form.private else f"sheet {place + 1}, {cleaned(sheets[place].title)!r},"
    return sheets[place], [f"Of {len(sheets)} sheets, {which} was read: hidden ones and notes are passed over."]


def _guard(data: memoryview, name: str, limits: Limits) -> None:
    """Refuse a file that is not a workbook or unpacks to more than allowed; zipfile never exceeds declared sizes."""
    broken = f"{name}: the zip archive inside the workbook is damaged or cut off; save it again."
    with faults_as(broken), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
    inflated = sum(member.file_size for member in members)
    if inflated > limits.inflated or inflated > limits.ratio * max(data.nbytes, 100_000):
        raise TableError(
            f"{name}: the file would unpack to more than {limits.inflated // 1_000_000} MB or {limits.ratio} times its "
            "size; save the table as CSV or Parquet."
        )
    sizes = {member.filename: member.file_size for member in members}
    if sizes.get("xl/workbook.xml", 0) > _BOOK:
        raise TableError(f"{name}: the workbook has too many sheets or defined names; save one sheet as CSV.")
    if "xl/workbook.xml" not in sizes:
        raise TableError(f"{name}: the content is a zip archive but not an .xlsx workbook; save it as .xlsx or CSV.")


def _trimmed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Drop the empty cells at the end of a row."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def _guarded(rows: Iterator[tuple[Any, ...]], name: str, advance: Callable[[float], None]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows without empty cells at the end; refuse long gaps, and check regularly whether to stop."""
    empty = 0
    for number, cells in enumerate(rows):
        if number % _HEARD == 0:
            advance(min(0.9, number / (number + 50_000)))
        row = _trimmed(cells)
        empty = 0 if row else empty + 1
        if empty > _GAP:
            raise TableError(f"{name}: more than {_GAP:,} consecutive rows are empty; delete them, or save it as CSV.")
        yield row


def _read_rows(
    rows: Iterator[tuple[Any, ...]],
    name: str,
    width: int,
    form: Form,
    limits: Limits,
) -> list[list[Any]]:
    columns: list[list[Any]] = [[] for _ in range(width)]
    start = 0
    while block := list(islice(rows, 5000)):
        for number, row in enumerate(block, start + 1):
            if len(row) > width and not form.private:
                where = (form.header_row or 1) + number if width == 1 else "N"
                raise TableError(
                    f"{name}: row {number} below the first line has a cell beyond that line's last one; if "
                    f"the names are further down, say where (on the command line: --header-row {where})."
                )
            if row:
                row = () if len(row) > width else row
                for j in range(width):
                    columns[j].append(row[j] if j < len(row) else None)
        start += len(block)
        limits.check(name, start, width)
        if start * width > limits.excel_cells:
            raise TableError(
                f"{name}: a workbook may have at most {limits.excel_cells:,} cells; save it as CSV or Parquet."
            )
    return columns
