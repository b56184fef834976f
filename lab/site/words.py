"""The glossary, the limits of every promise, how to run what needs rows or a server, and how to cite dpviz."""

from __future__ import annotations

import html

from dpviz.lessons import LESSONS, glossary, limits_in_words
from dpviz.version import __version__

from .folder import Folder
from .markdown import inline, rendered
from .shell import CITE, INSTALL, TITLE, Shell, built

__all__ = ["AUTHORS", "GLOSSARY", "LIMITS", "RUN", "add_cite", "add_glossary", "add_limits", "add_run"]

AUTHORS = "The dpviz developers"

GLOSSARY, LIMITS, RUN = "words.html", "limits.html", "run.html"
_NEEDS = (  # parts of dpviz that need rows or a server
    ("Your own file", "rehearsed from public facts first, then run with a ledger of every release"),
    ("Other noise and other parameters", "every algorithm at any ε, with any seed, on any sample"),
    ("The game about Alex", "bets against any method, as many as you like"),
    ("Sweeps", "many runs over ε, k, or the number of people, with intervals"),
    ("A class", "everybody bets and answers by phone; one screen shows all answers"),
)


def add_glossary(folder: Folder, shell: Shell) -> None:
    """Add the glossary of the lessons."""
    terms = "".join(
        f"<dt>{html.escape(term)}</dt><dd>{html.escape(meaning)}</dd>" for term, meaning in glossary().items()
    )
    body = f"<h1>Glossary</h1><p class=lede>The words, as the {len(LESSONS)} lessons use them.</p><dl>{terms}</dl>"
    folder.put(GLOSSARY, shell.page(GLOSSARY, "Glossary", body))


def add_limits(folder: Folder, shell: Shell) -> None:
    """Add the page on the limits of every promise."""
    parts = "".join(f"<h2>{inline(title)}</h2>{rendered(words)}" for title, words in limits_in_words().items())
    body = (
        "<h1>Limits</h1><p class=lede>A privacy promise is exact about a few things and says nothing about all others. "
        f"This page lists what no promise covers, so that you need not find out later.</p>{parts}"
    )
    folder.put(LIMITS, shell.page(LIMITS, "Limits", body))


def add_run(folder: Folder, shell: Shell) -> None:
    """Add the page on how to run the parts that need rows or a server."""
    needs = "".join(f"<li><b>{html.escape(what)}</b>: {html.escape(words)}.</li>" for what, words in _NEEDS)
    body = (
        "<h1>Run it yourself</h1><p class=lede>These pages are static files about the samples. The app runs on your "
        f"own machine, and only there:</p><pre><code>{html.escape(INSTALL)}</code></pre>"
        "<p>Run this in a fresh clone, with Python 3.11 or newer (on Windows, <code>.venv\\Scripts\\</code> replaces "
        f"<code>.venv/bin/</code>). The app offers:</p><ul>{needs}</ul>"
        "<p>In a shell, <code>.venv/bin/python -m dpviz run pe-means --data sample:town --epsilon 1 --seed 0</code> "
        "prints one run.</p>"
    )
    folder.put(RUN, shell.page(RUN, "Run it yourself", body))


def add_cite(folder: Folder, shell: Shell) -> None:
    """Add the page on how to cite dpviz, with an entry for BibTeX."""
    year = built().year
    bib = (
        f"@software{{dpviz,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{TITLE}}},\n  version = {{{__version__}}},\n"
        f"  year    = {{{year}}},\n  note    = {{License: Apache-2.0}}\n}}"
    )
    body = (
        f"<h1>Cite this</h1><p>{html.escape(AUTHORS)} ({year}). <i>{html.escape(TITLE)}</i>, version {__version__}. "
        f"Apache-2.0.</p><p>For BibTeX:</p><pre><code>{html.escape(bib)}</code></pre><p>The methods are those of the "
        "papers: please cite these too. The data sets iris, wine and digits are from the UCI Machine Learning "
        "Repository, under CC BY 4.0; all other samples are made up.</p>"
    )
    folder.put(CITE, shell.page(CITE, "Cite this", body))
