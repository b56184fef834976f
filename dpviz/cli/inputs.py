"""Open the data of one run on the command line: in memory, or in a file that is read part by part."""

from __future__ import annotations

import argparse
import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.datasets import Dataset
from dpviz.datasets.dictionary import domain_of
from dpviz.datasets.loading import present
from dpviz.datasets.notation import read_bounds, read_names, read_numbers, read_rules, read_signs, read_weights
from dpviz.datasets.parts import columns_in, parts_of
from dpviz.datasets.readers.form import FORM_ENTRIES, SEPARATORS, Form
from dpviz.datasets.readers.names import named, numbered
from dpviz.domain import Domain
from dpviz.metrics import majority_accuracy, reference_name, run_loss
from dpviz.postprocessing.regions import agreement, labels_of
from dpviz.privacy.chunked import ChunkedRows, Spread
from dpviz.privacy.rows import Rows
from dpviz.trace import Trace

__all__ = [
    "RunInput", "add_bounds", "add_declaration", "add_form", "declared_by", "example_of", "form_of", "in_memory",
    "in_parts", "limits_by", "say_form",
]  # fmt: skip

_ENDS = ("low", "high")
_SEPARATORS = {"tab": "\t", "space": " ", **{sign: sign for sign in SEPARATORS if sign.strip()}}


def add_form(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that describe the format of a file."""
    parser.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line holds column names or data; a private file is not read until you say which, "
        "unless its first line holds all the names that you declare",
    )
    parser.add_argument("--sheet", metavar="NAME", help="a workbook's sheet, by name or number; default: the first")
    parser.add_argument("--header-row", type=int, metavar="N", help="first line or row of the table; default: 1")
    parser.add_argument(
        "--separator", choices=_SEPARATORS, metavar="SIGN",
        help="separator of cells: , ; | tab space; default: detected in a public file, taken from the line of names "
            "in a private one",
    )  # fmt: skip
    parser.add_argument(
        "--decimal", action="append", default=[], metavar="SIGN|COLUMN=SIGN",
        help="decimal sign, . or , (default: detected in a public file, else a point), or that of one column: weight=,",
    )  # fmt: skip
    parser.add_argument(
        "--thousands",
        choices=(".", ",", "none"),
        help="thousands separator; default: the sign that is not the decimal sign",
    )
    parser.add_argument(
        "--n-columns", type=int, metavar="N", help="number of cells in each line of a private file without names"
    )
    parser.add_argument(
        "--missing-marks", metavar="A,B,...",
        help="marks of a missing cell, besides NA, ?, - and similar ones: \"k. A.,missing,-999\"",
    )  # fmt: skip
    parser.add_argument(
        "--no-missing-marks", metavar="A,B,...",
        help="those of NA, ?, - and similar ones that are words of this file, such as NA for Namibia",
    )  # fmt: skip
    parser.add_argument(
        "--lines-below", type=int, metavar="N",
        help="number of lines directly below the names to skip, such as one of units; default: none",
    )  # fmt: skip


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that declare the bounds of columns."""
    parser.add_argument(
        "--bounds", action="append", default=[], metavar="NAME=LOW..HIGH,...",
        help="public bounds by name: Age=18..95,Visits=0..50, or by a preset: Age=age,lat=latitude,Q1..Q12=likert5",
    )  # fmt: skip
    parser.add_argument(
        "--low", metavar="A,B,...", help="public lower bounds, one for all columns or one per column: -12,9 or -12 9"
    )
    parser.add_argument("--high", metavar="A,B,...", help="public upper bounds, in the same order")
    parser.add_argument(
        "--dictionary", type=Path, metavar="FILE.json",
        help="the data dictionary; default: FILE.dictionary.json or FILE.json beside the data",
    )  # fmt: skip


def add_declaration(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that declare columns and people, in addition to the dictionary or instead of it."""
    parser.add_argument(
        "--columns", metavar="A,B,...",
        help="names of the columns to use; quote a name with a comma; write Q1..Q12 for a range; default: all",
    )  # fmt: skip
    parser.add_argument(
        "--recode", action="append", default=[], metavar="COLUMNS=RULE",
        help="rules that turn words or dates into numbers: sex=one-hot:female,male, "
        "Q1..Q12=ordinal:never,rarely,often, born=days:1900-01-01..2020-12-31 (days-dmy, days-mdy for other orders); "
        "any other cell counts as missing",
    )  # fmt: skip
    parser.add_argument(
        "--log", action="append", default=[], metavar="A,B,...",
        help="columns to cluster as ln(1 + value), such as amounts of money; their bounds are 0 or more",
    )  # fmt: skip
    parser.add_argument(
        "--weight", action="append", default=[], metavar="NAME=W,...",
        help="how much a column counts in distances, from 0.001 to 1000: age=2; default: 1",
    )  # fmt: skip
    parser.add_argument("--n-public", type=int, help="declared nominal number of rows")
    parser.add_argument(
        "--rows-per-person",
        type=int,
        metavar="M",
        help="largest possible number of rows of one person; default: the dictionary's, else 1",
    )


def limits_by(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `add_bounds`, named as `load_csv` names them."""
    limits = {end: None if getattr(arguments, end) is None else read_numbers(getattr(arguments, end)) for end in _ENDS}
    return {**limits, "bounds": read_bounds(arguments.bounds), "dictionary": arguments.dictionary}


def declared_by(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `add_declaration`, named as `load_csv` names them."""
    return {
        "columns": None if arguments.columns is None else read_names(arguments.columns),
        "recode": read_rules(arguments.recode),
        "logs": [name for text in arguments.log for name in read_names(text)],
        "weights": read_weights(arguments.weight),
        "n_public": arguments.n_public,
        "rows_per_person": arguments.rows_per_person,
    }


def form_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `add_form`, named as the readers name them; arguments that are not given are None."""
    decimal, decimal_of = read_signs(arguments.decimal)
    entries = {key: getattr(arguments, key) for key in FORM_ENTRIES - {"decimal_of"}}
    return entries | {
        "decimal": decimal,
        "decimal_of": decimal_of or None,
        "separator": _SEPARATORS.get(arguments.separator),
        "thousands": "" if arguments.thousands == "none" else arguments.thousands,
        **{
            key: None if getattr(arguments, key) is None else read_names(getattr(arguments, key))
            for key in ("missing_marks", "no_missing_marks")
        },
    }


def example_of(form: Mapping[str, Any]) -> str:
    """Return an example of a number in the format that a dictionary declares."""
    return Form(decimal=form.get("decimal"), thousands=form.get("thousands")).example


def say_form(form: Mapping[str, Any]) -> None:
    """Print an example of a number in the declared format, because cells in another format count as missing."""
    example = example_of(form)
    for name in form.get("decimal_of") or {}:
        example += f", in {name!r} like {example_of({'decimal': form['decimal_of'][name]})}"
    print(f"read:    numbers like {example}; do yours look like this? Cells in any other format count as missing.")


@dataclasses.dataclass(frozen=True, eq=False)
class RunInput:
    """The input of a run, and what the command line needs to describe its result.

    Attributes
    ----------
    X : array, original units, or Rows
    domain : Domain
    dataset_id : str
    columns : names of the columns of X
    loss : trace -> the loss that the algorithm tries to reduce, computed on the raw rows (see `metrics.run_loss`); NOT
        PRIVATE
    groups : centers in original units -> share of rows in the largest known group of their center; NOT PRIVATE; None
        without known groups
    agreement : trace of regions -> adjusted Rand index with the known groups; NOT PRIVATE; None without known groups
    size : () -> the public number of rows: declared, or counted if undeclared and the data are public
    account : the key of the private file's account, "" for public data
    facts : the data dictionary, or what of it was declared: columns, bounds, rules, format; public
    """

    X: np.ndarray | Rows
    domain: Domain
    dataset_id: str
    columns: tuple[str, ...]
    loss: Callable[[Trace], float]
    size: Callable[[], int]
    groups: Callable[[np.ndarray], float] | None = None
    agreement: Callable[[Trace], float] | None = None
    account: str = ""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def in_memory(data: Dataset) -> RunInput:
    """Return the input of a run for a data set in memory."""

    def loss(trace: Trace) -> float:
        _refuse(data.private)
        return run_loss(trace, data.X)

    def groups(centers: np.ndarray) -> float:
        assert data.labels is not None
        finite = np.isfinite(data.X).all(axis=1) & np.isfinite(data.labels)
        return majority_accuracy(data.X[finite], centers, data.labels[finite])

    def rand(trace: Trace) -> float:
        assert data.labels is not None
        return agreement(labels_of(trace, data.X), data.labels)

    known = (None, None) if data.labels is None or data.private else (groups, rand)
    whole = RunInput(data.X, data.domain, data.dataset_id, data.columns, loss, lambda: data.n_public, *known)
    return dataclasses.replace(whole, facts=data.facts)


def _refuse(private: bool) -> None:
    if private:
        raise PermissionError(
            "datasets: the data are private; only the run itself may compute anything from their rows."
        )


def in_parts(
    path: Path,
    low: Sequence[float] | None,
    high: Sequence[float] | None,
    n_public: int | None,
    spread: Spread,
    *,
    form: Form,
    columns: Sequence[str] | None = None,
    facts: Mapping[str, Any] | None = None,
    rows_per_person: int | None = None,
) -> RunInput:
    """Return the input of a run for a .npy or .parquet file of any size; only a few parts are in memory at a time.

    `spread` says where the parts are processed: in threads, or on a cluster. The names of a private file's columns are
    printed only if `form.header` declares that they are names. `columns` names the columns to cluster, in this order;
    no others are read. `facts` come from a data dictionary and replace all options except `spread` and `form`.

    Raises
    ------
    ValueError
        If the file does not exist, or its public bounds are missing or do not fit.
    """
    present(path)
    if facts is not None:
        whole = facts["recode"] or facts["projection"]
        if whole or any(column["fill"] is not None or column.get("log") for column in facts["columns"]):
            raise ValueError(
                f"datasets: {path.name} is read in parts, and its dictionary has rules, logarithms, a projection or "
                "fill, which work only for files that fit in memory."
            )
        columns, n_public = [column["name"] for column in facts["columns"]], facts["n_public"]
        declared = domain_of(facts)
    elif low is None or high is None:
        raise ValueError(
            f"datasets: {path.name} is read in parts, so its public bounds must be given: --bounds, --low and --high, "
            "or a data dictionary."
        )
    if form.private and n_public is None:
        raise ValueError(f"datasets: n_public must be declared for {path.name}, because it is private.")
    private = form.private
    names, in_file = _columns(path, columns, hidden=form.header is False or (private and form.header is None))
    parts = parts_of(path, in_file, form=form)
    if facts is not None:
        domain = declared
    else:
        domain = Domain.box(
            np.asarray(low), np.asarray(high), len(names), n_public=n_public, columns=names,
            rows_per_person=rows_per_person or 1,
        )  # fmt: skip
    rows = ChunkedRows(parts, domain, secrets.token_hex(8), spread)

    def loss(trace: Trace) -> float:
        _refuse(private)
        cost = rows.distance if reference_name(trace) == "KMedians" else rows.inertia
        return cost(domain.normalize(trace.cluster_centers)) / rows.size_nonprivate()

    bounds = zip(names, domain.low.tolist(), domain.high.tolist(), strict=True)
    known = facts or {"columns": [{"name": name, "low": low, "high": high} for name, low, high in bounds]}
    return RunInput(
        rows, domain, rows.dataset_id, names, loss, lambda: n_public or rows.size_nonprivate(), facts=known
    )  # fmt: skip


def _columns(path: Path, wanted: Sequence[str] | None, *, hidden: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns to cluster: the names to show, and the names for `parts_of`, where () means all columns.

    The shown names are numbers unless the names in the file are known to be public.
    """
    in_file = columns_in(path)
    if path.suffix == ".parquet":
        names = numbered(len(in_file)) if hidden else named(path.name, in_file)[0]
    else:
        names = [f"x{i}" for i in in_file]
    if wanted is None:
        return tuple(names), ()
    known = dict(zip(names, in_file, strict=True))
    for name in wanted:
        if name not in known:
            raise ValueError(f"{path.name}: there is no column {name!r}; its columns are {', '.join(names[:8])}.")
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{path.name}: name each column once.")
    return tuple(wanted), tuple(known[name] for name in wanted)
