"""Implement the command `site`: write the static web site into a folder, for any web server or none."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..site import build

__all__ = ["add_site"]


def add_site(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "out", type=Path, metavar="OUT", help="folder to write: a new or empty one, or one with an earlier site"
    )
    command.set_defaults(do=_site)


def _site(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    files, size = build(arguments.out, lambda word: print(f"site: {word}", flush=True))
    seconds = time.monotonic() - began
    print(f"{files} files, {size / 1e6:.1f} MB in {seconds:.0f} s; open {arguments.out / 'index.html'}")
    return 0
