"""The atlas on disk: one Parquet file per chapter, which names its layout and the version of dpviz that made it.

A stored run is a true run of that version, whatever machine shows it; `python -m dpviz atlas --check` repeats some.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.atlas.cells import Chapter, covers, opened, yardstick
from dpviz.atlas.machines import machine
from dpviz.datasets.loading import SAMPLE_FOLDER
from dpviz.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FOLDER", "Chart", "Stop", "load", "read", "replace", "table_of", "write"]

FOLDER = Path(os.environ.get("DPVIZ_ATLAS") or SAMPLE_FOLDER / "atlas")
_LAYOUT = 2  # version of the files' layout; a reader accepts no other
_KINDS = {
    **{"people": "int32", "epsilon": "double", "seed": "int16", "bet": "int8", "found": "int16", "loss": "double"},
    **{"centers": ["double"], "sizes": ["double"]},
}
_FLOATS = ["loss", "centers.list.element", "sizes.list.element"]


@dataclasses.dataclass(frozen=True, eq=False)
class Stop:
    """All stored runs at one ε.

    Attributes
    ----------
    epsilon : float, or None for a method without a budget
    bet : int, the largest number of bets on one person, out of 100, that an attacker wins
    centers : released centers of every run, arrays of shape (k', d), original units, to a millionth of the box
    sizes : noisy sizes of every run, arrays of shape (k',), or None
    losses : ndarray of shape (runs,), mean squared distance, z units
    found : ndarray of shape (runs,), number of groups with their own center
    """

    epsilon: float | None
    bet: int
    centers: tuple[np.ndarray, ...]
    sizes: tuple[np.ndarray | None, ...]
    losses: np.ndarray
    found: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Chart:
    """All stored runs of one method on one sample with a given number of people.

    Attributes
    ----------
    groups : int, number of groups
    best : float, KMeans' loss, in the unit of the runs' losses
    seeds : number of runs at every stop; run i has seed i
    """

    chapter: Chapter
    people: int | None
    groups: int
    best: float
    seeds: int
    stops: tuple[Stop, ...]

    def at(self, epsilon: float | None) -> Stop | None:
        """Return the runs at one ε, or None if the atlas has no such stop."""
        return next((stop for stop in self.stops if stop.epsilon == epsilon), None)


def write(chapter: Chapter, rows: Sequence[dict[str, Any]], folder: Path = FOLDER) -> None:
    """Replace a chapter's file with these rows, in the order of its cells, once the new file is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    editions = {cell.people: yardstick(chapter.sample, cell.people) for cell in chapter.cells()}
    facts = {
        "groups": {str(people or 0): len(one.groups.means) for people, one in editions.items()},
        "best": {str(people or 0): one.loss for people, one in editions.items()},
    }
    words = ["people", "epsilon", "seed", "bet", "found"]
    replace(folder / f"{chapter.name}.parquet", rows, _KINDS, facts, words=words, floats=_FLOATS)


def replace(
    path: Path,
    rows: Sequence[dict[str, Any]],
    kinds: dict[str, Any],
    facts: dict[str, Any],
    *,
    words: list[str],
    floats: list[str],
) -> None:
    """Write rows with their facts, layout, version and machine; the old file stays until the new one is complete.

    `kinds` names the type of every column; `words` names the columns with few distinct values, and `floats` those with
    many digits.
    """
    from dpviz.atlas import tables

    facts = {"layout": _LAYOUT, "version": __version__, "machine": machine(), **facts}
    whole = path.with_name(f".{path.stem}.{os.getpid()}")
    try:
        tables.write(whole, list(rows), kinds, facts, words=words, floats=floats)
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


def table_of(path: Path, kinds: dict[str, Any]) -> tuple[pa.Table, Any] | None:
    """Return a file's table, with columns of these kinds, and its facts.

    Returns None if the file is missing or damaged, if another layout or another minor version of dpviz made it, or if
    Arrow is not installed, as in a browser.
    """
    if find_spec("pyarrow") is None:
        return None
    from dpviz.atlas import tables

    try:
        table, facts = tables.read(path, kinds)
        current = facts["layout"] == _LAYOUT and _minor(facts["version"]) == _minor(__version__)
        return (table, facts) if current else None
    except (OSError, ValueError, TypeError, KeyError, tables.Fault):
        return None


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def load(chapter: Chapter, folder: Path = FOLDER) -> tuple[pa.Table, dict[str, Any]] | None:
    """Return a chapter's rows and facts, or None as `table_of` does."""
    return table_of(folder / f"{chapter.name}.parquet", _KINDS)


@lru_cache(maxsize=64)
def read(
    sample: str,
    method: str,
    people: int | None = None,
    values: tuple[tuple[str, Any], ...] = (),
    *,
    folder: Path = FOLDER,
) -> Chart | None:
    """Return the stored runs of a method on a sample, or None if none can be read.

    `values` are parameters that differ from the method's defaults; the only such value in the atlas is EXACTLY_K.

    Only public samples can be named here; data from a visitor's file have no name.
    """
    chapter = Chapter(sample, method, values)
    stored = load(chapter, folder) if covers(sample, method, values) else None
    if stored is None:
        return None
    table, facts = stored
    from dpviz.atlas import tables

    table = tables.of_people(table, people or 0)
    if not len(table):
        return None
    rows = table.drop_columns(["centers", "sizes"]).to_pylist()
    domain = opened(sample, people).data.domain
    centers, sizes = tables.arrays(table["centers"]), tables.arrays(table["sizes"])
    for row, own, size in zip(rows, centers, sizes, strict=True):
        assert own is not None
        row |= {"centers": domain.denormalize(own.reshape(-1, domain.n_features)), "sizes": size}
    stops = []
    for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
        at = [row for row in rows if row["epsilon"] == epsilon]
        stops.append(
            Stop(
                epsilon,
                at[0]["bet"],
                tuple(row["centers"] for row in at),
                tuple(row["sizes"] for row in at),
                np.array([row["loss"] for row in at]),
                np.array([row["found"] for row in at]),
            )
        )
    groups, best = (facts[name][str(people or 0)] for name in ("groups", "best"))
    return Chart(chapter, people, groups, best, len(stops[0].losses), tuple(stops))
