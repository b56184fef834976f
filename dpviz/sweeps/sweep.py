"""A sweep: all combinations of algorithms, axes and repeats. Each run becomes one tidy row.

A method that takes public rows starts from a twentieth of each data set's rows, as in DEMO.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from dpviz import params, validate
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.postprocessing.regions import labels_of
from dpviz.privacy.accounting import DELTAS
from dpviz.privacy.guarantee import Guarantee
from dpviz.runs.public import started
from dpviz.sweeps.measures import METRICS, REFERENCES, Outcome, peak_memory, restart_peak_memory
from dpviz.sweeps.sources import BOUNDS, Source, best_references, open_source, reference, stamp
from dpviz.trace import Trace
from dpviz.version import __version__

__all__ = [
    "COLUMNS", "MEASURED", "REFERENCE", "REFERENCES", "Run", "Row", "Sweep", "Variant", "failed_row",
    "execute", "finished_row", "measured", "trace_of",
]  # fmt: skip

Row = dict[str, Any]
REFERENCE = "kmeans"
MEASURED = ("seconds", "peak_memory_mb")  # the only columns that differ from one execution to the next
COLUMNS = (
    *("key", "data", "bounds", "label", "algorithm", "name", "notion", "neighboring", "preset", "parameters"),
    *("n_rows", "n_features", "n_clusters", "epsilon", "delta", "rho_distance", "mu", "seed", "status", "reason"),
    *("k_found", *METRICS, *MEASURED, "version"),
)
MOST_REPEATS = 100_000  # a limit, because the cells of a sweep are listed before the first one runs
MOST_CELLS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Variant:
    """One curve: a labeled algorithm with a preset and its own fixed values; noise "none" makes it non-private."""

    label: str
    algorithm: str
    preset: str | None = None
    values: tuple[tuple[str, Any], ...] = ()
    noise: str = "seeded"

    def __post_init__(self) -> None:
        validate.one_of("sweep", ALGORITHMS, algorithm=self.algorithm)
        validate.one_of("sweep", ("seeded", "none"), noise=self.noise)
        cls = ALGORITHMS[self.algorithm]
        if self.preset is not None:
            validate.one_of(cls.name, cls.PRESETS, preset=self.preset)
        for name, _ in self.values:
            validate.one_of(cls.name, params.specs(cls), parameter=name)

    def parameters(self, axes: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return the values of the axes that this algorithm has; its own fixed values take precedence."""
        known = params.specs(ALGORITHMS[self.algorithm])
        chosen = {name: value for name, value in axes.items() if name in known} | dict(self.values)
        return tuple((name, _as(known[name].kind, chosen[name])) for name in sorted(chosen))

    def build(self, parameters: tuple[tuple[str, Any], ...], *, n_clusters: int, n_public: int) -> Algorithm:
        """Build the algorithm; None stands for the preset's value, or else the data set's k or the default delta."""
        cls = ALGORITHMS[self.algorithm]
        values = dict(cls.PRESETS[self.preset]) if self.preset else {}
        values |= {name: value for name, value in parameters if value is not None}
        if isinstance(values.get("delta"), str):
            validate.one_of("sweep", DELTAS, delta=values["delta"])
            values["delta"] = DELTAS[values["delta"]](float(n_public))
        values = {"n_clusters": n_clusters} | values
        if values.get("delta") is None and "delta" in params.specs(cls):
            values["delta"] = cls(**values).resolved_delta(n_public)
        return cls(**values)


def measured(metrics: Sequence[str], variants: Sequence[Variant], axes: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """Return the metrics of a sweep; if k-median runs, its own cost is added, and comes first if nothing else runs."""
    objectives = {one for variant in variants for one in _objectives(variant, axes)}
    if "medians" not in objectives or "median_cost" in metrics:
        return tuple(metrics)
    return ("median_cost", *metrics) if objectives == {"medians"} else (*metrics, "median_cost")


def _objectives(variant: Variant, axes: Mapping[str, Sequence[Any]]) -> Sequence[Any]:
    """Return the objectives of a curve."""
    cls = ALGORITHMS[variant.algorithm]
    if "objective" not in params.specs(cls):
        return ("means",)
    preset = cls.PRESETS[variant.preset] if variant.preset else {}
    own = dict(variant.values)
    return (own["objective"],) if "objective" in own else axes.get("objective", (preset.get("objective", "means"),))


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a sweep: names and values only, so that it can be sent and hashed."""

    data: str
    bounds: str
    n_rows: int | None
    modified: str
    label: str
    algorithm: str
    preset: str | None
    parameters: tuple[tuple[str, Any], ...]
    seed: int
    metrics: tuple[str, ...]
    noise: str = "seeded"

    @property
    def variant(self) -> Variant:
        """Return the curve to which the run belongs."""
        return Variant(self.label, self.algorithm, self.preset, noise=self.noise)

    @property
    def key(self) -> str:
        """Return the row's identity: a hash of public values and this version of dpviz, never of data."""
        text = json.dumps([dataclasses.asdict(self), __version__], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sweep:
    """The specification of a sweep: the runs to make.

    Attributes
    ----------
    data : names that `sources.open_source` understands; files only if `public` is True
    variants : the curves
    epsilon : values of epsilon
    axes : further axes, as pairs of a parameter and its values; an axis applies to the algorithms that have the
        parameter. None as a value means the data set's own k for n_clusters, and the default for delta; delta may also
        be a rule in `accounting.DELTAS`; rho_distance is in z units.
    n_rows : numbers of rows; None means the data as they are
    repeats : number of runs per point
    seed : first seed; repeat i has seed `seed + i` at every point, so that it has the same initial centers at every
        epsilon
    metrics : names in METRICS
    bounds : "declared", or one of `BOUNDS` for benchmarks, taken from the data
    """

    data: tuple[str, ...]
    variants: tuple[Variant, ...]
    epsilon: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    axes: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    n_rows: tuple[int | None, ...] = (None,)
    repeats: int = 10
    seed: int = 0
    metrics: tuple[str, ...] = ("loss",)
    bounds: str = "declared"
    public: bool = False

    def __post_init__(self) -> None:
        self._check_values()
        object.__setattr__(self, "epsilon", tuple(map(float, self.epsilon)))
        labels = [variant.label for variant in self.variants]
        if len(set(labels)) < len(labels):
            raise ValueError(f"sweep: algorithms must not repeat a label; got {', '.join(labels)}.")
        validate.integer("sweep", 1, MOST_REPEATS, repeats=self.repeats)
        validate.integer("sweep", 0, None, seed=self.seed)
        for metric in self.metrics:
            validate.one_of("sweep", METRICS, metric=metric)
        validate.one_of("sweep", BOUNDS, bounds=self.bounds)
        validate.one_of("sweep", (True, False), public=self.public)
        points = math.prod(len(values) for values in (self.epsilon, self.n_rows, *dict(self.axes).values()))
        if len(self.data) * len(self.variants) * points * self.repeats > MOST_CELLS:
            raise ValueError(f"sweep: a sweep may have at most {MOST_CELLS:,} runs; use fewer values or repeats.")
        for data in self.data:
            if not data.startswith(("sample:", "bench:")) and not self.public:
                raise ValueError(
                    f"sweep: say that {data} is public with public = true; a sweep on private rows would spend its "
                    f"budget in every run and print metrics of raw rows."
                )
        for variant in self.variants:
            for point in self._points():  # report an invalid value once here, not in every row
                variant.build(variant.parameters(point), n_clusters=1, n_public=1000)

    def _check_values(self) -> None:
        """Raise an error if a list of values is empty or has repeats, or an epsilon or a number of rows is invalid."""
        for name in ("data", "variants", "epsilon", "n_rows", "metrics"):
            values = getattr(self, name)
            if not values:
                raise ValueError(f"sweep: {name} must have at least one value; got none.")
            if len(set(values)) < len(values):
                raise ValueError(f"sweep: {name} must not repeat a value; got {', '.join(map(str, values))}.")
        for value in self.epsilon:
            validate.in_range("sweep", None, None, epsilon=value)
        for size in self.n_rows:
            validate.integer("sweep", 1, None, n_rows=1 if size is None else size)

    def _points(self) -> Iterator[dict[str, Any]]:
        axes = {"n_clusters": (None,), "delta": (None,), "epsilon": self.epsilon, **dict(self.axes)}
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    def runs(self) -> Iterator[Run]:
        """Yield every run: the references (seed 0) first, then repeat by repeat, so that a picture fills in evenly."""
        points = [
            (data, stamp(data), n_rows, point)
            for data in self.data
            for n_rows in self.n_rows
            for point in self._points()
        ]
        met: set[Run] = set()
        objectives = dict.fromkeys(("means", *(METRICS[metric].objective for metric in self.metrics)))
        first = [Variant(REFERENCES[one], REFERENCE, values=(("objective", one),)) for one in objectives]
        rest = [variant for variant in self.variants if variant.algorithm != REFERENCE]
        for seed, variants in [(0, first), *((self.seed + i, rest) for i in range(self.repeats))]:
            for (data, modified, n_rows, point), variant in itertools.product(points, variants):
                run = Run(
                    data=data,
                    bounds=self.bounds,
                    n_rows=n_rows,
                    modified=modified,
                    label=variant.label,
                    algorithm=variant.algorithm,
                    preset=variant.preset,
                    parameters=variant.parameters(point),
                    seed=seed,
                    metrics=self.metrics,
                    noise=variant.noise,
                )
                if run not in met:  # an axis that the algorithm lacks adds no run
                    met.add(run)
                    yield run

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return dataclasses.asdict(self)


def _as(kind: str, value: Any) -> Any:
    """Convert a number to the parameter's type, so that 1 and 1.0 are the same run."""
    return float(value) if kind == "float" and isinstance(value, int) and not isinstance(value, bool) else value


def execute(cell: Run) -> Row:
    """Make one run and return its row; a failure becomes a row with a reason.

    Only the columns in MEASURED differ from one execution to the next.
    """
    restart_peak_memory()
    begun = time.perf_counter()
    try:
        source, algorithm, rows = _opened(cell)
        data = source.data
        begun = time.perf_counter()
        trace = _run(cell, source, algorithm, rows)
        seconds = time.perf_counter() - begun
        k = algorithm.n_clusters
        outcome = Outcome(
            data,
            source.Z,
            data.domain.normalize(trace.cluster_centers),
            data.domain.normalize(reference(cell.data, cell.bounds, cell.n_rows, cell.modified, k, 0)),
            cell.seed,
            partial(best_references, cell.data, cell.bounds, cell.n_rows, cell.modified, k),
            labels_of(trace, data.X) if algorithm.regions else None,
        )
        measured = {name: _number(METRICS[name].of(outcome)) for name in cell.metrics}
    except (ValueError, TypeError, ArithmeticError, LookupError, OSError, MemoryError, PermissionError) as error:
        ours = isinstance(error, ValueError | TypeError | PermissionError)
        return failed_row(cell, str(error) if ours else f"internal error ({type(error).__name__})", begun)
    row = finished_row(cell, data, algorithm, trace.claimed, len(trace.cluster_centers), measured)
    return row | {"seconds": round(seconds, 6), "peak_memory_mb": _number(peak_memory())}


def finished_row(
    cell: Run,
    data: Dataset,
    algorithm: Algorithm,
    claimed: Guarantee,
    k_found: int,
    measured: Mapping[str, float | None],
) -> Row:
    """Return the row of a finished run, without the columns MEASURED."""
    return _row(cell) | {
        "notion": str(claimed.notion),
        "neighboring": str(claimed.neighboring) if claimed.private else None,
        "n_rows": len(data.X),
        "n_features": data.domain.n_features,
        "n_clusters": algorithm.n_clusters,
        "epsilon": getattr(algorithm, "epsilon", None),
        "delta": getattr(algorithm, "delta", None),
        "rho_distance": claimed.rho_distance,
        "mu": claimed.mu,
        "status": "ok",
        "k_found": k_found,
        **measured,
    }


def trace_of(cell: Run) -> Trace:
    """Repeat one run, bit for bit, and return its trace."""
    source, algorithm, rows = _opened(cell)
    return _run(cell, source, algorithm, rows)


def _opened(cell: Run) -> tuple[Source, Algorithm, Any]:
    source = open_source(cell.data, cell.bounds, cell.n_rows, cell.modified)
    data = source.data
    algorithm = cell.variant.build(cell.parameters, n_clusters=data.n_clusters, n_public=data.n_public)
    if algorithm.takes_public_rows:
        algorithm = _started(algorithm, cell.data, cell.bounds, cell.n_rows, cell.modified)
    return source, algorithm, source.rows if algorithm.notion.private else data.X  # the reference reads raw rows


@lru_cache(maxsize=64)
def _started(algorithm: Algorithm, name: str, bounds: str, n_rows: int | None, modified: str) -> Algorithm:
    return started(algorithm, open_source(name, bounds, n_rows, modified).data)


def _run(cell: Run, source: Source, algorithm: Algorithm, rows: Any) -> Trace:
    data = source.data
    return algorithm.run(rows, domain=data.domain, seed=cell.seed, noise=cell.noise, dataset_id=data.dataset_id)


def failed_row(cell: Run, reason: str, begun: float | None = None) -> Row:
    """Return the row of a run without a result."""
    seconds = None if begun is None else round(time.perf_counter() - begun, 6)
    return _row(cell) | {"status": "failed", "reason": " ".join(reason.split()), "seconds": seconds}


def _row(cell: Run) -> Row:
    asked = dict(cell.parameters)
    cls = ALGORITHMS[cell.algorithm]
    return dict.fromkeys(COLUMNS) | {
        "key": cell.key,
        "data": cell.data,
        "bounds": cell.bounds,
        "label": cell.label,
        "algorithm": cell.algorithm,
        "name": cls.name,
        "notion": str(cls.notion),
        "preset": cell.preset,
        "parameters": json.dumps(asked, sort_keys=True),
        "n_rows": cell.n_rows,
        "n_clusters": asked.get("n_clusters"),
        "epsilon": asked.get("epsilon"),
        "delta": None if isinstance(asked.get("delta"), str) else asked.get("delta"),
        "rho_distance": asked.get("rho_distance"),
        "seed": cell.seed,
        "version": __version__,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
