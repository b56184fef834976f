"""Write a replay: one HTML file that steps, scrubs and plays like the player, in any browser, without a network."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Sequence
from importlib.resources import files

from dpviz.algorithms import lines_of
from dpviz.figures import Panel, pane, printed
from dpviz.figures.code import listing, lit, style
from dpviz.figures.kit.legend import HIDDEN, icon
from dpviz.figures.kit.theme import DARK, LIGHT, SLOTS
from dpviz.figures.kit.view import View
from dpviz.figures.stage import script as stage
from dpviz.takeaway.label import badge, block, footer, headline
from dpviz.takeaway.page import view_of
from dpviz.takeaway.style import document, text_of
from dpviz.trace import Trace

__all__ = ["driver", "driver_code", "key", "player", "replay", "replay_parts"]

_ICONS = {
    "first": "M3 2h2v12H3zM14 2v12L6 8z", "back": "M12 2v12L4 8z", "play": "M4 2v12l9-6z",
    "pause": "M4 2h3v12H4zM9 2h3v12H9z", "next": "M4 2v12l8-6z", "last": "M11 2h2v12h-2zM2 2v12l8-6z",
}  # fmt: skip
_BUTTONS = (
    ("first", "First step", ("first",)), ("back", "Step back", ("back",)), ("play", "Play", ("play", "pause")),
    ("next", "Step forward", ("next",)), ("last", "Last step", ("last",)),
)  # fmt: skip


def _icon(name: str) -> str:
    return f'<svg class="{name}" viewBox="0 0 16 16" aria-hidden="true"><path d="{_ICONS[name]}"/></svg>'


def key(entries: Sequence[tuple[str, str]]) -> str:
    """Return the key of pictures, made from (symbol, words) pairs, in light and in dark."""
    lines = (
        f'<ul class="key {mode}">'
        + "".join(f"<li>{icon(symbol, colors)} {html.escape(words)}</li>" for symbol, words in entries)
        + "</ul>"
        for mode, colors in (("light", LIGHT), ("dark", DARK))
    )
    return "".join(lines)


def player(
    sentences: Sequence[str],
    panels: Sequence[Panel],
    *,
    first: int,
    lines: Sequence[Sequence[Sequence[int]]] = (),
    code: str = "",
    clock: Sequence[int] = (),
    beside: Sequence[tuple[str, Sequence[int]]] = (),
) -> tuple[str, str]:
    """Return a player for some pictures as HTML, and its record, which belongs before the `driver` at the page's end.

    Parameters
    ----------
    sentences : the sentence of every step; a film among the pictures has its own
    panels : the pictures, drawn with `SLOTS` so that they take the colors of the page's mode
    first : the step shown first
    lines, code : numbers of the lines of a listing that run in every event of every step, and the listing as HTML
    clock, beside : if films of several runs share a clock: milliseconds of every step, and for each picture its title
        and how many of its events are over at the end of every step
    """
    figures = [{"name": one.name, "alt": one.alt, "figure": json.loads(one.figure.to_json())} for one in panels]
    film = next((one.figure.meta["film"] for one in panels if "film" in (one.figure.meta or {})), None)
    for figure, (title, ends) in zip(figures, beside, strict=False):
        figure |= {"title": title, "ends": ends}
    if clock:
        film = [[{"ms": ms, "says": says, "acts": True}] for ms, says in zip(clock, sentences, strict=True)]
    run = {"sentences": sentences, "first": first, "lines": lines, "film": film, "panels": figures}
    record = json.dumps(run, separators=(",", ":"), ensure_ascii=False)
    safe = record.replace("<", "\\u003c")  # nothing in the JSON can end the script element that holds it
    buttons = "".join(
        f'<button data-do="{name}" aria-label="{words}">{"".join(map(_icon, signs))}</button>'
        for name, words, signs in _BUTTONS
    )
    markup = (
        f'<div class="bar"><div class="row">{buttons}'
        f'<input type="range" min="0" max="{len(sentences) - 1}" step="any" aria-label="Step">'
        '<select aria-label="Speed"><option value="0.5">½×</option><option value="1" selected>1×</option>'
        '<option value="2">2×</option><option value="4">4×</option></select></div>'
        '<p class="say"><output aria-live="polite"></output></p></div>'
        f'{code}<div class="panels"></div>'
    )
    return markup, f'<script type="application/json" id="run">{safe}</script>'


def driver() -> str:
    """Return the script that drives the one player of a document."""
    return f'<script type="module">{driver_code()}replayed(document);</script>'


def driver_code() -> str:
    """Return the code that defines `replayed(root)`, which drives the player inside an element or a document."""
    slots = (files("dpviz.figures.kit") / "slots.js").read_text(encoding="utf-8")
    return f"{stage()}{slots}{text_of('replay.js')}"


def replay(trace: Trace, view: View | None = None) -> str:
    """Return the replay of a run, in light and dark; `view` may add the hidden layers of a DEMO run.

    Without a view only released layers are drawn.
    """
    title, body, head = replay_parts(trace, view)
    return document(title, body + driver(), head=head)


def replay_parts(trace: Trace, view: View | None = None, counted: str = "") -> tuple[str, str, str]:
    """Return title, body and head of a replay, for a larger document that contains it and ends with its `driver`.

    `counted` is a line of the label, as in `label.facts`.
    """
    view = view_of(trace) if view is None else view
    lines = lines_of(trace.algorithm, {step.kind for step in trace.steps})
    sentences = [shot.sentence.replace(" · ", ": ", 1) for shot in pane(trace).shots(trace)]
    panels = printed(dataclasses.replace(view, colors=SLOTS))
    plane = next(panel.figure for panel in panels if panel.name == "plane")
    box, record = player(
        sentences, panels, first=len(sentences) - 1, lines=lit(trace, lines, plane.kinds), code=listing(trace, lines),
    )  # fmt: skip
    symbols = pane(trace).key(pictured=view.picture is not None)
    entries = [(symbol, words) for symbol, words in symbols if view.hidden or symbol not in HIDDEN]
    body = (
        f'<h1>{html.escape(headline(trace))}</h1><p><span class="badge">{badge(trace)}</span></p>{box}{key(entries)}'
        '<p class="small"><b>How this picture can fool you.</b> '
        f"{html.escape(pane(trace).caution)}</p>{block(trace, counted)}"
        f"{footer(trace)}{record}"
    )
    return f"Replay: {headline(trace)}", body, f"<style>{text_of('replay.css')}{style()}</style>"
