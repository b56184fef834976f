"""Provide three parties with rows and keys, and a server in a thread, for tests of runs over TLS."""

import asyncio
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.domain import Domain
from dpviz.federated import spread
from dpviz.federated.masks import Seeds
from dpviz.privacy.noise import Secure, Seeded
from lab.federated import client
from lab.federated.agreement import Agreement
from lab.federated.keys import client_context, mask_seeds, server_context
from lab.federated.messages import Kind, Message
from lab.federated.server import serve

ROOT = Path(__file__).parents[3]
NAMES = ("ann", "bob", "cem")
N = 300
BOX = Domain.box(-1, 1, 2, n_public=N)
X = np.clip(np.random.default_rng(0).normal(0, 0.4, (N, 2)), -1, 1)
PARTS = dict(zip(NAMES, spread(X, 3, "skewed", np.random.default_rng(0)), strict=True))


def agreed(algorithm=None, names=NAMES, **facts):
    return Agreement(algorithm or FastLloyd(n_clusters=3, iterations=4), BOX, names, **facts)


class Host:
    """A server in a thread, whose `result()` returns its report or raises the reason for its end."""

    def __init__(self, folder, agreement, noise=None, **timeouts):
        self.said, self.future, ports = [], Future(), []
        ready = threading.Event()

        def listening(port):
            ports.append(port)
            ready.set()

        def work():
            options = {"join_timeout": 200.0, "round_timeout": 200.0, **timeouts}
            running = serve(
                agreement, server_context(folder / "server"), noise or Secure(), say=self.said.append,
                ready=listening, **options,
            )  # fmt: skip
            try:
                self.future.set_result(asyncio.run(running))
            except BaseException as reason:
                self.future.set_exception(reason)

        threading.Thread(target=work, daemon=True).start()
        assert ready.wait(200)
        self.port = ports[0]

    def result(self, timeout=400):
        return self.future.result(timeout)


def join(folder, agreement, name, port, *, keys=None, rows=None, **timeouts):
    threading.current_thread().name = name
    options = {"join_timeout": 200.0, "round_timeout": 200.0, **timeouts}
    common, pairs = mask_seeds(folder / name)
    seeds = Seeds(common, {other: seed for other, seed in pairs.items() if other in agreement.clients})
    return client.take_part(
        agreement, name, PARTS[name] if rows is None else rows, client_context(keys or folder / name),
        seeds, address=("127.0.0.1", port), **options,
    )  # fmt: skip


def everybody(folder, agreement, host, **options):
    """Run all clients in threads; return {name: trace or exception}."""
    with ThreadPoolExecutor(len(agreement.clients)) as pool:
        tasks = {name: pool.submit(join, folder, agreement, name, host.port, **options) for name in agreement.clients}
        return {name: task.exception() or task.result() for name, task in tasks.items()}


def servers_noise(seed=0):
    """Return the noise source of a central run with this seed."""
    return Seeded(np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1]))


def hello(folder, name, port):
    """Join as `name` and return the connection."""
    link = client.Link(("127.0.0.1", port), client_context(folder / name), 200.0)
    link.send(Message(Kind.HELLO, payload=bytes(32) + agreed().digest))
    return link


def until(condition, seconds=200.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.01)
