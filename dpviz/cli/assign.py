"""Implement the command `assign`: list the released center nearest to each row of a public file."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

import numpy as np

from dpviz.cli.inputs import add_form, form_of
from dpviz.datasets import load_csv
from dpviz.domain import Domain
from dpviz.privacy.accounts import refuse_private
from dpviz.takeaway.foreign import read
from dpviz.takeaway.nearest import nearest_csv

__all__ = ["add_assign"]

_PRIVATE = (
    "assign: the nearest center of a private row is that row's secret, so no file lists it: give --public if this file "
    "is public, or compute it where the rows are stored, with the lines of code on the page Account; nothing was read."
)


def add_assign(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "centers",
        type=Path,
        metavar="CENTERS.json",
        help="centers saved as JSON, or the trace of `run --json`",
    )
    command.add_argument("data", type=Path, metavar="NEW.csv", help="a public file with the same columns")
    command.add_argument("--public", action="store_true", help="say that the file is public; required")
    command.add_argument("-o", "--out", type=Path, help="file to write; default: standard output")
    command.add_argument(
        "--dictionary", type=Path, metavar="FILE.json",
        help="the data dictionary; default: FILE.dictionary.json or FILE.json beside the data",
    )  # fmt: skip
    add_form(command)
    command.set_defaults(do=_assign)


def _assign(arguments: argparse.Namespace) -> int:
    if not arguments.public:
        raise ValueError(_PRIVATE)
    refuse_private(arguments.data)
    centers, columns, domain = _centers(arguments.centers)
    low, high = domain.without_logs(np.array([domain.low, domain.high]))
    data = load_csv(
        arguments.data, columns=columns, low=low.tolist(), high=high.tolist(), dictionary=arguments.dictionary,
        **form_of(arguments),
    )  # fmt: skip
    X = np.where(data.domain.logs, data.X, domain.with_logs(data.X))  # a dictionary beside the file may have taken them
    text = nearest_csv(centers, dataclasses.replace(data, X=X, domain=domain))
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        arguments.out.write_text(text, encoding="utf-8")
    return 0


def _centers(path: Path) -> tuple[np.ndarray, list[str], Domain]:
    """Return released centers (k, d), original units, with the names of their columns and their declared bounds."""
    wrong = f"assign: {path} holds no centers; give the JSON of Save, Centers as JSON, or of `run --json`."
    try:
        text = path.read_text(encoding="utf-8")
        record = json.loads(text)
        if isinstance(record, dict) and "domain" in record and "schema" not in record:
            centers = np.asarray(record["cluster_centers"], dtype=float)
            columns, domain = list(map(str, record["columns"])), Domain.from_dict(record["domain"])
        else:
            trace = read(text)
            centers, columns, domain = np.asarray(trace.cluster_centers), list(trace.domain.columns), trace.domain
    except OSError:
        raise ValueError(f"assign: {path} cannot be read.") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(wrong) from None
    if centers.ndim != 2 or not len(centers) or centers.shape[1] != domain.n_features or not np.isfinite(centers).all():
        raise ValueError(wrong)
    if len(columns) != domain.n_features:
        raise ValueError(f"assign: {path} does not name its columns, so they cannot be found in another file.")
    return centers, columns, domain
