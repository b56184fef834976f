"""Read a text cell as a number, using the declared signs and nothing but this cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache

from dpviz.datasets.readers.marks import LARGEST

__all__ = [
    "FALSE", "MONEY", "TRUE", "WHITE", "bare_number", "number_pattern", "number_reader", "numbers_of", "plain_reader",
    "signs_in", "unit_of", "with_minus",
]  # fmt: skip

TRUE, FALSE = ["true", "True", "TRUE", "yes", "Yes", "YES"], ["false", "False", "FALSE", "no", "No", "NO"]
MONEY = "(US[$]|[$€£¥₹₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR)"
WHITE = r"\t\n\f\r "
_MARK = "\ufeff"  # byte order mark, which may precede the first cell
_SPACES = "' ’\u00a0\u202f"  # signs that may group thousands, whatever the decimal sign
_UNSIGNED = r"[^()+\-]*[0-9][^()+\-]*"
_NEGATIVE = re.compile(rf"[{WHITE}]*\([{WHITE}]*({_UNSIGNED})\)[{WHITE}]*|({_UNSIGNED})-[{WHITE}]*")
_DIGIT = re.compile("[0-9]")
_SIGNED = re.compile("[,.]")
_UNIT = re.compile(rf"{MONEY}|%")
_TRUTH = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
_PLAIN = r"[\t ]*[+-]?([0-9]+({0}[0-9]*)?|{0}[0-9]+)([eE][+-]?[0-9]+)?[\t ]*"
_INFINITE = re.compile(rf"[{WHITE}]*[+-]?(inf|infinity|nan)[{WHITE}]*", re.IGNORECASE)
_SIGN = {",": ",", ".": "[.]"}


@cache
def number_pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Return the regular expression of a number with this decimal sign and, before it, signs that group thousands.

    A currency sign or code may precede or follow the number; a percent sign may follow it.
    """
    sign = "," if decimal == "," else "[.]"
    gap = rf"[{WHITE}\u00a0\u202f]*"
    whole = rf"([0-9]{{1,3}}([{_SPACES}{thousands}][0-9]{{3}})+|[0-9]+)"
    amount = rf"({whole}({sign}[0-9]*)?|{sign}[0-9]+)([eE][+-]?[0-9]+)?"
    return re.compile(rf"[{WHITE}{_MARK}]*[+-]?({MONEY}{gap})?[+-]?{amount}({gap}({MONEY}|%))?[{WHITE}]*")


def with_minus(cell: str) -> str:
    """Return a cell with a negative number written -3.5, which people also write (3.5), 3.5- or with U+2212."""
    cell = cell.replace("\u2212", "-")
    if ("(" in cell or "-" in cell) and (negative := _NEGATIVE.fullmatch(cell)):
        return "-" + (negative[1] or negative[2])
    return cell


@cache
def _signs_beside(thousands: str) -> re.Pattern[str]:
    return re.compile(rf"{MONEY}|[%{WHITE}{_MARK}{_SPACES}{thousands}]")


def bare_number(cell: str, thousands: str) -> float:
    """Return the number that a cell that fits `number_pattern` holds."""
    bare = re.sub("^[+-]([+-])", r"\1", _signs_beside(thousands).sub("", cell))
    return float(bare.replace(",", "."))


def number_reader(signs: tuple[str, str]) -> Callable[[str], float]:
    """Return the function that reads a cell with these decimal and thousands signs; NaN if it holds no number.

    A cell may be a number, perhaps with a currency or percent sign, or one of the words for true (1) and false (0).
    """
    decimal, thousands = signs
    plain = re.compile(_PLAIN.format(_SIGN["."])) if decimal == "." else None
    pattern = number_pattern(decimal, thousands)

    def number(cell: str) -> float:
        if plain and plain.fullmatch(cell):
            value = float(cell)
        elif _DIGIT.search(cell) and pattern.fullmatch(amount := with_minus(cell)):
            value = bare_number(amount, thousands)
        else:
            return _TRUTH.get(cell, float("nan"))
        return value if abs(value) <= LARGEST else float("nan")

    return number


def plain_reader(decimal: str, missing: Sequence[str]) -> Callable[[str], float]:
    """Return the function that reads a cell that holds a number without thousands, currency or percent signs.

    It raises ValueError for any other cell, except for those that stand for a missing number.
    """
    plain, words = re.compile(_PLAIN.format(_SIGN[decimal])), frozenset(missing)

    def number(cell: str) -> float:
        if plain.fullmatch(cell):
            return float(cell.replace(",", "."))
        if cell in words or _INFINITE.fullmatch(cell):
            return float("nan")
        raise ValueError

    return number


def signs_in(cells: Iterable[str], decimal: str) -> tuple[str, str]:
    """Return the decimal sign of a text column in a public file, and a cell that can be read as two different numbers.

    Parameters
    ----------
    cells : the different cells, with negative numbers as `with_minus` writes them
    decimal : the decimal sign of the file's other columns; "?" if they are undecided or differ

    Returns
    -------
    sign : "," or ".", or "?" if this column is undecided too
    doubt : a cell such as 1,234, which is another number if its comma is the decimal sign; "" if there is none, or if
        another cell, such as 1,234,567 or 1,234.5, shows which sign groups thousands
    """
    beside = _signs_beside("")
    bare = [beside.sub("", cell) for cell in cells if _SIGNED.search(cell)]

    def first(pattern: str) -> str:
        fits = re.compile(f"[+-]?({pattern})").fullmatch
        return next((cell for cell in bare if fits(cell)), "")

    if decimal == "?":
        comma = first(r"([0-9]{1,3}([.][0-9]{3})+|[0-9]{4,}|0),[0-9]*|[0-9]*,([0-9]{0,2}|[0-9]{4,})")
        point = first(r"([0-9]{1,3}(,[0-9]{3})+|[0-9]{4,}|0)[.][0-9]*|[0-9]*[.]([0-9]{0,2}|[0-9]{4,})")
        decimal = "," if comma and not point else "." if point and not comma else "?"
    group = {",": "[.]", ".": ","}.get(decimal, "[,.]")
    doubt = first(rf"[1-9][0-9]{{0,2}}{group}[0-9]{{3}}")
    three = rf"{group}[0-9]{{3}}"
    if doubt and decimal != "?" and first(rf"[0-9]{{1,3}}({three}){{2,}}|[0-9]{{1,3}}({three})+[{decimal}][0-9]*"):
        doubt = ""
    return decimal, doubt


def unit_of(cell: str) -> str:
    """Return the currency or percent sign in a cell with a number, or "" if it has none."""
    sign = _UNIT.search(cell)
    return sign[0] if sign else ""


def numbers_of(marks: Sequence[str]) -> list[float]:
    """Return the values of those marks that are numbers."""
    numbers = []
    for mark in marks:
        with suppress(ValueError):
            numbers.append(float(mark.replace(",", ".")))
    return numbers
