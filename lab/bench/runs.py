"""Make the benchmark's runs, and keep their rows, so that an interrupted command resumes."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.cluster import KMeans

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.geometry import alone
from dpviz.metrics import normalized_loss
from dpviz.privacy.rows import Rows
from dpviz.sweeps.engines import Engine
from dpviz.sweeps.rowfile import RowFile
from dpviz.sweeps.sources import taken

from . import VERSION
from .families import Made, made
from .fingerprint import fingerprint

__all__ = ["BOXES", "COLUMNS", "Bench", "Task", "perform"]

BOXES = {  # how the bounds are taken from the rows: NOT PRIVATE
    "ball": "tight_nonprivate",  # centered on the rows' mean, the papers' preprocessing
    "tight": "columns_nonprivate",  # from the minimum to the maximum of every column
    "x2": "twice_nonprivate",  # from the minimum, twice as wide
    "corner": "corner_nonprivate",  # from the minimum, one width for all columns
}
COLUMNS = (
    *("family", "draw", "box", "method", "epsilon", "seed", "n_rows", "n_features", "n_clusters", "loss", "reference"),
    *("seconds", "reason"),
)
_KEY = ("frozen", "version", "code", "family", "draw", "box", "method", "epsilon", "seed")


@dataclasses.dataclass(frozen=True)
class Bench:
    """The runs to make: every method on every draw of every family, in every box, at every epsilon, with every seed."""

    frozen: str
    families: tuple[str, ...]
    boxes: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    draws: int
    seeds: int

    def tasks(self, done: set[tuple[Any, ...]]) -> Iterator[Task]:
        """Yield the tasks with their missing runs; consecutive tasks share their rows."""
        for family, draw, box, method in itertools.product(self.families, range(self.draws), self.boxes, self.methods):
            point = (self.frozen, VERSION, fingerprint(), family, draw, box, method)
            runs = itertools.product(self.epsilons, range(self.seeds))
            if missing := tuple(run for run in runs if (*point, *run) not in done):
                yield Task(self.frozen, family, draw, box, method, missing)

    def holds(self, row: dict[str, Any]) -> bool:
        """Return whether a stored row belongs to this benchmark and to this version of the code."""
        same = (row.get("frozen"), row.get("version"), row.get("code")) == (self.frozen, VERSION, fingerprint())
        named = row.get("family") in self.families and row.get("box") in self.boxes
        return (
            same and named and row.get("method") in self.methods and row.get("epsilon") in self.epsilons
            and row["draw"] < self.draws and row["seed"] < self.seeds
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Task:
    """Runs of one method on one data set in one box: names and numbers only, so that it can be sent."""

    frozen: str
    family: str
    draw: int
    box: str
    method: str
    runs: tuple[tuple[float, int], ...]  # pairs of epsilon and seed


def perform(bench: Bench, path: Path, engine: Engine, on_run: Callable[[int, int], None]) -> pd.DataFrame:
    """Make the missing runs and return all rows as a table with the columns COLUMNS.

    Parameters
    ----------
    path : a .jsonl file; rows that it holds of the same seeds, version and code are not made again
    on_run : called after every task with the numbers of finished runs and of all runs
    """
    with RowFile(path) as file:
        stored = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = {tuple(row[name] for name in _KEY): row for row in stored if bench.holds(row)}
        tasks = list(bench.tasks(set(rows)))
        total = len(rows) + sum(len(task.runs) for task in tasks)
        on_run(len(rows), total)
        for made_rows in engine(tasks, execute, gave_up):
            for row in made_rows:
                file.append(row)
                rows[tuple(row[name] for name in _KEY)] = row
            on_run(len(rows), total)
    order = {one: at for at, one in enumerate((*bench.families, *bench.boxes, *bench.methods))}
    keys = sorted(rows, key=lambda key: tuple(order.get(part, part) for part in key[len(_KEY) - 6 :]))
    return pd.DataFrame([rows[key] for key in keys], columns=list(COLUMNS))


def execute(task: Task) -> list[dict[str, Any]]:
    """Return a row for each run of a task; a run that fails becomes a row with a reason and no loss."""
    data, domain, rows, reference = opened(task.frozen, task.family, task.draw, task.box)
    cls, found = ALGORITHMS[task.method], []
    for epsilon, seed in task.runs:
        given: dict[str, Any] = {"n_clusters": data.k}
        given |= {"epsilon": epsilon} if "epsilon" in params.specs(cls) else {}
        begun, loss, reason = time.process_time(), None, None
        try:
            algorithm = cls(**given)
            trace = algorithm.run(rows if algorithm.notion.private else data.X, domain=domain, seed=seed)
            loss = normalized_loss(data.X, trace.cluster_centers, domain)
        except ValueError as error:  # programs fail in their own ways, and some methods refuse some data
            reason = " ".join(str(error).split())
        seconds = round(time.process_time() - begun, 3)
        shape = {"n_rows": len(data.X), "n_features": data.X.shape[1], "n_clusters": data.k}
        row = _row(task, epsilon, seed) | shape | {"reference": reference, "seconds": seconds}
        found.append(row | {"loss": loss if loss is None or math.isfinite(loss) else None, "reason": reason})
    return found


def gave_up(task: Task, reason: str) -> list[dict[str, Any]]:
    """Return the rows of a task whose process keeps dying."""
    return [_row(task, epsilon, seed) | {"reason": reason} for epsilon, seed in task.runs]


@lru_cache(maxsize=1)
def opened(frozen: str, family: str, draw: int, box: str) -> tuple[Made, Any, Rows, float]:
    """Return a data set, its domain, its rows, and the loss of KMeans(n_init=10) in the domain's units."""
    data = made(family, draw, frozen)
    domain = taken(data.X, BOXES[box])
    Z = domain.normalize(data.X)
    with alone():
        reference = KMeans(data.k, n_init=10, random_state=0).fit(Z).inertia_ / len(Z)
    return data, domain, Rows(data.X, domain, family), float(reference)


def _row(task: Task, epsilon: float, seed: int) -> dict[str, Any]:
    public = {"frozen": task.frozen, "version": VERSION, "code": fingerprint()}
    point = {"family": task.family, "draw": task.draw, "box": task.box, "method": task.method}
    return dict.fromkeys(COLUMNS) | public | point | {"epsilon": epsilon, "seed": seed}
