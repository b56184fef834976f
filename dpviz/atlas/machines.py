"""Compare results of runs across kinds of machine, which differ in the last bit of a float."""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

__all__ = ["agrees", "machine"]

_CLOSE = 1e-6  # absolute and relative tolerance for floats from another kind of machine


@cache
def machine() -> str:
    """Return the properties of this machine that can change the last bit of a float."""
    kernels = sorted({library.get("architecture", "") for library in threadpool_info()} - {""})
    return " ".join([platform.machine(), *kernels])


def agrees(one: Any, other: Any, *, exact: bool = False) -> bool:
    """Return whether two results agree: floats to a millionth or, if `exact`, bit for bit, everything else exactly.

    Results are numbers, texts, arrays, None, or lists and dicts of results.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agrees(one[key], other[key], exact=exact) for key in one)
    if isinstance(one, list) and isinstance(other, list) and any(isinstance(part, dict | list) for part in one):
        return len(one) == len(other) and all(agrees(*both, exact=exact) for both in zip(one, other, strict=True))
    if one is None or other is None or isinstance(one, dict | str) or isinstance(other, dict | str):
        return bool(one == other)
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape:
        return False
    if exact or "f" not in (first.dtype.kind, second.dtype.kind):
        return bool((first == second).all())
    return bool(np.allclose(first, second, rtol=_CLOSE, atol=_CLOSE))
