"""Implement the command `explain`: describe the clusters of a finished run, from its centers or from the rows."""

from __future__ import annotations

import argparse
import dataclasses
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from dpviz.algorithms import RECOMMENDED, outside
from dpviz.algorithms.explain_clusters import ExplainClusters
from dpviz.cli.output import Output
from dpviz.cli.run import add_data, add_unaudited, book, data_of, say_person, warn_unaudited
from dpviz.postprocessing import explain_cells
from dpviz.postprocessing.explain import of_centers, of_trace
from dpviz.privacy.delta import check_delta
from dpviz.takeaway.foreign import drawing, read
from dpviz.trace import Trace

__all__ = ["add_explain"]


def add_explain(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", type=Path, metavar="RUN.json", help="a trace, as `run --json` writes it")
    command.add_argument("--epsilon", type=float, default=0.2, help="with --data: budget of the question (default 0.2)")
    command.add_argument("--delta", type=float, help="with --data: delta of the question (default 1/(100 n))")
    add_data(command, required=False)
    add_unaudited(command)
    command.set_defaults(do=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    try:
        trace = read(arguments.run.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"explain: {arguments.run} cannot be read; give the JSON that `run --json` wrote.") from None
    if "bin_counts" in trace.steps[-1].released:
        with drawing(trace):
            answer = of_trace(trace).sentences(*_names(trace))
        print(*answer, sep="\n")
        return 0
    if arguments.data is not None:
        return _asked(arguments, trace)
    with drawing(trace):
        sentences, source = of_centers(trace, *_names(trace)), "centers and their noise"
        if sentences is None:
            sentences, source = explain_cells.sentences(trace, *_names(trace)), "counts of cells"
    if sentences is None:
        print(_ways(trace, arguments.run))
        return 0
    print(f"from the released {source}; nothing was read or spent:")
    print(*sentences, sep="\n")
    return 0


def _ways(trace: Trace, path: Path) -> str:
    """Return the commands to use instead if a run does not state the noise of its centers."""
    again = f"{path.stem}-2.json"
    other = (
        f"run an algorithm whose noise has a formula: dpviz run {RECOMMENDED} --data FILE --json {again}, then dpviz "
        f"explain {again}."
    )
    if not trace.claimed.private:
        return f"{trace.name} releases nothing under a promise, so there is nothing to explain: {other}"
    return (
        f"{trace.name} declares no noise per center, so differences between centers may be noise. Ask the rows: dpviz "
        f"explain {path} --data FILE --epsilon 0.2, with --public or --private. Or {other}"
    )


def _names(trace: Trace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and units of the columns; columns without declared names are numbered."""
    names = trace.domain.columns or tuple(f"column {j + 1}" for j in range(trace.domain.n_features))
    return names, trace.domain.units


def _asked(arguments: argparse.Namespace, trace: Trace) -> int:
    if not trace.claimed.private:
        raise ValueError("explain: these centers were not released under a promise; nothing was read.")
    question = ExplainClusters.after(trace, arguments.epsilon)
    if arguments.private and arguments.seed is not None:
        raise ValueError("--seed is for DEMO runs; a private release has no seed.")
    if arguments.private:  # the question's promise is ours, but the total with the run's own spending is not
        unknown = trace.claimed.by_authors and trace.algorithm not in outside.ORIGINS
        words = (
            f"{trace.name} is an algorithm from outside: only its authors vouch for its promise" if unknown else None
        )
        warn_unaudited(trace.algorithm, arguments.unaudited, words)
    with ExitStack() as stack:
        output = Output(arguments.json, stack)
        data = data_of(arguments, stack, question.neighboring)
        same = data.domain.n_features == trace.domain.n_features and all(
            np.array_equal(getattr(data.domain, name), getattr(trace.domain, name)) for name in ("low", "high")
        )
        if not same:
            raise ValueError(
                "explain: the data must have the columns of the run, in the same order and with the "
                "same declared bounds."
            )
        if arguments.delta is not None:  # what it means depends on n
            check_delta(question.name, arguments.delta, data.size(), private=arguments.private)
            question = dataclasses.replace(question, delta=arguments.delta)
        if trusts := question.trusts(trace):
            print(trusts)
        output.reserve(question.releases(data.domain.n_features, data.size()))
        if arguments.private:
            book(arguments.account, data.account, question, data.domain)
            answer = question.run(data.X, domain=data.domain, dataset_id=data.dataset_id, noise="secure")
        else:
            seed = 0 if arguments.seed is None else arguments.seed
            answer = question.run(data.X, domain=data.domain, dataset_id=data.dataset_id, seed=seed)
        output.write(answer.to_json(), spent=arguments.private)
        print(f"{answer.steps[-1].title}; {answer.notice}")
        print(f"spent: {answer.spent}, in addition to the run's own spending")
        say_person(answer.claimed)
        print(*of_trace(answer).sentences(data.columns, data.domain.units), sep="\n")
    return 0
