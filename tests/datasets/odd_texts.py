"""Make odd tables as text: quotes, line ends in cells, marks, ragged rows, encodings, and numbers of all styles."""

from __future__ import annotations

import random
from typing import Any

from dpviz.datasets.readers import Recoding, TableError, read_table

__all__ = ["draw", "found", "seen"]

CELLS = [
    "1,5", "1.234,5", "1,234.5", "1.5", "-2.25", "1.234", "1,234", "12.345.678", "1 234", "1\xa0234", "1'234", "5e3",
    "1e400", "-0.0", "NaN", "inf", "NA", "-", "?", "", " ", "true", "NO", "word", "male", "low", "2020-01-31",
    "31.12.1999", "10:30", "\u0661\u0662", "\xbd", "12%", "$5", "\u20ac 7", "=1+2", "\x0b", "\x85", "\u2028", "\x00",
    "\ufeff7", "e", "9" * 400, "x" * 300, "\xfcber", "\u22125", "(3.5)", "3-", "1e 5", "1E+", "+5", "- 5", " 7 ",
    "7\t", 'a"b', ".5", "5.", "1_0", "2020-01-31T10:00", "a,b", "a;b", "a\nb", '"q"', "null", "-999", "k. A.", "yes",
    "tRue", "False", "0", "1", "null ", "0x1F", "1\x1f",
]  # fmt: skip
RULES = (
    Recoding("b", "one-hot", ("male", "female")),
    Recoding("b", "ordinal", ("true", "1", "\ufeff7")),
    Recoding("b", "days", (), "1990-01-01", "2030-01-01"),
)


def draw(rng: random.Random) -> tuple[bytes, dict[str, Any]]:
    """Return a table and its declared form, public or private."""
    separator, width = rng.choice([",", ",", ",", ";", "\t", "|"]), rng.randint(1, 4)
    end, comma, odd = rng.choice(["\n", "\n", "\r\n", "\r"]), rng.random() < 0.3, rng.choice([0, 0, 0.02, 0.05, 0.3])
    styles, quoted = [rng.randrange(8) for _ in range(width)], 0.6 if rng.random() < 0.3 else 0.02

    def cell(style: int) -> str:
        if rng.random() < odd:
            return rng.choice(CELLS)
        value, word = rng.uniform(-99, 999), rng.choice(["male", "female"])
        grouped = f"{value * 1000:,.2f}".translate(str.maketrans(",.", ".,") if comma else {})
        point = [f"{value:.3f}", f"{value:.2f}", f"${value:.2f}"]
        date, truth = f"20{rng.randint(10, 30)}-01-31", rng.choice(["true", "false"])
        made = [*(text.replace(".", "," if comma else ".") for text in point), str(int(value)), word, truth, date]
        return [*made, grouped][style]

    lines = [separator.join(["alpha", "b", "größe", rng.choice(["d", ""])][:width])]
    for _ in range(rng.randint(0, 12)):
        cells = [cell(style) for style in styles]
        cells += [rng.choice(["", "x", "5"])] * (rng.random() < odd / 3)
        cells = cells[: len(cells) - (rng.random() < odd / 3)]
        for at, text in enumerate(cells):
            needed = {separator, '"', "\n"} & set(text) and rng.random() < 0.9
            cells[at] = '"' + text.replace('"', '""') + '"' if needed or rng.random() < quoted else text
        lines += [separator.join(cells), *[""] * (rng.random() < odd / 2)]
    encoding = rng.choice(["utf-8"] * 8 + ["utf-8-sig", "cp1252", "utf-16"])
    content = (end.join(lines) + rng.choice(["", end, end * 2])).encode(encoding, errors="replace")
    form: dict[str, Any] = {"private": True, "header": True} if rng.random() < 0.4 else {}
    entries = {
        "decimal": rng.choice(".,"), "thousands": "", "missing_marks": ("-999", "k. A.", "0"), "separator": separator,
        "decimal_of": {"b": rng.choice(".,")}, "recode": (rng.choice(RULES),), "header": True,
    }  # fmt: skip
    return content, form | {key: entry for key, entry in entries.items() if rng.random() < 0.12}


def found(content: bytes, form: dict[str, Any]) -> str:
    """Return everything that is read from a table, or the sentence that refuses it."""
    try:
        table = read_table(content, "x.csv", words=True, **form)
    except TableError as refusal:
        return str(refusal)
    columns = [
        (c.name, c.kind, c.reason, c.words, c.suggestion, c.doubt)
        + tuple((part.dtype.str, part.tolist()) for part in (c.values, c.codes) if part is not None)
        for c in table.columns
    ]
    return repr((table.n_rows, table.notes, columns))


def seen(n_tables: int, seed: int) -> list[str]:
    """Return what is found in some tables."""
    rng = random.Random(seed)
    return [found(*draw(rng)) for _ in range(n_tables)]
