"""Parse column names, bounds and rules from text: `Age=18..95,Visits=0..50`, `Q1..Q12=ordinal:never,rarely,often`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

from dpviz.datasets.dictionary import PRESETS
from dpviz.datasets.readers.recode import Recoding

__all__ = [
    "Bounds",
    "quote_name",
    "read_bounds",
    "read_names",
    "read_numbers",
    "read_rules",
    "read_signs",
    "read_weights",
    "spread",
]

Bounds = dict[str, tuple[float, float, str]]  # name of a column: low, high, unit

_NUMBER = r"[+-]?(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*")
_SPAN = re.compile(r"(?P<stem>.*?)(?P<first>\d+)\.\.(?P=stem)(?P<last>\d+)")
_RULE = re.compile(r"(?P<columns>.+)=(?P<rule>(?:one-hot|ordinal|days(?:-\w+)?):.*)", re.DOTALL)
_MOST = 200  # maximum number of columns in a range such as `Q1..Q12`


def read_names(text: str) -> list[str]:
    """Return the names in a string such as `a,b` or `a,"b, kg"`; a range such as `Q1..Q12` stands for all its names."""
    return [name for cell in _cells(text) for name in spread(cell)]


def quote_name(name: str) -> str:
    """Return a name as it is written for `read_names`, with quotation marks where needed."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name


def spread(name: str) -> list[str]:
    """Return all names in a range such as `Q1..Q12`; any other name is returned alone."""
    match = _SPAN.fullmatch(name)
    if match is None:
        return [name]
    first, last = int(match["first"]), int(match["last"])
    if not first < last < first + _MOST:
        raise ValueError(
            f"{name!r}: a range must go from a smaller to a larger number and name at most {_MOST} columns."
        )
    width = len(match["first"]) if match["first"].startswith("0") else 0
    return [f"{match['stem']}{number:0{width}d}" for number in range(first, last + 1)]


def read_numbers(text: str) -> list[float]:
    """Return the numbers in a string such as `-12,9`.

    Raises
    ------
    ValueError
        If part of the text is not a number.
    """
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise ValueError(f"bounds are numbers separated by commas, such as 18,-0.5; got {text[:40]!r}.") from None


def read_bounds(texts: Iterable[str]) -> Bounds:
    """Return the bounds in strings such as `Age=18..95,lat=latitude`: two numbers, or those of a preset.

    Raises
    ------
    ValueError
        If bounds cannot be read or a column occurs twice; the message names the column.
    """
    bounds: Bounds = {}
    for part in (part for text in texts for part in _cells(text)):
        columns, _, words = part.rpartition("=")
        match, preset = _RANGE.fullmatch(words), _preset(words)
        if not columns or (match is None and preset is None):
            known = ", ".join(sorted(map(_word, PRESETS)))
            raise ValueError(f"--bounds {part[:60]!r}: write NAME=LOW..HIGH, or NAME=PRESET with one of {known}.")
        for name in spread(columns):
            if name in bounds:
                raise ValueError(f"--bounds: column {name!r} is named twice.")
            bounds[name] = PRESETS[preset] if preset else (float(match[1]), float(match[2]), "")  # type: ignore[index]
    return bounds


def read_rules(texts: Iterable[str]) -> tuple[Recoding, ...]:
    """Return the rules in strings such as `sex=one-hot:female,male` or `Q1..Q12=ordinal:never,rarely,often`.

    Raises
    ------
    ValueError
        If a rule cannot be read.
    """
    rules: list[Recoding] = []
    for text in texts:
        match = _RULE.fullmatch(text)
        if match is None:
            raise ValueError(
                f"--recode {text[:60]!r}: write COLUMN=one-hot:A,B,... or COLUMN=ordinal:A,B,... "
                "or COLUMN=days:FIRST..LAST (days-dmy, days-mdy for other orders)."
            )
        rules += [Recoding.of(name, match["rule"]) for name in read_names(match["columns"])]
    return tuple(rules)


def read_signs(texts: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """Return the decimal sign in strings such as `,` and `weight=.`, and the signs of individual columns by name.

    Raises
    ------
    ValueError
        If a sign is neither a point nor a comma, or is given twice.
    """
    signs: dict[str, str] = {}
    for text in texts:
        column, _, sign = text.rpartition("=")
        if sign not in (".", ",") or column in signs:
            raise ValueError(f"--decimal {text[:60]!r}: give . or , once, or the sign of a column, as in weight=,")
        signs[column] = sign
    return signs.pop("", None), signs


def read_weights(texts: Iterable[str]) -> dict[str, float]:
    """Return the weights by column name in strings such as `age=2,visits=0.5`.

    Raises
    ------
    ValueError
        If a weight is not a number or a column occurs twice; the message names the column.
    """
    weights: dict[str, float] = {}
    for part in (part for text in texts for part in _cells(text)):
        columns, _, weight = part.rpartition("=")
        if not columns or not re.fullmatch(_NUMBER, weight.strip()):
            raise ValueError(f"--weight {part[:60]!r}: write NAME=WEIGHT, as in age=2.")
        for name in spread(columns):
            if name in weights:
                raise ValueError(f"--weight: column {name!r} is named twice.")
            weights[name] = float(weight)
    return weights


def _cells(text: str) -> Sequence[str]:
    return [cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), []) if cell.strip()]


def _word(preset: str) -> str:
    """Return the name by which text refers to a preset: `likert5`, `0or1`."""
    return re.sub(r"\W", "", preset.lower()).removesuffix("points")


def _preset(words: str) -> str | None:
    return next((preset for preset in PRESETS if _word(preset) == _word(words)), None)
