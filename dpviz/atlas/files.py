"""The atlas on disk: one Parquet file per chapter, which names its layout and the version of dpviz that made it.

A stored run is a true run of that version, whatever machine shows it; `python -m dpviz atlas --check` repeats some.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpviz.atlas.cells import EXACTLY_K, METHODS, Chapter, beside, opened
from dpviz.atlas.machines import machine
from dpviz.datasets import SAMPLES
from dpviz.datasets.loading import SAMPLE_FOLDER
from dpviz.version import __version__

__all__ = ["FOLDER", "Chart", "Stop", "load", "read", "replace", "table_of", "write"]

FOLDER = Path(os.environ.get("DPVIZ_ATLAS") or SAMPLE_FOLDER / "atlas")
_LAYOUT = 2  # version of the files' layout; a reader accepts no other
_SCHEMA = pa.schema(
    [
        ("people", pa.int32()),
        ("epsilon", pa.float64()),
        ("seed", pa.int16()),
        ("bet", pa.int8()),
        ("found", pa.int16()),
        ("loss", pa.float64()),
        ("centers", pa.list_(pa.float64())),
        ("sizes", pa.list_(pa.float64())),
    ]
)
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
    editions = {cell.people: beside(chapter.sample, cell.people) for cell in chapter.cells()}
    facts = {
        "groups": {str(people or 0): len(one.groups.means) for people, one in editions.items()},
        "best": {str(people or 0): one.loss for people, one in editions.items()},
    }
    table = pa.Table.from_pylist(list(rows), _SCHEMA)
    words = ["people", "epsilon", "seed", "bet", "found"]
    replace(folder / f"{chapter.name}.parquet", table, facts, words=words, floats=_FLOATS)


def replace(path: Path, table: pa.Table, facts: dict[str, Any], *, words: list[str], floats: list[str]) -> None:
    """Write a table with its facts, layout, version and machine; the old file stays until the new one is complete.

    `words` names the columns with few distinct values, and `floats` those with many digits.
    """
    facts = {"layout": _LAYOUT, "version": __version__, "machine": machine(), **facts}
    whole = path.with_name(f".{path.stem}.{os.getpid()}")
    try:
        pq.write_table(
            table.replace_schema_metadata({"dpviz": json.dumps(facts)}),
            whole,
            compression="zstd",
            compression_level=19,
            use_dictionary=words,
            column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
            write_statistics=False,
            write_page_checksum=True,
        )
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


def table_of(path: Path, schema: pa.Schema) -> tuple[pa.Table, Any] | None:
    """Return a file's table in this schema and its facts.

    Returns None if the file is missing or damaged, or if another layout or another minor version of dpviz made it.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
        facts = json.loads((table.schema.metadata or {}).get(b"dpviz", b"{}"))
        if facts["layout"] != _LAYOUT or _minor(facts["version"]) != _minor(__version__):
            return None
        return table.cast(schema.with_metadata(table.schema.metadata)), facts
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
        return None


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def load(chapter: Chapter, folder: Path = FOLDER) -> tuple[pa.Table, dict[str, Any]] | None:
    """Return a chapter's rows and facts, or None as `table_of` does."""
    return table_of(folder / f"{chapter.name}.parquet", _SCHEMA)


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
    stored = load(chapter, folder) if sample in SAMPLES and method in METHODS and values in ((), EXACTLY_K) else None
    if stored is None:
        return None
    table, facts = stored
    table = table.filter(pc.equal(table["people"], people or 0))
    if not len(table):
        return None
    rows = table.drop_columns(["centers", "sizes"]).to_pylist()
    domain = opened(sample, people).data.domain
    places = domain.denormalize(table["centers"].combine_chunks().flatten().to_numpy().reshape(-1, domain.n_features))
    centers = np.split(places, _ends(table["centers"]) // domain.n_features)
    sizes = np.split(table["sizes"].combine_chunks().flatten().to_numpy(), _ends(table["sizes"]))
    for row, own, size, missing in zip(rows, centers, sizes, table["sizes"].is_null().to_pylist(), strict=True):
        row |= {"centers": own, "sizes": None if missing else size}
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


def _ends(lists: pa.ChunkedArray) -> np.ndarray:
    """Return the offsets at which a list column's flat values are split; a missing list counts as empty."""
    ends: np.ndarray = np.cumsum(pc.fill_null(pc.list_value_length(lists), 0).to_numpy())[:-1]
    return ends
