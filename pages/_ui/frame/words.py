"""Sentences of the package in the words of the screen: it writes epsilon where the screen has ε."""

from __future__ import annotations

import re

__all__ = ["on_screen"]

_LETTERS = {"epsilon": "ε", "delta": "δ", "mu": "μ"}


def on_screen(sentence: str) -> str:
    """Return a sentence with Greek letters where the package spells them out."""
    return re.sub(r"\b(epsilon|delta|mu)\b", lambda found: _LETTERS[found[1]], sentence)
