"""Provide the command line, one module per command."""

from dpviz.cli.main import main

__all__ = ["main"]
