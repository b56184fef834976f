"""Present an algorithm of our own as a paper: its docstring and our notes on it, cut at headings, for the screen."""

from __future__ import annotations

import dataclasses
import inspect
import re

from dpviz.algorithms import ALGORITHMS
from dpviz.papers.results import NOTES, RESULTS

__all__ = ["OURS", "WriteUp", "write_up"]

OURS = ("nsm",)
_SIGNS = {
    **{"mu_i": "μᵢ", "+-": "±", "<->": "↔", "sqrt(": "√("},
    **{"^2": "²", "^T": "ᵀ", "+ nu)": "+ ν)", "), nu the": "), ν the"},
}


@dataclasses.dataclass(frozen=True)
class WriteUp:
    """The docstring of an algorithm, and our notes on it, as paragraphs of Markdown.

    Attributes
    ----------
    title : the docstring's first line
    idea : what the algorithm does, and why
    guarantee : theorem and proof
    findings : what matters, what was tried, and where the algorithm loses
    sources : papers that the proof rests on
    """

    title: str
    idea: tuple[str, ...]
    guarantee: tuple[str, ...]
    findings: tuple[str, ...]
    sources: tuple[str, ...]


def write_up(slug: str) -> WriteUp:
    """Return the write-up of an algorithm."""
    text = inspect.cleandoc(ALGORITHMS[slug].__doc__ or "")
    first, *rest = re.split(r"\n\n(\w[\w ]*)\n-{3,}\n", text)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    title, *idea = _paragraphs(first)
    notes = (RESULTS / f"{slug}.md").read_text(encoding="utf-8").partition(NOTES)[2]
    sources = re.split(r"\n?\.\. ", parts["References"])[1:]
    return WriteUp(
        title.rstrip("."),
        tuple(idea),
        _paragraphs(parts["Formal guarantee"]),
        _paragraphs(parts["Deviations from the paper"]) + _paragraphs(notes),
        tuple(_set(" ".join(one.split())) for one in sources),
    )


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(_set(" ".join(one.split())) for one in re.split(r"\n\s*\n", text.strip()))


def _set(paragraph: str) -> str:
    """Return a paragraph with symbols as characters, its first words in bold if a colon or parenthesis ends them."""
    for plain, sign in _SIGNS.items():
        paragraph = paragraph.replace(plain, sign)
    paragraph = re.sub(r"([*_$~|])", r"\\\1", paragraph)
    return re.sub(r"^([A-Z][\w -]{3,30})(: | \()", r"**\1**\2", paragraph)
