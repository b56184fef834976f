"""The command `schema`: the published form of what other programs read."""

from __future__ import annotations

import argparse
import sys

from dpviz.takeaway.published import SCHEMAS, schema

__all__ = ["add_schema"]


def add_schema(command: argparse.ArgumentParser) -> None:
    """Give the command its arguments."""
    command.add_argument("name", choices=SCHEMAS)
    command.set_defaults(do=_schema)


def _schema(arguments: argparse.Namespace) -> int:
    sys.stdout.write(schema(arguments.name))
    return 0
