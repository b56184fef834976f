"""Implement the command `export`: write a finished run as a label, page, replay, script or notebook; spend nothing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpviz.takeaway import KINDS, export, label_json
from dpviz.takeaway.foreign import drawing, read

__all__ = ["add_export"]


def add_export(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", type=Path, metavar="RUN.json", help="a trace, as `run --json` writes it")
    command.add_argument("--as", dest="kind", required=True, choices=(*KINDS, "label-json"))
    command.add_argument("-o", "--out", type=Path, help="file to write; default: standard output")
    command.set_defaults(do=_export)


def _export(arguments: argparse.Namespace) -> int:
    try:
        text = arguments.run.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"export: {arguments.run} cannot be read; give the JSON that `run --json` wrote.") from None
    trace = read(text)
    if not len(trace.cluster_centers):
        raise ValueError("export: the trace holds no centers: a run without privacy withholds them.")
    with drawing(trace):
        content = label_json(trace) if arguments.kind == "label-json" else export(trace, arguments.kind)
    if arguments.out is None:
        sys.stdout.write(content)
    else:
        arguments.out.write_text(content, encoding="utf-8")
    return 0
