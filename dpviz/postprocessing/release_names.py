"""Name releases for the screen: each one by itself, and all of a kind together."""

from __future__ import annotations

from dpviz.privacy.ledger import Release

__all__ = ["KINDS", "release_name"]

_ONE = {  # name of a release in a plan -> its name on screen, to which its number is added
    "update.sums": "sums, round",
    "update.counts": "counts, round",
    "update.scatters": "scatters, round",
    "recover.sums": "last sums",
    "recover.counts": "last counts",
    "candidates.sums": "candidates' sums",
    "candidates.counts": "candidates' counts",
    "regions.sums": "regions' sums",
    "regions.counts": "regions' counts",
    "average.sums": "averages' sums",
    "average.counts": "averages' counts",
    "table.sums": "table's sums",
    "table.counts": "table's counts",
    "votes": "votes, round",
    "boxes": "boxes, level",
    "cubes": "cubes, level",
    "buckets": "cells, table",
    "choice": "best candidate",
    "pairs": "pair",
    "pick": "best set",
    "split": "cut",
    "swap": "swap",
}
KINDS = {  # label of a plan's entries -> what they release, as the object of "spent 40% on"
    "average": "averages",
    "averages": "averages of crowded cells",
    "boxes": "counts of boxes",
    "buckets": "counts of cells",
    "candidates": "candidates' sums and counts",
    "cells": "counts of cells",
    "choice": "the best candidate and its cost",
    "columns": "counts of single columns",
    "count": "counts",
    "cover": "the choice of cells",
    "cubes": "counts of cubes",
    "distances": "how far rows lie from the centers",
    "leaves": "counts of leaves",
    "look": "counts of cells",
    "mean": "where the rows lie",
    "moment": "in which directions the rows spread",
    "pick": "the choice of a set of centers",
    "pairs": "the choice of pairs of columns",
    "points": "noisy points",
    "radius": "how far out the rows lie",
    "recover": "last sums and counts",
    "regions": "regions' sums and counts",
    "report": "reports",
    "split": "the choice of cuts",
    "step": "sums and counts of the last steps",
    "sum": "sums of buckets",
    "sums": "sums of the groups",
    "swap": "the choice of swaps",
    "table": "tables of days",
    "tables": "tables of pairs of columns",
    "tree": "the choice of boxes to halve",
    "update": "sums and counts of its rounds",
    "votes": "votes",
    "weights": "counts at the candidates",
    "zoom": "sums and counts where rows were found",
}


def release_name(entry: Release) -> str:
    """Return a release's name for the screen: its content, and its number among releases of the same kind."""
    if entry.name == "report":  # such a release is named after its group of people and its question
        again = f", question {entry.occurrence + 1}" if entry.occurrence else ""
        return f"reports of group {max(entry.path)}{again}"
    words = _ONE.get(entry.name, entry.name.replace(".", ": ").replace("_", " "))
    return f"{words} {entry.occurrence + 1}"
