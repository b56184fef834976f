"""Choose NSM's defaults for each data set on all other sets, so that a set has no part in the choice reported for it.

DPVIZ_DATASETS=folder python -m lab.benchmarks.leave_one_out --rows leave-one-out.jsonl

The measure is the area under the curve of the loss against ε, divided by KMeans' and paired by seed, with bounds taken
from the data (NOT PRIVATE). Each line has a set, its ratio with the defaults, how much worse each variant is on it, and
the variant that the other sets choose, which is the one with the lowest geometric mean of their ratios. The last line
has the geometric mean of the chosen variants' ratios, each on the set that had no part in the choice; this mean
estimates how well the rule does on an unseen set.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpviz.metrics import loss_auc
from dpviz.runs.averages import standard_error
from dpviz.sweeps.sweep import Sweep, Variant

from .utility import BOUNDS, EPSILONS, mean_words, rows, source_name

DATA = ("iris", "wine", "lsun", "house", "yeast", "s1", "a1", "digits", "letter", "adult", "dim032", "birch2_25k")
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "no far candidates": {"far": False},
    "no distances": {"distance_share": 0.0},
    "distances .2": {"distance_share": 0.2},
    "no near radius": {"near_share": 0.0},
    "no shapes": {"shape": "none"},
    "not pooled": {"pooled": False},
    "no prior": {"prior": False},
}


def areas(name: str, variants: list[str], path: Path, seeds: int | None) -> pd.DataFrame:
    """Return the areas under a set's loss curves, divided by KMeans': one row per seed, one column per variant."""
    curves = tuple(Variant(label, "nsm", None, tuple(VARIANTS[label].items())) for label in variants)
    made = pd.DataFrame(rows(Sweep(data=(source_name(name),), variants=curves, bounds=BOUNDS[1]), path, seeds))
    plain = loss_auc(list(EPSILONS), [made.reference.iloc[0]] * len(EPSILONS))
    grid = made.pivot_table(index="seed", columns=["label", "epsilon"], values="loss")
    return pd.DataFrame(
        {one: [loss_auc(list(EPSILONS), list(line)) / plain for line in grid[one].to_numpy()] for one in variants}
    )


def report(ratios: dict[str, pd.DataFrame]) -> list[str]:
    """Return the lines of the table; `ratios` maps each set to the result of `areas`."""
    logs = np.log(pd.DataFrame({name: table.mean() for name, table in ratios.items()}).T)
    variants = list(logs.columns)
    lines = [f"| left out | {' | '.join(variants)} | chosen by the others |", "|---" * (len(variants) + 2) + "|"]
    unseen = []
    for name, table in ratios.items():
        chosen = str(logs.drop(name).mean().idxmin()) if len(logs) > 1 else variants[0]
        unseen.append(logs.loc[name, chosen])
        worse = table.sub(table[variants[0]], axis=0)
        own = table[variants[0]]
        cells = [mean_words(own.mean(), standard_error(own), ".4f")]
        cells += [mean_words(worse[one].mean(), standard_error(worse[one]), "+.4f") for one in variants[1:]]
        lines.append(f"| {name} | {' | '.join(cells)} | {chosen} |")
    means = ", ".join(f"{one} {value:.4f}" for one, value in np.exp(logs.mean()).items())
    return [
        *lines,
        "",
        f"The geometric means are: {means}; the variant chosen by the other sets {np.exp(np.mean(unseen)):.4f}.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--rows", type=Path, required=True, help="NAME.jsonl")
    options = parser.parse_args()
    variants, path, seeds = options.variants, options.rows, options.seeds
    print("\n".join(report({name: areas(name, variants, path, seeds) for name in options.data})))


if __name__ == "__main__":
    main()
