"""The commands `sweep` and `report` of the command line."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TextIO

from joblib import cpu_count

from dpviz.sweeps.dask_engine import cluster, connect
from dpviz.sweeps.engines import Engine, on_this_machine, perform
from dpviz.sweeps.report import report
from dpviz.sweeps.rowfile import RowFile, read_rows
from dpviz.sweeps.spec import read_spec

__all__ = ["add_commands"]


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `do`, a function of the parsed arguments that returns the exit code."""
    sweep = commands.add_parser("sweep", help="run a grid of algorithms, budgets and repeats; a second call goes on")
    sweep.add_argument("spec", type=Path, metavar="SPEC.toml")
    sweep.add_argument("-o", "--output", type=Path, required=True, metavar="ROWS.csv|ROWS.jsonl")
    sweep.add_argument("--workers", type=int, default=cpu_count(), help="processes (default: one per core)")
    sweep.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help='a Dask scheduler (tls://..., or on this machine), or "local" (extra: cluster)',
    )
    sweep.set_defaults(do=_sweep)
    report_ = commands.add_parser("report", help="turn the rows of a sweep into one HTML file")
    report_.add_argument("rows", type=Path, metavar="ROWS.csv|ROWS.jsonl")
    report_.add_argument("-o", "--output", type=Path, required=True, metavar="REPORT.html")
    report_.add_argument("--spec", type=Path, help="the sweep's spec: its title, and published numbers beside ours")
    report_.set_defaults(do=_report)


def _sweep(arguments: argparse.Namespace) -> int:
    if arguments.workers < 1:
        raise ValueError(f"sweep: workers must be >= 1; got {arguments.workers}.")
    spec = read_spec(arguments.spec)
    done = set(read_rows(arguments.output).key)
    total = len(list(spec.sweep.runs()))
    print(f"{spec.title}: {total} runs, simulation on public data; nothing here is private.", file=sys.stderr)
    with ExitStack() as stack:
        engine: Engine = partial(on_this_machine, workers=arguments.workers)
        if arguments.cluster:
            client = stack.enter_context(connect(arguments.cluster, arguments.workers))
            engine = partial(cluster, client=client)
        file = stack.enter_context(RowFile(arguments.output))
        bar = stack.enter_context(Bar(total, sum(cell.key in done for cell in spec.sweep.runs())))
        try:
            for row in perform(spec.sweep, done, engine):
                file.append(row)
                bar.step(failed=row["status"] != "ok")
        except KeyboardInterrupt:
            print(f"\nstopped after {bar.done} of {total}; the same command goes on from there.", file=sys.stderr)
            return 130
    return 0


def _report(arguments: argparse.Namespace) -> int:
    if not arguments.rows.is_file():
        raise ValueError(f"report: the file {arguments.rows.name} does not exist.")
    spec = read_spec(arguments.spec) if arguments.spec else None
    title = spec.title if spec else arguments.rows.stem
    text = report(read_rows(arguments.rows), title, spec.published if spec else ())
    arguments.output.write_text(text, encoding="utf-8")
    print(f"{arguments.output.name}: {len(text) / 1e6:.1f} MB, opens offline")
    return 0


class Bar:
    """A progress bar on the error stream; whole lines, one per tenth, where that is not a terminal."""

    def __init__(self, total: int, done: int, stream: TextIO | None = None) -> None:
        self.done = self._start = done
        self._total, self._stream, self._failed, self._said = total, stream or sys.stderr, 0, -1
        self._begun = time.monotonic()
        self._show()

    def step(self, *, failed: bool) -> None:
        """Count one finished cell."""
        self.done += 1
        self._failed += failed
        self._show()

    def _show(self) -> None:
        tenth = 10 * self.done // max(self._total, 1)
        terminal = self._stream.isatty()
        if not terminal and tenth == self._said:
            return
        self._said = tenth
        words = f"{self.done} of {self._total} runs" + (f", {self._failed} failed" if self._failed else "")
        if self.done > self._start and self.done < self._total:
            left = (time.monotonic() - self._begun) / (self.done - self._start) * (self._total - self.done)
            words += f", about {duration(left)} left"
        filled = 30 * self.done // max(self._total, 1)
        start, end = ("\r", "\x1b[K") if terminal else ("", "\n")
        self._stream.write(f"{start}[{'#' * filled}{'.' * (30 - filled)}] {words}{end}")
        self._stream.flush()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream.isatty():
            self._stream.write("\n")


def duration(seconds: float) -> str:
    """Return a time in words: "40 s", "3 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
