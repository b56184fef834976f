"""Implement the command `algorithms`: print one line per algorithm."""

from __future__ import annotations

import argparse

from dpviz.algorithms import ALGORITHMS

__all__ = ["add_algorithms"]


def add_algorithms(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.set_defaults(do=_algorithms)


def _algorithms(_: argparse.Namespace) -> int:
    width = max(map(len, ALGORITHMS))
    for slug, cls in ALGORITHMS.items():
        print(f"{slug:<{width}}  {cls.name}: {cls.tagline} [{cls.notion}]")
    return 0
