"""Read CSV files and other text.

In a public file, encoding, separator and decimal sign are detected, and a row with too many or too few cells is refused
with its line number. In a private file, all of this is declared or follows from the confirmed first line.
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
import io
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import islice

import numpy as np

from dpviz.datasets.readers.by_rule import numbers_by_rule
from dpviz.datasets.readers.columns import columns_of, own_numbers, without_marks
from dpviz.datasets.readers.footers import without_footers
from dpviz.datasets.readers.form import SEPARATORS, Form
from dpviz.datasets.readers.formats import FORMATS
from dpviz.datasets.readers.lines import BLOCK, cells_of, mended, split, words
from dpviz.datasets.readers.names import confirmed, is_value, named, numbered, width_of
from dpviz.datasets.readers.numerals import FALSE, MONEY, TRUE, signs_in
from dpviz.datasets.readers.other_text import refuse_other_text, separated, spaced
from dpviz.datasets.readers.raw import Raw, Words
from dpviz.datasets.readers.recode import Recoding, recoded
from dpviz.datasets.readers.regular import Wanted
from dpviz.datasets.readers.rows import Ragged, TooLong, below, columns_in
from dpviz.datasets.readers.table import (
    NO_ROWS,
    Column,
    Limits,
    Table,
    TableError,
    faults_as,
    own_columns,
    precision,
    table_of,
)

__all__ = ["is_split_slowly", "read_text"]

_DELIMITERS = [sign for sign in SEPARATORS if sign != " "]
_SAMPLE = 1 << 17
_END = re.compile(rb"\r\n|\r|\n")
_EQUAL = (
    "give every line as many cells as the first one, and put text that holds the separator in quotes; if the names "
    "are further down, say where (on the command line: --header-row {})."
)
_COMMA_DECIMAL = r"[+-]?(\d{1,3}([.' ]\d{3})*|\d*),\d*"
_POINT_DECIMAL = r"[+-]?(\d{1,3}(,\d{3})*|\d*)\.\d*"
_GROUPED = r"[+-]?\d{1,3}([,.]\d{3})+"
_TIME = re.compile("([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?")
_QUOTED = re.compile(rb'(?<![^,;|\t\r\n])"[^",;|\t\r\n]*"(?![^,;|\t\r\n])')
_EXCELS_SIGN = re.compile(rb'"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)
_UNIT = re.compile(  # in brackets, with a sign that no name has, or well known
    r"\(.{1,12}\)|\[.{1,12}\]|[^\d]{0,8}[%°²³€$£/][^\d]{0,8}|[mckdµ]?[mglsWJ]|k?Wh|mmHg|bpm|min|h|hours?|days?|months?|years?|"
    r"[EUGC][UHSB][RFDP]|points|pts",
    re.IGNORECASE,
)
_ROWS = 100  # number of lines below a line of units that are inspected
_KINDS = {"", "c", "d", "s", "t", "continuous", "discrete", "string", "text", "time"}
_USES = {"", "class", "meta", "i", "ignore", "weight", "multiclass"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read delimited text."""
    return (_read_private if form.private else _read_public)(data, name, form, limits, advance)


def is_split_slowly(data: memoryview) -> bool:
    """Return whether Python must split or decode public text.

    It must if white space separates cells, if lines end with a separator, if the text is not UTF-8, or if it is long
    and its quoted cells hold separators, quotes or line ends.
    """
    head = bytes(data[:_SAMPLE])
    if re.search(rb"[,;|\t]\r?\n", head) or (data.nbytes > BLOCK and b'"' in _QUOTED.sub(b"", head)):
        return True
    with suppress(ValueError, csv.Error):
        if spaced(head[: head.rfind(b"\n") + 1].decode() if data.nbytes > _SAMPLE else head.decode()):
            return True
    return not _is_utf8(data)


def _read_private(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read text whose form is declared or follows from the confirmed first line; every line is read on its own."""
    if data[:3] == codecs.BOM_UTF8 and form.header is not False:
        data = data[3:]
    notes: list[str] = []
    data = _below(data, (form.header_row or 1) - 1)
    unnamed_first = False
    if form.header is False:
        width = width_of(name, form)
        names = numbered(width)
        separator = form.separator or ("" if width == 1 else "\t" if name.lower().endswith(".tsv") else ",")
    else:
        line, data = _first_line(data, name)
        if form.header:  # a first line that is not declared to hold names may be a person's row
            refuse_other_text(line, name)
        separator = form.separator or max(_DELIMITERS, key=lambda sign: len(split(line, sign)))
        first = split(line, separator)
        if len(first) == 1 and form.separator is None:
            separator = " " if len(words(line)) > 1 else ""  # "": there is one column, whose cells are whole lines
            first = split(line, separator)
        limits.check(name, 0, len(first))
        names, notes = confirmed(name, first, form)
        width, unnamed_first = len(names), not first[0].strip()
        if separator not in ("", ","):
            notes.insert(0, f"Cells are separated by {_article(separator)}{SEPARATORS[separator]}.")
    n_heads = int(form.header is not False)  # after a header, the text begins with that header's line end
    if form.lines_below:
        data, n_heads = _below(data, form.lines_below + 1), 0
    limits.check(name, max(_lines(data) - n_heads, 0), width)
    rules = {at: rule for at, column in enumerate(names) if (rule := recoded(form.recode, column))}
    parts: list[list[list[np.ndarray]]] = [[] for _ in names]
    wanted = _plainly(names, rules, separator, form)
    for cells in cells_of(data, separator, width, wanted, advance):
        for at, column in enumerate(cells):
            parts[at].append(_own(column, names[at], rules.get(at), form))
    columns = []
    for at, public in enumerate(names):
        n_columns = len(rules[at].columns) if at in rules else 1
        values = [np.concatenate([part[j] for part in parts[at]] or [np.empty(0)]) for j in range(n_columns)]
        parts[at] = []
        columns += own_columns(public, values, form)
    return table_of(name, columns, len(columns[0].values), notes, unnamed_first=unnamed_first)  # type: ignore[arg-type]


def _plainly(names: list[str], rules: Collection[int], separator: str, form: Form) -> Wanted:
    """Return which columns of a private file are first tried as plain numbers, which are read in the same way then."""
    decimal, marked = form.signs[0], form.missing_marks or form.signs[0] == separator
    others = {at for at, name in enumerate(names) if at in rules or marked or form.signs_of(name)[0] != decimal}
    return Wanted(decimal, others, general=form.general_marks)


def _own(cells: Words | np.ndarray, name: str, rule: Recoding | None, form: Form) -> list[np.ndarray]:
    """Return the numbers made from the cells of a private column; each cell is read on its own."""
    column = Raw("text", None, (cells,)) if isinstance(cells, Words) else Raw("number", cells)
    if rule is None:
        return [own_numbers(column, form.signs_of(name), form.missing_marks)]
    return numbers_by_rule(rule, without_marks(column, form.missing_marks))


def _below(data: memoryview, n_lines: int) -> memoryview:
    """Return the text after its first `n_lines` lines; empty if there are fewer lines."""
    if not n_lines:
        return data
    end = next(islice(_END.finditer(data), n_lines - 1, None), None)
    return data[end.end() if end else data.nbytes :]


def _first_line(data: memoryview, name: str) -> tuple[str, memoryview]:
    """Return the first line that is not empty, and the text after it."""
    head = bytes(data[:_SAMPLE])
    start = len(head) - len(head.lstrip(b"\r\n"))
    ends = [place for place in (head.find(b"\n", start), head.find(b"\r", start)) if place >= 0]
    if not ends and data.nbytes > _SAMPLE:
        raise TableError(f"{name}: the first line is longer than {_SAMPLE // 1000} kB; is this a table?")
    end = min(ends) if ends else len(head)
    line = head[start:end]
    if not line:
        raise TableError(f"{name}: the file is empty; drop a table with a header line and at least one row.")
    if b"\0" in line or any(line.startswith(mark) for mark, _ in _MARKS):
        raise TableError(f"{name}: the first line is not UTF-8 text; save the table as CSV in UTF-8.")
    return mended(line).decode(), data[end:]


def _article(separator: str) -> str:
    return "" if separator == " " else "a "


@dataclasses.dataclass(frozen=True)
class _Opened:
    """Public text in UTF-8 whose cells are separated by one sign.

    Attributes
    ----------
    data : the text, from the line of names on
    form : the declared form, with the separator that Excel's first line tells
    delimiter : the sign
    records : the cells of the first lines
    width : the number of columns
    n_words : the number of words per line if white space separated the cells, else 0
    notes : sentences about what was found
    """

    data: memoryview
    form: Form
    delimiter: str
    records: list[list[str]]
    width: int
    n_words: int
    notes: list[str]


def _opened(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> _Opened:
    """Detect encoding and separator, and leave out what stands above, below or beside the cells of the first lines."""
    data, notes = _as_utf8(data, name)
    data = _from_line(data, name, form.header_row or 1)
    if told := _EXCELS_SIGN.match(bytes(data[:16])):  # Excel's own note, which it does not show
        data, form = data[told.end() :], dataclasses.replace(form, separator=form.separator or told[1].decode())
        notes.append("The first line says which sign separates cells and was skipped.")
    n_words = 0
    with faults_as(f"{name}: the first lines cannot be read as a table of separated cells; save it as CSV again."):
        head = _head(data, name)
        refuse_other_text(head, name)
        delimiter = _delimiter(head) if form.separator in (None, " ") else form.separator
        records = _records(head, delimiter)
        if form.separator == " " or (form.separator is None and all(len(record) == 1 for record in records)):
            n_words = spaced(head)
        if n_words:
            limits.check(name, max(_lines(data) - (form.header is not False), 0), n_words)
            data = separated(data, n_words, advance)
            notes.append("Cells are separated by white space.")
            delimiter = "\t"
            head = _head(data, name)
            records = _records(head, delimiter)
    if not records:
        raise TableError(f"{name}: the file is empty; drop a table with a header line and at least one row.")
    width = _width(records)
    if not n_words and any(len(record) > width and not any(map(str.strip, record[width:])) for record in records):
        with faults_as(f"{name}: the lines cannot be read as a table of separated cells; save it as CSV again."):
            data, records = _cut(data, delimiter, width), [record[:width] for record in records]
        notes.append("The separator at the end of a line begins no further cell.")
    return _Opened(data, form, delimiter, records, width, n_words, notes)


def _read_public(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    text = _opened(data, name, form, limits, advance)
    data, form, notes, records, width = text.data, text.form, text.notes, text.records, text.width
    delimiter, has_header = text.delimiter, form.header is not False
    n_kinds, told = _lines_below(records, form) if has_header else (0, [])
    notes += told
    limits.check(name, 0, width)
    if not text.n_words:
        data, left = without_footers(data, delimiter, width)
        notes += left
    names, renamed = named(name, records[0], sure=bool(form.header)) if has_header else (numbered(width), [])
    if has_header and len(records) == 1 + n_kinds and data.nbytes <= _SAMPLE:
        raise TableError(f"{name}: {NO_ROWS}")
    limits.check(name, max(_lines(data) - has_header, 0), width)
    decimal = form.decimal or _decimal_sign(records[has_header + n_kinds :], delimiter)
    if delimiter != "," and not text.n_words:
        notes.append(f"Cells are separated by a {SEPARATORS[delimiter]}.")
    if decimal == ",":
        notes.append("The decimal sign is a comma.")
    apart = dict(form.decimal_of)
    texts = {j for j in range(width) if recoded(form.recode, names[j]) or names[j] in apart}
    try:
        n_above = has_header + n_kinds
        data = below(data, n_above, delimiter)
        wanted = Wanted("," if decimal == "," else ".", set(texts), form.missing_marks, form.general_marks)
        columns = columns_in(data, delimiter, width, n_above, wanted, advance)
        # numbers were parsed with points as decimal signs; the text shows whether points group thousands
        floats = (
            [j for j in range(width) if columns[j].kind == "number"] if decimal == "?" and b"." in bytes(data) else []
        )
        written = (
            columns_in(data, delimiter, width, n_above, Wanted(".", set(floats), general=form.general_marks), advance)
            if floats
            else columns
        )
    except Ragged as row:
        number, n_cells = row.args
        first = number + (form.header_row or 1) - 1 if n_cells > width == 1 else "N"
        raise TableError(
            f"{name}: line {number} has {n_cells} cell{'s' * (n_cells != 1)}, but the first line has {width}; "
            + _EQUAL.format(first)
        ) from None
    except TooLong:
        raise TableError(
            f"{name}: a line is longer than {BLOCK // 1_000_000} MB; is this a table, or is a quote open?"
        ) from None
    doubts = {names[j]: signs_in(written[j], "?")[1] for j in floats}
    del written
    n_rows = len(columns[0])
    if n_rows == 0:
        raise TableError(f"{name}: {NO_ROWS}")
    dtype = precision(n_rows, width, form)
    made: list[Column] = []
    for j in range(width):
        cells = columns[j] if j in texts else _typed(columns[j])
        made += columns_of(names[j], cells, dtype, form, decimal=decimal)
        columns[j] = cells = Raw("empty")
    made = [dataclasses.replace(column, doubt=doubts.get(column.name, column.doubt)) for column in made]
    unnamed_first = has_header and not records[0][0].strip()
    return table_of(name, made, n_rows, notes + renamed, unnamed_first=unnamed_first)


def _typed(cells: Raw) -> Raw:
    """Return a column of text that holds only words for true and false, or only times, as one of these."""
    if not any(True for _ in cells):
        return cells
    if all(cell in TRUE or cell in FALSE for cell in cells):
        return Raw("true/false", cells.numbers(lambda cell: float(cell in TRUE)))
    if all(map(_TIME.fullmatch, cells)):
        return Raw("time", np.full(len(cells), np.nan))
    return cells


def _width(records: list[list[str]]) -> int:
    """Return the number of names in the first record, without blank ones at its end if their cells are blank, too."""
    first = records[0]
    named = max((place for place, cell in enumerate(first, 1) if cell.strip()), default=len(first))
    filled = any(cell.strip() for record in records[1:] for cell in record[named:])
    return len(first) if filled else named


def _cut(data: memoryview, delimiter: str, width: int) -> memoryview:
    """Return the text without blank cells beyond the last column; a line that has a cell there stays as it is."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    for record in csv.reader(io.StringIO(bytes(data).decode(), newline=None), delimiter=delimiter):
        writer.writerow(record if any(map(str.strip, record[width:])) else record[:width])
    return memoryview(out.getvalue().encode())


def _lines_below(records: list[list[str]], form: Form) -> tuple[int, list[str]]:
    """Return the number of lines directly below the names that are no rows, and a note on what was recognized."""
    if form.lines_below is not None:
        return form.lines_below, []
    if form.header_row is None and _are_kinds(records[1:3]):
        return 2, ["The two lines below the names, which say what kinds the columns have, were skipped."]
    if _are_units(records):
        return 1, ["The line below the names, which holds units, was skipped."]
    return 0, []


def _are_kinds(lines: list[list[str]]) -> bool:
    """Return whether two lines below the names are Orange's: kinds of columns, and what they are for."""
    if len(lines) < 2:
        return False
    kinds, uses = ({cell.strip().lower() for cell in line} for line in lines)
    return kinds <= _KINDS and bool(kinds - {""}) and all(use.split("=")[0].split(" ")[0] in _USES for use in uses)


def _are_units(records: list[list[str]]) -> bool:
    """Return whether the record below the names holds units, each above a column of numbers."""
    if len(records) < 4 or len(records[0]) < 2 or len(records[1]) > len(records[0]):
        return False
    units, below = records[1], records[2:_ROWS]
    named = [place for place, cell in enumerate(units) if cell.strip()]
    columns = [[record[place] for record in below if place < len(record)] for place in named]
    return (
        len(named) > 1
        and all(_UNIT.fullmatch(units[place].strip()) and not is_value(units[place]) for place in named)
        and all(cells and all(is_value(cell) or not cell.strip() for cell in cells) for cells in columns)
    )


def _from_line(data: memoryview, name: str, line: int) -> memoryview:
    """Return the text from a line on; lines are counted from 1."""
    below = _below(data, line - 1)
    if line > 1 and not below.nbytes:
        raise TableError(f"{name}: it has no line {line} where a table could begin.")
    return below


def _as_utf8(data: memoryview, name: str) -> tuple[memoryview, list[str]]:
    """Return public text as UTF-8 without a byte order mark, and a note if it had another encoding.

    Text without a byte order mark that is neither UTF-16 nor valid UTF-8 is read as Windows-1252.
    """
    encoding = next((encoding for mark, encoding in _MARKS if data[: len(mark)] == mark), None)
    if encoding == "utf-8-sig":
        data, encoding = data[3:], None
    head = bytes(data[:4096])
    if encoding is None and b"\0" in head:
        even, odd = head[::2].count(0) / len(head[::2]), head[1::2].count(0) / max(len(head[1::2]), 1)
        encoding = "utf-16-le" if even < 0.2 and odd > 0.8 else "utf-16-be" if odd < 0.2 and even > 0.8 else None
        if encoding is None:
            raise TableError(f"{name}: this is not a text table; {FORMATS}.")
    if encoding is None and _is_utf8(data):
        return data, []
    label = encoding.upper() if encoding else "Windows-1252"
    with faults_as(f"{name}: the text is not valid {label}; save the file as UTF-8."):
        if encoding:
            return memoryview(bytes(data).decode(encoding).encode()), [f"The text is {label}."]
        text = bytes(data).decode("cp1252", errors="replace").encode()
        return memoryview(text), [f"The text is not UTF-8; it was read as {label}."]


def _is_utf8(data: memoryview) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, data.nbytes, 1 << 22):
            decoder.decode(data[start : start + (1 << 22)], final=start + (1 << 22) >= data.nbytes)
    except UnicodeDecodeError:
        return False
    return True


def _head(data: memoryview, name: str) -> str:
    """Return the first complete lines of the text."""
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
    """Return the delimiter that gives the header several names and most lines as many cells as the header."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = [len(record) for record in _records(head[:20_000], delimiter)[:100]]
        return (widths.count(widths[0]) / len(widths), widths[0]) if widths and widths[0] > 1 else (0.0, 0)

    return max(_DELIMITERS, key=score)


def _lines(data: memoryview) -> int:
    """Return the number of lines, which end with CR, LF or both; count in blocks, without copying the whole text."""
    n_ends, last = 0, b""
    for start in range(0, data.nbytes, 1 << 22):
        block = bytes(data[start : start + (1 << 22)])
        n_ends += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
        n_ends -= last == b"\r" and block[:1] == b"\n"
        last = block[-1:]
    return n_ends + (last not in (b"", b"\n", b"\r"))


def _amount(cell: str) -> str:
    """Return a cell without white space at its ends and without signs for a minus, a currency or a percentage."""
    bare = re.sub(r"^\(([^()]*)\)$|^(.*\d)-$|^\u2212", r"\1\2", cell.strip())
    return re.sub(rf"^{MONEY}\s*(?=[-+.\d])|(?<=\d)\s*({MONEY}|%)$", "", bare)


def _decimal_sign(records: list[list[str]], delimiter: str) -> str:
    """Return "," if there are numbers like 1,5 and none like 1.5; "." if commas can only group; "?" if unsure.

    If there are both and the delimiter is not a comma, columns may have different decimal signs, so the answer is "?".
    """

    def occurs(sign: str, decimal: str) -> bool:
        cells = (_amount(cell) for record in records for cell in record if sign in cell)
        return any(re.fullmatch(decimal, cell) and not re.fullmatch(_GROUPED, cell) for cell in cells)

    comma = occurs(",", _COMMA_DECIMAL)
    if not comma and delimiter == ",":
        return "."
    point = occurs(".", _POINT_DECIMAL)
    if comma and not point:
        return ","
    return "." if delimiter == "," or (point and not comma) else "?"
