"""The command `algorithms`: one line each."""

from __future__ import annotations

import argparse

from dpviz.algorithms import ALGORITHMS

__all__ = ["add_algorithms"]


def add_algorithms(command: argparse.ArgumentParser) -> None:
    """Give the command its arguments."""
    command.set_defaults(do=_algorithms)


def _algorithms(_: argparse.Namespace) -> int:
    width = max(map(len, ALGORITHMS))
    for slug, cls in ALGORITHMS.items():
        print(f"{slug:<{width}}  {cls.name}: {cls.tagline} [{cls.notion}]")
    return 0
