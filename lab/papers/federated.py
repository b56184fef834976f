"""Compute FastLloyd's Table 3: the time and the bytes of a round between two parties."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.federated import simulate, spread
from dpviz.federated.rows import Traffic
from dpviz.papers.registry import Item
from dpviz.runs.averages import margin_of_error
from dpviz.sweeps.sources import open_source, stamp

__all__ = ["DELAY", "rounds"]

# delay of a message in milliseconds, as simulated in the paper; in a round, each client and the server send one
DELAY = 0.25


def rounds(item: Item, *, quick: bool, clients: int = 2, iterations: int = 7) -> pd.DataFrame:
    """Return the milliseconds and bytes of a round for each data set, in the form of `reproduce.numbers_of`.

    The two clients work one after the other in this process, so the time is at most twice what two machines need; the
    delays of two messages are added. A word is 8 bytes, as the paper's own byte counts imply.
    """
    lines = []
    names = list(dict.fromkeys(one.data for one in item.printed))
    for name in names if not quick else [n for n in names if "100k" not in n]:
        data = open_source(name, "declared", None, stamp(name)).data
        parts = spread(data.X, clients, "even", np.random.default_rng(0))
        clock = [time.perf_counter()]

        def tick(_: Traffic, clock: list[float] = clock) -> None:
            clock.append(time.perf_counter())

        algorithm = FastLloyd(n_clusters=data.n_clusters, iterations=iterations)
        run = simulate(algorithm, parts, data.domain, seed=0, on_round=tick)
        times = 1e3 * np.diff(clock)[1:] + 2 * DELAY
        half = margin_of_error(times)
        facts = [len(times), len(data.X), data.X.shape[1], data.n_clusters, None]
        lines.append([name, "FastLloyd", "", "milliseconds", float(np.mean(times)), half, *facts])
        lines.append([name, "FastLloyd", "", "bytes", run.bytes / len(run.rounds), 0.0, *facts])
    columns = ["data", "label", "point", "metric", "mean", "half", "runs", "n_rows", "n_features", "k_found", "delta"]
    return pd.DataFrame(lines, columns=columns)
