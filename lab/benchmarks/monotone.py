"""Check whether every method's loss falls as ε grows from .05 to 50, on several data sets; list every rise.

DPVIZ_DATASETS=folder python -m lab.benchmarks.monotone --rows monotone.jsonl --seeds 4

The measure is the loss divided by that of KMeans(n_init=10), with bounds taken from the data (NOT PRIVATE) and the
default δ. Each ε is compared with the next larger one: the loss rises if the difference, paired by seed, exceeds both
two standard errors and 1% of the loss. A method is not run at an ε above its limit.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import pandas as pd

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.runs.averages import standard_error
from dpviz.sweeps.sweep import REFERENCE, Sweep, Variant

from .utility import BOUNDS, mean_words, rows, source_name

DATA = ("iris", "wine", "lsun", "house", "yeast", "s1", "digits")
EPSILONS = (0.05, 0.25, 1.0, 4.0, 16.0, 50.0)
# left out: methods with another task, and methods that take minutes per run
OTHERS = ("continual", "explain-clusters", "stemmer-kaplan-swap", "swap-search")
METHODS = tuple(
    slug for slug, cls in ALGORITHMS.items() if slug != REFERENCE and not cls.regions and slug not in OTHERS
)


def rises(grid: pd.DataFrame) -> list[tuple[float, float, float, float]]:
    """Return (smaller ε, larger ε, rise, its standard error) for each rise in a table of losses, one row per seed."""
    found = []
    for low, high in pairwise(grid.columns):
        more = (grid[high] - grid[low]).dropna()
        error = standard_error(more)
        if more.mean() > 2 * error and more.mean() > 0.01 * grid[low].mean():
            found.append((low, high, float(more.mean()), float(error)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--algorithms", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=Path, required=True, help="NAME.jsonl")
    options = parser.parse_args()
    print(f"| set | method | {' | '.join(f'ε {e:g}' for e in EPSILONS)} |\n" + "|---" * (len(EPSILONS) + 2) + "|")
    told, pairs = [], 0
    for name in options.data:
        for slug in options.algorithms:
            highest = params.specs(ALGORITHMS[slug])["epsilon"].high or EPSILONS[-1]
            tried = tuple(e for e in EPSILONS if e <= highest)
            sweep = Sweep(data=(source_name(name),), variants=(Variant(slug, slug),), epsilon=tried, bounds=BOUNDS[1])
            own = pd.DataFrame(rows(sweep, options.rows, options.seeds))
            grid = (own.assign(ratio=own.loss / own.reference)).pivot(index="seed", columns="epsilon", values="ratio")
            cells = [mean_words(grid[e].mean(), standard_error(grid[e]), ".3g", ".1g") for e in grid]
            cells += ["-"] * (len(EPSILONS) - len(cells))
            print(f"| {name} | {slug} | {' | '.join(cells)} |", flush=True)
            pairs += len(tried) - 1
            told += [
                f"{name}, {slug}: ε {a:g} to {b:g}, +{more:.3g} ± {error:.1g}" for a, b, more, error in rises(grid)
            ]
    print(
        f"\nThe loss rises in {len(told)} of {pairs} pairs of neighboring ε.\n" + "".join(f"\n- {one}" for one in told)
    )


if __name__ == "__main__":
    main()
