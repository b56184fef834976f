"""The frame of every page of the site: a self-contained HTML file with one header, in light or dark, at any width."""

from __future__ import annotations

import dataclasses
import datetime
import html
import os
import posixpath
from functools import cache
from importlib.resources import files

from dpviz.figures.kit.theme import LIGHT
from dpviz.takeaway.style import document
from dpviz.version import __version__

__all__ = ["CITE", "ICON", "INSTALL", "PREVIEW", "TITLE", "Shell", "aliases", "built", "link", "text_of"]

TITLE = "dpviz: see what privacy costs in clustering"
CITE = "cite.html"
PREVIEW = "preview.png"
_ABOUT = "Differentially private clustering, step by step: what each step releases, what it costs, and what is lost."

INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt && .venv/bin/streamlit run app.py"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' "
    f"r='9' fill='{LIGHT.released}' stroke='{LIGHT.ink}' stroke-width='3'/%3E%3C/svg%3E"
).replace("#", "%23")


@cache
def text_of(name: str) -> str:
    """Return the text of a file of this package: a style or a script."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def aliases() -> str:
    """Return declarations that give the site's colors the names that they have in the app."""
    return "".join(f"--dp-{name}:var(--{name});" for name in LIGHT.tokens())


@cache
def built() -> datetime.date:
    """Return the day of the build in UTC: today, or that of SOURCE_DATE_EPOCH, which makes a build repeatable."""
    now = datetime.datetime.now(datetime.UTC).timestamp()
    return datetime.datetime.fromtimestamp(float(os.environ.get("SOURCE_DATE_EPOCH", now)), datetime.UTC).date()


def link(here: str, there: str) -> str:
    """Return the address of one page of the site relative to another, so that the site can be served from anywhere."""
    path, sign, place = there.partition("#")
    return posixpath.relpath(path, posixpath.dirname(here) or ".") + sign + place


@dataclasses.dataclass(frozen=True)
class Shell:
    """The header and footer of every page.

    Attributes
    ----------
    doors : words of the header and the first page behind each
    live : the page that runs methods in the tab, or "" if the site has none
    home : the site's address if it is known, such as https://example.org/dpviz, else ""; the address of the preview
        picture is relative without it, which many services that preview links do not follow
    """

    doors: tuple[tuple[str, str], ...]
    live: str = ""
    home: str = ""

    def page(
        self,
        here: str,
        title: str,
        body: str,
        *,
        head: str = "",
        wide: bool = False,
        foot: bool = True,
        worker: bool = False,
    ) -> str:
        """Return a page as a whole HTML document.

        `here` is the page's path in the site, `title` is text, and `body` and `head` are safe HTML. `worker` says
        whether the page starts a worker, which loads files of the site.
        """
        doors = "".join(
            f'<a href="{link(here, there)}"{" aria-current=page" * self._within(here, there)}>{html.escape(word)}</a>'
            for word, there in self.doors
        )
        held = (
            "What this page makes of your file stays in this tab; all else is made from public samples with known "
            "seeds. It contacts no server but its own."
            if worker
            else "Everything here is made from public samples with known seeds: nothing on these pages is a private "
            "release, and no page contacts a server."
        )
        note = (
            f'<footer class="site">{held}<br>dpviz {__version__}, {built():%-d %B %Y} · '
            f'License: Apache-2.0 · <a href="{link(here, CITE)}">Cite this</a></footer>'
        )
        home = self.home.rstrip("/")
        about = {
            "name=description": _ABOUT, "property=og:title": f"{title} · dpviz", "property=og:description": _ABOUT,
            "property=og:type": "website", "property=og:image": f"{home}/{PREVIEW}" if home else link(here, PREVIEW),
            "property=og:image:alt": "Thousands of people as dots, and the centers that one run with noise released",
            "name=twitter:card": "summary_large_image", **({"property=og:url": f"{home}/{here}"} if home else {}),
        }  # fmt: skip
        described = "".join(f'<meta {which} content="{html.escape(words)}">' for which, words in about.items())
        look = f'{described}<link rel="icon" href="{ICON}"><style>{text_of("site.css")}</style>{head}'
        return document(
            f"{title} · dpviz",
            f'<header class="site"><nav aria-label="Pages"><b>dpviz</b>{doors}</nav></header>'
            f"<main{' class=wide' * wide}>{body}</main>{note * foot}",
            head=look,
            worker=worker,
        )

    @staticmethod
    def _within(here: str, there: str) -> bool:
        """Return whether a page belongs to a word of the header: the page is the word's first one, or in its folder."""
        folder = posixpath.dirname(there)
        return here == there or (folder != "" and posixpath.dirname(here) == folder)
