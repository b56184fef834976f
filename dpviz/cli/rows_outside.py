"""Implement the command `rows-outside`: count the rows outside the declared bounds, with noise if they are private."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from dpviz.algorithms.rows_outside import RowsOutside
from dpviz.cli.output import Output
from dpviz.cli.run import add_data, book, data_of, say_person
from dpviz.datasets import clipping
from dpviz.datasets.meanings import as_suggested
from dpviz.postprocessing.rows_outside import advice, answer
from dpviz.privacy.rows import Rows

__all__ = ["add_rows_outside"]


def add_rows_outside(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--epsilon", type=float, default=0.05, help="with --private: budget (default 0.05)")
    add_data(command)
    command.set_defaults(do=_rows_outside)


def _rows_outside(arguments: argparse.Namespace) -> int:
    if arguments.seed is not None:
        raise ValueError(
            "--seed is for DEMO runs; this count is exact for public data and has no seed for private ones."
        )
    with ExitStack() as stack:
        output = Output(arguments.json, stack)
        data = data_of(arguments, stack, RowsOutside.neighboring)
        if isinstance(data.X, Rows):
            raise ValueError("rows-outside: the file must fit in memory; leave out --in-parts and --cluster.")
        if not arguments.private:
            exact = clipping(data.X, data.domain)
            print(f"{exact.outside:,} of {exact.n_rows:,} rows lie outside the bounds (NOT PRIVATE: exact and free)")
            return 0
        domain, question = data.domain, RowsOutside(epsilon=arguments.epsilon)
        output.reserve(question.releases(domain.n_features, data.size()))
        book(arguments.account, data.account, question, domain)
        trace = question.run(data.X, domain=domain, dataset_id=data.dataset_id, noise="secure")
        output.write(trace.to_json(), spent=True)
        print(f"{trace.steps[-1].title}; {trace.notice}")
        print(f"spent:   {trace.spent}")
        say_person(trace.claimed)
        columns = zip(data.columns, domain.low.tolist(), domain.high.tolist(), strict=True)
        suspected = as_suggested({"name": name, "low": low, "high": high} for name, low, high in columns)
        print(answer(trace, data.size()), advice(trace, data.size(), suspected))
    return 0
