"""Time the rounds of federated FastLloyd, in milliseconds: in one process, and between processes over TLS 1.3.

python -m lab.benchmarks.federated --clients 2 8 32 --rows 10000 100000

The data set is data(2) of lloyd.py beside this file with the given numbers of rows; k = 8, 30 iterations. A round
includes the clients' work on their rows, masking, transfer in both directions, the server's noise, and unmasking.
Clients are forked processes on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.domain import Domain
from dpviz.federated import simulate, spread
from dpviz.privacy.noise import Secure

from ..federated.agreement import Agreement
from ..federated.client import take_part
from ..federated.keys import client_context, make_keys, mask_seeds, server_context
from ..federated.server import serve


def data(n: int) -> np.ndarray:
    """Return the rows of data(2), shape (n, 2)."""
    X, _ = make_blobs(n, 2, centers=8, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)
    return np.clip(X, -1, 1)


def in_process(agreement: Agreement, parts: list[np.ndarray]) -> tuple[float, int]:
    """Return (milliseconds per round, bytes per round) of the simulator."""
    times = [time.perf_counter()]
    run = simulate(
        agreement.algorithm, parts, agreement.domain, seed=0, n_max=agreement.n_max,
        on_round=lambda _: times.append(time.perf_counter()),
    )  # fmt: skip
    return 1e3 * float(np.median(np.diff(times))), run.bytes // len(run.rounds)


def attend(agreement: Agreement, name: str, part: np.ndarray, folder: Path, port: int, queue) -> None:
    """Take part as one client in its own process; report the seconds of every round."""
    times: list[float] = []
    take_part(
        agreement, name, part, client_context(folder / name), mask_seeds(folder / name), address=("127.0.0.1", port),
        on_step=lambda _: times.append(time.perf_counter()),
    )  # fmt: skip
    queue.put(np.diff(times))


def over_tls(agreement: Agreement, parts: list[np.ndarray]) -> tuple[float, float]:
    """Return the median and the 95th percentile of a round's milliseconds, as measured by the clients."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "keys"
        make_keys(folder, agreement)
        ready, ports = threading.Event(), []

        def listening(port: int) -> None:
            ports.append(port)
            ready.set()

        def host() -> None:
            asyncio.run(serve(agreement, server_context(folder / "server"), Secure(), ready=listening))

        server = threading.Thread(target=host)
        server.start()
        ready.wait()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        pairs = zip(agreement.clients, parts, strict=True)
        processes = [context.Process(target=attend, args=(agreement, n, p, folder, ports[0], queue)) for n, p in pairs]
        for process in processes:
            process.start()
        times = np.concatenate([queue.get() for _ in processes])
        for process in processes:
            process.join()
        server.join()
    return 1e3 * float(np.median(times)), 1e3 * float(np.percentile(times, 95))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", nargs="+", type=int, default=[2, 8, 32])
    parser.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000])
    options = parser.parse_args()
    print(
        "| rows | clients | in one process, ms per round | TLS, median / 95% | bytes per round "
        "| PE-means, bytes per round |"
    )
    print("|---" * 6 + "|")
    for n in options.rows:
        X, domain = data(n), Domain.box(-1, 1, 2, n_public=n)
        for clients in options.clients:
            names = tuple(f"client-{i + 1}" for i in range(clients))
            agreement = Agreement(FastLloyd(n_clusters=8, iterations=30), domain, names)
            parts = spread(X, clients, "even", np.random.default_rng(0))
            simulated, size = in_process(agreement, parts)
            median, late = over_tls(agreement, parts)
            pe = simulate(PEMeans(n_clusters=8), parts, domain, seed=0)
            print(
                f"| {n:,} | {clients} | {simulated:.1f} | {median:.1f} / {late:.1f} | {size:,} | "
                f"{pe.bytes // len(pe.rounds):,} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
