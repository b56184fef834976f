"""Find the committed results in a checkout or an installed package, and read our own method's benchmark."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpviz.algorithms import ALGORITHMS
from dpviz.numbers import plus_minus

__all__ = ["MORE", "RESULTS", "measured"]

_PACKAGE = Path(__file__).parents[1]
RESULTS = next(  # folder of our benchmarks, with the reruns in its subfolder `papers`
    (place for place in (_PACKAGE / "dashboard", _PACKAGE.parent) if (place / "benchmarks" / "results").is_dir()),
    _PACKAGE.parent,
) / "benchmarks" / "results"  # fmt: skip
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
