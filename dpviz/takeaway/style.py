"""Give all exported documents one quiet style, fit for A4 and dark screens, that loads nothing from outside."""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files

from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.takeaway.policy import sealed

__all__ = ["document", "text_of"]


@cache
def text_of(name: str) -> str:
    """Return the text of a file of this package: a style or a script."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def document(title: str, body: str, *, head: str = "", worker: bool = False) -> str:
    """Return a whole HTML document; `title` is text, `body` and `head` are already safe HTML; see `sealed`."""
    light, dark = ("".join(f"--{name}:{value};" for name, value in theme.tokens().items()) for theme in (LIGHT, DARK))
    style = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{text_of('document.css')}"
    return sealed(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{style}</style>{head}</head>"
        f"<body>{body}</body></html>",
        worker=worker,
    )
