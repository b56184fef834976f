"""Compare NSM with published methods in boxes like those that people declare, in which the rows are not centered.

DPVIZ_DATASETS=folder python -m lab.benchmarks.boxes --rows boxes.jsonl --data iris wine --algorithms nsm fastlloyd

Each number is the area under the curve of the loss against ε, divided by that of KMeans in the same units: mean ±
standard error over seeds. The boxes are taken from the data (NOT PRIVATE): a box centered on the mean (the papers'
preprocessing); a box from the minimum to the maximum of every column; a box that begins at the minimum and is twice as
wide; and a box with one scale for all columns and with the rows in a corner. With --without, NSM also runs without its
noisy mean, with the same seeds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from dpviz.metrics import loss_auc
from dpviz.runs.averages import standard_error
from dpviz.sweeps.sweep import Sweep, Variant

from .utility import BOUNDS, EPSILONS, mean_words, rows, source_name

DATA = ("iris", "wine", "yeast", "digits", "dim032", "letter", "adult", "lsun", "house", "s1", "a1")
ALGORITHMS = ("nsm", "hdpe-means", "fastlloyd", "stemmer-kaplan")
BOXES = {
    "centered": BOUNDS[1],
    "min..max": "columns_nonprivate",
    "min..2 max": "twice_nonprivate",
    "corner": "corner_nonprivate",
}
WITHOUT = Variant("no mean", "nsm", None, (("middle_share", 0.0),))


def areas(name: str, bounds: str, variants: list[Variant], path: Path, seeds: int | None) -> pd.DataFrame:
    """Return the areas under a set's loss curves in a box, divided by KMeans': a row per seed, a column per variant."""
    sweep = Sweep(data=(source_name(name),), variants=tuple(variants), bounds=bounds)
    made = pd.DataFrame(rows(sweep, path, seeds))
    plain = loss_auc(list(EPSILONS), [made.reference.iloc[0]] * len(EPSILONS))
    grid = made.pivot_table(index="seed", columns=["label", "epsilon"], values="loss")
    columns = [variant.label for variant in variants]
    return pd.DataFrame(
        {one: [loss_auc(list(EPSILONS), list(line)) / plain for line in grid[one].to_numpy()] for one in columns}
    )


def line(name: str, box: str, ratios: pd.DataFrame) -> str:
    """Return one line of the table; the gain from NSM's mean comes last, if NSM also ran without it."""
    cells = [mean_words(ratios[one].mean(), standard_error(ratios[one]), ".3f", ".2g") for one in ratios]
    if WITHOUT.label in ratios:
        worse = ratios[WITHOUT.label] - ratios["nsm"]
        cells.append(mean_words(worse.mean(), standard_error(worse), "+.3f", ".2g"))
    return f"| {name} | {box} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS))
    parser.add_argument("--boxes", nargs="+", default=list(BOXES), choices=list(BOXES))
    parser.add_argument("--without", action="store_true", help="also run NSM without its noisy mean")
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--rows", type=Path, required=True, help="NAME.jsonl")
    options = parser.parse_args()
    variants = [Variant(slug, slug) for slug in options.algorithms] + [WITHOUT] * options.without
    labels = [variant.label for variant in variants] + ["no mean - nsm"] * options.without
    print(f"| data | box | {' | '.join(labels)} |\n" + "|---" * (len(labels) + 2) + "|")
    logs: dict[str, list[np.ndarray]] = {box: [] for box in options.boxes}
    for name in options.data:
        for box in options.boxes:
            ratios = areas(name, BOXES[box], variants, options.rows, options.seeds)
            logs[box].append(np.log(ratios.mean().to_numpy()))
            print(line(name, box, ratios), flush=True)
    for box, means in logs.items():
        cells = " | ".join(f"{value:.3f}" for value in np.exp(np.mean(means, axis=0)))
        print(f"| geometric mean | {box} | {cells} |" + " |" * options.without)


if __name__ == "__main__":
    main()
