"""CSV and TSV: encoding, delimiter and decimal sign are found; rows of unequal length are refused with their line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.csv as arrow_csv

from dpviz.datasets.readers.marks import MISSING
from dpviz.datasets.readers.names import named, numbered
from dpviz.datasets.readers.other_text import refuse_other_text, separated, spaced
from dpviz.datasets.readers.recode import recoded
from dpviz.datasets.readers.table import (
    NO_ROWS,
    Form,
    Limits,
    Table,
    TableError,
    columns_of,
    faults_as,
    precision,
    table_of,
)

__all__ = ["read_text"]

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_BLOCK = 4_000_000  # bytes; a line may not be longer
_SAMPLE = 1 << 17
_EQUAL = "give every line as many cells as the first one, and put text that holds the separator in quotes."
_COMMA_DECIMAL = r"[+-]?(\d{1,3}([.' ]\d{3})*|\d*),\d*"
_POINT_DECIMAL = r"[+-]?(\d{1,3}(,\d{3})*|\d*)\.\d*"
_GROUPED = r"[+-]?\d{1,3}([,.]\d{3})+"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TRUE, _FALSE = ["true", "True", "TRUE", "yes", "Yes", "YES"], ["false", "False", "FALSE", "no", "No", "NO"]


class _Reported(io.RawIOBase):
    """Bytes in memory as a file that tells how far it was read."""

    def __init__(self, data: memoryview, advance: Callable[[float], None]) -> None:
        self._data, self._at, self._advance = data, 0, advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self._data[self._at : self._at + len(buffer)]
        buffer[: part.nbytes] = part
        self._at += part.nbytes
        self._advance(0.9 * self._at / self._data.nbytes)
        return part.nbytes


def read_text(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read delimited text."""
    data, notes = _as_utf8(data, name, private=form.private)
    data = _from_line(data, name, form.header_row or 1)
    words = 0
    with faults_as(f"{name}: the first lines cannot be read as a table of separated cells; save it as CSV again."):
        head = _head(data, name)
        refuse_other_text(head, name)
        delimiter = _delimiter(head)
        records = _records(head, delimiter)
        if all(len(record) == 1 for record in records) and (words := spaced(head)):
            data = memoryview(separated(bytes(data).decode(), words).encode())
            notes.append("Cells are separated by white space.")
            delimiter = "\t"
            head = _head(data, name)
            records = _records(head, delimiter)
    if not records:
        raise TableError(f"{name}: the file is empty; drop a table with a header line and at least one row.")
    width, has_header = len(records[0]), form.header is not False
    limits.check(name, 0, width)
    names, renamed = named(name, records[0]) if has_header else (numbered(width), [])
    if has_header and len(records) == 1 and data.nbytes <= _SAMPLE:
        if not form.private:
            raise TableError(f"{name}: {NO_ROWS}")
        return table_of(name, [c for n in names for c in columns_of(n, pa.nulls(0), float, form)], 0, notes + renamed)
    limits.check(name, max(_lines(data) - has_header, 0), width)
    decimal = _decimal_sign(records[has_header:], delimiter)
    if delimiter != "," and not words:
        notes.append(f"Cells are separated by a {_DELIMITERS[delimiter]}.")
    if decimal == ",":
        notes.append("The decimal sign is a comma.")
    texts = [records[0][j] if has_header else f"f{j}" for j in range(width) if recoded(form.recode, names[j])]
    cells = _parse(data, name, form, delimiter, "," if decimal == "," else ".", texts, advance)
    n_rows = cells.num_rows
    if n_rows == 0 and not form.private:
        raise TableError(f"{name}: {NO_ROWS}")
    dtype = precision(n_rows, width, form)
    made = (columns_of(names[j], cells.column(j), dtype, form, decimal=decimal) for j in range(width))
    columns = [column for some in made for column in some]
    del cells
    pa.default_memory_pool().release_unused()
    unnamed_first = has_header and not records[0][0].strip()
    return table_of(name, columns, n_rows, notes + renamed, unnamed_first=unnamed_first)


def _from_line(data: memoryview, name: str, line: int) -> memoryview:
    """Return the text from a line on."""
    at = 0
    for _ in range(line - 1):
        at = bytes(data[at : at + _BLOCK]).find(b"\n") + 1 + at if at < data.nbytes else -1
        if at <= 0:
            raise TableError(f"{name}: it has no line {line} where a table could begin.")
    return data[at:]


def _as_utf8(data: memoryview, name: str, *, private: bool) -> tuple[memoryview, list[str]]:
    """Return the text as UTF-8 without a byte order mark, and a note where it was something else.

    Text of no encoding that it names is Windows-1252: as a whole where it is public; line by line, and without a word,
    where it is private, so that one row does not decide how the words of the others are read.
    """
    encoding = next((encoding for mark, encoding in _MARKS if data[: len(mark)] == mark), None)
    if encoding == "utf-8-sig":
        data, encoding = data[3:], None
    head = bytes(data[:4096])
    if encoding is None and b"\0" in head:
        even, odd = head[::2].count(0) / len(head[::2]), head[1::2].count(0) / max(len(head[1::2]), 1)
        encoding = "utf-16-le" if even < 0.2 and odd > 0.8 else "utf-16-be" if odd < 0.2 and even > 0.8 else None
        if encoding is None:
            raise TableError(f"{name}: this is not a text table; drop CSV, TSV, Parquet or Excel (.xlsx).")
    if encoding is None and _is_utf8(data):
        return data, []
    if encoding is None and private:
        lines = (line if _is_utf8(memoryview(line)) else _from_windows(line) for line in bytes(data).split(b"\n"))
        return memoryview(b"\n".join(lines)), []
    label = encoding.upper() if encoding else "Windows-1252"
    with faults_as(f"{name}: the text is not valid {label}; save the file as UTF-8."):
        if encoding:
            return memoryview(bytes(data).decode(encoding).encode()), [f"The text is {label}."]
        return memoryview(_from_windows(bytes(data))), [f"The text is not UTF-8; it was read as {label}."]


def _from_windows(text: bytes) -> bytes:
    return text.decode("cp1252", errors="replace").encode()


def _is_utf8(data: memoryview) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, data.nbytes, 1 << 22):
            decoder.decode(data[start : start + (1 << 22)], final=start + (1 << 22) >= data.nbytes)
    except UnicodeDecodeError:
        return False
    return True


def _head(data: memoryview, name: str) -> str:
    """Return the first lines, whole ones only."""
    head = bytes(data[:_SAMPLE]).decode("utf-8", errors="ignore")
    if data.nbytes > _SAMPLE:
        cut = max(head.rfind("\n"), head.rfind("\r"))
        if cut < 0:
            raise TableError(f"{name}: the first line is longer than {_SAMPLE // 1000} kB; is this a table?")
        head = head[:cut]
    return head


def _records(head: str, delimiter: str) -> list[list[str]]:
    return [record for record in csv.reader(io.StringIO(head, newline=None), delimiter=delimiter) if record]


def _delimiter(head: str) -> str:
    """Return the delimiter under which most lines are as wide as the header, and the header has several names."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = [len(record) for record in _records(head[:20_000], delimiter)[:100]]
        return (widths.count(widths[0]) / len(widths), widths[0]) if widths and widths[0] > 1 else (0.0, 0)

    return max(_DELIMITERS, key=score)


def _lines(data: memoryview) -> int:
    """Return an upper bound on the number of lines, in blocks: nothing is copied whole."""
    blocks = (bytes(data[start : start + (1 << 22)]) for start in range(0, data.nbytes, 1 << 22))
    return 1 + sum(max(block.count(b"\n"), block.count(b"\r")) for block in blocks)


def _quoted(data: memoryview) -> bool:
    return any(b'"' in bytes(data[start : start + (1 << 22)]) for start in range(0, data.nbytes, 1 << 22))


def _decimal_sign(records: list[list[str]], delimiter: str) -> str:
    """Return "," where numbers like 1,5 occur and none like 1.5; "." where commas can only group; "?" if unsure."""
    cells = [cell.strip() for record in records for cell in record]
    comma = any(re.fullmatch(_COMMA_DECIMAL, cell) and not re.fullmatch(_GROUPED, cell) for cell in cells)
    point = any(re.fullmatch(_POINT_DECIMAL, cell) and not re.fullmatch(_GROUPED, cell) for cell in cells)
    if comma and not point:
        return ","
    return "." if point or delimiter == "," else "?"


def _parse(
    data: memoryview,
    name: str,
    form: Form,
    delimiter: str,
    decimal_point: str,
    texts: list[str],
    advance: Callable[[float], None],
) -> pa.Table:
    """Let Arrow parse; a row of another length than the first line is refused, with its number where that is public.

    The columns `texts` stay text: how one of their cells is read must not follow from the other cells.
    """
    wrong: list[arrow_csv.InvalidRow] = []

    def refuse(row: arrow_csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    try:
        return arrow_csv.read_csv(
            pa.PythonFile(io.BufferedReader(_Reported(data, advance), _BLOCK), mode="r"),
            read_options=arrow_csv.ReadOptions(  # threads lose the line number
                use_threads=False, block_size=_BLOCK, autogenerate_column_names=form.header is False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=_quoted(data), invalid_row_handler=refuse
            ),
            convert_options=arrow_csv.ConvertOptions(
                null_values=["", " ", *MISSING], strings_can_be_null=True, true_values=_TRUE, false_values=_FALSE,
                decimal_point=decimal_point, auto_dict_encode=True, column_types=dict.fromkeys(texts, pa.string()),
            ),
        )  # fmt: skip
    except pa.ArrowException as fault:
        too_long = "straddling" in str(fault)
    if wrong and form.private:
        raise TableError(f"{name}: a line has not as many cells as the first line; {_EQUAL}")
    if wrong:
        row = wrong[0]
        raise TableError(
            f"{name}: line {row.number} has {row.actual_columns} of the first line's {row.expected_columns} cells; "
            + _EQUAL
        )
    if too_long:
        raise TableError(
            f"{name}: a line is longer than {_BLOCK // 1_000_000} MB; is this a table, or is a quote open?"
        )
    raise TableError(f"{name}: the lines cannot be read as a table of separated cells; save it as CSV again.")
