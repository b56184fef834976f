"""Run sweeps on a Dask cluster, with keyed futures and retries; this requires the extra `cluster`.

A worker receives a run, which consists of names and numbers, and opens its data itself: scattered data would be lost
with the worker that holds them. A Dask port runs any code that reaches it, so other machines need tls://.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from dpviz.privacy.chunked import finished
from dpviz.sweeps.sweep import Run

__all__ = ["LOCAL", "cluster", "connect"]

LOCAL = "local"
_RETRIES = 2
_REPLACED = "10 minutes"  # after Dask's default of 15 seconds, a new worker may not have started


@contextmanager
def connect(address: str, workers: int = 2) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, or of worker processes started here for "local".

    Raises
    ------
    ValueError
        If the extra is not installed, or the address is neither on this machine nor tls://.
    """
    try:
        from dask import config
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise ValueError('cluster: Dask is not installed; pip install ".[cluster]".') from None
    if address == LOCAL:
        local = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1, "processes": True}
        local["silence_logs"] = logging.CRITICAL  # a dead worker leads to a retry or a row, not to a traceback
        patience = config.set({"distributed.deploy.lost-worker-timeout": _REPLACED})
        with patience, LocalCluster(n_workers=workers, **local) as started, Client(started) as client:
            yield client
        return
    parts = urlsplit(address if "//" in address else f"tcp://{address}")
    if parts.scheme != "tls" and not _on_this_machine(parts.hostname or ""):
        raise ValueError(
            f"cluster: {address} must begin with tls:// because it is not on this machine: a Dask port runs any code "
            f"that reaches it."
        )
    with Client(address, timeout=10) as client:
        yield client


def cluster(
    cells: Sequence[Run],
    run: Callable[[Any], Any],
    give_up: Callable[[Any, str], Any],
    *,
    client: Any,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[Any]:
    """Yield run(cell) for every cell as it finishes; see `engines.on_this_machine` for the parameters.

    A run whose worker dies is repeated on another; after too many deaths the run is given up.

    Raises
    ------
    ValueError
        If there has been no worker for two minutes.
    """
    futures = client.map(run, cells, key=[f"cell-{cell.key}" for cell in cells], retries=_RETRIES, pure=True)
    cell_of = {future.key: cell for future, cell in zip(futures, cells, strict=True)}
    try:
        for future in finished(client, futures, on_wait):
            cell = cell_of[future.key]
            if future.status in ("error", "cancelled"):
                reason = type(future.exception()).__name__ if future.status == "error" else future.status
                yield give_up(cell, f"the cluster gave up on the run ({reason})")
            else:
                yield future.result()
    finally:
        client.cancel(futures)


def _on_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
