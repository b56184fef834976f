"""Open data sets by name. A worker opens its data itself, so only names are sent, never arrays."""

from __future__ import annotations

import dataclasses
import os
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans as SklearnKMeans

from dpviz import metrics, validate
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import SAMPLES, Dataset, load, load_csv
from dpviz.datasets.resampling import resampled
from dpviz.domain import Domain
from dpviz.privacy.accounts import refuse_private
from dpviz.privacy.rows import Rows
from dpviz.sweeps.generated import RECIPES, generated, tight_box

__all__ = ["BOUNDS", "CLUSTERS", "FOLDER", "Source", "best_references", "open_source", "reference", "stamp", "taken"]

# width of the box, as a multiple of the width of the tightest box
_LOOSE = {"tight_nonprivate": 1.0, "loose_nonprivate": 4.0}
# width of a column's bounds as a multiple of its range; the bounds begin at the smallest value
_BOXES = {"columns_nonprivate": 1.0, "twice_nonprivate": 2.0}
_CORNER = "corner_nonprivate"
BOUNDS = ("declared", *_LOOSE, *_BOXES, _CORNER)
FOLDER = "DPVIZ_DATASETS"  # the environment variable that names the folder of benchmark sets
_LABELS = ("label", "income_gt_50k")
CLUSTERS = {  # k of the benchmark sets in the papers; for other sets, k is the number of labels, or 3 without labels
    **{"iris": 3, "wine": 3, "lsun": 3, "yeast": 10, "house": 3, "digits": 10, "a1": 20, "a3": 50},
    **{"s1": 15, "s2": 15, "birch2_25k": 100, "adult": 3, "letter": 26, "mnist_test": 10, "g2mg_2_50": 2},
    **{f"dim{d}": 16 for d in ("032", "064", "256", "512")},
}
KMEANS_RUNS, KMEANS_BEST = 40, 20  # numbers of KMeans runs made and kept (DPM, Definition 9)


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """An open data set with the values that all its runs share.

    Attributes
    ----------
    data : Dataset
    rows : Rows, normalized, clipped and snapped once
    Z : ndarray of shape (n, d), the rows in z units, unclipped, for metrics
    """

    data: Dataset
    rows: Rows
    Z: np.ndarray


@lru_cache(maxsize=4)
def open_source(name: str, bounds: str, n_rows: int | None, modified: str) -> Source:
    """Open a data set, once per process.

    Parameters
    ----------
    name : "sample:NAME" (or "sample:blobs:..."), "bench:NAME" (a generated benchmark set, or one in the folder that
        DPVIZ_DATASETS names), or the path of a public file
    bounds : "declared", or, for benchmarks, bounds taken from the data: "tight_nonprivate" (the papers' preprocessing),
        "loose_nonprivate" (four times as wide), "columns_nonprivate" (min to max of every column, as people declare
        boxes), "twice_nonprivate" (twice as wide, starting at the min) or "corner_nonprivate" (one scale for all
        columns, with the rows in a corner)
    n_rows : int or None; if given, this many rows are drawn without replacement; if there are fewer, whole copies of
        the data come first
    modified : the file's `stamp`, so that a changed file is read again
    """
    validate.one_of("sweep", BOUNDS, bounds=bounds)
    kind, _, rest = name.partition(":")
    data = load(rest) if kind == "sample" else _bench(rest) if kind == "bench" else load_csv(Path(name))
    if n_rows is not None:
        validate.integer("sweep", 1, None, n_rows=n_rows)
        chosen = resampled(len(data.X), n_rows)
        labels = None if data.labels is None else data.labels[chosen]
        domain = dataclasses.replace(data.domain, n_public=n_rows)
        data = dataclasses.replace(data, X=data.X[chosen], labels=labels, domain=domain)
    if bounds != "declared":
        data = dataclasses.replace(data, domain=taken(data.X, bounds))
    return Source(data, Rows(data.X, data.domain, data.dataset_id), data.domain.normalize(data.X))


def taken(X: np.ndarray, bounds: str) -> Domain:
    """Return bounds taken from the data, for benchmarks only: NOT PRIVATE."""
    if bounds in _LOOSE:
        return Domain.tight_nonprivate(X, loose=_LOOSE[bounds])
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    width = np.where(width > 0, width, 1.0)
    high = low + (width.max() if bounds == _CORNER else _BOXES[bounds] * width)
    scale = "common" if bounds == _CORNER else "column"
    return dataclasses.replace(
        Domain.box(low, high, scale=scale, n_public=len(X)), origin=f"{bounds}: taken from the data"
    )


@lru_cache(maxsize=16)
def reference(name: str, bounds: str, n_rows: int | None, modified: str, n_clusters: int, seed: int) -> np.ndarray:
    """Return the centers of non-private KMeans on a source, original units, shape (k, d)."""
    data = open_source(name, bounds, n_rows, modified).data
    kmeans = KMeans(n_clusters=n_clusters)
    return kmeans.run(data.X, domain=data.domain, seed=seed).cluster_centers


@lru_cache(maxsize=4)
def best_references(
    name: str, bounds: str, n_rows: int | None, modified: str, n_clusters: int
) -> tuple[np.ndarray, ...]:
    """Return the centers (k, d), z units, of the best KMEANS_BEST of KMEANS_RUNS KMeans runs, judged by silhouette."""
    Z = open_source(name, bounds, n_rows, modified).Z
    runs = [
        SklearnKMeans(n_clusters, n_init=1, random_state=seed).fit(Z).cluster_centers_ for seed in range(KMEANS_RUNS)
    ]
    scores = [metrics.silhouette(Z, centers, np.random.default_rng(0), sample=2000) for centers in runs]
    return tuple(runs[i] for i in np.argsort(scores, kind="stable")[::-1][:KMEANS_BEST])


def stamp(name: str) -> str:
    """Return the modification time of a file source, "" for other sources; a changed file needs new runs.

    Raises
    ------
    ValueError
        If the source does not exist.
    Refused
        If the file is on record as private.
    """
    kind, _, rest = name.partition(":")
    if kind == "sample":
        if rest not in SAMPLES:
            load(rest)  # blobs named by their parameters; raises ValueError if these are invalid
        return ""
    if kind == "bench" and any(re.fullmatch(recipe.pattern, rest) for recipe in RECIPES):
        return ""
    path = _bench_path({"letters_dpm": "letter"}.get(rest, rest)) if kind == "bench" else Path(name)
    if not path.is_file():
        raise ValueError(f"datasets: the file {path.name} does not exist.")
    if kind != "bench":
        refuse_private(path)
    return str(path.stat().st_mtime_ns)


def _bench_path(name: str) -> Path:
    folder = os.environ.get(FOLDER)
    if not folder:
        raise ValueError(
            f"sweep: bench:{name} needs the environment variable {FOLDER} with the folder that holds {name}/."
        )
    paths = [p for p in (Path(folder) / name / f"{name}{end}" for end in (".npz", ".csv.gz", ".csv")) if p.is_file()]
    if not paths:
        raise ValueError(f"sweep: the folder in {FOLDER} has no data set {name!r} (.npz, .csv.gz or .csv).")
    return paths[0]


def _bench(name: str) -> Dataset:
    """Read a benchmark set of numbers; labels, if any, are `y` in an .npz file, or the last column of a CSV file."""
    recipe = generated(name)
    if recipe is not None:
        return recipe
    if name == "letters_dpm":
        return _letters()
    path = _bench_path(name)
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            X = arrays["X"].astype(np.float64)
            labels = arrays["y"] if "y" in arrays else None
    else:
        table = pd.read_csv(path)
        labelled = table.columns[-1] in _LABELS
        labels = table.pop(table.columns[-1]).to_numpy() if labelled else None
        X = table.to_numpy(dtype=np.float64)
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    domain = tight_box(X)
    k = CLUSTERS.get(name) or (3 if labels is None else len(np.unique(labels)))
    return Dataset(X, names, ("",) * len(names), domain, labels, f"bench:{name}", name, n_clusters=k)


def _letters() -> Dataset:
    """Return the DPM paper's Letters: 720 rows of each class, drawn with replacement from the UCI set; box [0, 15]."""
    data = _bench("letter")
    classes, rng = np.asarray(data.labels), np.random.default_rng(42)
    chosen = []
    for label in range(26):
        rows = np.flatnonzero(classes == label)
        chosen.append(rows[rng.integers(0, len(rows), 720)])
    order = np.concatenate(chosen)[rng.permutation(26 * 720)]
    domain = Domain.box(0, 15, data.domain.n_features, n_public=len(order))
    return dataclasses.replace(
        data, X=data.X[order], labels=classes[order], domain=domain, dataset_id="bench:letters_dpm", title="letters_dpm"
    )
