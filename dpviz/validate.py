"""Word every error in the same form: owner, name, rule and value in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np

__all__ = ["finite_matrix", "in_range", "integer", "is_finite", "nearest", "one_of", "positive"]

_LONG = 1e15  # larger numbers are abbreviated to their first digits


def _number(owner: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{owner}: {name} must be a number; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        raise ValueError(f"{owner}: {name} must be below 1e308.") from None
    if not math.isfinite(number):
        raise ValueError(f"{owner}: {name} must be finite; got {value}.")
    return number


def is_finite(value: object) -> bool:
    """Return whether a value is a number that float64 can hold."""
    try:
        _number("", "", value)
    except (TypeError, ValueError):
        return False
    return True


def positive(owner: str, **values: object) -> None:
    """Raise an error unless every named value is a finite number > 0."""
    for name, value in values.items():
        if _number(owner, name, value) <= 0:
            raise ValueError(f"{owner}: {name} must be > 0; got {value}.")


def in_range(owner: str, low: float | None, high: float | None, *, open_ends: bool = False, **values: object) -> None:
    """Raise an error unless every named value is in [low, high], or in (low, high) with `open_ends`."""
    for name, value in values.items():
        _check_range(owner, low, high, open_ends, name, value)


def _check_range(owner: str, low: float | None, high: float | None, open_ends: bool, name: str, value: object) -> None:
    number = _number(owner, name, value)
    below = low is not None and (number <= low if open_ends else number < low)
    above = high is not None and (number >= high if open_ends else number > high)
    if below or above:
        word = ("> " if open_ends else ">= ") if below else ("< " if open_ends else "<= ")
        got = value if abs(number) < _LONG else f"{number:g}"
        raise ValueError(f"{owner}: {name} must be {word}{low if below else high}; got {got}.")


def integer(owner: str, low: int | None = None, high: int | None = None, **values: object) -> None:
    """Raise an error unless every named value is a whole number in [low, high]."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{owner}: {name} must be a whole number; got {value!r}.")
        _check_range(owner, low, high, False, name, value)


def one_of(owner: str, choices: Iterable[object], **values: object) -> None:
    """Raise an error unless every named value is among `choices`."""
    allowed = list(choices)
    for name, value in values.items():
        if value not in allowed:
            words = ", ".join(map(str, allowed))
            raise ValueError(f"{owner}: {name} must be one of {words}; got {value!r}{nearest(value, allowed)}.")


def nearest(value: object, choices: Iterable[object]) -> str:
    """Return a clause that names the choice most similar to a value, in any case, or "" if none is similar."""
    spelled = {str(choice).lower(): choice for choice in choices}
    found = get_close_matches(str(value).lower()[:100], spelled, n=1)
    return f"; the nearest is {spelled[found[0]]!r}" if found else ""


def finite_matrix(owner: str, X: object, *, n_features: int | None = None) -> np.ndarray:
    """Return X as a float64 matrix of shape (n_samples, n_features).

    Rows may hold NaN or infinities, which `Rows` handles row by row; the shape and the type must be right.

    Raises
    ------
    TypeError
        If the data are not a table of numbers.
    ValueError
        If the number of dimensions or columns is wrong.
    """
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: the data must be a table of numbers; some cells are text or missing.") from None
    if matrix.ndim != 2:
        raise ValueError(f"{owner}: the data must have two dimensions (rows, columns); got {matrix.ndim}.")
    if n_features is not None and matrix.shape[1] != n_features:
        raise ValueError(
            f"{owner}: the data must have {n_features} columns, as the domain declares; got {matrix.shape[1]}."
        )
    return matrix
