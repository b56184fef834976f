"""Test the paper's claim that PE-means beats well-tuned baselines, on stored runs of fifteen data sets.

python -m lab.benchmarks.pe_claim                                  # reads lab/benchmarks/results/pe.csv, runs nothing
DPVIZ_DATASETS=folder python -m lab.benchmarks.utility --table pe  # remakes that file

The measure is the area under the curve of the loss against ε; pe.md gives the number of seeds and the version. "Ours"
is the area of PE-means or, above 16 columns, the smaller of those of PE-means and HDPE-means. The "baseline" is the
smallest area of SuLloyd, FastLloyd, LSH-Splits and Balcan et al. A gain is 1 - ours / baseline, and its standard error
follows from those of both areas. Taking the smallest of several areas slightly favors both sides.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd

from dpviz.runs.averages import standard_error

TABLE = Path(__file__).parent / "results" / "pe.csv"
BASELINES = ("SuLloyd", "FastLloyd", "LSH-Splits", "Balcan et al.")
SHARES = {"the paper's shares": "HDPE-means, the paper's share", "our shares": "HDPE-means"}
WIDE = 16  # number of columns above which the paper votes in a projection
CLEAR = 2.0  # number of standard errors above which a set is won or lost


def gains(table: pd.DataFrame, projected: str) -> pd.DataFrame:
    """Return one row per data set: its name, the names of ours and of the baseline, the gain and its standard error."""
    found = []
    for data, rows in table.dropna(subset="auc").groupby("data", sort=False):
        known = rows.set_index("algorithm")
        own = [name for name in ("PE-means", *([projected] if known.d.iloc[0] > WIDE else [])) if name in known.index]
        ours, best = (known.loc[[n for n in names if n in known.index]].auc.idxmin() for names in (own, BASELINES))
        ratio = known.auc[ours] / known.auc[best]
        error = ratio * math.hypot(*(known["se auc"][n] / known.auc[n] for n in (ours, best)))
        found.append([data, ours, best, 1 - ratio, error])
    return pd.DataFrame(found, columns=["data", "ours", "baseline", "gain", "error"])


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    table = pd.read_csv(TABLE)
    for words, projected in SHARES.items():
        found = gains(table, projected)
        noise, spread = float(np.sqrt((found.error**2).sum())) / len(found), standard_error(found.gain)
        won, lost = (int((sign * found.gain > CLEAR * found.error).sum()) for sign in (1, -1))
        level = len(found) - won - lost
        print(f"\nWith {words}: mean gain {found.gain.mean():+.1%} ± {noise:.1%} (noise of the runs) ± {spread:.1%}")
        print(f"(between sets), median {found.gain.median():+.1%}; by more than {CLEAR:g} standard errors,")
        print(f"ours won on {won} sets and lost on {lost}; {level} were level.\n")
        print("| data | ours | best baseline | gain |\n|---|---|---|---|")
        for row in found.itertuples():
            print(f"| {row.data} | {row.ours} | {row.baseline} | {row.gain:+.1%} ± {row.error:.1%} |")


if __name__ == "__main__":
    main()
