"""List the formats of files; recognize a file by its first bytes or, if it is private, by its name; refuse some."""

from __future__ import annotations

import re
from typing import NamedTuple

from dpviz.datasets.readers.form import Form

__all__ = ["FORMATS", "REFUSED", "declared_format", "format_of", "has_types", "is_first_record", "unplaced"]


class Format(NamedTuple):
    """A format that can be read.

    Attributes
    ----------
    reader : name of its reader
    words : its name in a list of formats, "" for a wrapper of other formats
    endings : endings of its files' names
    begins : the possible first bytes of its files; none if they do not tell
    typed : whether its columns have names and types
    """

    reader: str
    words: str
    endings: tuple[str, ...]
    begins: tuple[bytes, ...] = ()
    typed: bool = False


_FORMATS = (
    Format("text", "CSV or other text", ("csv", "tsv", "txt", "dat", "tab")),
    Format("excel", "Excel (.xlsx)", ("xlsx", "xlsm"), (b"PK\x03\x04",)),
    Format("parquet", "Parquet", ("parquet",), (b"PAR1",), typed=True),
    Format("arrow", "Feather", ("feather", "arrow"), (b"ARROW1", b"FEA1"), typed=True),
    Format("json", "JSON records", ("json", "jsonl", "ndjson")),
    Format("stata", "Stata", ("dta",), (b"<stata_dta>",), typed=True),
    Format("gzip", "", ("gz",), (b"\x1f\x8b",)),
)
_BINARY = {begin: one.reader for one in _FORMATS for begin in one.begins}
_ENDINGS = {ending: one for one in _FORMATS for ending in one.endings}
_OLD_STATA = re.compile(rb"[\x69\x6c-\x73][\x01\x02]\x01\x00")  # releases 105 to 115, byte order, file type
_JSON = re.compile(rb"\s*(\{\s*(\"|\})|\[\s*([{\[\"\d-]|true|false|null|\]))")

FORMATS = "drop {} or {}".format(", ".join((names := [one.words for one in _FORMATS if one.words])[:-1]), names[-1])

REFUSED = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"BZh": "a bzip2 archive; unpack it first",
    b"\xfd7zXZ": "an xz archive; unpack it first",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old or password-protected Office file; save it as .xlsx without a password, or as CSV",
    b"SQLite format 3": "a SQLite database; export the table as CSV",
    b"$FL2": "an SPSS file; save it as CSV or Stata",
    b"$FL3": "a packed SPSS file; save it as CSV or Stata",
    b"ASCII SPSS PORT FILE": "a portable SPSS file; save it as CSV or Stata",
    b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60": "a SAS table; save it as CSV, with proc export",
    b"HEADER RECORD*******LIB": "a SAS transport file; save the table as CSV, with proc export",
    b"RDX": "an R workspace; save the table as CSV, with write.csv",
    b"X\n\x00\x00\x00": "an R object; save the table as CSV, with write.csv",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"\x93NUMPY": "a NumPy array; read it with --in-parts, or save it as CSV",
    b"\x80\x04\x95": "a Python pickle, which could run code; save the table as Parquet or CSV",
    b"\x80\x05\x95": "a Python pickle, which could run code; save the table as Parquet or CSV",
    b"PARE": "an encrypted Parquet file; save it without encryption",
}


def format_of(head: bytes) -> str:
    """Return "excel", "parquet", "gzip", "arrow", "stata", "json", or "text" for everything else."""
    for magic, kind in _BINARY.items():
        if head.startswith(magic):
            return kind
    if _OLD_STATA.match(head):
        return "stata"
    return "json" if _JSON.match(head.removeprefix(b"\xef\xbb\xbf")) else "text"


def declared_format(name: str, head: bytes, form: Form) -> str:
    """Return the format of a public file, judged by its first bytes, or of a private file, judged by its name.

    The first bytes of a private file may belong to a person; they decide only if the name has no known extension and
    the first line is not declared to be a row.
    """
    if not form.private:
        return format_of(head)
    if (known := _ENDINGS.get(_ending(name))) is not None:
        return known.reader
    return "text" if form.header is False else format_of(head)


def has_types(name: str) -> bool:
    """Return whether the columns of a file with this name, or of the file packed in it, have names and types."""
    known = _ENDINGS.get(_ending(name.lower().removesuffix(".gz")))
    return known is not None and known.typed


def _ending(name: str) -> str:
    return name.lower().rpartition(".")[2]


def unplaced(kind: str, form: Form) -> str:
    """Return why a file of this kind cannot hold a table at the declared place, or "" if it can."""
    if form.sheet is not None and kind != "excel":
        return "it is not a workbook and has no sheets; leave out the sheet"
    if form.header_row is not None and kind not in ("excel", "text"):
        return "it has no lines above its table; leave out the header row"
    if form.lines_below is not None and kind not in ("excel", "text"):
        return "it has no lines below its names; leave out their number"
    return ""


def is_first_record(name: str, head: bytes, form: Form) -> bool:
    """Return whether the first bytes of a file may belong to a person; if so, nothing may depend on them."""
    kind = declared_format(name, head, form)
    return form.private and (kind == "json" or (kind == "text" and form.header is False))
