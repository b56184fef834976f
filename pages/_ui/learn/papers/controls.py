"""Papers' controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.papers import registry
from dpviz.papers.writeup import OURS
from pages._ui.explore.form.fields import choice
from pages._ui.frame import keys
from pages._ui.frame.address.scene import Control
from pages._ui.learn.papers.view import WORDS


def papers(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Papers: the paper, and the verdict of its items."""
    return [
        Control("paper", keys.PAPERS_PAPER, "Paper", choice("pe-means", (*registry.papers(), *OURS)), always=True),
        Control("verdict", keys.PAPERS_VERDICT, "Verdict", choice("all", WORDS)),
    ]
