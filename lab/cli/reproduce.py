"""Implement the command `reproduce`: recompute a paper's figures and tables, and judge whether they agree."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd

from dpviz.cli.progress import Bar
from dpviz.numbers import number
from dpviz.papers.overview import overview, table
from dpviz.papers.registry import Item, item_of, papers
from dpviz.papers.results import load_numbers
from dpviz.papers.verdicts import behind, beside_printed, judge
from dpviz.sweeps.engines import Engine, on_this_machine
from dpviz.sweeps.processes import cpu_count
from dpviz.sweeps.rowfile import read_rows

from ..papers.reproduce import reproduce, rows_path, runs_of, save_numbers

__all__ = ["add_reproduce", "lines"]


def add_reproduce(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("paper", nargs="?", help=f"one of {', '.join(papers())}; without it, the papers are listed")
    command.add_argument("item", nargs="?", help="a figure or table, such as fig2; without it, the whole paper")
    command.add_argument("--all", action="store_true", help="every item of every paper")
    command.add_argument(
        "--quick", action="store_true", help="run a documented part: fewer seeds, data sets and budgets"
    )
    command.add_argument("-o", "--output", type=Path, default=Path("reproductions"), help="folder of rows and numbers")
    command.add_argument("--workers", type=int, default=cpu_count(), help="number of processes (default: one per core)")
    command.set_defaults(do=_reproduce)


def _reproduce(arguments: argparse.Namespace) -> int:
    if arguments.workers < 1:
        raise ValueError(f"reproduce: workers must be >= 1; got {arguments.workers}.")
    if arguments.paper is None and not arguments.all:
        for listed in papers().values():
            print(f"{listed.id}: {listed.title} ({listed.cite})")
            print("".join(f"  {item.id:<8} {item.name}: {item.claim}\n" for item in listed.items), end="")
        return 0
    wanted, begun = _wanted(arguments), time.perf_counter()
    engine: Engine = partial(on_this_machine, workers=arguments.workers, nice=5)
    missing = []
    for paper, item in wanted:
        print(f"{paper} {item.name}", file=sys.stderr)
        try:
            numbers = _run(paper, item, arguments, engine)
        except KeyboardInterrupt:
            print("\nstopped; run the same command again to resume.", file=sys.stderr)
            return 130
        except ValueError as problem:  # a missing data folder stops only this item
            if not arguments.all:
                raise
            missing.append(f"{paper} {item.name}: {problem}")
            continue
        save_numbers(arguments.output / f"{paper}-{item.id}.csv", numbers)
        print("\n".join(lines(item, numbers)))
    for sentence in missing:
        print(f"not run: {sentence}", file=sys.stderr)
    if arguments.all:
        _at_a_glance(arguments, time.perf_counter() - begun)
    return 2 if missing else 0


def _at_a_glance(arguments: argparse.Namespace, seconds: float) -> None:
    """Print and save an overview of all items' results, with the time that this call took."""
    every = {
        (paper.id, item.id): load_numbers(arguments.output / f"{paper.id}-{item.id}.csv")
        for paper in papers().values()
        for item in paper.items
    }
    summary = overview(papers(), every)
    how = "python -m dpviz reproduce --all" + " --quick" * arguments.quick
    took = f"{how}: {seconds / 60:.1f} minutes for the remaining runs with {arguments.workers} processes."
    print(f"{took}\n{summary.sentence}")
    path = arguments.output / "overview.md"
    path.write_text(f"{took}\n\n{summary.sentence}\n\n{table(summary)}\n", encoding="utf-8")


def _wanted(arguments: argparse.Namespace) -> list[tuple[str, Item]]:
    if arguments.all:
        return [(paper.id, item) for paper in papers().values() for item in paper.items]
    if arguments.item is None:
        if arguments.paper not in papers():
            raise ValueError(f"reproduce: there is no paper {arguments.paper!r}; the papers are {', '.join(papers())}.")
        return [(arguments.paper, item) for item in papers()[arguments.paper].items]
    return [(arguments.paper, item_of(arguments.paper, arguments.item))]


def _run(paper: str, item: Item, arguments: argparse.Namespace, engine: Engine) -> pd.DataFrame:
    total = done = 0
    for name in (*item.uses, *([item.id] if item.sweeps else [])):
        keys = runs_of(item_of(paper, name).planned(quick=arguments.quick))
        total += len(keys)
        path = rows_path(arguments.output, paper, name, quick=arguments.quick)
        done += len(set(read_rows(path).key) & set(keys))
    with Bar(total, done) as bar:
        return reproduce(
            paper, item.id, arguments.output, engine, quick=arguments.quick,
            on_row=lambda row: bar.step(failed=row["status"] != "ok"),
        )  # fmt: skip


def lines(item: Item, numbers: pd.DataFrame) -> list[str]:
    """Return the lines about an item: its verdict, the contradictions, and the paper's numbers next to ours."""
    verdict = judge(item, numbers)
    counted = f" ({verdict.shares}; {behind(item, verdict)})" if verdict.shares else ""
    texts = [f"{item.name}: {verdict.word}{counted}. {item.claim}"]
    texts += [f"  against: {words}" for words in verdict.against[:3]]
    if verdict.no and item.because:
        texts.append(f"  because: {item.because}")
    texts += [f"  differs: {words}" for words in item.differs]
    table = beside_printed(item.printed, numbers).dropna(subset="ours")
    for row in table.itertuples():
        half = "" if pd.isna(row.half) else f" ± {number(row.half, 2)}"
        texts.append(
            f"  {row.data} {row.label} {row.what}: printed {number(row.printed)}, ours {number(row.ours)}{half}"
        )
    return texts
