"""Remark on what a public file's cells seem to be other than amounts: totals, days, marks, codes, persons' numbers.

Every remark is read from cells, so it is for public files alone; nothing is changed.
"""

from __future__ import annotations

import numpy as np

from dpviz.datasets.identifiers import is_called_a_number
from dpviz.datasets.meanings import POSTAL, WORDS, meaning_of
from dpviz.datasets.notation import quote_name
from dpviz.datasets.readers import Table
from dpviz.datasets.readers.recode import MOST_CATEGORIES
from dpviz.numbers import listed, number

__all__ = ["remarks", "rows_per_person"]

_BELOW = (-9, -99, -999, -9999, -99999)
_ABOVE = (99, 999, 9999, 99999, 999999)
_FEW = 5  # minimum number of rows for a remark
_GAP = 3.0  # a mark above is at least this many times as large as every other number


def remarks(table: Table) -> list[str]:
    """Return one sentence for each thing in a public file that its owner may have overlooked. NOT PRIVATE."""
    found = [_total(table)]
    for name in table.usable:
        values = table.values(name)
        values = values[np.isfinite(values)]
        if len(values) >= _FEW:
            found += [_mark(name, values), _days(name, values) or _codes(name, values)]
    people = rows_per_person(table)
    if people is not None:
        found.append(
            f"Column {people[0]!r} has the same number in up to {people[1]:,} rows: if it stands for a person, declare "
            f"{people[1]} rows of one person at most (on the command line: --rows-per-person {people[1]}), so that the "
            "promise covers all of them."
        )
    return [one for one in found if one]


def rows_per_person(table: Table) -> tuple[str, int] | None:
    """Return the column of a public file that seems to number persons and the most rows with one number, or None."""
    for name in table.usable:
        values = table.values(name)
        values = values[np.isfinite(values)]
        if not is_called_a_number(name) or len(values) < _FEW or (values != np.round(values)).any():
            continue
        counts = np.unique(values, return_counts=True)[1]
        if 1 < counts.max() <= len(values) / 2 and counts.mean() > 1:
            return name, int(counts.max())
    return None


def _mark(name: str, values: np.ndarray) -> str:
    """Remark on a number that seems to mark missing cells: it repeats, and lies far outside all others."""
    for mark, others in (
        (values.min(), values[values != values.min()]),
        (values.max(), values[values != values.max()]),
    ):
        if not len(others) or len(values) - len(others) < 2 or others.min() < 0:
            continue
        below = mark in _BELOW
        if below or (mark in _ABOVE and others.max() * _GAP <= mark):
            where = "no number below 0 except" if below else f"no number above {number(others.max(), 6)} except"
            return (
                f"Column {name!r} has {where} {mark:.0f}: if that stands for a missing cell, say so (on the command "
                f"line: --missing-marks={mark:.0f})."
            )
    return ""


def _days(name: str, values: np.ndarray) -> str:
    """Remark on days written as one whole number, such as 20230131, whose distances mean nothing."""
    if (values != np.round(values)).any() or values.min() < 19_000_101 or values.max() > 21_001_231:
        return ""
    month, day = values // 100 % 100, values % 100
    if not ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
        return ""
    return (
        f"Column {name!r} seems to hold days as {values[0]:.0f}: as numbers, the last day of a month and the next day "
        "lie far apart; write them as 2023-01-31, which is read as a date, or leave the column out."
    )


def _codes(name: str, values: np.ndarray) -> str:
    """Remark on whole numbers in a column whose name says that they stand for words, such as marital, or for places."""
    meaning = meaning_of(name)
    if meaning is None or (values != np.round(values)).any():
        return ""
    if meaning.words == POSTAL:
        return (
            f"Column {name!r} seems to hold postal codes: codes that are close as numbers need not be near each other; "
            "leave the column out, or write latitude and longitude."
        )
    codes = np.unique(values)
    if meaning.words != WORDS or not 2 < len(codes) <= MOST_CATEGORIES:
        return ""
    listed = ",".join(f"{code:.0f}" for code in codes)
    return (
        f"Column {name!r} seems to hold numbers that stand for words: 1 and 3 are then no farther apart than 1 and 2 "
        f"(on the command line: --recode '{quote_name(name)}=one-hot:{listed}')."
    )


def _total(table: Table) -> str:
    """Remark on a last row that is the sum of all rows above it, in at least one column."""
    found = []
    for name in table.usable:
        values = table.values(name)
        if len(values) <= _FEW or not np.isfinite(values[-1]) or not np.nansum(np.abs(values[:-1])):
            continue
        above = float(np.nansum(values[:-1]))
        if np.isclose(values[-1], above, rtol=1e-9, atol=0) and (np.nan_to_num(values[:-1]) != 0).sum() > 1:
            found.append(name)
    if not found:
        return ""
    return f"The last row is the sum of all others in {listed([repr(name) for name in found])}: remove that line."
