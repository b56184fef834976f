"""What a hostile file costs another visitor: `python -m benchmarks.hostile`.

One thread reads a file made to be slow or large, as one visitor would drop it; another reads a good workbook of 100
rows meanwhile. Prints the seconds of the good one alone and beside each, and the processor seconds of both. Wall
seconds grow with whatever else the machine does.
"""

from __future__ import annotations

import os
import resource
import threading
import time

from dpviz.datasets.readers import TableError, apart, read_table
from tests.broken_files import inside, workbook

_SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_BOOK = '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheets/><definedNames>'
_WAIT = 3.0  # seconds for the processes that wait to make their imports


def _sheet(rows: str) -> bytes:
    return inside(workbook(["a"], [1]), "xl/worksheets/sheet1.xml", f"{_SHEET}{rows}</sheetData></worksheet>")


def _names(count: int) -> bytes:
    names = "".join(f'<definedName name="n{i}">1</definedName>' for i in range(count))
    return inside(workbook(["a"], [1]), "xl/workbook.xml", f"{_BOOK}{names}</definedNames></workbook>")


def _wide(rows: int) -> bytes:
    cells = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c><c r="ZZZ{i}"/></row>' for i in range(2, rows))
    return _sheet(f'<row r="1"><c r="A1" t="str"><v>a</v></c></row>{cells}')


FILES = {
    "first row 999,999,999,999,999": _sheet('<row r="999999999999999"><c r="A999999999999999"><v>1</v></c></row>'),
    "40,000 rows with an empty cell at ZZZ": _wide(40_000),
    "20,000 defined names": _names(20_000),
    "300,000 defined names": _names(300_000),
    "300,000 cells in the first row": _sheet(f'<row r="1">{"<c><v>1</v></c>" * 300_000}</row>'),
    "a million rows of one cell": _sheet("<row><c><v>1</v></c></row>" * 1_000_000),
}


def _seconds(content: bytes) -> float:
    begun = time.perf_counter()
    try:
        read_table(content, "file.xlsx")
    except TableError as refusal:
        print(f"    {refusal}")
    return time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    good = workbook(["a", "b"], *([i, i * 2.5] for i in range(100)))
    apart.warm()
    time.sleep(_WAIT)
    alone = []
    for _ in range(3):
        alone.append(_seconds(good))
        time.sleep(_WAIT)
    print(f"a good file alone: {', '.join(f'{one:.2f}' for one in alone)} s; load {os.getloadavg()[0]:.1f}")
    for name, content in FILES.items():
        print(f"{name} ({len(content) / 1000:,.0f} kB)")
        before, hostile = (
            resource.getrusage(resource.RUSAGE_CHILDREN),
            threading.Thread(target=_seconds, args=[content]),
        )
        hostile.start()
        beside = _seconds(good)
        hostile.join()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        print(f"    the good file beside it: {beside:.2f} s; both processes: {spent:.1f} s of processor time")
        time.sleep(_WAIT)
    apart.stop()


if __name__ == "__main__":
    main()
