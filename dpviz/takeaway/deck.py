"""Write a deck as one HTML file, which shows full screen without a network and prints one slide a page."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from dpviz.figures import Panel
from dpviz.figures.kit.legend import icon
from dpviz.figures.kit.theme import SLOTS, series_tokens, theme, untitled
from dpviz.figures.stage import script
from dpviz.takeaway.style import document, text_of
from dpviz.version import __version__

__all__ = ["Picture", "Shown", "deck", "show_code", "tokens"]

_FIXED = "This file holds the runs of its own slides, so it has no other ε and no other seed."


@dataclasses.dataclass(frozen=True)
class Picture:
    """One screen.

    Attributes
    ----------
    figure : JSON of the figure in the colors `SLOTS`, "" if `html` replaces it
    alt : description for people who cannot see the picture
    titles : the sentence for every step
    legend : (SVG in the colors `SLOTS`, words) pairs
    big : one number
    small : the words for what it counts
    promise : ε and δ in words
    bigs : the number at every step if it grows with the picture, else empty
    until : the words for the number before the last step if they differ, else ""
    film : events of every step as `film.told` puts them, empty if the picture is no film
    """

    figure: str
    alt: str
    titles: tuple[str, ...]
    legend: tuple[tuple[str, str], ...] = ()
    big: str = ""
    small: str = ""
    promise: str = ""
    html: str = ""
    bigs: tuple[str, ...] = ()
    until: str = ""
    film: tuple[Any, ...] = ()

    @classmethod
    def of(cls, panel: Panel, titles: Sequence[str], legend: Sequence[tuple[str, str]] = (), **words: Any) -> Picture:
        """Return a panel drawn in `SLOTS`, without its title; `legend` holds (symbol, words) pairs."""
        untitled(panel.figure)
        figure = panel.printed().figure
        symbols = tuple((icon(symbol, SLOTS), one) for symbol, one in legend)
        film = tuple((figure.meta or {}).get("film", ()))
        return cls(figure.to_json(), panel.alt, tuple(titles), symbols, film=film, **words)


@dataclasses.dataclass(frozen=True)
class Shown:
    """A slide with its picture.

    Attributes
    ----------
    title, notes : text
    seconds : planned time, 0 for none
    step : the step shown first, None for the last
    play : whether the slide plays by itself
    """

    title: str
    picture: Picture
    notes: str = ""
    seconds: int = 0
    step: int | None = None
    play: bool = False

    def record(self, **more: Any) -> dict[str, Any]:
        """Return the slide as the show's script takes it, with what else belongs to it."""
        own = {name: getattr(self, name) for name in ("title", "notes", "seconds", "step", "play")}
        return {**dataclasses.asdict(self.picture), "others": {}, "refusal": _FIXED, **own, **more}


def tokens(mode: str) -> str:
    """Return CSS declarations of all colors of a picture in the theme "light" or "dark"."""
    colors = {**theme(mode).tokens(), **series_tokens(mode)}
    return "".join(f"--{name}:{value};" for name, value in colors.items()) + f"color-scheme:{mode};"


@cache
def show_code() -> str:
    """Return the code that defines `Show`, a slide show that holds all its pictures, and `pictured`."""
    slots = (files("dpviz.figures.kit") / "slots.js").read_text(encoding="utf-8")
    styles = "".join(
        f"const {name} = {json.dumps(text_of(file))};\n"
        for name, file in (("SHOW_CSS", "show.css"), ("NOTES_CSS", "notes.css"))
    )
    return script() + slots + styles + text_of("show.js")


def deck(title: str, slides: Sequence[Shown], look: str = "") -> str:
    """Return a deck as one HTML file.

    Parameters
    ----------
    title : the deck's title
    slides : its slides, at least one
    look : "light" or "dark"; "" follows the system on screen and is light on paper
    """
    every = json.dumps([one.record() for one in slides], ensure_ascii=False, separators=(",", ":"))
    safe = every.replace("<", "\\u003c")  # nothing in the JSON can end the script element that holds it
    listed = "".join(
        f"<li><button>{html.escape(one.title or 'Without a title')}</button>"
        f"<p>{html.escape(one.picture.titles[-1].replace(' · ', ': ', 1))}</p></li>"
        for one in slides
    )
    screen = (
        f":root{{{tokens('light')}}}@media (prefers-color-scheme:dark){{:root{{{tokens('dark')}}}}}"
        if not look
        else f":root{{{tokens(look)}}}"
    )
    body = (
        f"<main><h1>{html.escape(title or 'A deck')}</h1>"
        '<p class="bar"><button class="begin" hidden>Present</button><button class="notes" hidden>Notes in a second '
        'window</button></p><p role="alert"></p>'
        "<p>Right, Space or a click goes on, Left goes back, Up and Down change the slide, B blackens the screen, F is "
        "full screen, Esc ends the show. To print the slides or save them as a PDF, print this page: each slide is one "
        "sheet.</p><noscript><p>The show needs scripts, which this browser does not run here.</p></noscript>"
        f"<ol>{listed}</ol><footer>Everything here is made from samples and made-up people with known seeds: nothing "
        f"is a private release. Made with dpviz {__version__}; no server is contacted.</footer></main>"
        f'<div class="sheets" aria-hidden="true" style="{tokens(look or "light")}"></div>'
        f'<script type="application/json" id="slides">{safe}</script>'
        f'<script type="module">{show_code()}{text_of("deck.js")}</script>'
    )
    sheet = f"<template id=sheet><style>{text_of('show.css')}</style></template>"
    head = f"<style>{screen}{text_of('deck.css')}</style>{sheet}"
    return document(title or "A deck", body, head=head)
