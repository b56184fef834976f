"""The command `completion`: a script that makes a shell complete commands, options, algorithms and files."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from dpviz.cli.main import COMMANDS, parser_of

__all__ = ["add_completion"]


def add_completion(command: argparse.ArgumentParser) -> None:
    """Give the command its arguments."""
    command.add_argument("shell", choices=shtab.SUPPORTED_SHELLS, help="for bash: source <(dpviz completion bash)")
    command.set_defaults(do=_completion)


def _completion(arguments: argparse.Namespace) -> int:
    parser = parser_of(COMMANDS)
    _complete_files(parser)
    print(shtab.complete(parser, arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Let every argument that is a path complete file names."""
    for action in parser._actions:
        if action.type is Path or "FILE" in str(action.metavar):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner)
