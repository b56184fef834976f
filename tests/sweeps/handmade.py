"""Make rows of sweeps by hand."""

from pathlib import Path

from dpviz.algorithms import ALGORITHMS
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.sweep import COLUMNS

ROOT = Path(__file__).parents[2]


def row(slug, epsilon, seed, loss, *, data="d", notion="central DP", k=3, found=3, n=100, label=None, **more):
    values = {
        "key": f"{hash((slug, label, epsilon, seed, data, n, k)) & (16**24 - 1):024x}", "data": data,
        "bounds": "declared", "label": label or slug, "algorithm": slug, "name": ALGORITHMS[slug].name,
        "notion": notion, "status": "ok", "neighboring": "add-remove", "n_rows": n, "n_clusters": k,
        "epsilon": epsilon, "delta": 1e-5, "seed": seed, "loss": loss, "k_found": found, "parameters": "{}",
        "seconds": 0.1, "version": "0",
    }  # fmt: skip
    return dict.fromkeys(COLUMNS) | values | more


def rows(*lists):
    return table([one for some in lists for one in (some if isinstance(some, list) else [some])])


def runs(slug, losses, **more):
    """Return one algorithm's rows in a sweep; `losses` maps each epsilon to one loss per seed."""
    return [row(slug, e, seed, loss, **more) for e, some in losses.items() for seed, loss in enumerate(some)]
