"""Make missing parts of the atlas, and repeat its runs to check them, with the engine of the sweeps."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from dpviz.atlas.cells import Cell, Chapter, chapters, row
from dpviz.atlas.files import FOLDER, load, write
from dpviz.atlas.machines import agrees, machine
from dpviz.sweeps.engines import on_this_machine

__all__ = ["Difference", "check", "drawn", "make", "missing"]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A stored run that was not reproduced."""

    cell: Cell
    what: str

    def __str__(self) -> str:
        cell = self.cell
        people = "" if cell.people is None else f" with {cell.people} people"
        return (
            f"{cell.chapter.method} on {cell.chapter.sample}{people}, ε {cell.epsilon}, seed {cell.seed}: {self.what}"
        )


def missing(folder: Path = FOLDER, samples: Collection[str] = ()) -> list[Chapter]:
    """Return the chapters whose file `load` cannot use: it is missing, damaged, or of another version."""
    return [
        chapter
        for chapter in chapters()
        if (not samples or chapter.sample in samples) and load(chapter, folder) is None
    ]


def make(
    wanted: Sequence[Chapter],
    folder: Path = FOLDER,
    *,
    workers: int = 1,
    on_run: Callable[[], None] = lambda: None,
) -> None:
    """Run the cells of these chapters and write each file as soon as its last run is done.

    If a call is stopped, the files that it completed are kept, and the next call makes the others.
    """
    cells = {chapter: chapter.cells() for chapter in wanted}
    results: dict[Chapter, dict[Cell, dict[str, Any]]] = {chapter: {} for chapter in wanted}
    engine = on_this_machine([cell for some in cells.values() for cell in some], _computed, _given_up, workers=workers)
    for cell, result in engine:
        on_run()
        chapter = cell.chapter
        results[chapter][cell] = result
        if len(results[chapter]) == len(cells[chapter]):
            write(chapter, [results[chapter][one] for one in cells[chapter]], folder)
            del results[chapter]


def _computed(cell: Cell) -> tuple[Cell, dict[str, Any]]:
    return cell, row(cell)


def _given_up(cell: Cell, reason: str) -> tuple[Cell, dict[str, Any]]:
    raise ValueError(f"atlas: {cell.chapter.method} on {cell.chapter.sample}: {reason}")


def drawn(share: float, seed: str) -> list[Cell]:
    """Return a random share of all stored runs, at least one; `seed` is a string such as the hash of a commit."""
    cells = [cell for chapter in chapters() for cell in chapter.cells()]
    return random.Random(seed).sample(cells, max(1, math.ceil(share * len(cells))))


def check(cells: Sequence[Cell], folder: Path = FOLDER, *, workers: int = 1) -> Iterator[Difference | None]:
    """Repeat stored runs and yield, for each of them, its difference, or None if it is reproduced.

    Whole numbers must be equal. Floats must be equal bit for bit on the kind of machine that made them, and to a
    millionth on any other.
    """
    again = on_this_machine(list(cells), _computed, _given_up, workers=workers)
    stored = {chapter: load(chapter, folder) for chapter in {cell.chapter for cell in cells}}
    for cell, result in again:
        old = stored[cell.chapter]
        if old is None:
            yield Difference(cell, "its file is missing or unreadable")
            continue
        table, facts = old
        was = table.slice(cell.chapter.cells().index(cell), 1).to_pylist()
        exact = facts["machine"] == machine()
        names = [name for name in result if not was or not agrees(was[0][name], result[name], exact=exact)]
        yield Difference(cell, f"{', '.join(names)} came out differently") if names else None
