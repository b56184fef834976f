"""Turn the atlas's runs into finished rows of a sweep, so that a sweep need not repeat them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import Cell, Chapter, opened
from dpviz.atlas.files import Chart, read
from dpviz.privacy.guarantee import Guarantee
from dpviz.sweeps.sweep import Row, Run, Variant, finished_row

__all__ = ["ChartOf", "stored", "stored_rows"]

ChartOf = Callable[[str, str, int | None, tuple[tuple[str, Any], ...]], Chart | None]

_SAMPLE = "sample:"


def stored_rows(runs: Iterable[Run], chart_of: ChartOf = read) -> Iterator[Row]:
    """Yield the row of every run that the atlas holds; `chart_of` returns a chart, as `read` does."""
    for run in runs:
        row = stored(run, chart_of)
        if row is not None:
            yield row


def stored(run: Run, chart_of: ChartOf = read) -> Row | None:
    """Return the row that `execute` would return for a run, without the columns MEASURED, or None if it is not stored.

    The atlas holds the losses of runs with the sample's own k and bounds and default parameters, and, for a method that
    may release more than k centers, also of runs with exactly k.
    """
    asked = {name: value for name, value in run.parameters if value is not None}
    cls = ALGORITHMS[run.algorithm]
    defaults = {name: spec.default for name, spec in params.specs(cls).items() if name != "n_clusters"}
    epsilon = asked.pop("epsilon", defaults.get("epsilon"))
    plain = run.bounds == "declared" and run.preset is None and run.noise == "seeded" and run.metrics == ("loss",)
    if not run.data.startswith(_SAMPLE) or not plain:
        return None
    sample = run.data.removeprefix(_SAMPLE)
    values = tuple((name, asked[name]) for name in sorted(asked) if defaults.get(name) != asked[name])
    chart = chart_of(sample, run.algorithm, run.n_rows, values)
    stop = None if chart is None else chart.at(epsilon)
    if chart is None or stop is None or run.seed >= len(stop.losses):
        return None
    data = opened(sample, run.n_rows).data
    algorithm, claimed = _promise(run.variant, run.parameters, chart.chapter, run.n_rows)
    if claimed != _stored_promise(Cell(chart.chapter, run.n_rows, epsilon, 0)):
        return None
    losses = {"loss": float(stop.losses[run.seed])}
    return finished_row(run, data, algorithm, claimed, len(stop.centers[run.seed]), losses)


@lru_cache(maxsize=4096)
def _promise(
    variant: Variant, parameters: tuple[tuple[str, Any], ...], chapter: Chapter, people: int | None
) -> tuple[Algorithm, Guarantee]:
    data = opened(chapter.sample, people).data
    algorithm = variant.build(parameters, n_clusters=data.n_clusters, n_public=data.n_public)
    return algorithm, algorithm.guarantee(data.domain.n_features, data.n_public)


@lru_cache(maxsize=4096)
def _stored_promise(cell: Cell) -> Guarantee:
    data = opened(cell.chapter.sample, cell.people).data
    return cell.algorithm().guarantee(data.domain.n_features, data.n_public)
