"""A static web site of everything that needs no rows and no server: story, lessons, replays, trade-offs, papers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import lessons, live, papers, preview, reference, story, teach, tradeoff, watch, words
from .folder import Folder
from .shell import Shell

__all__ = ["build"]

_SECTIONS: tuple[
    tuple[str, str, Callable[[Folder, Shell], None]], ...
] = (  # word, first page, function that adds its pages
    ("Start", story.HOME, story.add),
    ("Lessons", lessons.HOME, lessons.add),
    ("Watch", watch.HOME, watch.add),
    ("Trade-off", tradeoff.HOME, tradeoff.add),
    ("Teach", teach.HOME, teach.add),
    ("Papers", papers.HOME, papers.add),
    ("Glossary", words.GLOSSARY, words.add_glossary),
    ("Limits", words.LIMITS, words.add_limits),
    ("Reference", reference.HOME, reference.add),
    ("Run it yourself", words.RUN, words.add_run),
)


def build(
    out: Path, on_section: Callable[[str], None] = lambda word: None, *, pyodide: Path | None = None, home: str = ""
) -> tuple[int, int]:
    """Write the site into a folder; return how many files and bytes it has.

    `pyodide` is the folder of a Pyodide distribution; with it, the site has a page that runs methods in the tab.
    `home` is the site's address, for previews of links to it.

    Raises
    ------
    ValueError
        If the folder is not empty and holds no earlier site, or stored runs are missing or of another version, or the
        distribution is not the one that was published.
    """
    folder = Folder(out)
    shell = Shell(tuple((word, first) for word, first, _ in _SECTIONS), live=live.HOME if pyodide else "", home=home)
    if pyodide is not None:
        on_section("Python")
        live.add(folder, shell, pyodide)
    for word, _, add in _SECTIONS:
        on_section(word)
        add(folder, shell)
    words.add_cite(folder, shell)
    preview.add(folder, shell)
    return folder.write()
