"""Implement the command `schema`: print the JSON schema of an exported file."""

from __future__ import annotations

import argparse
import sys

from dpviz.takeaway.published import SCHEMAS, schema

__all__ = ["add_schema"]


def add_schema(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("name", choices=SCHEMAS)
    command.set_defaults(do=_schema)


def _schema(arguments: argparse.Namespace) -> int:
    sys.stdout.write(schema(arguments.name))
    return 0
