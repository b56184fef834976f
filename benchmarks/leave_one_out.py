"""NSM's defaults chosen without the set that is reported: every choice is made on all other sets.

DPVIZ_DATASETS=folder python -m benchmarks.leave_one_out --seeds 4 --rows leave-one-out.jsonl

Area of the loss over ε divided by KMeans's, paired by seed, bounds taken from the data (NOT PRIVATE). For every set
left out, the variant with the lowest geometric mean of the others is chosen; the last column says which, and what it
costs on the set itself beside the default.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.utility import EPSILONS, Bench, Curve
from dpviz.metrics import loss_auc

DATA = ("iris", "wine", "yeast", "digits", "letter", "adult", "house", "lsun", "s1", "a1")
VARIANTS = {"default": {}, "no far candidates": {"far": False}, "no distances": {"distance_share": 0.0}}


def areas(bench: Bench, name: str) -> pd.DataFrame:
    """Return the area ratios of a set: one row a seed, one column a variant."""
    curves = [Curve(label, "nsm", values) for label, values in VARIANTS.items()]
    rows = pd.DataFrame(bench.rows(name, curves, EPSILONS))
    plain = loss_auc(list(EPSILONS), [rows.reference.iloc[0]] * len(EPSILONS))
    grid = rows.pivot_table(index="seed", columns=["label", "epsilon"], values="loss")
    return pd.DataFrame(
        {one: [loss_auc(list(EPSILONS), list(line)) / plain for line in grid[one].to_numpy()] for one in VARIANTS}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    bench = Bench(options.rows, seeds=options.seeds, loose=1.0)
    found = {name: areas(bench, name) for name in options.data}
    means = pd.DataFrame({name: table.mean() for name, table in found.items()}).T
    print(f"| left out | {' | '.join(VARIANTS)} | chosen by the others |\n" + "|---" * (len(VARIANTS) + 2) + "|")
    for name, table in found.items():
        chosen = str(np.log(means.drop(name)).mean().idxmin())
        worse = (table.sub(table["default"], axis=0)).agg(["mean", "sem"])
        cells = [f"{means.loc[name, 'default']:.3f}"]
        cells += [f"{worse.loc['mean', one]:+.4f} ± {worse.loc['sem', one]:.4f}" for one in list(VARIANTS)[1:]]
        print(f"| {name} | {' | '.join(cells)} | {chosen} |")
    every = np.exp(np.log(means).mean())
    print(f"\nGeometric mean over all: {', '.join(f'{one} {value:.4f}' for one, value in every.items())}.")


if __name__ == "__main__":
    main()
