"""Make a dictionary of broken files: each name stands for a file name, the file's content and the reader's answer.

Content that takes long to make is a function. The reader's answer is the whole sentence of a refusal or, if the file
can be used in part, (column, kind) of the refused column, or a note on the form. Every cell that could leak holds 12
digits or the word SENTINEL.
"""

import datetime
import io
import struct
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz.datasets.readers.formats import FORMATS

CELL = "482915736048"
SAVE = "save it as .xlsx without a password, or as CSV"
NO_ROWS = "there is no row below the header line; at least one is needed."
EMPTY = "the file is empty; drop a table with a header line and at least one row."
FORM = f"{FORMATS}."
EQUAL = (
    "give every line as many cells as the first one, and put text that holds the separator in quotes; if the names "
    "are further down, say where (on the command line: --header-row N)."
)
NAMELESS = (
    "add a header line, or start its name with a letter (on the command line: --header if these are names, "
    "--no-header if it is a row, --header-row N if the names are further down)."
)
TEXT_ONLY = "no column can be used for clustering; column 1 was refused: it holds text; declare its numbers "
TEXT_ONLY += "(on the command line: --recode COLUMN=one-hot:A,B,...)."
JSON = "the content is JSON, but not a list of records or one record per line; save it as one of these, or as CSV."
NO_JSON = "the text is not valid JSON; save it again, or as CSV with a header line."
NO_TEXT = f"this is not a text table; {FORMATS}."
ZIP = "the file would unpack to more than 400 MB or 200 times its size; save the table as CSV or Parquet."
CUT = "the zip archive inside the workbook is damaged or cut off; save it again."
NO_BOOK = "the file cannot be read as an Excel workbook; save it again as .xlsx, or as CSV."


def workbook(*rows, sheets=1):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for number in range(1, sheets):
        book.create_sheet(f"other {number}")
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parquet(**columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return buffer.getvalue()


def inside(book, member, content):
    """Return a workbook in which one member of the archive is replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, content if name == member else source.read(name))
    return buffer.getvalue()


def make_files():
    book = workbook(["a", "b"], [1, 2], [3, 4])
    table = parquet(a=[1.0, 2.0], b=[3.0, 4.0])
    bomb = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "SENTINEL">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 20}">' for i in range(10)
    )
    wide = "\n".join([",".join(f"c{i}" for i in range(10_000)), ",".join(["1"] * 10_000)])
    day = datetime.datetime(2026, 1, 2)
    return {
        # empty files
        "empty": ("x.csv", b"", EMPTY),
        "blank lines only": ("x.csv", b"\n\n\n", EMPTY),
        "byte order mark only": ("x.csv", b"\xef\xbb\xbf", EMPTY),
        "header only": ("x.csv", b"a,b\n", NO_ROWS),
        "header without line end": ("x.csv", b"a,b", NO_ROWS),
        "no header, one row": ("x.csv", f"{CELL},2\n".encode(), f"column 1 has a value instead of a name; {NAMELESS}"),
        "no header": ("x.csv", f"1,{CELL}\n3,4\n".encode(), f"column 1 has a value instead of a name; {NAMELESS}"),
        "number among names": ("x.csv", b"a,2024\n1,2\n", f"column 2 has a value instead of a name; {NAMELESS}"),
        # rows of unequal length
        "one row too long": (
            "x.csv",
            f"a,b\n1,2\n3,4,{CELL}\n".encode(),
            f"line 3 has 3 cells, but the first line has 2; {EQUAL}",
        ),
        "every row too long": (
            "x.csv",
            f"a,b\n1,2,{CELL}\n3,4,5\n".encode(),
            f"line 2 has 3 cells, but the first line has 2; {EQUAL}",
        ),
        "one row too short": (
            "x.csv",
            f"a,b\n1,2\n{CELL}\n".encode(),
            f"line 3 has 1 cell, but the first line has 2; {EQUAL}",
        ),
        "open quote": (
            "x.csv",
            f'a,b\n1,2\n"{CELL},3\n4,5\n'.encode(),
            f"line 3 has 1 cell, but the first line has 2; {EQUAL}",
        ),
        "title above the header": (
            "x.csv",
            b"Report of May\na,b\n1,2\n3,4\n",
            f"line 2 has 2 cells, but the first line has 1; {EQUAL.replace('N)', '2)')}",
        ),
        # kinds of cells
        "all text": ("x.csv", b"a,b\nSENTINEL,x\ny,z\n", TEXT_ONLY),
        "separated by spaces, no header": (
            "x.dat",
            b"Smith 34 51000\nSENTINEL 12 7\n",
            f"column 2 has a value instead of a name; {NAMELESS}",
        ),
        "JSON by columns": (
            "x.json",
            b'{\n "a": ["SENTINEL", 2]\n}',
            'the content is one JSON object, and a list of records is needed; make a table: python -c "import pandas; '
            "pandas.read_json('x.json').to_csv('x.csv', index=False)\".",
        ),
        "a map": (
            "x.geojson",
            b'{"features": [{"geometry": {"x": "SENTINEL"}}]}',
            "the content is a map (GeoJSON or ESRI); make a table of its features: "
            'python -c "import gzip, json, pandas; '
            "pandas.json_normalize(json.load(open('x.geojson'))['features']).to_csv('x.csv', index=False)\".",
        ),
        "ARFF": (
            "x.arff",
            b"% by us\n@relation x\n@attribute a numeric\n@data\n1,SENTINEL\n",
            "the content is an ARFF file, which keeps its names outside the table (on the command line: --no-header "
            "--header-row 5).",
        ),
        "fixed width": (
            "x.dat",
            b"name      a\nSENTINEL  1\nBo Li    12\nAnn     123\n",
            'its columns have a fixed width and no separator; convert it to CSV: python -c "import pandas; '
            "pandas.read_fwf('x.dat').to_csv('x.csv', index=False)\" (with header=None after the name if the first "
            "line holds no names).",
        ),
        "sparse pairs": (
            "x.txt",
            b"1 1:0.5 3:SENTINEL\n0 2:4\n",
            'the content is a sparse matrix; make a table of it: python -c "import pandas, sklearn.datasets; '
            "pandas.DataFrame(sklearn.datasets.load_svmlight_file('x.txt')[0].toarray()).add_prefix('x')"
            ".to_csv('x.csv', index=False)\".",
        ),
        "sparse matrix": (
            "x.mtx",
            b"%%MatrixMarket matrix coordinate\n1 1 SENTINEL\n",
            'the content is a sparse matrix; make a table of it: python -c "import pandas, scipy.io; '
            "pandas.DataFrame(scipy.io.mmread('x.mtx').toarray()).add_prefix('x').to_csv('x.csv', index=False)\".",
        ),
        "names in two lines": (
            "x.csv",
            b"x,y\nmean,SENTINEL\n1,2\n",
            "no column can be used for clustering; column 1 was refused: it mixes numbers and other cells, first in "
            "row 1; say what "
            "stands for a missing cell, or where the names stand if they take two lines (on the command line: "
            "--missing-marks A,B or --header-row 2).",
        ),
        "JSON lists, one per line": ("x.jsonl", b'["SENTINEL", 1]\n[2, 3]\n', JSON),
        "JSON values": ("x.json", b'["SENTINEL", 1]', JSON),
        "JSON cut off": ("x.json", b'[{"a": "SENTINEL"}, {"a": ', NO_JSON),
        "XML": (
            "x.csv",
            b'<?xml version="1.0"?><a>SENTINEL</a>',
            "the content is XML or HTML; save it as CSV with a header line.",
        ),
        "unicode digits": ("x.csv", "a\n١٢\n٣\n".encode(), TEXT_ONLY),
        "formulas as text": ("x.csv", b'a\n=1+2\n"=HYPERLINK(""http://x"",""SENTINEL"")"\n', TEXT_ONLY),
        "mixed types": ("x.csv", b"a,b\n1,1\n2,SENTINEL\n3,3\n", ("b", "mixed")),
        "dates": ("x.csv", b"a,b\n1,2026-01-02\n2,2026-01-03\n", ("b", "date")),
        "European dates": ("x.csv", b"a,b\n1,31.12.2026\n2,1.2.2026\n", ("b", "date")),
        "times": ("x.csv", b"a,b\n1,10:30\n2,11:45\n", ("b", "time")),
        "only missing cells": ("x.csv", b"a,b\n1,\n2,NA\n", ("b", "empty")),
        "only NaN and inf": ("x.csv", b"a,b\n1,nan\n2,inf\n3,-inf\n", ("b", "empty")),
        "huge numbers only": ("x.csv", b"a,b\n1,1e400\n2,-1e300\n", ("b", "empty")),
        "thousands or decimals": ("x.csv", b"a;b\n1;1,234\n2;5,678\n", ("b", "ambiguous")),
        "two decimal signs": ("x.csv", b"a;b\n1.5;1,5\n2.5;2.5\n", ("b", "ambiguous")),
        "row numbers": ("x.csv", b",b\n0,5\n1,6\n", ("column 1", "index")),
        # files that are read with a note
        "duplicate names": (
            "x.csv",
            b"a,a\n1,2\n",
            "The name of column 2 is already taken; (2) is added to it.",
        ),
        "missing name": ("x.csv", b"a,,c\n1,2,3\n", "Column 2 has no name and is called 'column 2'."),
        "semicolons": ("x.csv", b"a;b\n1;2\n", "Cells are separated by a semicolon."),
        "decimal commas": (
            "x.csv",
            b"a;b\n1,5;2\n2,5;3\n",
            "Cells are separated by a semicolon. The decimal sign is a comma.",
        ),
        "UTF-16": ("x.csv", "a,b\n1,2\n".encode("utf-16"), "The text is UTF-16."),
        "UTF-16 without mark": ("x.csv", "a,b\n1,2\n3,4\n".encode("utf-16-be"), "The text is UTF-16-BE."),
        "Latin-1": (
            "x.csv",
            "größe,b\n1,2\n".encode("latin-1"),
            "The text is not UTF-8; it was read as Windows-1252.",
        ),
        "cut UTF-16": (
            "x.csv",
            "a,b\n1,2\n".encode("utf-16")[:-1],
            "the text is not valid UTF-16; save the file as UTF-8.",
        ),
        # too large
        "10,000 columns": ("x.csv", wide.encode(), "a table may have at most 200 columns; leave some out."),
        "one endless line": ("x.csv", b"7" * 300_000, "the first line is longer than 131 kB; is this a table?"),
        "a huge cell": (
            "x.csv",
            b"a\n1\n" + b"7" * 9_000_000 + b"\n",
            "a line is longer than 4 MB; is this a table, or is a quote open?",
        ),
        # not a table
        "renamed PNG": ("x.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), f"the content is a PNG picture; {FORM}"),
        "renamed PDF": ("x.csv", b"%PDF-1.7\n", f"the content is a PDF document; {FORM}"),
        "gzip": ("x.csv", b"\x1f\x8b\x08" + bytes(50), "the gzip archive is damaged or cut off; pack it again."),
        "old Excel": (
            "x.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500),
            f"the content is an old or password-protected Office file; {SAVE}; {FORM}",
        ),
        "random bytes": ("x.csv", np.random.default_rng(0).bytes(5000).replace(b"PK", b"xx"), NO_TEXT),
        "zero bytes": ("x.csv", bytes(5000), NO_TEXT),
        # Excel
        "xlsx cut off": ("x.xlsx", book[: len(book) // 2], CUT),
        "zip, not Excel": (
            "x.xlsx",
            archive(readme="hello"),
            "the content is a zip archive but not an .xlsx workbook; save it as .xlsx or CSV.",
        ),
        "zip bomb": ("x.xlsx", lambda: archive(xl__workbook_xml=bytes(300_000_000)), ZIP),
        "many laughs": ("x.xlsx", inside(book, "xl/worksheets/sheet1.xml", bomb + "]><l>&k;</l>"), NO_BOOK),
        "damaged sheet": ("x.xlsx", inside(book, "xl/worksheets/sheet1.xml", "<worksheet><sheetData><row>"), NO_BOOK),
        "empty sheet": ("x.xlsx", workbook(), "the first sheet is empty; add a header line and rows."),
        "sheet with header only": ("x.xlsx", workbook(["a", "b"]), NO_ROWS),
        "formulas": ("x.xlsx", workbook(["a", "b"], [1, "=1+1"], [2, "=WEBSERVICE(A1)"]), ("b", "empty")),
        "mixed sheet": ("x.xlsx", workbook(["a", "b"], [1, 2], [3, "SENTINEL"]), ("b", "mixed")),
        "dates in a sheet": ("x.xlsx", workbook(["a", "b"], [1, day], [3, day]), ("b", "date")),
        "cells beyond the header": (
            "x.xlsx",
            workbook(["a"], [1], [2, int(CELL)]),
            "row 2 below the first line has a cell beyond that line's last one; if the names are further "
            "down, say where (on the command line: --header-row 3).",
        ),
        "several sheets": (
            "x.xlsx",
            workbook(["a"], [1], sheets=3),
            "Of 3 sheets, sheet 1, 'Sheet', was read: hidden ones and notes are passed over.",
        ),
        # Parquet
        "parquet cut off": ("x.parquet", table[:-20], "the Parquet file is damaged or cut off; write it again."),
        "parquet without rows": (
            "x.parquet",
            parquet(a=pa.array([], pa.float64())),
            "the table has no rows; at least one is needed.",
        ),
        "parquet footer that lies": (
            "x.parquet",
            table[:-8] + struct.pack("<I", 2**31) + b"PAR1",
            "the Parquet file is damaged or cut off; write it again.",
        ),
        "parquet lists": ("x.parquet", parquet(a=[1.0, 2.0], b=[[1], [2]]), ("b", "nested")),
        "parquet text": ("x.parquet", parquet(a=["SENTINEL", "x"]), TEXT_ONLY),
    }
