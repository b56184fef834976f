"""The command `describe`: drafts the data dictionary of a file: names, kinds, and what you have to fill in."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.cli.inputs import add_form, form_of
from dpviz.datasets.identifiers import singles_out
from dpviz.datasets.readers import Table, read_table
from dpviz.datasets.readers.form import NUMBERS, Form
from dpviz.privacy.accounts import refuse_private

__all__ = ["add_describe"]


def add_describe(command: argparse.ArgumentParser) -> None:
    """Give the command its arguments."""
    command.add_argument("file", type=Path)
    mode = command.add_mutually_exclusive_group(required=True)
    mode.add_argument("--public", action="store_true", help="names, kinds, missing shares, bounds read off the rows")
    mode.add_argument("--private", action="store_true", help="names and kinds only; you declare the bounds")
    add_form(command)
    command.add_argument("-o", "--out", type=Path, help="output file, FILE.json; default: standard output")
    command.set_defaults(do=_describe)


def _describe(arguments: argparse.Namespace) -> int:
    if not arguments.file.is_file():
        raise ValueError(f"describe: the file {arguments.file} does not exist.")
    if arguments.private and arguments.header is None and arguments.file.suffix != ".parquet":
        raise ValueError(
            f"describe: is the first line of {arguments.file.name} names of columns, or the first person? "
            "Give --header or --no-header; nothing of it is shown before."
        )
    if arguments.public:
        refuse_private(arguments.file)
    form = form_of(arguments)
    with arguments.file.open("rb") as file:
        table = read_table(file, arguments.file.name, private=arguments.private, **form)
    declared = {key: value for key, value in form.items() if value is not None}
    if arguments.private:
        example = Form(**declared).example
        declared |= dict(zip(("decimal", "thousands"), NUMBERS[example], strict=True))
        print(
            f"numbers like {example}: do yours look like this? Cells of any other form will count as missing.",
            file=sys.stderr,
        )
    text = json.dumps(_draft(table, declared, arguments.private), indent=1, ensure_ascii=False) + "\n"
    for column in table.columns:
        if column.values is None:
            print(f"left out: {column.name!r} ({column.kind}): {column.reason}", file=sys.stderr)
    for name, why in _left_out(table, arguments.private).items():
        print(f"left out: {name!r}: {why}", file=sys.stderr)
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        with arguments.out.open("x", encoding="utf-8") as out:  # never over what somebody has filled in
            out.write(text)
    return 0


def _left_out(table: Table, private: bool) -> dict[str, str]:
    """Return the columns that say nothing about likeness, with the reason; where that is all, none is left out."""
    found = {}
    for name in table.usable:
        values = table.values(name)
        if singles_out(table, name, private=private):
            found[name] = "it seems to number the rows, which singles out people."
        elif not private and np.isfinite(values).any() and np.nanmin(values) == np.nanmax(values):
            found[name] = "it holds one value only."
    return found if len(found) < len(table.usable) else {}


def _draft(table: Table, form: dict[str, Any], private: bool) -> dict[str, Any]:
    """Return the facts that a file can tell; null where only its owner can."""
    columns = []
    left_out = _left_out(table, private)
    for name in table.usable:
        if name in left_out:
            continue
        values = table.values(name)
        column: dict[str, Any] = {"name": name, "unit": "", "low": None, "high": None}
        if not private and np.isfinite(values).any():
            column |= {"low": float(np.nanmin(values)), "high": float(np.nanmax(values))}
            if share := float(np.isnan(values).mean()):
                column["description"] = f"{share:.1%} missing"
        columns.append(column)
    facts: dict[str, Any] = {"title": Path(table.name).stem, "columns": columns, "scale": "column", "form": form}
    if private:
        return facts | {"n_public": None}
    return facts | {"n_public": table.n_rows, "declared": False}
