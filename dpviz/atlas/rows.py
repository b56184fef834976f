"""The atlas as finished rows of a sweep: what is stored is not run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import Cell, Chapter, opened
from dpviz.atlas.files import read
from dpviz.privacy.guarantee import Guarantee
from dpviz.sweeps.sweep import Row, Run, finished_row

__all__ = ["stored", "stored_rows"]

_SAMPLE = "sample:"


def stored_rows(runs: Iterable[Run]) -> Iterator[Row]:
    """Yield the row of every run that the atlas holds."""
    for run in runs:
        row = stored(run)
        if row is not None:
            yield row


def stored(run: Run) -> Row | None:
    """Return the row of a run as `execute` would, without the columns MEASURED; None where the atlas lacks it.

    It holds runs at the samples' own k and bounds and at default parameters, and their loss.
    """
    asked = {name: value for name, value in run.parameters if value is not None}
    cls = ALGORITHMS[run.algorithm]
    defaults = {name: spec.default for name, spec in params.specs(cls).items() if name != "n_clusters"}
    epsilon = asked.pop("epsilon", defaults.get("epsilon"))
    plain = run.bounds == "declared" and run.preset is None and run.noise == "seeded" and run.metrics == ("loss",)
    if not run.data.startswith(_SAMPLE) or not plain or any(defaults.get(name) != asked[name] for name in asked):
        return None
    sample = run.data.removeprefix(_SAMPLE)
    chart = read(sample, run.algorithm, run.n_rows)
    stop = None if chart is None else chart.at(epsilon)
    if stop is None or run.seed >= len(stop.losses):
        return None
    data = opened(sample, run.n_rows).data
    algorithm, claimed = _promise(Cell(Chapter(sample, run.algorithm), run.n_rows, epsilon, 0))
    losses = {"loss": float(stop.losses[run.seed])}
    return finished_row(run, data, algorithm, claimed, len(stop.centers[run.seed]), losses)


@lru_cache(maxsize=1024)
def _promise(cell: Cell) -> tuple[Algorithm, Guarantee]:
    domain, algorithm = opened(cell.chapter.sample, cell.people).data.domain, cell.algorithm()
    return algorithm, algorithm.guarantee(domain.n_features, domain.n_public or 0)
