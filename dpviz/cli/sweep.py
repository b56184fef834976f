"""Implement the commands `sweep` and `report`."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from dpviz.algorithms import ALGORITHMS
from dpviz.cli.progress import Bar
from dpviz.runs.public import STANDS_IN
from dpviz.sweeps.dask_engine import cluster, connect
from dpviz.sweeps.engines import Engine, on_this_machine, perform
from dpviz.sweeps.processes import cpu_count
from dpviz.sweeps.report import report
from dpviz.sweeps.rowfile import RowFile, read_rows
from dpviz.sweeps.spec import read_spec

__all__ = ["add_report", "add_sweep"]


def add_sweep(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("spec", type=Path, metavar="SPEC.toml")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="ROWS.csv|ROWS.jsonl")
    command.add_argument("--workers", type=int, default=cpu_count(), help="number of processes (default: one per core)")
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help='a Dask scheduler (tls://..., or on this machine), or "local" (extra: cluster)',
    )
    command.set_defaults(do=_sweep)


def add_report(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("rows", type=Path, metavar="ROWS.csv|ROWS.jsonl")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="REPORT.html")
    command.add_argument("--spec", type=Path, help="the sweep's spec, for its title and published numbers")
    command.set_defaults(do=_report)


def _sweep(arguments: argparse.Namespace) -> int:
    if arguments.workers < 1:
        raise ValueError(f"sweep: workers must be >= 1; got {arguments.workers}.")
    spec = read_spec(arguments.spec)
    done = set(read_rows(arguments.output).key)
    total = len(list(spec.sweep.runs()))
    print(f"{spec.title}: {total} runs, simulation on public data; nothing here is private.", file=sys.stderr)
    for cls in {ALGORITHMS[variant.algorithm] for variant in spec.sweep.variants}:
        if cls.takes_public_rows:
            print(f"{cls.name}: {STANDS_IN}.", file=sys.stderr)
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
            print(f"\nstopped after {bar.n} of {total}; run the same command again to resume.", file=sys.stderr)
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
