"""Normalized loss and its area over epsilon (PE-means, equations 6 and 7), beside KMeans(n_init=10).

python -m benchmarks.utility --data iris blobs16 --algorithms pe-means --epsilons 0.25 0.5 1 2 4 --seeds 10
python -m benchmarks.utility --table pe
python -m benchmarks.utility --table nsm
python -m benchmarks.utility --table field --seeds 3
python -m benchmarks.utility --table su --seeds 3

A data set is a bundled sample, a named set below, or NAME/NAME.csv.gz or .npz in the folder DPVIZ_DATASETS. All run
with Domain.tight_nonprivate (the papers' preprocessing, NOT PRIVATE) and delta = n^-1.1. Rows are kept in a JSON-lines
file and not computed again while the algorithms' code is the same: an interrupted command resumes where it stopped. A
table also writes NAME.md and NAME.csv.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as bundled
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks.sources import fingerprint
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import loss_auc, normalized_loss
from dpviz.sweeps.averages import standard_error
from dpviz.sweeps.sources import CLUSTERS
from dpviz.version import __version__

UNLABELED = {"house", "birch2_25k"}
BLOBS = {  # name: rows, columns, centers, seed
    "blobs_d2_k15": (10_000, 2, 15, 0),
    "blobs_d16_k10": (10_000, 16, 10, 0),
    "blobs16": (20_000, 16, 16, 1),
    "blobs64": (20_000, 64, 16, 1),
}
NOTE = (
    "Loss in units of the squared radius, mean ± standard error, per epsilon; delta = n^-1.1. AUC ratio: area of "
    "the loss over epsilon divided by that of KMeans(n_init=10). Methods with another neighboring relation make "
    "another promise and are not comparable at equal epsilon."
)
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclasses.dataclass(frozen=True)
class Curve:
    """An algorithm with parameters of its own; above `most_columns` or `most_clusters` it is left out."""

    label: str
    slug: str
    values: dict[str, Any] = dataclasses.field(default_factory=dict)
    most_columns: int | None = None
    most_clusters: int | None = None


PE_CURVES = [
    Curve("PE-means", "pe-means", most_columns=64),
    Curve("PE-means, refined (ours)", "pe-means", {"refine": 0.5}, most_columns=64),
    Curve("Aug-PE", "aug-pe", most_columns=64),
    Curve("HDPE-means", "hdpe-means"),
    Curve("HDPE-means, the paper's share", "hdpe-means", {"final_share": None}),
]
PE_DATA = ["iris", "wine", "lsun", "yeast", "house", "digits", "dim032", "dim064", "s1", "adult", "letter", "dim256"]
PE_DATA += ["dim512", "mnist_test", "birch2_25k"]
NSM_DATA = ["iris", "wine", "lsun", "yeast", "house", "digits", "dim032", "a1", "s1", "blobs16", "adult", "letter"]
NSM_DATA += ["blobs64", "birch2_25k"]
FIELD_CURVES = [
    Curve("NSM (ours)", "nsm"),
    Curve("DP-Lloyd", "dp-lloyd"),
    Curve("SuLloyd", "sulloyd"),
    Curve("GLloyd", "glloyd"),
    Curve("EUGkM", "eugkm"),
    Curve("EUGkM, hybrid", "eugkm", {"lloyd_share": 0.5}),
    Curve("PrivTree", "privtree"),
    Curve("DP-EM", "dp-em"),
    Curve("Continual, last evening", "continual"),
    Curve("Stemmer-Kaplan, shuffled", "stemmer-kaplan-shuffle"),
    Curve("Stemmer-Kaplan, local", "stemmer-kaplan-local"),
]
IDEAS = ALGORITHMS["dp-lloyd"].PRESETS["su-et-al"]  # what SuLloyd does beyond DP-Lloyd, one by one
SU_CURVES = [
    Curve("DP-Lloyd", "dp-lloyd"),
    Curve("SuLloyd", "dp-lloyd", IDEAS),
    *(Curve(f"DP-Lloyd with {idea}", "dp-lloyd", {idea: value}) for idea, value in IDEAS.items()),
    *(Curve(f"SuLloyd without {gone}", "dp-lloyd", {i: v for i, v in IDEAS.items() if i != gone}) for gone in IDEAS),
]
SLOW = {"stemmer-kaplan-swap": 64}  # minutes a run at k = 100
PUBLISHED = ("nsm", "pe-means", "hdpe-means", "fastlloyd", "sulloyd", "dpm", "lsh-splits", "stemmer-kaplan")
TABLES = {
    "field": (PE_DATA, FIELD_CURVES),
    "su": (["dim256", "dim512", "birch2_25k"], SU_CURVES),
    "nsm": (NSM_DATA, [Curve(ALGORITHMS[s].name, s) for s in PUBLISHED if s in ALGORITHMS]),
    "pe": (
        PE_DATA,
        PE_CURVES
        + [
            Curve(c.name, s, most_clusters=SLOW.get(s))
            for s, c in ALGORITHMS.items()
            if s not in {"kmeans", "pe-means", "hdpe-means", "aug-pe"}
        ],
    ),
}


def load(name: str) -> tuple[np.ndarray, int]:
    """Return (X, k)."""
    if name in BLOBS:
        n, d, k, seed = BLOBS[name]
        return make_blobs(n, d, centers=k, random_state=seed)[0], k
    if name in ("iris", "wine", "breast_cancer", "digits"):
        return getattr(bundled, f"load_{name}")().data, CLUSTERS[name]
    folder = os.environ.get("DPVIZ_DATASETS")
    if folder is None:
        raise SystemExit(f"utility: {name} is not bundled; set DPVIZ_DATASETS to the folder that holds {name}/.")
    base = Path(folder) / name / name
    if base.with_suffix(".npz").exists():
        return np.load(base.with_suffix(".npz"))["X"].astype(float), CLUSTERS[name]
    X = pd.read_csv(f"{base}.csv.gz").to_numpy(dtype=float)
    return (X if name in UNLABELED else X[:, :-1]), CLUSTERS[name]


def domain_of(X: np.ndarray, loose: float) -> Domain:
    """Return the tight domain, or one that is `loose` times too wide."""
    tight = Domain.tight_nonprivate(X)
    if loose == 1.0:
        return tight
    half = loose * (tight.high - tight.low) / 2
    return Domain(tight.middle - half, tight.middle + half, "common", 1.0, len(X), origin=tight.origin)


def commit() -> str:
    """Return the short name of the source's commit, "" outside a repository."""
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip()


class Bench:
    """Runs on one data set after the other, with a file of finished rows."""

    def __init__(self, path: Path, *, seeds: int | None, loose: float) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._seeds, self._loose, self.commit = path, seeds, loose, commit()
        lines = path.read_text().splitlines() if path.exists() else []
        self._done = {row["key"]: row for row in map(json.loads, lines)}

    def rows(self, name: str, curves: list[Curve], epsilons: tuple[float, ...]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a data set: loss (or the error), and KMeans's loss as `reference`."""
        X, k = load(name)
        domain = domain_of(X, self._loose)
        reference = KMeans(k, n_init=10, random_state=0).fit(domain.normalize(X)).inertia_ / len(X)
        shape = {"n": len(X), "d": X.shape[1], "k": k, "reference": reference}
        chosen = [
            curve
            for curve in curves
            if X.shape[1] <= (curve.most_columns or math.inf) and k <= (curve.most_clusters or math.inf)
        ]
        seeds = self._seeds or (10 if len(X) < 2000 else 5)
        for curve in chosen:
            begun, fresh = time.monotonic(), 0
            for epsilon in epsilons:
                for seed in range(seeds):
                    key = json.dumps([name, curve.slug, curve.values, epsilon, seed, self._loose, fingerprint()])
                    if key not in self._done:
                        self._done[key] = self._run(key, X, domain, k, curve, epsilon, seed)
                        fresh += 1
                    named = {"data": name, "label": curve.label, "neighboring": ALGORITHMS[curve.slug].neighboring}
                    yield {**self._done[key], **shape, **named}
            if fresh:
                print(f"{name}, {curve.label}: {fresh} runs in {time.monotonic() - begun:.0f} s", file=sys.stderr)

    def _run(
        self, key: str, X: np.ndarray, domain: Domain, k: int, curve: Curve, epsilon: float, seed: int
    ) -> dict[str, Any]:
        begun = time.perf_counter()
        row = {"key": key, "epsilon": epsilon, "seed": seed, "commit": self.commit, "loss": None, "error": ""}
        try:
            algorithm = ALGORITHMS[curve.slug](n_clusters=k, epsilon=epsilon, **curve.values)
            centers = algorithm.run(X, domain=domain, seed=seed).cluster_centers
            row |= {"loss": normalized_loss(X, centers, domain), "centers": len(centers)}
        except ValueError as error:
            row["error"] = str(error)
        row["seconds"] = round(time.perf_counter() - begun, 3)
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return row


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one line per data set and curve: loss and its standard error per epsilon, AUC, and AUC / KMeans's AUC."""
    found = []
    for (data, label), group in pd.DataFrame(rows).groupby(["data", "label"], sort=False):
        first = group.iloc[0]
        line = {"data": data, "n": first.n, "d": first.d, "k": first.k, "algorithm": label}
        line |= {"neighboring": first.neighboring, "error": max(group.error)}
        losses = group.pivot(index="seed", columns="epsilon", values="loss").astype(float).dropna()
        line |= {"seeds": len(losses), "centers": group.get("centers", pd.Series(dtype=float)).median()}
        for epsilon in losses if len(losses) else ():
            line |= {f"loss {epsilon:g}": losses[epsilon].mean(), f"se {epsilon:g}": standard_error(losses[epsilon])}
        if len(losses) and losses.shape[1] > 1:
            areas = np.array([loss_auc(losses.columns, seed) for seed in losses.to_numpy()])
            whole = loss_auc(losses.columns, [first.reference] * losses.shape[1])
            line |= {"auc": areas.mean(), "se auc": standard_error(areas)}
            line |= {"auc ratio": areas.mean() / whole, "se auc ratio": standard_error(areas / whole)}
        found.append({**line, "kmeans loss": first.reference})
    return pd.DataFrame(found)


def markdown(table: pd.DataFrame, epsilons: tuple[float, ...]) -> list[str]:
    """Return the lines of a Markdown table, mean +- standard error."""
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
            lines.append(f"{head}{row['error']} |" + " |" * len(epsilons))
            continue
        cells = [f"{row[f'loss {e:g}']:.4g} ± {row[f'se {e:g}']:.1g}" for e in epsilons]
        ratio = row.get("auc ratio", row[f"loss {epsilons[0]:g}"] / row["kmeans loss"])
        error = f" ± {row['se auc ratio']:.1g}" if "se auc ratio" in row else ""
        lines.append(head + " | ".join(cells) + f" | {ratio:.2f}{error} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=TABLES, help="a fixed list of data sets and algorithms")
    parser.add_argument("--data", nargs="+", help="default: iris, wine, breast_cancer, digits, or those of the table")
    parser.add_argument("--algorithms", nargs="+", help="slugs; default: all, or those of the table")
    parser.add_argument("--preset", help="a preset that all chosen algorithms have")
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--loose", type=float, default=1.0, help="how many times too wide the public bounds are")
    parser.add_argument("--rows", type=Path, help="default: benchmarks/results/TABLE.jsonl, or utility.jsonl")
    options = parser.parse_args()
    epsilons = tuple(options.epsilons)
    data, curves = TABLES.get(options.table, (["iris", "wine", "breast_cancer", "digits"], []))
    if not curves:
        curves = [Curve(slug, slug) for slug in ALGORITHMS if slug != "kmeans"]
    if options.algorithms:
        curves = [curve for curve in curves if curve.slug in options.algorithms]
    if options.preset:
        curves = [dataclasses.replace(c, values=ALGORITHMS[c.slug].PRESETS[options.preset]) for c in curves]
    path = options.rows or Path("benchmarks/results") / f"{options.table or 'utility'}.jsonl"
    bench = Bench(path, seeds=options.seeds, loose=options.loose)
    rows: list[dict[str, Any]] = []
    for name in options.data or data:
        rows += bench.rows(name, curves, epsilons)
        if options.table:
            table = summary(rows)
            table.to_csv(path.with_suffix(".csv"), index=False, float_format="%.6g")
            command = f"`python -m benchmarks.utility {' '.join(sys.argv[1:])}`, dpviz {__version__} at {bench.commit}."
            path.with_suffix(".md").write_text("\n".join([command, NOTE, "", *markdown(table, epsilons)]) + "\n")
    print("\n".join(markdown(summary(rows), epsilons)))


if __name__ == "__main__":
    main()
