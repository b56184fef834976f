"""Check against a table that numbers are written as people write them, and that text for people has no exponents."""

import ast
import math
import re
from pathlib import Path

import pytest

from dpviz import numbers

ROOT = Path(numbers.__file__).parents[1]
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (-0.0, "0"), (1, "1"), (1.0, "1"), (0.25, "0.25"), (2.50, "2.5"), (0.1 + 0.2, "0.3"),
        (-3.14159, "-3.14"),
        (31_400.0, "31,400"), (31_449, "31,400"), (109_034.2, "109,000"), (999.6, "1,000"), (9.996, "10"),
        (0.09996, "0.1"),
        (1e6, "1,000,000"), (123_456_789, "123,000,000"), (7e4, "70,000"), (-12_345, "-12,300"), (100, "100"),
        (1001, "1,000"),
        (3.5e-4, "0.00035"), (1e-4, "0.0001"), (9.99e-5, "9.99 × 10⁻⁵"), (2.5e-7, "2.5 × 10⁻⁷"), (-1e-10, "-1 × 10⁻¹⁰"),
        (1e15, "1 × 10¹⁵"), (2.345e20, "2.34 × 10²⁰"), (9.9999e14, "1 × 10¹⁵"), (INF, "∞"), (-INF, "-∞"), (NAN, "–"),
    ],
)  # fmt: skip
def test_a_number_has_three_digits_that_count_and_no_exponent(value, words):
    assert numbers.number(value) == words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (numbers.plus_minus(109_034, 5_312), "109,000 ± 5,300"),
        (numbers.plus_minus(1.1083, 0.0113), "1.108 ± 0.011"),
        (numbers.plus_minus(52.51634, 0.0029), "52.5163 ± 0.0029"),
        (numbers.plus_minus(-0.001, 1), "0.0 ± 1"),
        (numbers.plus_minus(7.0, 0.0), "7"), (numbers.plus_minus(7.0, NAN), "7"),
        (numbers.plus_minus(1e6, 3e5), "1,000,000 ± 300,000"),
        (numbers.chance(8.534e-5), "1 in 11,700"), (numbers.chance(1e-5), "1 in 100,000"),
        (numbers.chance(0.011), "1 in 90"),
        (numbers.chance(0.3), "1 in 3"), (numbers.chance(1.0), "1 in 1"), (numbers.chance(0), "0"),
        (numbers.chance(1e-20), "1 in 1 × 10²⁰"),
        (numbers.chance(1 / 11_799), "1 in 11,700"), (numbers.chance(1 / 11_700), "1 in 11,700"),
        (numbers.ratio_words(1.0049), "1.00"), (numbers.ratio_words(12.6), "13"),
        (numbers.ratio_words(1234.5), "1,234"), (numbers.ratio_words(INF), "∞"),
        (numbers.percent(0.433), "43%"), (numbers.percent(0.004), "0.4%"), (numbers.percent(1), "100%"),
        (numbers.percent(0.1234, 3), "12.3%"),
        (numbers.place(52.516342, 0.4), "52.5163"), (numbers.place(-4.664, 18), "-4.66"),
        (numbers.place(109_034, 250_000), "109,000"),
        (numbers.place(-0.00001, 18), "0.00"), (numbers.place(-0.5, 18), "-0.50"),
        (numbers.place(1987.4, 100), "1,987.4"), (numbers.at(1000.0, 0.7), "1,000"),
        (numbers.at(-1000.0, 0.1), "-1,000"),
        (numbers.at(999.96, 0.1), "1,000"), (numbers.at(-7.0, 0.1), "-7.0"),
        (numbers.length(0.0000791, "km", 2), "8 cm"), (numbers.length(0.0791, "m"), "7.9 cm"),
        (numbers.length(0.513, "m", 2), "51 cm"), (numbers.length(0.513, "m"), "51 cm"),
        (numbers.length(1, "m"), "1 m"),
        (numbers.length(0.00001, "m"), "0.001 cm"), (numbers.length(0, "m"), "0 m"),
        (numbers.length(-0.5, "m"), "-50 cm"),
        (numbers.having(1, 6, "centers"), "1 of 6 centers has"),
        (numbers.having(0, 6, "groups"), "0 of 6 groups have"),
        (numbers.length(0.264, "km"), "264 m"), (numbers.length(2.5, "km"), "2.5 km"),
        (numbers.length(0.58, "years"), "0.58 years"), (numbers.length(57, "days since 1970-01-01"), "57 days"),
        (numbers.length(3, ""), "3"), (numbers.length(0, "km"), "0 km"), (numbers.length(0.2345, "km", 2), "230 m"),
        (numbers.round_to(3.14159265, 0.029), "3.14"), (numbers.round_to(31_412, 530), "31400"),
        (numbers.round_to(31_412, 1), "31412"),
        (numbers.round_to(-0.001, 0.1), "0.0"), (numbers.round_to(NAN, 0.1), ""), (numbers.round_to(0.1, 0.1), "0.1"),
        (numbers.counted(1, "leaf", "leaves"), "1 leaf"), (numbers.counted(0, "leaf", "leaves"), "0 leaves"),
        (numbers.counted(1200, "region"), "1,200 regions"),
        (numbers.fraction(0.25), "¼"), (numbers.fraction(0.125), "⅛"), (numbers.fraction(1.5), "1½"),
    ],
)  # fmt: skip
def test_each_kind_of_number_has_its_own_words(written, words):
    assert written == words


@pytest.mark.parametrize(
    ("probability", "most"),
    [(0.5, 50), (0.5624, 57), (0.57, 57), (0.57 + 1e-12, 57), (0.5700001, 58), (0.9999, 100), (1, 100)],
)
def test_a_bet_is_rounded_up_and_never_by_an_error_of_rounding(probability, most):
    assert numbers.odds(probability) == most


def test_a_resolution_of_zero_is_refused():
    with pytest.raises(ValueError, match="resolution must be > 0; got 0"):
        numbers.round_to(1.0, 0)


SPOKEN = ("figures", "takeaway", "postprocessing", "planning", "lessons", "papers/overview", "sweeps/report", "privacy")
KEYS = ("maps", "alex", "vary", "plan/form", "plan/view", "guarantee", "queries", "curator")  # SVG, addresses, code


def exponents(source):
    """Return line numbers of f-strings that may write 3.14e+04, except if the text is read back as a number at once."""
    tree = ast.parse(source)
    read_back = {id(arg) for node in ast.walk(tree) if isinstance(node, ast.Call) for arg in node.args
                 if ast.unparse(node.func) == "float"}  # fmt: skip
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and id(node) not in read_back]
    return [part.lineno for text in strings for part in text.values if isinstance(part, ast.FormattedValue)
            and part.format_spec and re.search(r"\d?[eg]'$", ast.unparse(part.format_spec))]  # fmt: skip


@pytest.mark.slow
def test_people_read_no_exponent():
    planted = 'a = f"{x:.3g} km"; b = f"{y:g}"; c = float(f"{z:.4g}"); d = f"{n:,} of {m:.2f}"; e = f"{v:.1e}"'
    assert len(exponents(planted)) == 3
    files = [
        path for path in (ROOT / "dpviz").rglob("*.py") if any(f"dpviz/{room}" in path.as_posix() for room in SPOKEN)
    ]
    files += (ROOT / "pages").rglob("*.py")
    files = [path for path in files if not any(key in path.as_posix() for key in KEYS)]
    assert len(files) > 150
    found = {path.name: lines for path in files if (lines := exponents(path.read_text(encoding="utf-8")))}
    assert found == {}, "write them by dpviz.numbers"


@pytest.mark.parametrize(("words", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_words_are_listed_as_in_a_sentence(words, text):
    assert numbers.listed(words) == text
