"""Load data sets with their declared public facts: bundled samples, made-up blobs and paintings, and your own files."""

from __future__ import annotations

import dataclasses
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz import validate
from dpviz.datasets.blobs import Blobs
from dpviz.datasets.dataset import Dataset
from dpviz.datasets.dictionary import amended, complete, domain_of, facts_beside, parse
from dpviz.datasets.earth import Equirectangular
from dpviz.datasets.painted import Painted
from dpviz.datasets.readers import Column, Recoding, Table, TableError, read_table
from dpviz.datasets.readers.form import with_form
from dpviz.datasets.readers.plain import read_plain
from dpviz.datasets.resampling import resampled
from dpviz.domain import Domain

__all__ = [
    *("SAMPLES", "SAMPLE_FOLDER", "Clipping", "Fewer"),
    *("clipping", "from_table", "load", "load_csv", "load_sample", "made", "present", "title_of_sample"),
]

SAMPLES = ("town", "city", "blobs", "overlap", "minority", "ring", "moons", "highdim", "tiny", "iris", "wine", "digits")
_MADE: tuple[type[Blobs | Painted], ...] = (Blobs, Painted)
_PACKAGE = Path(__file__).parents[1]
SAMPLE_FOLDER = next(  # inside an installed package, or next to the package in a checkout
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
    return from_table(read_plain(SAMPLE_FOLDER / f"{name}.csv"), _facts(name), dataset_id=f"sample:{name}")


def title_of_sample(name: str) -> str:
    """Return the title of a bundled sample, from its dictionary alone."""
    return str(_facts(name)["title"])


def _facts(sample: str) -> dict[str, Any]:
    return parse((SAMPLE_FOLDER / f"{sample}.json").read_bytes(), f"{sample}.json")


@dataclasses.dataclass(frozen=True)
class Fewer:
    """A subset of a sample's people, with a `key` such as "town:300"."""

    sample: str
    people: int

    @property
    def key(self) -> str:
        """Return the public name, such as "town:300"."""
        return f"{self.sample}:{self.people}"

    def __post_init__(self) -> None:
        whole = _whole(self.sample)
        validate.integer("datasets", whole.n_clusters, len(whole.X) - 1, people=self.people)

    @classmethod
    def parse(cls, key: str) -> Fewer:
        """Return the subset with a given `key`.

        Raises
        ------
        ValueError
            If the key has another form, or the sample has too few people or too many groups for that number.
        """
        sample, _, people = key.partition(":")
        if not re.fullmatch(r"[1-9]\d{0,6}", people, re.ASCII):
            raise ValueError(f"datasets: {key[:80]!r} does not name people of a sample, as town:300 does.")
        return cls(sample, int(people))

    def make(self) -> Dataset:
        """Return the data set: the rows that a sweep uses for this number of people, with the facts of the sample."""
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
    """Return the data set with a public name: a sample, a subset of its people, blobs, or a painting.

    Raises
    ------
    ValueError
        If there is no such sample, or the parameters are out of range.
    """
    sample = made(name)
    return load_sample(name) if sample is None else sample.make()


def made(name: str) -> Blobs | Painted | Fewer | None:
    """Return the maker of a data set that is generated from its public name, or None for any other name.

    Raises
    ------
    ValueError
        If the name begins like the name of such a data set but is not valid.
    """
    kind = next((kind for kind in _MADE if name.startswith(kind.PREFIX)), None)
    if kind is not None:
        return kind.parse(name)
    return Fewer.parse(name) if name.partition(":")[0] in SAMPLES and ":" in name else None


def present(path: Path) -> Path:
    """Return the path, checked to be a file on this machine.

    Raises
    ------
    ValueError
        If the path is an address on another machine, or the file does not exist.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)):
        raise ValueError("datasets: this is an address, and dpviz contacts no other machine; save the file here first.")
    if not Path(path).is_file():
        raise ValueError(f"datasets: the file {Path(path).name} does not exist.")
    return Path(path)


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
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    n_columns: int | None = None,
    missing_marks: Sequence[str] | None = None,
    decimal_of: Mapping[str, str] | None = None,
    no_missing_marks: Sequence[str] | None = None,
    lines_below: int | None = None,
    bounds: Mapping[str, tuple[float, float, str]] | None = None,
    rows_per_person: int | None = None,
    dictionary: Path | None = None,
    content: bytes | None = None,
    logs: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
) -> Dataset:
    """Read a table in any format of `readers.read_table`, with the data dictionary next to it if there is one.

    Parameters
    ----------
    path : Path, the file to read
    low, high : public bounds: one number for all columns, or one per column
    bounds : public bounds and units of columns by name
    n_public : int or None, the declared number of rows
    rows_per_person : int or None, the largest number of rows of one person
    dictionary : the data dictionary; None means NAME.dictionary.json or NAME.json next to the file, if that file is a
        dictionary. Other arguments override it
    dataset_id : str or None, a random token by default
    header : True if the first line holds names of columns, False if it does not, None if this is undeclared
    private : if True, nothing about the rows may be shown
    columns : names of the columns to cluster, in this order; None means all declared columns, or all columns if none
        are declared
    label : name of a public file's column of known groups, for evaluation; it is not clustered
    missing : treatment of a missing cell: "drop" leaves its row out, "middle" fills in the middle of the bounds
    sheet, header_row, separator, decimal, thousands, n_columns, missing_marks, decimal_of, no_missing_marks,
        lines_below : the format of the file, see `readers.Form`
    recode : rules that turn columns of text and dates into numbers
    content : the bytes of the file, if the caller has read them; if None, the file is read here
    logs : names of columns that are clustered as ln(1 + value), such as amounts of money; bounds are those of values
    weights : by how much distances in a column count more than in the others, by name

    No message ever quotes a cell. The first line of a private file counts as names of columns if the owner has declared
    that it does, or if it holds all declared names; in the latter case the other columns are named by their position.

    Raises
    ------
    ValueError
        If the file cannot be used; the message says what is wrong and what to do.
    """
    path = present(path)
    validate.one_of("datasets", ("drop", "middle"), missing=missing)
    if label is not None and private:
        raise ValueError(
            "datasets: known groups can be named only for public files; a private run is not compared with anything."
        )
    source, facts = facts_beside(path, dictionary)
    facts = amended(
        facts, source, columns=columns, bounds=bounds, recode=recode, low=low, high=high, n_public=n_public,
        rows_per_person=rows_per_person, logs=logs, weights=weights,
    )  # fmt: skip
    if private and facts is not None and not facts["declared"]:
        raise ValueError(
            f"{source}: its bounds were taken from data; a private file needs bounds that were declared without "
            "looking at data."
        )
    form = with_form(
        facts, header=header, sheet=sheet, header_row=header_row, separator=separator, decimal=decimal,
        thousands=thousands, n_columns=n_columns, missing_marks=missing_marks, decimal_of=decimal_of,
        no_missing_marks=no_missing_marks, lines_below=lines_below,
    )  # fmt: skip
    rules = tuple(recode) if facts is None else tuple(Recoding.parse(entry, source) for entry in facts["recode"])
    declared = _declared(facts, columns, rules)
    n_bounds = 1 if low is None or isinstance(low, float | int) else len(low)
    if form["n_columns"] is None and columns is None and facts is None and not recode and n_bounds > 1:
        form["n_columns"] = n_bounds
    read = path.read_bytes() if content is None else content
    table = read_table(read, path.name, private=private, recode=rules, names=declared, **form)
    if private and form["header"] is None:
        recoded = {column["name"] for rule in rules for column in rule.columns}
        table = table.without_names({*declared, *recoded})
    whole = table
    if facts is None:
        table = _chosen(table, columns, label, rules)
        if low is None and high is None:
            mode = "--private --header" if private else "--public"
            raise ValueError(
                f"datasets: {path.name} has no public bounds; give them (--bounds NAME=LOW..HIGH, or --low and "
                f"--high), or the file {source}, which `dpviz describe {path.name} {mode} -o {source}` drafts."
            )
        facts = _bounded(table, low, high, rules)
        facts |= {"n_public": n_public, "rows_per_person": rows_per_person or 1}
    facts["form"] = {key: value for key, value in form.items() if value is not None}
    if question := "" if private else whole.question(_declared(facts, None, rules)):
        raise TableError(f"{path.name}: {question}")
    if label is not None:
        if label not in whole.groupings:
            raise TableError(
                f"{path.name}: column {label!r} cannot name groups, which need few different words or whole numbers."
            )
        facts["label"], table = label, whole
    if missing == "middle":
        _fill_middles(facts["columns"])
    return from_table(table, facts, dataset_id=dataset_id, private=private)


def _chosen(table: Table, columns: Sequence[str] | None, label: str | None, rules: Sequence[Recoding]) -> Table:
    """Return the chosen columns, with a recoded column as those that its rule makes; by default all but the label."""
    if columns is not None:
        recoded = {rule.column: [column["name"] for column in rule.columns] for rule in rules}
        return table.only([name for column in columns for name in recoded.get(column, [column])])
    if label is not None:
        return table.only([one.name for one in table.columns if one.name != label and one.kind != "recoded"])
    return table


def _fill_middles(columns: Sequence[dict[str, Any]]) -> None:
    """Fill missing cells with the middle of their column's bounds, unless the column declares a fill value."""
    for column in columns:
        if column["fill"] is None:
            column["fill"] = (column["low"] + column["high"]) / 2


def _declared(
    facts: Mapping[str, Any] | None, columns: Sequence[str] | None, rules: Sequence[Recoding]
) -> tuple[str, ...]:
    """Return the declared names of columns in the file, without the columns that a rule or a projection makes."""
    sources = {column["name"]: rule.column for rule in rules for column in rule.columns}
    names = [sources.get(name, name) for name in columns or ()]
    if facts is not None:
        flat = Equirectangular.parse(facts["projection"], "data dictionary") if facts["projection"] else None
        for column in facts["columns"]:
            own = column["name"]
            if flat and own in (flat.east, flat.north):
                names += [flat.latitude, flat.longitude]
            else:
                names.append(sources.get(own, own))
    return tuple(dict.fromkeys([*names, *(rule.column for rule in rules)]))


def _bounded(
    table: Table,
    low: float | Sequence[float] | None,
    high: float | Sequence[float] | None,
    recode: Sequence[Recoding],
) -> dict[str, Any]:
    """Return facts with the given bounds, the same for all columns or one pair each; recoded columns keep their own."""
    if low is None or high is None:
        raise ValueError("datasets: low and high must be given together.")
    own = {column["name"]: column for rule in recode for column in rule.columns}
    read = [column for column in table.columns if column.kind != "recoded"]
    refused = next((column for column in read if column.values is None), None)
    if refused is not None:
        raise TableError(
            f"{table.name}: column {refused.name!r} must hold numbers only; it is of the kind {refused.kind}. "
            f"{refused.reason} (On the command line: --columns with the others, or --recode {refused.name}=RULE.)"
        )
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
        If the facts declare a column that the table lacks or that cannot be clustered.
    """
    facts = complete(facts)
    names = [column["name"] for column in facts["columns"]]
    if facts["projection"] is not None:
        table = _flat(table, Equirectangular.parse(facts["projection"], table.name))
    for name in names:
        refused = next((column for column in table.columns if column.name == name and column.values is None), None)
        if refused is not None:
            raise TableError(
                f"{table.name}: column {name!r} must hold numbers only. {refused.reason} "
                f"(On the command line: --recode {name}=RULE, or --columns with the others.)"
            )
        if name not in table.usable:
            raise TableError(
                f"{table.name} lacks the column {name!r} that its data dictionary declares; does the dictionary belong "
                "to another file (on the command line: --dictionary FILE.json)?"
            )
    fill = {column["name"]: column["fill"] for column in facts["columns"] if column["fill"] is not None}
    label, domain = facts["label"], domain_of(facts)
    return Dataset(
        X=domain.with_logs(table.matrix(names, fill)),
        columns=tuple(names),
        units=domain.units,
        domain=domain,
        labels=None if private or label is None else table.groups(label),
        dataset_id=dataset_id or secrets.token_hex(8),
        title=facts["title"] or Path(table.name).stem,
        description=facts["description"],
        n_clusters=facts["n_clusters"],
        facts=facts,
        private=private,
    )


def _flat(table: Table, projection: Equirectangular) -> Table:
    """Return the table with east and north in kilometers added to its latitude and longitude."""
    degrees = table.values(projection.latitude), table.values(projection.longitude)
    maps = zip((projection.east, projection.north), projection.forward(*degrees), strict=True)
    return dataclasses.replace(
        table, columns=(*table.columns, *(Column(name, "number", values=km) for name, km in maps))
    )


@dataclasses.dataclass(frozen=True)
class Clipping:
    """Numbers of rows that the declared bounds and the clipping radius affect. NOT PRIVATE: for DEMO only.

    Attributes
    ----------
    n_rows : number of all rows
    dropped : number of rows with a cell that is not finite
    below : ndarray of shape (d,), number of rows below each column's bounds
    above : ndarray of shape (d,), number of rows above each column's bounds
    outside : number of rows outside the box in any column
    radius : number of rows that are still beyond the clipping radius after they have been clipped to the box
    """

    n_rows: int
    dropped: int
    below: np.ndarray
    above: np.ndarray
    outside: int
    radius: int


def clipping(X: np.ndarray, domain: Domain) -> Clipping:
    """Count the rows that clipping X, shape (n, d), original units, to the domain changes. NOT PRIVATE."""
    finite = X[np.isfinite(X).all(axis=1)]
    below, above = finite < domain.low, finite > domain.high
    Z = np.clip(domain.normalize(finite), -domain.box_z, domain.box_z)
    return Clipping(
        n_rows=len(X),
        dropped=len(X) - len(finite),
        below=below.sum(axis=0),
        above=above.sum(axis=0),
        outside=int(domain.outside(finite).sum()),
        radius=int((np.linalg.norm(Z, axis=1) > domain.radius).sum()),
    )
