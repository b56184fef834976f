"""The command line: one module a command."""

from dpviz.cli.main import main

__all__ = ["main"]
