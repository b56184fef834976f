"""Measure the normalized loss and the area under its curve against epsilon (PE-means, equations 6 and 7).

python -m lab.benchmarks.utility --data iris blobs16 --algorithms pe-means --epsilons 0.25 0.5 1 2 4 --seeds 10
python -m lab.benchmarks.utility --table pe
python -m lab.benchmarks.utility --table nsm
python -m lab.benchmarks.utility --table field --seeds 3
python -m lab.benchmarks.utility --table su --seeds 3

Each table shows a sweep, which is specified in specs/TABLE.toml beside this file. Data sets are named as in a sweep; a
name without "sample:" or "bench:" stands for the sample iris or digits, a set in the folder DPVIZ_DATASETS or a
generated set. All algorithms run with bounds taken from the data (the papers' preprocessing, NOT PRIVATE) and the
default delta. Rows are stored in a JSON-lines file and are not computed again while the algorithms' code is the same,
so an interrupted command resumes where it stopped. With --table, the script also writes NAME.md and NAME.csv.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from dpviz.algorithms import ALGORITHMS
from dpviz.metrics import loss_auc
from dpviz.papers.results import NOTES, RESULTS
from dpviz.papers.writeup import OURS
from dpviz.privacy.accounting import DEFAULT_DELTA
from dpviz.runs.averages import standard_error
from dpviz.sweeps.rowfile import RowFile
from dpviz.sweeps.sources import Source, open_source, stamp
from dpviz.sweeps.spec import read_spec
from dpviz.sweeps.sweep import REFERENCE, Sweep, Variant, execute
from dpviz.version import __version__

from ..bench.fingerprint import fingerprint

NOTE = (
    "The table shows the loss in units of the squared radius, as mean ± standard error, for each epsilon; delta is "
    f"{DEFAULT_DELTA}. The AUC ratio is the area under the curve of the loss against epsilon, divided by that of "
    "KMeans(n_init=10). Methods with a different neighboring relation make a different promise and are not comparable "
    "at equal epsilon."
)
EPSILONS = Sweep.epsilon
TABLES = ("field", "nsm", "pe", "su")
BOUNDS = {1: "tight_nonprivate", 4: "loose_nonprivate"}
BUNDLED = ("iris", "digits")  # sets of scikit-learn; its iris differs from UCI's (bench:iris) in three cells
# Maximum number of columns; sets with more are left out for these methods.
MOST_COLUMNS = {"pe-means": 64, "aug-pe": 64}
MOST_CLUSTERS = {"stemmer-kaplan-swap": 64}  # maximum number of clusters; with k = 100, a run takes minutes
MANY = 2000  # number of rows at or above which half as many seeds are enough


def spec(table: str) -> Sweep:
    """Return the sweep that a table shows."""
    return read_spec(Path(__file__).parent / "specs" / f"{table}.toml").sweep


def source_name(name: str) -> str:
    """Return the name by which sweeps open a data set."""
    return name if ":" in name else f"sample:{name}" if name in BUNDLED else f"bench:{name}"


def mean_words(mean: float, error: float, shape: str, error_shape: str = "") -> str:
    """Return "mean ± error" in these formats, or only the mean if there is no error, as with a single seed."""
    return f"{mean:{shape}}" + (f" ± {error:{error_shape or shape.lstrip('+')}}" if np.isfinite(error) else "")


def opened(name: str, bounds: str = BOUNDS[1]) -> Source:
    """Return a data set with bounds taken from its rows."""
    name = source_name(name)
    try:
        return open_source(name, bounds, None, stamp(name))
    except ValueError as error:
        raise SystemExit(f"utility: {error}") from None


@cache
def commit() -> str:
    """Return the short hash of the checked-out commit, "" outside a repository."""
    shown = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return shown.stdout.strip()


def rows(sweep: Sweep, path: Path, seeds: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a sweep, one data set after another, each with n, d, k and KMeans' loss as `reference`.

    Rows in the file that were made by the same code of the algorithms are not made again. Without `seeds`, the number
    of seeds is the sweep's, or half of it for a set of MANY rows or more.
    """
    with RowFile(path) as file:
        done = {row["key"]: row for row in map(json.loads, path.read_text().splitlines())}
        for name in sweep.data:
            begun, fresh, source = time.monotonic(), 0, opened(name, sweep.bounds)
            (n, d), k = source.data.X.shape, source.data.n_clusters
            reference = KMeans(k, n_init=10, random_state=0).fit(source.Z).inertia_ / n
            shape = {"data": name.partition(":")[2], "n": n, "d": d, "k": k, "reference": reference}
            repeats = seeds or (sweep.repeats if n < MANY else sweep.repeats // 2)
            for cell in dataclasses.replace(sweep, data=(name,), repeats=repeats).runs():
                if cell.algorithm == REFERENCE:
                    continue
                key = cell.key[:12] + fingerprint()
                if key not in done:
                    done[key] = execute(cell) | {"key": key, "commit": commit()}
                    file.append(done[key])
                    fresh += 1
                yield {**done[key], **shape}
            if fresh:
                print(f"{name}: {fresh} runs in {time.monotonic() - begun:.0f} s", file=sys.stderr)


def within_limits(sweep: Sweep) -> Iterator[Sweep]:
    """Yield a table's sweep one data set at a time, without the algorithms for which the set is too large."""
    for name in sweep.data:
        data = opened(name).data
        kept = [
            variant
            for variant in sweep.variants
            if data.X.shape[1] <= MOST_COLUMNS.get(variant.algorithm, data.X.shape[1])
            and data.n_clusters <= MOST_CLUSTERS.get(variant.algorithm, data.n_clusters)
        ]
        if kept:
            yield dataclasses.replace(sweep, data=(name,), variants=tuple(kept))


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one line per data set and curve: loss and standard error at every epsilon, AUC, and AUC / KMeans' AUC."""
    lines = []
    for (data, label), group in pd.DataFrame(rows).groupby(["data", "label"], sort=False):
        first = group.iloc[0]
        line = {"data": data, "n": first.n, "d": first.d, "k": first.k}
        line |= {"algorithm": first["name"] if label == first.algorithm else label}
        line |= {"neighboring": ALGORITHMS[first.algorithm].neighboring, "error": max(group.reason.fillna(""))}
        losses = group.pivot(index="seed", columns="epsilon", values="loss").astype(float).dropna()
        line |= {"seeds": len(losses), "centers": group.k_found.astype(float).median()}
        for epsilon in losses if len(losses) else ():
            line |= {f"loss {epsilon:g}": losses[epsilon].mean(), f"se {epsilon:g}": standard_error(losses[epsilon])}
        if len(losses) and losses.shape[1] > 1:
            areas = np.array([loss_auc(losses.columns, seed) for seed in losses.to_numpy()])
            whole = loss_auc(losses.columns, [first.reference] * losses.shape[1])
            line |= {"auc": areas.mean(), "se auc": standard_error(areas)}
            line |= {"auc ratio": areas.mean() / whole, "se auc ratio": standard_error(areas / whole)}
        lines.append({**line, "kmeans loss": first.reference})
    return pd.DataFrame(lines)


def markdown(table: pd.DataFrame, epsilons: tuple[float, ...]) -> list[str]:
    """Return the lines of a Markdown table, whose cells are mean ± standard error."""
    lines = [
        "| data (n, d, k) | algorithm | neighboring | seeds | "
        + " | ".join(f"{e:g}" for e in epsilons)
        + " | AUC ratio |"
    ]
    lines += ["|---" * (len(epsilons) + 5) + "|"]
    for row in table.to_dict("records"):
        shape = f"{row['data']} ({row['n']}, {row['d']}, {row['k']})"
        head = f"| {shape} | {row['algorithm']} | {row['neighboring']} | {row['seeds']} | "
        if not row["seeds"]:
            lines.append(f"{head}{row['error'] or 'no loss: its clusters are regions'} |" + " |" * len(epsilons))
            continue
        cells = [mean_words(row[f"loss {e:g}"], row[f"se {e:g}"], ".4g", ".1g") for e in epsilons]
        ratio = row.get("auc ratio", row[f"loss {epsilons[0]:g}"] / row["kmeans loss"])
        cells.append(mean_words(ratio, row.get("se auc ratio", np.nan), ".2f", ".1g"))
        lines.append(f"{head}{' | '.join(cells)} |")
    return lines


def chosen(options: argparse.Namespace) -> Sweep:
    """Return the sweep that the command line describes."""
    private = [slug for slug, cls in ALGORITHMS.items() if slug != REFERENCE and not cls.regions]
    variants = [Variant(slug, slug) for slug in options.algorithms or private]
    sweep = Sweep(data=("sample:iris", "sample:digits"), variants=tuple(variants), bounds=BOUNDS[options.loose])
    if options.table:
        sweep = dataclasses.replace(spec(options.table), bounds=BOUNDS[options.loose])
        kept = [one for one in sweep.variants if one.algorithm in (options.algorithms or ALGORITHMS)]
        sweep = dataclasses.replace(sweep, variants=tuple(kept))
    if options.preset:
        kept = [Variant(one.label, one.algorithm, options.preset) for one in sweep.variants]
        sweep = dataclasses.replace(sweep, variants=tuple(kept))
    data = tuple(map(source_name, options.data or sweep.data))
    return dataclasses.replace(sweep, data=data, epsilon=tuple(options.epsilons or sweep.epsilon))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=TABLES, help="a fixed list of data sets and algorithms")
    parser.add_argument("--data", nargs="+", help="default: iris, digits, or those of the table")
    parser.add_argument("--algorithms", nargs="+", help="slugs; default: all, or those of the table")
    parser.add_argument("--preset", help="a preset that all chosen algorithms have")
    parser.add_argument("--epsilons", nargs="+", type=float)
    parser.add_argument("--seeds", type=int, help=f"default: 10 for n < {MANY}, else 5")
    parser.add_argument("--loose", type=int, choices=BOUNDS, default=1, help="how many times too wide the bounds are")
    parser.add_argument("--rows", type=Path, help="default: TABLE.jsonl or utility.jsonl among the results")
    options = parser.parse_args()
    folder = RESULTS if options.table in OURS else Path(__file__).parent / "results"  # the Papers page shows our own
    path = options.rows or folder / f"{options.table or 'utility'}.jsonl"
    if path.suffix != ".jsonl":
        parser.error(f"the file for the rows must end in .jsonl; got {path.name!r}.")
    try:
        sweep = chosen(options)
    except ValueError as error:
        parser.error(str(error))
    made: list[dict[str, Any]] = []
    for part in within_limits(sweep) if options.table else [sweep]:
        made += rows(part, path, options.seeds)
    if options.table:  # a published table stays until the new one is complete
        table = summary(made)
        table.to_csv(path.with_suffix(".csv"), index=False, float_format="%.6g")
        made_by = f"`python -m lab.benchmarks.utility {' '.join(sys.argv[1:])}` produced this table"
        command = f"{made_by} with dpviz {__version__} at {commit()}."
        shown = path.with_suffix(".md")
        _, heading, notes = shown.read_text(encoding="utf-8").partition(NOTES) if shown.is_file() else ("", "", "")
        lines = [command, NOTE, "", *markdown(table, sweep.epsilon)]
        shown.write_text("\n".join(lines) + f"\n{heading}{notes}", encoding="utf-8")
    print("\n".join(markdown(summary(made), sweep.epsilon)))


if __name__ == "__main__":
    main()
