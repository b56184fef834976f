"""Implement the command `site`: write the static web site into a folder, for any web server or none."""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from ..site import build

__all__ = ["add_site"]


def add_site(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "out", type=Path, metavar="OUT", help="folder to write: a new or empty one, or one with an earlier site"
    )
    command.add_argument(
        "--live", action="store_true", help="add a page that runs the methods in the visitor's tab; needs --pyodide"
    )
    command.add_argument(
        "--pyodide", type=Path, metavar="FOLDER", help="folder of a Pyodide distribution; deploy/README.md names it"
    )
    command.add_argument(
        "--home", default="", metavar="URL", help="the site's address, so that links to it show a picture elsewhere"
    )
    command.set_defaults(do=_site)


def _site(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    if arguments.live != (arguments.pyodide is not None):
        raise ValueError("site: --live and --pyodide FOLDER go together; give both or neither.")
    if arguments.home and not re.fullmatch(r"https?://[^\s\"<>]+", arguments.home):
        raise ValueError("site: --home is the site's whole address, such as https://example.org/dpviz.")
    files, size = build(
        arguments.out, lambda word: print(f"site: {word}", flush=True), pyodide=arguments.pyodide, home=arguments.home
    )
    seconds = time.monotonic() - began
    print(f"{files} files, {size / 1e6:.1f} MB in {seconds:.0f} s; open {arguments.out / 'index.html'}")
    return 0
