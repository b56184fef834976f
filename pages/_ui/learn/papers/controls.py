"""Papers' controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.algorithms import ALGORITHMS
from dpviz.papers import registry
from dpviz.papers.writeup import OURS
from pages._ui.frame.address.control import Control, choice
from pages._ui.learn.papers.bench import BENCH, BOX
from pages._ui.learn.papers.view import WORDS


def _name(word: str) -> str:
    if word in registry.papers():
        return registry.papers()[word].short
    return ALGORITHMS[word].name if word in OURS else "Benchmark"


PAPER = Control(
    "paper", "papers_paper", "Paper", choice("pe-means", (*registry.papers(), *OURS, BENCH)), always=True,
    widget="segmented_control", named=_name,
)  # fmt: skip
VERDICT = Control("verdict", "papers_verdict", "Verdict", choice("all", WORDS))


def papers(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Papers: the paper and the verdict of its items, or the benchmark's bounds."""
    return [PAPER, VERDICT, BOX]
