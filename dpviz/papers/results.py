"""Read the committed results: our reruns of the papers' items, and the benchmark of our own method."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpviz.algorithms import ALGORITHMS
from dpviz.numbers import plus_minus

__all__ = ["COLUMNS", "MORE", "NOTES", "RESULTS", "load_numbers", "measured"]

RESULTS = Path(__file__).parent / "results"  # our reruns of the papers' items, and what we measured of our own method
COLUMNS = [  # of a rerun; full: whether these are the runs of the paper, and not those of --quick
    *("data", "label", "point", "metric", "mean", "half", "runs", "n_rows", "n_features", "k_found", "delta"),
    "full",
]
NOTES = "\n## Ablations, limits, and weak spots\n"  # in SLUG.md, what follows the table
MORE = {  # further results on our own method: file -> title
    "leave-one-out": "Ablation of every part on each data set, with defaults chosen on the others",
    "oracle": "How far the method is from an oracle that knows the clusters",
    "robustness": "Every method with a wrong number of rows, wrong bounds, or a wrong k",
}
_EPSILONS = ("0.25", "0.5", "1", "2", "4")


def measured(slug: str, folder: Path = RESULTS) -> pd.DataFrame:
    """Return the committed benchmark, one row per data set; an empty table if it was not run."""
    path = folder / f"{slug}.csv"
    if not path.is_file():
        return pd.DataFrame()
    table = pd.read_csv(path)
    table = table[table.algorithm == ALGORITHMS[slug].name]
    ratios = {f"ε {e}": (table[f"loss {e}"] / table["kmeans loss"]).map(_ratio) for e in _EPSILONS}
    areas = [plus_minus(a, e) for a, e in zip(table["auc ratio"], table["se auc ratio"], strict=True)]
    shape = {"data": table.data, "rows": table.n, "columns": table.d, "k": table.k}
    return pd.DataFrame({**shape, **ratios, "area": areas, "seeds": table.seeds})


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def load_numbers(path: Path) -> pd.DataFrame:
    """Return the numbers that `reproduce` wrote; an empty table if there are none."""
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, dtype={"point": str}, keep_default_na=True).fillna({"point": ""})
