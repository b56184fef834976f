"""Implement the command `describe`: draft a file's data dictionary, with gaps for you to fill in."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.cli.inputs import add_bounds, add_declaration, add_form, declared_by, example_of, form_of, limits_by
from dpviz.datasets.dictionary import amended, weigh, written_to
from dpviz.datasets.drafting import draft
from dpviz.datasets.loading import present
from dpviz.datasets.meanings import meaning_of
from dpviz.datasets.notation import quote_name
from dpviz.datasets.readers import TableError, has_types, read_table
from dpviz.datasets.readers.form import NUMBERS
from dpviz.datasets.remarks import remarks
from dpviz.privacy.accounts import refuse_private

__all__ = ["add_describe"]


def add_describe(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("file", type=Path)
    mode = command.add_mutually_exclusive_group(required=True)
    mode.add_argument(
        "--public",
        action="store_true",
        help="draft names, kinds, shares of missing cells, and bounds read off the rows",
    )
    mode.add_argument("--private", action="store_true", help="draft names and kinds only; you declare the bounds")
    add_form(command)
    add_bounds(command)
    add_declaration(command)
    command.add_argument("-o", "--out", type=Path, help="output file, FILE.json; default: standard output")
    command.set_defaults(do=_describe)


def _describe(arguments: argparse.Namespace) -> int:
    path = present(arguments.file)
    if arguments.private and arguments.header is None and not has_types(path.name):
        raise ValueError(
            f"describe: does the first line of {path.name} hold the names of the columns, or the first person? Give "
            f"--header or --no-header; until you do, nothing from the file is shown."
        )
    if arguments.public:
        refuse_private(path)
    if arguments.out is not None and arguments.out.exists():  # never overwrite a completed draft
        other = written_to(path) if written_to(path) != arguments.out else path.with_suffix(".draft.json")
        raise ValueError(
            f"describe: {arguments.out} exists and is never overwritten; give another name with -o {other.name}, "
            f"and later run with --dictionary {other.name}."
        )
    form = form_of(arguments)
    table = read_table(path.read_bytes(), path.name, private=arguments.private, words=True, **form)
    if question := table.question():
        raise TableError(f"{path.name}: {question}")
    entries = {"missing_marks": []} | {key: value for key, value in form.items() if value is not None}
    if arguments.private:
        example = example_of(entries)
        entries |= dict(zip(("decimal", "thousands"), NUMBERS[example], strict=True))
        print(
            f"Numbers are read as in {example}; cells in any other format count as missing.",
            file=sys.stderr,
        )
    facts = _with_declared(draft(table, entries, private=arguments.private), arguments)
    for entry in facts["left_out"]:
        print(f"left out: {entry['name']!r} ({entry.get('kind', 'number')}): {entry['reason']}", file=sys.stderr)
    if facts["left_out"]:
        print("To use such a column, move its entry from left_out to columns.", file=sys.stderr)
    if arguments.private:
        _say_wanted(facts)
    else:
        for remark in remarks(table):
            print(remark, file=sys.stderr)
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        with arguments.out.open("x", encoding="utf-8") as out:
            out.write(text)
    return 0


def _say_wanted(facts: dict[str, Any]) -> None:
    """Print which gaps of a private draft only its owner can fill, and the bounds that the columns' names suggest."""
    gaps = [column["name"] for column in facts["columns"] if column["low"] is None and not column["recode"]]
    if not gaps and None not in (facts["rows_per_person"], facts["n_public"]):
        return
    print(
        "fill in: low and high of every column, or its rule in recode for words and dates (ordinal:never,rarely,often, "
        "one-hot:A,B or days-dmy:1900-01-01..2020-12-31); rows_per_person; n_public. Remove columns that you do not "
        "want to use.",
        file=sys.stderr,
    )
    meant = [(name, meaning) for name in gaps if (meaning := meaning_of(name)) and meaning.low is not None]
    if meant:
        known = ",".join(f"{quote_name(name)}={meaning.low:g}..{meaning.high:g}" for name, meaning in meant)
        print(f"bounds that the names suggest, for you to confirm: --bounds '{known}'", file=sys.stderr)


def _with_declared(facts: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the draft with the bounds, rules and numbers that the arguments declare."""
    declared, limits = declared_by(arguments), limits_by(arguments)
    names = [column["name"] for column in facts["columns"] + facts["left_out"]]
    bounds = limits["bounds"] | dict(_bounds_of(limits, [column["name"] for column in facts["columns"]]))
    rules = {rule.column: rule.text for rule in declared["recode"]}
    for name in (*bounds, *rules, *(declared["columns"] or ())):
        if name not in names:
            raise TableError(f"{arguments.file.name}: there is no column {name!r}; its columns are {', '.join(names)}.")
    if declared["columns"] is not None or bounds or rules:
        named = {*bounds, *rules}
        chosen = declared["columns"] or [name for name in names if name in named]
        every = {column["name"]: column for column in facts["columns"] + facts["left_out"]}
        others = [column for name, column in every.items() if name not in {*chosen, *named}]
        facts["left_out"] = [{**column, "reason": column.get("reason", "It was not selected.")} for column in others]
        chosen = list(dict.fromkeys([*chosen, *bounds, *rules]))
        facts["columns"] = [{k: v for k, v in every[name].items() if k not in ("kind", "reason")} for name in chosen]
    for column in facts["columns"]:
        if column["name"] in bounds:
            low, high, unit = bounds[column["name"]]
            column |= {"low": low, "high": high, "recode": None} | ({"unit": unit} if unit else {})
        elif column["name"] in rules:
            column |= {"low": None, "high": None, "recode": rules[column["name"]]}
    made = {rule.column: [one["name"] for one in rule.columns] for rule in declared["recode"]}
    weigh(facts["columns"], made, declared["logs"], declared["weights"])
    for key in ("n_public", "rows_per_person"):
        facts[key] = facts[key] if declared[key] is None else declared[key]
    if all(column["low"] is not None or column["recode"] is not None for column in facts["columns"]):
        if facts["rows_per_person"] is not None:
            amended(facts, arguments.file.name)  # a draft without gaps must be a valid dictionary
    return facts


def _bounds_of(limits: dict[str, Any], names: list[str]) -> list[tuple[str, tuple[float, float, str]]]:
    """Return the bounds that --low and --high give to the drafted columns."""
    low, high = limits["low"], limits["high"]
    if low is None and high is None:
        return []
    if low is None or high is None or {len(low), len(high)} - {1, len(names)}:
        raise ValueError(f"describe: --low and --high take 1 or {len(names)} numbers each; or give --bounds by name.")
    lows, highs = (np.broadcast_to(bound, (len(names),)).tolist() for bound in (low, high))
    return [(name, (a, b, "")) for name, a, b in zip(names, lows, highs, strict=True)]
