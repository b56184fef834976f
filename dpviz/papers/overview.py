"""Count all reruns by verdict, and the printed numbers that agree with ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pandas as pd

from dpviz.numbers import percent
from dpviz.papers.registry import Item, Paper
from dpviz.papers.verdicts import (
    DOES_NOT,
    NOT_RUN,
    PART,
    REPRODUCES,
    WITHIN,
    PaperVerdict,
    behind,
    beside_printed,
    judge,
)

__all__ = ["CLOSE", "Overview", "overview", "table"]

CLOSE = 0.1  # maximum relative difference at which a printed number counts as near ours


@dataclasses.dataclass(frozen=True)
class Overview:
    """The outcome of all reruns.

    Attributes
    ----------
    verdicts : verdict of every item, in the order of the papers
    printed : how many numbers are printed
    beside : how many of these can be compared with ours
    near, rounded, held : of the compared numbers, how many are within 10% of ours, how many others agree after
        rounding, and how many of the rest lie in our 95% interval
    exact : of the numbers in `near` and `rounded`, how many are KMeans' own or byte counts, which have no noise
    """

    verdicts: tuple[tuple[Paper, Item, PaperVerdict], ...]
    printed: int
    beside: int
    near: int
    rounded: int
    held: int
    exact: int

    def count(self, word: str) -> int:
        """Return how many items have this verdict."""
        return sum(verdict.word == word for _, _, verdict in self.verdicts)

    @property
    def sentence(self) -> str:
        """Sum up all verdicts in one line."""
        missing = f", and {self.count(NOT_RUN)} were not run here" if self.count(NOT_RUN) else ""
        full = sum(verdict.full for _, _, verdict in self.verdicts)
        return (
            f"Of {len(self.verdicts)} figures and tables, {self.count(REPRODUCES)} reproduce, {self.count(WITHIN)} "
            f"agree within noise, {self.count(PART)} {'is' if self.count(PART) == 1 else 'are'} {PART} and "
            f"{self.count(DOES_NOT)} do{'es' * (self.count(DOES_NOT) == 1)} not reproduce{missing}. "
            f"{full} of these verdicts rest on the full run. "
            f"Of {self.printed} printed numbers, {self.beside} can be compared with ours; {self.near + self.rounded} "
            f"agree ({self.near} within {percent(CLOSE)}, {self.rounded} after rounding), {self.exact} of them "
            f"trivially (KMeans without noise, byte counts); {self.held} more lie inside our 95% interval."
        )


def overview(papers: Mapping[str, Paper], numbers: Mapping[tuple[str, str], pd.DataFrame]) -> Overview:
    """Judge every item; `numbers` maps (paper, item) to a table, and an item that is missing was not run."""
    verdicts, tables = [], [beside_printed((), pd.DataFrame())]
    for paper in papers.values():
        for item in paper.items:
            mine = numbers.get((paper.id, item.id), pd.DataFrame())
            verdicts.append((paper, item, judge(item, mine)))
            if item.printed:
                tables.append(beside_printed(item.printed, mine))
    every = pd.concat(tables, ignore_index=True)
    ours = every.dropna(subset="ours")
    away = (ours.ours - ours.printed).abs()
    near = away <= CLOSE * ours.printed.abs()
    rounded = ~near & (away <= ours.rounding)
    held = ~near & ~rounded & (away <= ours.half.fillna(0))
    exact = (near | rounded) & ((ours.label == "KMeans") | (ours.what == "bytes"))
    counts = (int(some.sum()) for some in (near, rounded, held, exact))
    return Overview(tuple(verdicts), len(every), len(ours), *counts)


def table(judged: Overview) -> str:
    """Return one line per item, in Markdown."""
    names = "paper | item | verdict | comparisons: hold, open, contradicted | runs | clearest contradiction"
    lines = [f"| {names} |", "|---" * 6 + "|"]
    for paper, item, verdict in judged.verdicts:
        against = verdict.against[0].replace("bench:", "") if verdict.against else ""
        counts = f"{verdict.yes}, {verdict.tie}, {verdict.no}"
        cells = (paper.short, item.name, verdict.word, counts, behind(item, verdict), against)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
