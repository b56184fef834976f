"""Papers' controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.algorithms import ALGORITHMS
from dpviz.papers import registry
from dpviz.papers.writeup import OURS
from pages._ui.frame.address.control import Control, choice
from pages._ui.learn.papers.view import WORDS

PAPER = Control(
    "paper", "papers_paper", "Paper", choice("pe-means", (*registry.papers(), *OURS)), always=True,
    widget="segmented_control",
    named=lambda one: registry.papers()[one].short if one in registry.papers() else ALGORITHMS[one].name,
)  # fmt: skip
VERDICT = Control("verdict", "papers_verdict", "Verdict", choice("all", WORDS))


def papers(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Papers: the paper, and the verdict of its items."""
    return [PAPER, VERDICT]
