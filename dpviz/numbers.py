"""Write numbers as people write them: 31,400 rather than 3.14e+04, 1 in 11,700 rather than 8.5e-05.

Screens, labels, pages, reports and plans use these functions; JSON files and tooltips keep every digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = [
    "at",
    "chance",
    "counted",
    "factor",
    "fraction",
    "having",
    "length",
    "listed",
    "log_unit",
    "number",
    "odds",
    "on_screen",
    "percent",
    "place",
    "plural",
    "plus_minus",
    "ratio_words",
    "round_to",
    "spread_text",
    "unlogged",
]

_SMALL, _LARGE = 1e-4, 1e15  # outside this range a power of ten is easier to read than zeros
_NO_UNIT = "value"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FRACTIONS = {0.125: "⅛", 0.25: "¼", 0.5: "½", 0.75: "¾"}
_LETTERS = {"epsilon": "ε", "delta": "δ", "mu": "μ"}
_CHANCE = re.compile(r"\S+ \((1 in [^)]+)\)")  # a delta as the package writes it: a value (its meaning)
_OPTION = re.compile(r" \(--[a-z][a-z -]*\)")
_SLACK = 1e-9  # relative rounding error that must not move a bound to the next step


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: "a", "a and b", "a, b and c".

    Raises
    ------
    ValueError
        If there are none.
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def number(value: float, digits: int = 3) -> str:
    """Write a number with at most `digits` significant digits and commas between thousands.

    Trailing zeros after the decimal point are dropped. A number below 1e-4 or at least 1e15 is written as 2.5 × 10⁻⁷,
    infinity as ∞, and a missing value as a dash.
    """
    value = float(value)
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "-∞"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if float(mantissa) == 0:
        return "0"
    if not _SMALL <= float(f"{mantissa}e{exponent}".lstrip("-")) < _LARGE:
        return f"{_trimmed(mantissa)} × 10{str(power).translate(_SUPERSCRIPTS)}"
    return _trimmed(f"{float(f'{mantissa}e{exponent}'):,.{max(0, digits - 1 - power)}f}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def round_to(value: float, resolution: float) -> str:
    """Write a number for files, rounded to the power of ten at or just below `resolution`, without commas.

    Raises
    ------
    ValueError
        If the resolution is not positive.
    """
    if not resolution > 0:
        raise ValueError(f"numbers: resolution must be > 0; got {resolution}.")
    if not (math.isfinite(value) and math.isfinite(resolution)):
        return "" if math.isnan(value) else str(value)
    power = math.floor(math.log10(resolution) + _SLACK)
    text = f"{round(float(value), -power):.{max(0, -power)}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def at(value: float, resolution: float) -> str:
    """Write a number, rounded to the power of ten at or just below `resolution`, with commas between thousands.

    From 1,000 on, decimals that are all zero are dropped.
    """
    text = round_to(value, resolution)
    whole, point, rest = text.partition(".")
    if len(whole.lstrip("-")) > 3 and not rest.strip("0"):
        point = rest = ""
    return f"{int(whole):,}{point}{rest}" if whole.strip("-").isdecimal() and whole != "-0" else text


def place(value: float, width: float) -> str:
    """Write a coordinate, rounded to a thousandth of the `width` of its bounds or more finely.

    Three significant digits could make different positions look equal.
    """
    return at(value, width / 1000)


def plus_minus(value: float, sd: float) -> str:
    """Write a value ± its standard deviation, as in 109,000 ± 5,300, to the deviation's second significant digit."""
    return f"{at(value, sd / 10)} ± {number(sd, 2)}" if 0 < sd < math.inf else number(value)


def log_unit(unit: str) -> str:
    """Return the unit of ln(1 + value) for values in `unit`."""
    return f"ln(1 + {unit or _NO_UNIT})"


def unlogged(unit: str) -> str | None:
    """Return the unit of the values in a unit of logarithms, "" if they have none; None for any other unit."""
    inner = unit.removeprefix("ln(1 + ").removesuffix(")")
    if unit != f"ln(1 + {inner})" or not inner:
        return None
    return "" if inner == _NO_UNIT else inner


def spread_text(sd: float, unit: str) -> str:
    """Write a standard deviation with its sign and unit: ±0.42 years; of logarithms, as the factor ×÷1.2."""
    if unlogged(unit) is None:
        return f"±{length(sd, unit, 2)}"
    return f"×÷{factor(sd)}"


def factor(sd: float) -> str:
    """Write the factor that a standard deviation of logarithms stands for, so that it differs from 1 where sd > 0."""
    times = math.exp(min(sd, 700.0))
    return number(times, 3) if times >= 1.1 else f"{times:.{2 + (times < 1.01) * 2}f}"


def length(value: float, unit: str, digits: int = 3) -> str:
    """Write a length with its unit: "days" if `unit` is "days since 1970-01-01", a factor if it is of logarithms.

    Below 1 km a length is in meters, and below 1 m in centimeters, with one digit less but whole from 10 cm on.
    """
    if unlogged(unit) is not None:
        return f"a factor of {factor(value)}"
    unit = unit.partition(" since ")[0]
    if unit == "km" and 0 < abs(value) < 1:
        value, unit = 1000 * value, "m"
    if unit == "m" and 0 < abs(value) < 1:
        value, unit = 100 * value, "cm"
        digits = max(digits - 1, 1 + (abs(value) >= 10))
    return f"{number(value, digits)} {unit}".rstrip()


def ratio_words(value: float) -> str:
    """Write a ratio of losses with two decimals if it is below 10, else without decimals."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}" if math.isfinite(value) else number(value)


def percent(share: float, digits: int = 2) -> str:
    """Write a share as a percentage with at most `digits` significant digits."""
    return f"{number(100 * share, digits)}%"


def chance(probability: float) -> str:
    """Write a small probability in the form 1 in 11,700; never round it down."""
    if probability <= 0:
        return "0"
    if probability * _LARGE <= 1:
        return f"1 in {number(1 / probability)}"
    inverse = max(1.0, 1 / probability)
    step = 10.0 ** max(0, math.floor(math.log10(inverse)) - 2)
    return f"1 in {number(math.floor(inverse / step * (1 + _SLACK)) * step)}"


def odds(probability: float) -> int:
    """Return the N of "at most N times in 100" for a probability, rounded UP. No other function rounds such odds."""
    return min(100, math.ceil(100 * probability - _SLACK))


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: 1 region, 1,200 regions. Pass `plural` if the plural is not the noun with an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def having(n: int, total: int, nouns: str) -> str:
    """Write how many of several things have what follows: 1 of 6 centers has, 2 of 6 centers have."""
    return f"{n:,} of {total:,} {nouns} {'has' if n == 1 else 'have'}"


def plural(noun: str) -> str:
    """Return the plural of a word for a row, such as people or flowers."""
    return "people" if noun == "person" else f"{noun}s"


def fraction(value: float) -> str:
    """Write an eighth, a quarter, a half and three quarters as fractions, as in 1½; write others as `number` does."""
    whole, part = divmod(value, 1)
    return f"{int(whole) or ''}{_FRACTIONS[part]}" if value > 0 and part in _FRACTIONS else number(value, 4)


def on_screen(sentence: str) -> str:
    """Rewrite a sentence for the screen: with Greek letters, δ as "1 in 11,700", n as 5,000, and no shell options."""
    sentence = _OPTION.sub("", _CHANCE.sub(r"\1", sentence))
    sentence = re.sub(r"\bn = (\d+)\b", lambda match: f"n = {int(match[1]):,}", sentence)
    return re.sub(r"\b(epsilon|delta|mu)\b", lambda match: _LETTERS[match[1]], sentence)
