"""The process that reads one workbook or Parquet file: limited first, then given the file, gone after its table.

`apart` starts it as `python -m dpviz.datasets.readers.child`; it imports its parsers and waits for a file.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable

from dpviz.datasets.readers.excel import read_excel
from dpviz.datasets.readers.frames import ERROR, PROGRESS, asked, frames, send, send_table
from dpviz.datasets.readers.parquet import read_parquet
from dpviz.datasets.readers.table import Form, Limits, Table, TableError, too_much

__all__ = ["main", "read"]

_NICE = 5  # how much reading gives way to the process that answers the pages


def main() -> None:
    """Read one file from standard input; write its table, or one sentence, to standard output."""
    arriving, out = frames(sys.stdin.buffer), sys.stdout.buffer
    first = next(arriving, None)
    if first is None:  # nobody needed this process
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
    """Read a workbook or a Parquet file in this process."""
    reader = read_excel if data[:2] == b"PK" else read_parquet
    return reader(data, name, form, limits, advance)


def _limit(limits: Limits) -> None:
    """Bound processor time and memory. No file can be written, and no core dump, which would hold cells."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        import resource
    except ImportError:  # Windows has no such limits: there it is Stop that ends a slow file
        return
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    for which, most in (
        (resource.RLIMIT_CPU, int(spent) + 1 + limits.seconds),
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(which)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (allowed, allowed))


if __name__ == "__main__":
    main()
