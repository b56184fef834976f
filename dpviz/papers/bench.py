"""Read the benchmark of generated data: each method's area under its curve, and its place beside the best other one.

`python -m dpviz bench` makes the rows (see lab/bench/), and the Papers page shows those that are committed.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from dpviz.metrics import loss_auc
from dpviz.papers.results import RESULTS
from dpviz.runs.averages import margin_of_error

__all__ = ["TABLE", "Table", "areas", "means", "placed", "read"]

TABLE = RESULTS / "bench.parquet"


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """The rows of a benchmark, one per run, and what its file says of them.

    Attributes
    ----------
    areas : as `areas` returns them
    families : name -> description, in the file's order
    about : bench (the benchmark's version), dpviz (the version that ran), frozen (the commit or text from which the
        generators' seeds follow), draws, seeds, epsilons
    """

    areas: pd.DataFrame
    families: dict[str, str]
    about: dict[str, Any]


def read(path: Path = TABLE) -> Table | None:
    """Return a stored benchmark, or None if there is no such file."""
    if not path.is_file():
        return None
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"bench"])
    rows = table.to_pandas()
    counts = {"draws": rows.draw.nunique(), "seeds": rows.seed.nunique(), "epsilons": sorted(set(rows.epsilon))}
    return Table(areas(rows), about.pop("families"), {**about, **counts})


def areas(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each method's area on each draw: a line per (family, box, draw), a column per method.

    An area is that under the curve of the loss against epsilon, divided by KMeans' area; for one epsilon it is the
    loss divided by KMeans' loss. It is the mean over seeds, NaN if a run failed.
    """
    points = ["family", "box", "draw", "method"]
    ratio = rows.assign(ratio=rows.loss.astype(float) / rows.reference.astype(float))
    curves = ratio.pivot_table(
        index=points, columns="epsilon", values="ratio", aggfunc=lambda one: one.mean(skipna=False), sort=False,
        dropna=False, observed=True,
    ).dropna(how="all")  # fmt: skip
    epsilons = list(curves.columns)
    if len(epsilons) > 1:
        width = max(epsilons) - min(epsilons)
        area = curves.apply(lambda line: loss_auc(epsilons, line.to_numpy()) / width, axis=1)
    else:
        area = curves.iloc[:, 0]
    return area.unstack("method")


def placed(areas: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return a method's place in every family and box: a line each.

    The best other method has the lowest geometric mean over the draws. `ratio` is the geometric mean of the method's
    area divided by that method's area on the same draw; `low` and `high` are its 95% t-interval over draws, NaN for
    one draw. Draws on which the method or the other one failed are left out.
    """
    lines = []
    for (family, box), group in areas.groupby(level=["family", "box"], sort=False):
        logs = np.log(group.drop(columns=method).dropna(axis=1, how="any"))
        line = {"family": family, "box": box, "method": method, "area": np.exp(np.log(group[method]).mean())}
        if logs.shape[1] and group[method].notna().any():
            best = logs.mean().idxmin()
            paired = (np.log(group[method]) - logs[best]).dropna()
            half = margin_of_error(paired)
            line |= {"other": best, "other_area": np.exp(logs[best].mean()), "draws": len(paired)}
            line |= dict(zip(("ratio", "low", "high"), np.exp(paired.mean() + np.array([0, -half, half])), strict=True))
        lines.append(line)
    return pd.DataFrame(lines)


def means(areas: pd.DataFrame, box: str) -> pd.DataFrame:
    """Return geometric means over the draws of one box: a line per family, a column per method, NaN if a run failed.

    The last line, "all", has the geometric means over the families.
    """
    logs = np.log(areas.xs(box, level="box"))
    found = logs.groupby(level="family", sort=False).agg(lambda one: one.mean(skipna=False))
    found.loc["all"] = found.mean(skipna=False)
    return np.exp(found)
