"""Label releases that repeat in a cycle: where their own names do not fit, one name covers all cycles together."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

__all__ = ["turns"]

_STRIP, _LETTER = 900, 5.7  # width of the strip on a usual screen, and width of a letter in it, in pixels


def turns(labels: Sequence[str], width: np.ndarray) -> list[tuple[str, int, int]]:
    """Return (name, first, last) for each series of cycles whose releases are too narrow for their own names.

    Parameters
    ----------
    labels : names of all releases, each with its number at the end
    width : ndarray of shape (n,), the widths at which the releases are drawn
    """
    kinds = [re.split(r",| of group| \d", label)[0] for label in labels]
    room = _STRIP * width / width.sum() if len(labels) else width
    groups, at = [], 0
    while at < len(kinds):
        best = (1, 1)  # number of releases per cycle, number of cycles
        for size in (1, 2, 3):
            turn, times = kinds[at : at + size], 1
            while kinds[at + times * size : at + (times + 1) * size] == turn:
                times += 1
            if times > 1 and size * times > best[0] * best[1]:
                best = (size, times)
        last = at + best[0] * best[1] - 1
        name = " and ".join(kinds[at : at + best[0]]) + f" × {best[1]}" * (best[1] > 1)
        narrow = any(_LETTER * len(labels[i]) > room[i] for i in range(at, last + 1))
        if narrow and _LETTER * len(name) <= room[at : last + 1].sum():
            groups.append((name, at, last))
        at = last + 1
    return groups
