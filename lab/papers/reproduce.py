"""Run an item's sweeps, whose rows are stored so that a second call resumes, and compute the item's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from dpviz.metrics import loss_auc
from dpviz.papers.registry import item_of
from dpviz.papers.results import COLUMNS
from dpviz.runs.averages import margin_of_error, margins_of_error
from dpviz.sweeps.engines import Engine, perform
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.rowfile import RowFile, read_rows
from dpviz.sweeps.sweep import Row, Sweep

from .federated import rounds

__all__ = ["numbers_of", "reproduce", "rows_path", "runs_of", "save_numbers"]

_MEASURED = COLUMNS[:-1]  # all but "full"


def rows_path(folder: Path, paper: str, item: str, *, quick: bool) -> Path:
    """Return the path of an item's rows."""
    return folder / f"{paper}-{item}{'-quick' if quick else ''}.jsonl"


def runs_of(sweeps: list[Sweep]) -> list[str]:
    """Return the keys of all runs of an item.

    Raises
    ------
    ValueError
        If a data set is missing; the message names it and says how to get it.
    """
    return [run.key for sweep in sweeps for run in sweep.runs()]


def reproduce(
    paper: str,
    item: str,
    folder: Path,
    engine: Engine,
    *,
    quick: bool,
    on_row: Callable[[Row], None] = lambda row: None,
) -> pd.DataFrame:
    """Make the missing runs of an item and of the items that it uses; return its numbers.

    Parameters
    ----------
    folder : folder of the rows; an interrupted call leaves complete rows, from which the next one resumes
    """
    chosen = item_of(paper, item)
    parts = [] if chosen.runner != "federated" else [rounds(chosen, quick=quick)]
    for name in (*chosen.uses, *([item] if chosen.sweeps else [])):
        sweeps = item_of(paper, name).planned(quick=quick)
        path = rows_path(folder, paper, name, quick=quick)
        keys = set(runs_of(sweeps))
        done = set(read_rows(path).key)
        with RowFile(path) as file:
            for sweep in sweeps:
                for row in perform(sweep, done, engine):
                    file.append(row)
                    done.add(row["key"])
                    on_row(row)
        rows = read_rows(path)
        parts.append(numbers_of(rows[rows.key.isin(keys)]))
    numbers = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_MEASURED)
    return numbers.assign(full=not quick)


def numbers_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line per data set, curve, point and metric: mean over seeds and 95% half-width.

    `point` names the values of every parameter that varies within the data set; these are also separate columns. The
    metric "auc" is the area under the curve of the loss against epsilon (PE-means, equation 7), and "seconds" is the
    time of a run.
    """
    done = rows[rows.status == "ok"].copy()
    if done.empty:
        return pd.DataFrame(columns=_MEASURED)
    given = [json.loads(text or "{}") for text in done.parameters]
    names = sorted({name for one in given for name in one} - {"delta", "objective"})
    for name in names:
        done[name] = [one.get(name) for one in given]
    varied = [n for n in names if done[n].dropna().astype(str).groupby(done.data).nunique().max() > 1]
    own = [n for n in varied if done[n].dropna().astype(str).groupby([done.data, done.label]).nunique().max() > 1]
    done["point"] = [
        ", ".join(f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}" for name, value in pairs)
        for pairs in ([(n, row[n]) for n in own if pd.notna(row[n])] for _, row in done.iterrows())
    ]
    metrics = [name for name in (*METRICS, "seconds") if done[name].notna().any()]
    parts = [_means(done, name, own) for name in metrics]
    if "loss" in metrics and done.epsilon.nunique() > 1:
        parts.append(_areas(done))
    numbers = pd.concat(parts, ignore_index=True)
    return numbers[[*_MEASURED, *(name for name in numbers if name not in _MEASURED)]]


def _means(done: pd.DataFrame, metric: str, own: list[str]) -> pd.DataFrame:
    groups = done[done[metric].notna()].groupby(["data", "label", "point"], sort=False, dropna=False)
    table = groups.agg(
        mean=(metric, "mean"), sd=(metric, "std"), runs=(metric, "size"), n_rows=("n_rows", "first"),
        n_features=("n_features", "first"), k_found=("k_found", "median"), delta=("delta", "first"),
        **{name: (name, "first") for name in own if name not in ("n_rows", "n_features")},
    ).reset_index()  # fmt: skip
    return table.assign(metric=metric, half=margins_of_error(table.sd, table.runs)).drop(columns="sd")


def _areas(done: pd.DataFrame) -> pd.DataFrame:
    """Return the mean area under every curve along epsilon, over seeds with every epsilon; KMeans' curve is flat."""
    grid = sorted(done.epsilon.dropna().unique())
    lines = []
    for (data, label), line in done[done.loss.notna()].groupby(["data", "label"], sort=False):
        if line.epsilon.isna().all():
            areas = [loss_auc(grid, [loss] * len(grid)) for loss in line.loss]
        else:
            seeds = [one.groupby("epsilon").loss.mean() for _, one in line.groupby("seed")]
            areas = [loss_auc(list(one.index), list(one)) for one in seeds if len(one) == len(grid)]
        if areas:
            half = margin_of_error(areas)
            first = line.iloc[0]
            lines.append(
                [data, label, "", "auc", np.mean(areas), half, len(areas), first.n_rows, first.n_features,
                 line.k_found.median(), first.delta]
            )  # fmt: skip
    return pd.DataFrame(lines, columns=_MEASURED)


def save_numbers(path: Path, numbers: pd.DataFrame) -> None:
    """Write the numbers to a small CSV file, to six significant digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers.to_csv(path, index=False, float_format="%.6g")
