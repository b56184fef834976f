"""The command line: one module a command."""

from dpviz.cli.run import main

__all__ = ["main"]
