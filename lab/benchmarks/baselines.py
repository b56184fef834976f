"""Choose the baselines' constants for each data set on the other sets, as `lab.benchmarks.leave_one_out` does for NSM.

DPVIZ_DATASETS=folder python -m lab.benchmarks.baselines --algorithm lsh-splits --rows baselines.jsonl --seeds 6
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpviz.metrics import loss_auc
from dpviz.sweeps.sweep import Sweep, Variant

from .leave_one_out import report
from .utility import BOUNDS, EPSILONS, rows, source_name

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "lsh-splits": {"default": {}} | {f"averages {q:g}": {"sum_share": q} for q in (0.95, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3)},
    "eugkm": {"default": {}, "cells by clusters": {"rule": "clusters"}},
}
DATA = {
    "lsh-splits": ("iris", "wine", "lsun", "house", "yeast", "digits", "dim032", "s1", "a1", "g2mg_2_50", "letter"),
    "eugkm": ("lsun", "house", "iris", "g2mg_2_50", "a1", "s1"),
}


def areas(name: str, slug: str, path: Path, seeds: int | None) -> pd.DataFrame:
    """Return the areas under a set's loss curves, divided by KMeans': one row per seed, one column per variant."""
    curves = tuple(Variant(label, slug, None, tuple(values.items())) for label, values in VARIANTS[slug].items())
    made = pd.DataFrame(rows(Sweep(data=(source_name(name),), variants=curves, bounds=BOUNDS[1]), path, seeds))
    plain = loss_auc(list(EPSILONS), [made.reference.iloc[0]] * len(EPSILONS))
    grid = made.pivot_table(index="seed", columns=["label", "epsilon"], values="loss")
    lines = {one: grid[one].to_numpy() for one in VARIANTS[slug]}
    return pd.DataFrame(
        {one: [loss_auc(list(EPSILONS), list(x)) / plain for x in np.array(v)] for one, v in lines.items()}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=list(VARIANTS), required=True)
    parser.add_argument("--data", nargs="+", help="default: the sets on which the algorithm was tuned")
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--rows", type=Path, required=True, help="NAME.jsonl")
    options = parser.parse_args()
    slug = options.algorithm
    names = options.data or DATA[slug]
    print("\n".join(report({name: areas(name, slug, options.rows, options.seeds) for name in names})))


if __name__ == "__main__":
    main()
