"""Find stored runs that may be published: those of the atlas that this code made or agrees with."""

from __future__ import annotations

from functools import cache
from typing import Any

from dpviz.atlas import files
from dpviz.atlas.cells import Chapter
from dpviz.atlas.files import Chart

__all__ = ["chart", "find"]


@cache
def _stamped() -> bool:
    return files.stamped()


@cache
def _agrees(chapter: Chapter) -> bool:
    return _stamped() or files.current(chapter)


def find(sample: str, method: str, people: int | None = None, values: tuple[tuple[str, Any], ...] = ()) -> Chart | None:
    """Return the stored runs of a method on a sample, or None if there are none.

    Raises
    ------
    ValueError
        If the stored runs come from another version of dpviz.
    """
    stored = files.read(sample, method, people, values)
    if stored is not None and not _agrees(stored.chapter):
        raise ValueError(
            f"site: the stored runs of {method} on {sample} come from another version; "
            "`python -m dpviz atlas --make` makes them again."
        )
    return stored


def chart(sample: str, method: str, people: int | None = None) -> Chart:
    """Return the stored runs of a method on a sample; raise ValueError if there are none."""
    stored = find(sample, method, people)
    if stored is None:
        raise ValueError(
            f"site: there are no stored runs of {method} on {sample}; `python -m dpviz atlas --make` makes them."
        )
    return stored
