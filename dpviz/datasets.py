"""Data sets with their declared public facts: the bundled samples, blobs on demand, and files of your own."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpviz import dictionary, params
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.projection import Equirectangular
from dpviz.readers import Column, Table, TableError, read_table

__all__ = ["SAMPLES", "Blobs", "Clipping", "Dataset", "clipping", "from_table", "load", "load_csv", "load_sample"]

SAMPLES = ("town", "city", "blobs", "overlap", "minority", "ring", "highdim", "tiny", "iris", "wine", "digits")
_FOLDER = Path(__file__).parent.parent / "sample_data"


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their declared public facts.

    Attributes
    ----------
    X : ndarray of shape (n, d), original units, read-only
    columns : names of the d columns; public
    units : units of the d columns; public
    domain : Domain
    labels : ndarray of shape (n,) or None, known groups, for evaluation in DEMO only
    dataset_id : "sample:NAME" or a random token, never derived from the data
    title, description, n_clusters, facts : for the pages; `facts` is the whole data dictionary
    private : bool, nothing of the rows may be shown, and noise must be secure
    """

    X: np.ndarray = dataclasses.field(repr=False)
    columns: tuple[str, ...]
    units: tuple[str, ...]
    domain: Domain
    labels: np.ndarray | None = dataclasses.field(repr=False)
    dataset_id: str
    title: str
    description: str = ""
    n_clusters: int = 3
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    private: bool = False

    def __post_init__(self) -> None:
        if self.private and self.domain.n_public is None:
            raise ValueError(
                f"{self.title}: n_public must be declared, because the data are private; a round number will do."
            )

    @property
    def n_public(self) -> int:
        """The declared number of rows; counted only where none is declared, and then the data are public."""
        return len(self.X) if self.domain.n_public is None else self.domain.n_public

    @property
    def view(self) -> tuple[int, int]:
        """The two columns to draw first: those of the data dictionary, else the first two."""
        x, y = self.facts.get("view") or self.columns[:2]
        return self.columns.index(x), self.columns.index(y)


def load_sample(name: str) -> Dataset:
    """Return a bundled sample.

    Raises
    ------
    ValueError
        If there is no such sample.
    """
    if name not in SAMPLES:
        raise ValueError(f"datasets: sample must be one of {', '.join(SAMPLES)}; got {name!r}.")
    return load_csv(_FOLDER / f"{name}.csv", dataset_id=f"sample:{name}")


def load(name: str) -> Dataset:
    """Return what a public name stands for: a sample, or blobs by the text of their parameters.

    Raises
    ------
    ValueError
        If there is no such sample, or the parameters are out of range.
    """
    return Blobs.parse(name).make() if name.startswith(Blobs.PREFIX) else load_sample(name)


def load_csv(
    path: Path,
    *,
    low: float | Sequence[float] | None = None,
    high: float | Sequence[float] | None = None,
    n_public: int | None = None,
    dataset_id: str | None = None,
    header: bool | None = None,
    private: bool = False,
) -> Dataset:
    """Read a CSV, TSV, Parquet or Excel file, and NAME.json beside it if no bounds are given.

    Parameters
    ----------
    path : Path
    low, high : public bounds, one number or one a column
    n_public : int or None, the declared number of rows; wins over that of NAME.json
    dataset_id : str or None, a random token by default
    header : bool or None, whether the first line holds names of columns; None: the owner has not said
    private : nothing of the rows may be shown

    No message ever holds a cell's value. As long as nobody has said that the first line of a private file holds
    names, columns are named by their position, but for those that NAME.json declares.

    Raises
    ------
    ValueError
        One sentence: what is wrong with the file, and what to do.
    """
    path = Path(path)
    dictionary_file = path.with_suffix(".json")
    if not path.is_file():
        raise ValueError(f"datasets: the file {path.name} does not exist.")
    facts = None
    if low is None and high is None and dictionary_file.is_file():
        facts = dictionary.parse(dictionary_file.read_bytes(), dictionary_file.name)
    with path.open("rb") as file:
        table = read_table(file, path.name, header=header, private=private)
    if private and header is None:
        declared = {column["name"] for column in facts["columns"]} if facts else set()
        if path.suffix != ".parquet":  # whose names are no row
            _check_header(table, declared)
        table = table.without_names(declared)
    if low is not None or high is not None:
        facts = _bounded(table, low, high)
    if facts is None:
        raise ValueError(
            f"datasets: {path.name} has no public bounds; give low and high, or the file {dictionary_file.name}."
        )
    facts |= {} if n_public is None else {"n_public": n_public}
    return from_table(table, facts, dataset_id=dataset_id, private=private)


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


def _bounded(table: Table, low: float | Sequence[float] | None, high: float | Sequence[float] | None) -> dict[str, Any]:
    """Return facts that give every column of a table the same bounds, or one pair a column."""
    if low is None or high is None:
        raise ValueError("datasets: low and high must be given together.")
    refused = next((place for place, column in enumerate(table.columns, 1) if column.values is None), None)
    if refused is not None:
        raise TableError(f"{table.name}: column {refused} must hold numbers only; leave it out or recode it.")
    d = len(table.columns)
    bounds = [np.asarray(bound, dtype=float).reshape(-1) for bound in (low, high)]
    if any(bound.size not in (1, d) for bound in bounds):
        raise ValueError(f"datasets: low and high must have 1 or {d} values, one per column.")
    lows, highs = (np.broadcast_to(bound, (d,)).tolist() for bound in bounds)
    columns = [{"name": name, "low": a, "high": b} for name, a, b in zip(table.usable, lows, highs, strict=True)]
    return dictionary.complete({"columns": columns}, "datasets")


def from_table(
    table: Table, facts: Mapping[str, Any], *, private: bool = False, dataset_id: str | None = None
) -> Dataset:
    """Return the declared columns of a table as a data set.

    Raises
    ------
    ValueError
        If the facts declare a column that the table lacks, or that cannot be clustered.
    """
    facts = dictionary.complete(facts)
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
        domain=dictionary.domain_of(facts),
        labels=table.values(label) if label in table.usable and not private else None,
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blobs:
    """Round groups on demand, for lectures. Everything follows from the public parameters, the bounds included.

    Parameters
    ----------
    n_rows, n_features, n_clusters : sizes
    spread : standard deviation of a group; the bounds are -10 and 10 in every column
    imbalance : 0 for groups of equal size, towards 1 each group is that much smaller than the one before
    outliers : share of rows strewn evenly over the whole box
    seed : of the generator; the rows are made up, so it is no secret
    """

    name: ClassVar[str] = "Blobs"
    PREFIX: ClassVar[str] = "blobs:"
    n_rows: int = param(2000, low=10, high=200_000, help="How many made-up people.")
    n_features: int = param(2, low=1, high=64, help="How many columns.")
    n_clusters: int = param(4, low=1, high=40, help="How many groups.")
    spread: float = param(1.0, low=0.05, high=5.0, help="Standard deviation of a group; the box is 20 wide.")
    imbalance: float = param(0.0, low=0.0, high=0.9, help="0: equal groups. 0.5: each half as large as the one before.")
    outliers: float = param(0.0, low=0.0, high=0.5, help="Share of people strewn over the whole box.")
    seed: int = param(0, low=0, help="Another seed, other blobs. Nobody's privacy depends on it.")

    def __post_init__(self) -> None:
        params.check("Blobs", self)

    @property
    def key(self) -> str:
        """The public name from which the same rows can be made again."""
        return self.PREFIX + ",".join(f"{name}={getattr(self, name)!r}" for name in params.specs(type(self)))

    @classmethod
    def parse(cls, key: str) -> Blobs:
        """Return the blobs that `key` names."""
        try:
            pairs = dict(part.split("=", 1) for part in key.removeprefix(cls.PREFIX).split(","))
            values = {name: params.parse(params.specs(cls)[name], text) for name, text in pairs.items()}
        except (KeyError, ValueError):
            raise ValueError(f"datasets: {key[:80]!r} does not name blobs.") from None
        return cls(**values)

    def make(self) -> Dataset:
        """Return the data set, shape (n_rows, n_features)."""
        rng = np.random.default_rng(self.seed)
        centers = self._centers(rng)
        shares = (1 - self.imbalance) ** np.arange(self.n_clusters)
        labels = rng.choice(self.n_clusters, self.n_rows, p=shares / shares.sum())
        X = centers[labels] + rng.normal(0, self.spread, (self.n_rows, self.n_features))
        strewn = rng.random(self.n_rows) < self.outliers
        X[strewn] = rng.uniform(-10, 10, (int(strewn.sum()), self.n_features))
        X.setflags(write=False)
        facts = dictionary.complete(
            {
                "title": f"{self.n_clusters} blobs, {self.n_rows:,} made-up people",
                "description": "Made on the Data page; the bounds follow from the generator, not from the rows.",
                "columns": [
                    {"name": f"x{j + 1}", "low": -10, "high": 10, "description": f"made-up coordinate {j + 1}"}
                    for j in range(self.n_features)
                ],
                "n_clusters": self.n_clusters,
                "scale": "common",
                "n_public": self.n_rows,
                "unit_of_privacy": "one row is one made-up person",
                "origin": f"made by dpviz: {self.key}",
                "licence": "CC0 1.0",
            }
        )
        return Dataset(
            X=X,
            columns=tuple(column["name"] for column in facts["columns"]),
            units=("",) * self.n_features,
            domain=dictionary.domain_of(facts),
            labels=np.where(strewn, -1, labels),
            dataset_id=self.key,
            title=facts["title"],
            description=facts["description"],
            n_clusters=self.n_clusters,
            facts=facts,
        )

    def _centers(self, rng: np.random.Generator) -> np.ndarray:
        """Return centers within +-7, each the farthest of 20 tries from those before."""
        centers = rng.uniform(-7, 7, (1, self.n_features))
        while len(centers) < self.n_clusters:
            tries = rng.uniform(-7, 7, (20, self.n_features))
            nearest = np.linalg.norm(tries[:, None] - centers, axis=2).min(axis=1)
            centers = np.vstack([centers, tries[nearest.argmax()]])
        return centers
