"""Simulate visitors on Explore while a sweep runs: `python -m lab.benchmarks.load 20 50 100`.

The server is started with the README's command. About every five seconds, each visitor changes the budget or the hidden
layers or, one time in ten, sets a new seed, which starts a run. The script prints, for each number of visitors, the
time to open the page, to get an answer and to get a run; the processor time of the page's process (`page`) and of all
the server's processes, including the sweep (`all`); memory; the number of threads; and the machine's load. The server's
log is printed last. On a busy machine, trust the processor time per operation, not the wall-clock times. `--alone 20`
first prints the cost of each action of a single visitor, averaged over 20 repetitions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import numpy as np

from tests.browser.conftest import serve

from .visitor import Visitor

MOST_VISITORS, MOST_SECONDS = 200, 300
BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A server's processes as /proc shows them: the one that serves pages, and the processes that it has started."""

    def __init__(self, port: int) -> None:
        self.port, self.peak, self.threads = port, 0.0, 0
        asked = f"--server.port={port}"
        self.pid = next(pid for pid in _pids() if asked in _read(pid, "cmdline").split("\0"))

    def family(self) -> set[int]:
        """Return the ids of the server's process and of all processes that it has started."""
        parents = {pid: int(stat.rsplit(")", 1)[1].split()[1]) for pid in _pids() if (stat := _read(pid, "stat"))}
        found = {self.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def seconds(self, pids: Iterable[int]) -> float:
        """Return the processor time of these processes in seconds, including that of children that have ended."""
        fields = [stat.rsplit(")", 1)[1].split() for pid in pids if (stat := _read(pid, "stat"))]
        return sum(int(field[11]) + int(field[12]) + int(field[13]) + int(field[14]) for field in fields) / TICK

    def page_seconds(self) -> float:
        """Return the processor time, in seconds, of the process that serves pages."""
        fields = _read(self.pid, "stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self) -> tuple[float, float]:
        """Return the memory in MB of the page's process and of all processes; the latter counts shared memory once."""
        shares = [line.split()[1] for pid in self.family() for line in _read(pid, "smaps_rollup").splitlines()
                  if line.startswith("Pss:")]  # fmt: skip
        status = dict(line.split(":", 1) for line in _read(self.pid, "status").splitlines())
        self.threads = max(self.threads, int(status["Threads"]))
        own = int(status["VmRSS"].split()[0]) / 1024
        self.peak = max(self.peak, own)
        return own, sum(map(int, shares)) / 1024


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:  # the process has ended
        return ""


class Times:
    """The seconds that every operation took, by kind, and all errors."""

    def __init__(self) -> None:
        self.opened: list[float] = []
        self.answers: list[float] = []
        self.runs: list[float] = []
        self.faults: list[str] = []

    @property
    def operations(self) -> int:
        """Return how many operations the visitors have completed."""
        return len(self.opened) + len(self.answers) + len(self.runs)


async def visit(server: Server, number: int, times: Times, options: argparse.Namespace, end: float) -> None:
    """Open Explore and use it until the time `end` as a person would, with exponentially distributed pauses."""
    rng = random.Random(number)
    await asyncio.sleep(rng.random() * options.arrive)
    try:
        async with Visitor(server.port, "explore") as visitor:
            times.opened.append(await visitor.ask())
            while True:  # at least once
                await asyncio.sleep(rng.expovariate(1 / options.think))
                if rng.random() < options.others:
                    times.opened.append(await _open(server.port, rng.choice(("tradeoff", "present"))))
                elif rng.random() < options.runs:
                    times.runs.append(await _run(visitor, rng.randrange(10**6)))
                elif rng.random() < 0.7:
                    times.answers.append(await visitor.change("param_pe-means_epsilon", rng.choice(BUDGETS)))
                else:
                    times.answers.append(await visitor.change("explore_hidden", rng.random() < 0.5))
                if time.perf_counter() >= end:
                    break
            times.faults += visitor.faults
    except Exception:  # the error is counted and printed; the other visitors go on
        times.faults.append(traceback.format_exc())


async def _open(port: int, page: str) -> float:
    """Open a page in another tab; return the seconds until all of it has arrived."""
    begun = time.perf_counter()
    async with Visitor(port, page) as other:
        await other.ask()
        while other.polls:
            await other.poll()
    return time.perf_counter() - begun


async def _run(visitor: Visitor, seed: int) -> float:
    """Set a seed, which starts its run; return the seconds until the new run's figures have arrived."""
    begun = time.perf_counter()
    await visitor.change("explore_seed", seed)
    while visitor.polls:
        await visitor.poll()
    return time.perf_counter() - begun


async def sweeping(port: int, cookie: str = "") -> Visitor:
    """Start a sweep of about 4,600 runs; return the visitor who started it and is still connected."""
    visitor = await Visitor(port, "tradeoff", cookie=cookie).__aenter__()
    await visitor.ask()
    await visitor.change("sweep_repeats", 16)
    await visitor.change("sweep_k", "3, 5, 8, 12")
    await visitor.press("sweep_start")
    return visitor


async def goes_on(visitor: Visitor) -> bool:
    """Return whether the sweep is still running, that is, whether its page offers to cancel it."""
    visitor.widgets.clear()
    await visitor.ask()
    return any(kind == "button" and proto.label == "Cancel" for kind, proto, _ in visitor.widgets.values())


async def load(server: Server, visitors: int, options: argparse.Namespace) -> None:
    """Let visitors arrive, and print their waits and errors."""
    times, begun = Times(), time.perf_counter()
    start, page, all_ = server.memory(), server.page_seconds(), server.seconds(server.family())
    server.peak, most = 0.0, 0.0
    tasks = [visit(server, number, times, options, begun + options.seconds) for number in range(visitors)]
    crowd = asyncio.gather(*tasks)
    while not crowd.done():
        most = max(most, server.memory()[1])
        await asyncio.wait([crowd], timeout=2)
    page, all_ = server.page_seconds() - page, server.seconds(server.family()) - all_
    lasted, own = time.perf_counter() - begun, server.memory()[0]
    print(
        f"{visitors} visitors, {lasted:.0f} s, load {os.getloadavg()[0]:.1f}: open {_quantiles(times.opened)} | answer "
        f"{_quantiles(times.answers)} | run {_quantiles(times.runs)} | page {page / max(times.operations, 1) * 1e3:.0f}"
        f" ms of processor time per operation ({page / lasted:.0%} of a core, all {all_ / lasted:.0%}) | page's memory "
        f"{start[0]:.0f} -> {server.peak:.0f} -> {own:.0f} MB, all at most {most:.0f} MB, {server.threads} threads | "
        f"{len(times.faults)} faults",
        flush=True,
    )
    for fault, count in Counter(times.faults).most_common(3):
        print(f"  {count} x {fault}", flush=True)


def _quantiles(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    half, most = np.quantile(seconds, [0.5, 0.95]) * 1e3
    return f"n={len(seconds)} p50 {half:.0f} p95 {most:.0f} ms"


async def alone(server: Server, times: int) -> None:
    """Print the cost of each action to the page's process while nobody else visits."""

    async def cost(name: str, act: Callable[[int], Awaitable[object]]) -> None:
        begun = server.page_seconds()
        for turn in range(times):
            await act(turn)
        print(f"  {name}: {1e3 * (server.page_seconds() - begun) / times:.0f} ms of processor time", flush=True)

    async def opening(turn: int) -> None:
        async with Visitor(server.port, "explore") as visitor:
            await visitor.ask()

    async with Visitor(server.port, "explore") as one:

        async def change(key: str, value: float) -> None:
            await one.change(key, value)
            while one.polls:
                await one.poll()

        await one.ask()
        for turn in range(4):  # these first changes put both pictures and both runs into the caches
            await change("explore_hidden", bool(turn % 2))
            await change("param_pe-means_epsilon", (0.5, 1.0)[turn % 2])
        await cost("opening", opening)
        await cost("hidden layers", lambda turn: change("explore_hidden", bool(turn % 2)))
        await cost("another ε with a stored run", lambda turn: change("param_pe-means_epsilon", (0.5, 1.0)[turn % 2]))
        await cost("from a new seed to its picture", lambda turn: change("explore_seed", 10**6 + turn))


async def every(port: int, options: argparse.Namespace) -> None:
    """Print one line for each number of visitors."""
    async with Visitor(port, "explore") as first:
        print(f"first visitor: {await first.ask():.2f} s", flush=True)
    server = Server(port)
    if options.alone:
        await alone(server, options.alone)
    sweep = None if options.no_sweep else await sweeping(port)
    for visitors in options.visitors:
        await load(server, visitors, options)
        if sweep is not None:
            print("  the sweep is still running:", await goes_on(sweep), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("visitors", type=int, nargs="+", help=f"number of visitors at a time, at most {MOST_VISITORS}")
    parser.add_argument(
        "--alone", type=int, default=0, help="number of times that a lone visitor first repeats each action"
    )
    parser.add_argument("--seconds", type=float, default=30, help=f"at most {MOST_SECONDS}")
    parser.add_argument("--think", type=float, default=5.0, help="mean seconds between two operations of a visitor")
    parser.add_argument("--runs", type=float, default=0.1, help="share of operations that are runs")
    parser.add_argument("--others", type=float, default=0.0, help="share of operations that open Trade-off or the deck")
    parser.add_argument("--arrive", type=float, default=10.0, help="seconds within which all visitors arrive")
    parser.add_argument("--port", type=int, help="port of a server already running on this machine; default: start one")
    parser.add_argument("--no-sweep", action="store_true")
    options = parser.parse_args()
    if max(options.visitors) > MOST_VISITORS or options.seconds > MOST_SECONDS:
        parser.error(f"at most {MOST_VISITORS} visitors and {MOST_SECONDS} seconds")
    if options.port:
        asyncio.run(every(options.port, options))
        return
    with tempfile.TemporaryFile("w+") as log:
        try:
            with serve(log=log) as url:
                asyncio.run(every(int(url.rsplit(":", 1)[1]), options))
        finally:
            log.seek(0)
            shutil.copyfileobj(log, sys.stderr)


if __name__ == "__main__":
    main()
