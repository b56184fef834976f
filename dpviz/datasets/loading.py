"""Data sets with their declared public facts: the bundled samples, blobs on demand, and files of your own."""

from __future__ import annotations

import dataclasses
import re
import secrets
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz import validate
from dpviz.datasets.blobs import Blobs
from dpviz.datasets.dataset import Dataset
from dpviz.datasets.dictionary import complete, domain_of, parse
from dpviz.datasets.earth import Equirectangular
from dpviz.datasets.painted import Painted
from dpviz.datasets.readers import Column, Recoding, Table, TableError, read_table
from dpviz.datasets.resampling import resampled
from dpviz.domain import Domain

__all__ = [
    *("SAMPLES", "SAMPLE_FOLDER", "Clipping", "Fewer"),
    *("clipping", "from_table", "load", "load_csv", "load_sample", "made"),
]

SAMPLES = ("town", "city", "blobs", "overlap", "minority", "ring", "moons", "highdim", "tiny", "iris", "wine", "digits")
_MADE: tuple[type[Blobs | Painted], ...] = (Blobs, Painted)
_PACKAGE = Path(__file__).parents[1]
SAMPLE_FOLDER = next(  # in an installed package, else beside it in a checkout
    (place for place in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data") if place.is_dir()),
    _PACKAGE / "sample_data",
)


def load_sample(name: str) -> Dataset:
    """Return a bundled sample.

    Raises
    ------
    ValueError
        If there is no such sample.
    """
    if name not in SAMPLES:
        raise ValueError(f"datasets: sample must be one of {', '.join(SAMPLES)}; got {name!r}.")
    return load_csv(SAMPLE_FOLDER / f"{name}.csv", dataset_id=f"sample:{name}")


@dataclasses.dataclass(frozen=True)
class Fewer:
    """Some of a sample's people, as if only so many had come: "town:300" by its `key`."""

    sample: str
    people: int

    @property
    def key(self) -> str:
        """The public name."""
        return f"{self.sample}:{self.people}"

    def __post_init__(self) -> None:
        whole = _whole(self.sample)
        validate.integer("datasets", whole.n_clusters, len(whole.X) - 1, people=self.people)

    @classmethod
    def parse(cls, key: str) -> Fewer:
        """Return whose people, and how many of them, `key` names.

        Raises
        ------
        ValueError
            If it does not name any, or the sample has no more than that, or more groups.
        """
        sample, _, people = key.partition(":")
        if not re.fullmatch(r"[1-9]\d{0,6}", people, re.ASCII):
            raise ValueError(f"datasets: {key[:80]!r} does not name some people of a sample; town:300 does.")
        return cls(sample, int(people))

    def make(self) -> Dataset:
        """Return the data set: the rows that a sweep takes for so many people, and the sample's facts."""
        whole = _whole(self.sample)
        rows = resampled(len(whole.X), self.people)
        return dataclasses.replace(
            whole,
            X=whole.X[rows],
            labels=None if whole.labels is None else whole.labels[rows],
            domain=dataclasses.replace(whole.domain, n_public=self.people),
            dataset_id=f"sample:{self.key}",
            title=f"{whole.title.partition(',')[0]}, {self.people:,} of its people",
            facts={**whole.facts, "n_public": self.people},
        )


@lru_cache(maxsize=4)
def _whole(sample: str) -> Dataset:
    return load_sample(sample)


def load(name: str) -> Dataset:
    """Return what a public name stands for: a sample, some of its people, blobs by their parameters, or a painting.

    Raises
    ------
    ValueError
        If there is no such sample, or the parameters are out of range.
    """
    found = made(name)
    return load_sample(name) if found is None else found.make()


def made(name: str) -> Blobs | Painted | Fewer | None:
    """Return what is made from its public name alone, None for the name of anything else.

    Raises
    ------
    ValueError
        If the name begins like one and is none.
    """
    kind = next((kind for kind in _MADE if name.startswith(kind.PREFIX)), None)
    if kind is not None:
        return kind.parse(name)
    return Fewer.parse(name) if name.partition(":")[0] in SAMPLES and ":" in name else None


def load_csv(
    path: Path,
    *,
    low: float | Sequence[float] | None = None,
    high: float | Sequence[float] | None = None,
    n_public: int | None = None,
    dataset_id: str | None = None,
    header: bool | None = None,
    private: bool = False,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    missing: str = "drop",
    sheet: str | None = None,
    header_row: int | None = None,
    recode: Sequence[Recoding] = (),
    content: bytes | None = None,
) -> Dataset:
    """Read a table in any format that `readers.read_table` knows, and NAME.json beside it if no bounds are given.

    Parameters
    ----------
    path : Path
    low, high : public bounds, one number or one a column
    n_public : int or None, the declared number of rows; wins over that of NAME.json
    dataset_id : str or None, a random token by default
    header : bool or None, whether the first line holds names of columns; None: the owner has not said
    private : nothing of the rows may be shown
    columns : names of the columns to cluster, in this order; None: all that are declared, or all there are
    label : name of a public file's column of known groups, for evaluation; it is not clustered
    missing : what a missing cell does: "drop" leaves its row out, "middle" puts the middle of the bounds there
    sheet, header_row : where in the file the table is, see `readers.read_table`
    recode : which columns of words and dates become numbers, beside those that NAME.json declares
    content : what the caller has read from the file, so that nothing else is read; None: it is read here

    No message ever holds a cell's value. As long as nobody has said that the first line of a private file holds
    names, columns are named by their position, but for those that NAME.json declares.

    Raises
    ------
    ValueError
        One sentence: what is wrong with the file, and what to do.
    """
    if re.match(r"[A-Za-z][A-Za-z+.-]+:/", str(path)):
        raise ValueError("datasets: this is an address, and dpviz asks no other machine; save the file here first.")
    validate.one_of("datasets", ("drop", "middle"), missing=missing)
    if label is not None and private:
        raise ValueError("datasets: known groups are for public files; a private run is measured by nothing.")
    path = Path(path)
    dictionary_file = path.with_suffix(".dictionary.json" if path.suffix == ".json" else ".json")
    if not path.is_file():
        raise ValueError(f"datasets: the file {path.name} does not exist.")
    facts = None
    if low is None and high is None and dictionary_file.is_file():
        facts = parse(dictionary_file.read_bytes(), dictionary_file.name)
        facts = complete(facts | {"recode": [rule.facts for rule in _rules(facts, recode)]}, dictionary_file.name)
    table = read_table(
        path.read_bytes() if content is None else content,
        path.name,
        header=header,
        private=private,
        sheet=sheet,
        header_row=header_row,
        recode=_rules(facts, recode),
    )
    if private and header is None:
        declared = {column["name"] for column in facts["columns"]} if facts else set()
        declared |= {column["name"] for rule in recode for column in rule.columns}
        if path.suffix != ".parquet":  # whose names are no row
            _check_header(table, declared)
        table = table.without_names(declared)
    whole = table
    made = {rule.column: [column["name"] for column in rule.columns] for rule in _rules(facts, recode)}
    if columns is not None:
        columns = [name for column in columns for name in made.get(column, [column])]
    if columns is None and label is not None and facts is None:
        columns = [column.name for column in table.columns if column.name != label and column.kind != "recoded"]
    if columns is not None:
        table = table.only(columns)
        if facts is not None:
            facts["columns"] = [column for name in columns for column in facts["columns"] if column["name"] == name]
            facts["view"] = None
    if low is not None or high is not None:
        facts = _bounded(table, low, high, recode)
    if facts is None:
        raise ValueError(
            f"datasets: {path.name} has no public bounds; give low and high, or the file {dictionary_file.name}, which "
            f"`dpviz describe {path.name}` drafts."
        )
    facts |= {} if n_public is None else {"n_public": n_public}
    if label is not None:
        if label not in whole.groupings:
            raise TableError(f"{path.name}: column {label!r} cannot name groups; it needs few words or numbers.")
        facts["label"], table = label, whole
    if missing == "middle":
        facts["columns"] = [
            column | {"fill": (column["low"] + column["high"]) / 2} if column["fill"] is None else column
            for column in facts["columns"]
        ]
    return from_table(table, facts, dataset_id=dataset_id, private=private)


def _rules(facts: Mapping[str, Any] | None, recode: Sequence[Recoding]) -> tuple[Recoding, ...]:
    """Return the rules that were given, and those of a dictionary for other columns."""
    given = {rule.column for rule in recode}
    if len(given) < len(recode):
        raise ValueError("datasets: recode each column once.")
    declared = (Recoding.parse(entry, "data dictionary") for entry in (facts or {}).get("recode", ()))
    return (*recode, *(rule for rule in declared if rule.column not in given))


def _check_header(table: Table, declared: Set[str]) -> None:
    """Refuse a private table whose first line may be a person.

    It cannot be one if it holds all names that the owner has declared, or words above numbers only.
    """
    if declared:
        certain = declared <= {column.name for column in table.columns}
    else:
        certain = all(column.values is not None for column in table.columns)
    if not certain:
        raise TableError(
            f"{table.name}: is the first line names of columns, or the first person? "
            "Give --header or --no-header; nothing of it is shown before."
        )


def _bounded(
    table: Table,
    low: float | Sequence[float] | None,
    high: float | Sequence[float] | None,
    recode: Sequence[Recoding],
) -> dict[str, Any]:
    """Return facts that give columns the same bounds, or one pair a column; recoded ones have theirs."""
    if low is None or high is None:
        raise ValueError("datasets: low and high must be given together.")
    own = {column["name"]: column for rule in recode for column in rule.columns}
    read = [column for column in table.columns if column.kind != "recoded"]
    refused = next((place for place, column in enumerate(read, 1) if column.values is None), None)
    if refused is not None:
        raise TableError(f"{table.name}: column {refused} must hold numbers only; name the others with --columns.")
    names = [column.name for column in read if column.name not in own]
    d = len(names)
    bounds = [np.asarray(bound, dtype=float).reshape(-1) for bound in (low, high)]
    if any(bound.size not in (1, d) for bound in bounds):
        raise ValueError(f"datasets: low and high must have 1 or {d} values, one per column.")
    lows, highs = (np.broadcast_to(bound, (d,)).tolist() for bound in bounds)
    own |= {name: {"name": name, "low": a, "high": b} for name, a, b in zip(names, lows, highs, strict=True)}
    facts = {"columns": [own[column.name] for column in read], "recode": [rule.facts for rule in recode]}
    return complete(facts, "datasets")


def from_table(
    table: Table, facts: Mapping[str, Any], *, private: bool = False, dataset_id: str | None = None
) -> Dataset:
    """Return the declared columns of a table as a data set.

    Raises
    ------
    ValueError
        If the facts declare a column that the table lacks, or that cannot be clustered.
    """
    facts = complete(facts)
    names = [column["name"] for column in facts["columns"]]
    if facts["projection"] is not None:
        table = _flat(table, Equirectangular.parse(facts["projection"], table.name))
    for name in names:
        refused = next((column for column in table.columns if column.name == name and column.values is None), None)
        if refused is not None:
            raise TableError(f"{table.name}: column {name!r} must hold numbers only; leave it out or recode it.")
        if name not in table.usable:
            raise TableError(f"{table.name} lacks the column {name!r} that its data dictionary declares.")
    fill = {column["name"]: column["fill"] for column in facts["columns"] if column["fill"] is not None}
    label = facts["label"]
    return Dataset(
        X=table.matrix(names, fill),
        columns=tuple(names),
        units=tuple(column["unit"] for column in facts["columns"]),
        domain=domain_of(facts),
        labels=None if private or label is None else table.groups(label),
        dataset_id=dataset_id or secrets.token_hex(8),
        title=facts["title"] or Path(table.name).stem,
        description=facts["description"],
        n_clusters=facts["n_clusters"],
        facts=facts,
        private=private,
    )


def _flat(table: Table, projection: Equirectangular) -> Table:
    """Return the table with columns in kilometers beside its latitude and longitude."""
    degrees = table.values(projection.latitude), table.values(projection.longitude)
    made = zip((projection.east, projection.north), projection.forward(*degrees), strict=True)
    return dataclasses.replace(
        table, columns=(*table.columns, *(Column(name, "number", values=km) for name, km in made))
    )


@dataclasses.dataclass(frozen=True)
class Clipping:
    """What the declared facts do to the rows. NOT PRIVATE: for DEMO only.

    Attributes
    ----------
    n_rows, dropped : rows, and those with a cell that is not finite
    below, above : ndarray of shape (d,), rows outside each column's bounds
    outside, radius : rows outside the box in any column, and rows beyond the clipping radius after that
    """

    n_rows: int
    dropped: int
    below: np.ndarray
    above: np.ndarray
    outside: int
    radius: int


def clipping(X: np.ndarray, domain: Domain) -> Clipping:
    """Count what clipping X, shape (n, d), original units, to the domain changes. NOT PRIVATE."""
    kept = X[np.isfinite(X).all(axis=1)]
    below, above = kept < domain.low, kept > domain.high
    Z = np.clip(domain.normalize(kept), -domain.box_z, domain.box_z)
    return Clipping(
        n_rows=len(X),
        dropped=len(X) - len(kept),
        below=below.sum(axis=0),
        above=above.sum(axis=0),
        outside=int((below | above).any(axis=1).sum()),
        radius=int((np.linalg.norm(Z, axis=1) > domain.radius).sum()),
    )
