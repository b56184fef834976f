"""Implement the command `app`: start the dashboard."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

__all__ = ["add_app"]


def add_app(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--port", type=int, default=8501, help="default 8501")
    command.set_defaults(do=_app)


def _app(arguments: argparse.Namespace) -> int:
    folder = next((place for place in _places() if (place / "app.py").exists()), None)
    if folder is None:
        raise ValueError("app: the dashboard's files are not installed; install dpviz from a checkout or a wheel.")
    import_module("dpviz.algorithms")  # a failure to load an outside algorithm is then reported here, and only once
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={arguments.port}"]
    if os.name == "nt":
        return subprocess.run(command, cwd=folder, check=False).returncode
    os.chdir(folder)
    os.execv(sys.executable, command)  # this process becomes the server, so that every signal reaches it


def _places() -> tuple[Path, ...]:
    """Return the folders where the dashboard may be: inside the installed package, or next to it in a checkout."""
    package = Path(__file__).parent.parent
    return package / "dashboard", package.parent
