"""Run the process that reads one file: it limits itself, reads the file, answers and ends.

`apart` starts it as `python -m dpviz.datasets.readers.child`; it imports the parsers and then waits for a file.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.formats import REFUSED, declared_format, is_first_record, unplaced
from dpviz.datasets.readers.frames import ERROR, PROGRESS, asked, send_table
from dpviz.datasets.readers.table import Limits, Table, TableError, faults_as, too_much
from dpviz.frames import frames, send

__all__ = ["main", "read"]

_READERS: dict[str, Callable[[], Callable[..., Table]]] = {  # a parser is imported when it is needed
    "excel": lambda: import_module("dpviz.datasets.readers.excel").read_excel,
    "parquet": lambda: import_module("dpviz.datasets.readers.parquet").read_parquet,
    "arrow": lambda: import_module("dpviz.datasets.readers.arrow").read_arrow,
    "stata": lambda: import_module("dpviz.datasets.readers.stata").read_stata,
    "json": lambda: import_module("dpviz.datasets.readers.records").read_json,
    "text": lambda: import_module("dpviz.datasets.readers.text").read_text,
}
_NICE = 5  # the process has a lower priority than the server of the pages


def main() -> None:
    """Read one file from standard input; write its table, or an error of one sentence, to standard output."""
    for kind in _READERS:
        with suppress(TableError):  # a missing package matters only to a file that needs it
            _parser(kind, "")
    arriving, out = frames(sys.stdin.buffer), sys.stdout.buffer
    first = next(arriving, None)
    if first is None:  # no file arrived
        return
    name, form, limits = asked(first[1])
    _limit(limits)
    try:
        data = memoryview(next(arriving)[1])
        send_table(out, read(data, name, form, limits, lambda done: send(out, PROGRESS, struct.pack("<d", done))))
    except TableError as refusal:
        send(out, ERROR, str(refusal).encode(errors="replace"))
    except MemoryError:
        send(out, ERROR, str(too_much(name)).encode(errors="replace"))


def read(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read a file of any format in this process."""
    kind, inside = declared_format(name, bytes(data[:64]), form), name
    if kind == "gzip":
        data, inside = _unpacked(data, name, form, limits), name.lower().removesuffix(".gz")
        kind = declared_format(inside, bytes(data[:64]), form)
    for magic, what in REFUSED.items():
        if bytes(data[:64]).startswith(magic) and not is_first_record(inside, bytes(data[:64]), form):
            raise TableError(f"{name}: the archive holds {what}.")
    if kind == "gzip":
        raise TableError(f"{name}: the archive holds another archive; unpack it first.")
    if problem := unplaced(kind, form):
        raise TableError(f"{name}: {problem} (on the command line: --sheet and --header-row).")
    return _parser(kind, name)(data, name, form, limits, advance)


def _parser(kind: str, name: str) -> Callable[..., Table]:
    """Return the function that reads files of a kind, unless it needs a package that is missing, as in a browser."""
    try:
        return _READERS[kind]()
    except ModuleNotFoundError as missing:
        raise TableError(f"{name}: such a file cannot be read here without {missing.name}; save it as CSV.") from None


def _unpacked(data: memoryview, name: str, form: Form, limits: Limits) -> memoryview:
    """Return the content of a gzip archive; at most the allowed size is unpacked."""
    with faults_as(f"{name}: the gzip archive is damaged or cut off; pack it again."):
        inside = gzip.GzipFile(fileobj=io.BytesIO(data)).read(limits.inflated + 1)
    if len(inside) > limits.inflated:
        raise TableError(f"{name}: it would unpack to more than {limits.inflated // 1_000_000} MB; use Parquet.")
    if not inside and not form.private:
        raise TableError(f"{name}: the archive is empty.")
    return memoryview(inside)


def _limit(limits: Limits) -> None:
    """Limit processor time and memory; forbid files and core dumps, which would hold cells.

    A limit that the operating system does not know, such as that on memory on macOS, is skipped.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        import resource
    except ImportError:  # Windows has no such limits; a slow file is read there until somebody stops it
        return
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    for which, most in (
        ("RLIMIT_CPU", int(spent) + 1 + limits.seconds),
        ("RLIMIT_AS", limits.memory),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
    ):
        with suppress(AttributeError, OSError, ValueError):
            limit = getattr(resource, which)
            hard = resource.getrlimit(limit)[1]
            allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (allowed, allowed))


if __name__ == "__main__":
    main()
