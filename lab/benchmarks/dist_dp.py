"""Run dist-DP at every pair of ε and ρ: print its loss divided by KMeans', and the cases in which it grows with ε.

DPVIZ_DATASETS=folder python -m lab.benchmarks.dist_dp --rows rows.jsonl > lab/benchmarks/results/dist-dp-epsilon-rho.md

Rows are written to a file, from which a second call resumes. The samples town and city have their declared boxes; all
other sets have tight bounds (NOT PRIVATE: taken from the data). ρ is in z units, and δ = 1/(100 n) unless --delta is
given. Every ε is compared with every larger one at the same ρ: the loss counts as growing if the difference, paired by
seed, exceeds both .005 and --clear times the standard error of the difference. The last lines list the cases in which
the loss is above that of a single center by more than --clear standard errors.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from itertools import combinations
from pathlib import Path

import pandas as pd

from dpviz.runs.averages import standard_error
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.rowfile import RowFile, read_rows
from dpviz.sweeps.sources import open_source, stamp
from dpviz.sweeps.spec import sweep_of
from dpviz.sweeps.sweep import Sweep

from .utility import mean_words, source_name

SAMPLES = ("sample:town", "sample:city")
TIGHT = ("bench:iris", "bench:lsun", "bench:wine", "bench:house")
RHOS = (1, 0.08, 0.05, 0.02, 0.008, 0.0001)
EPSILONS = (0.25, 0.5, 1, 2, 4)
CLEAR = 3.0  # number of standard errors above which an increase is clear; of hundreds of pairs, some exceed 2 by chance


def sweeps(options: argparse.Namespace) -> list[Sweep]:
    """Return the sweeps to run: town and city with their declared bounds, and all other sets with tight bounds."""
    curve = {"algorithm": "dist-dp"} | ({"preset": options.preset} if options.preset else {})
    common = {"algorithms": ["dist-dp"], "dist-dp": curve, "rho_distance": options.rhos, "epsilon": list(EPSILONS)}
    if options.delta is not None:
        common["delta"] = [options.delta]
    wanted = [("tight_nonprivate", [d for d in options.data if d not in SAMPLES])]
    wanted += [("declared", [d for d in options.data if d in SAMPLES])]
    return [
        sweep_of({**common, "data": data, "bounds": bounds, "repeats": options.seeds})
        for bounds, data in wanted
        if data
    ]


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the columns data, rho_distance, epsilon, seed and ratio: the loss divided by KMeans' on the same data."""
    plain = rows[rows.label == "KMeans"].groupby("data").loss.first()
    mine = rows[(rows.label == "dist-dp") & (rows.status == "ok")].copy()
    mine["ratio"] = mine.loss / mine.data.map(plain)
    return mine[["data", "rho_distance", "epsilon", "seed", "ratio"]]


def increases(table: pd.DataFrame, clear: float) -> tuple[list[str], int]:
    """Return a line for each pair of ε in which the larger one has a clearly higher loss, and the number of pairs."""
    found, pairs = [], 0
    for (data, rho), line in table.groupby(["data", "rho_distance"], sort=False):
        grid = line.pivot_table(index="seed", columns="epsilon", values="ratio")
        for low, high in combinations(grid.columns, 2):
            more = (grid[high] - grid[low]).dropna()
            error = standard_error(more)
            pairs += 1
            if more.mean() > clear * error and more.mean() > 0.005:
                ends = f"{grid[low].mean():.2f} at ε {low:g}, {grid[high].mean():.2f} at ε {high:g}"
                found.append(f"{data} at ρ {rho:g}: {ends} (+{more.mean():.2f} ± {error:.2f})")
    return found, pairs


def one_center(data: str) -> float:
    """Return the loss of a single center, the mean of all rows, in squared z units per row."""
    bounds = "declared" if data in SAMPLES else "tight_nonprivate"
    source = open_source(data, bounds, None, stamp(data))
    return float(((source.Z - source.Z.mean(axis=0)) ** 2).sum(axis=1).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--data", nargs="+", default=[*TIGHT, *SAMPLES], type=source_name,
        help="sets as in a sweep; a name without sample: or bench: stands for the sample iris or digits, or bench:NAME",
    )  # fmt: skip
    parser.add_argument("--rhos", nargs="+", type=float, default=list(RHOS))
    parser.add_argument("--delta", type=float, help="default: 1/(100 n)")
    parser.add_argument(
        "--clear", type=float, default=CLEAR, help="number of standard errors that an increase must exceed to count"
    )
    parser.add_argument("--preset", help="a preset of dist-DP, such as paper")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    planned = sweeps(options)
    done = set(read_rows(options.rows).key)
    with RowFile(options.rows) as file:
        for sweep in planned:
            for row in perform(sweep, done, partial(on_this_machine, workers=options.workers, nice=5)):
                file.append(row)
    rows = read_rows(options.rows)
    rows = rows[rows.key.isin({run.key for sweep in planned for run in sweep.runs()})]
    table = ratios(rows).sort_values(["data", "rho_distance", "epsilon"], ascending=[True, False, True])
    plain = rows[rows.label == "KMeans"].groupby("data").loss.first()
    print(f"`python -m {' '.join(['lab.benchmarks.dist_dp', *sys.argv[1:]])}`\n")
    print("The table shows dist-DP's loss divided by KMeans', as mean ± standard error over seeds;")
    print('"one center" is the loss of a single center.\n')
    print(
        f"| data | one center | ρ | {' | '.join(f'ε {e:g}' for e in EPSILONS)} |\n" + "|---" * (len(EPSILONS) + 3) + "|"
    )
    for (data, rho), line in table.groupby(["data", "rho_distance"], sort=False):
        cells = line.groupby("epsilon").ratio.agg(["mean", standard_error]).itertuples()
        words = " | ".join(mean_words(cell.mean, cell.standard_error, ".2f") for cell in cells)
        print(f"| {data} | {one_center(str(data)) / plain[data]:.2f} | {rho:g} | {words} |")
    found, pairs = increases(table, options.clear)
    print(
        f"\nIn {len(found)} of {pairs} pairs of a smaller and a larger ε, the loss is higher at the larger ε ", end=""
    )
    print(f"by more than {options.clear:g} standard errors.\n" + "".join(f"\n- {words}." for words in found))
    above = []
    for (data, rho, epsilon), cell in table.groupby(["data", "rho_distance", "epsilon"], sort=False):
        one = one_center(str(data)) / plain[data]
        if cell.ratio.mean() > one + options.clear * standard_error(cell.ratio):
            above.append(f"{data} at ρ {rho:g}, ε {epsilon:g}: {cell.ratio.mean():.2f}, one center {one:.2f}")
    places = len(table.groupby(["data", "rho_distance", "epsilon"]))
    print(
        f"\nIn {len(above)} of {places} settings, the loss is above that of a single center.\n"
        + "".join(f"\n- {a}." for a in above)
    )


if __name__ == "__main__":
    main()
