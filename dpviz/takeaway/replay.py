"""Write a replay: one HTML file that steps, scrubs and plays like the player, in any browser, without a network."""

from __future__ import annotations

import dataclasses
import html
import json

from dpviz.algorithms import lines_of
from dpviz.figures import pane, printed
from dpviz.figures.code import listing, lit, style
from dpviz.figures.kit.legend import HIDDEN, icon
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.stage import script as stage
from dpviz.takeaway.label import badge, block, headline
from dpviz.takeaway.page import view_of
from dpviz.takeaway.style import document, text_of
from dpviz.trace import Trace

__all__ = ["replay"]

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


def _key(trace: Trace, view: View) -> str:
    """Return the key of the pictures, in light and in dark."""
    pairs = [(symbol, words) for symbol, words in pane(trace).legend if view.hidden or symbol not in HIDDEN]
    lines = (
        f'<ul class="key {mode}">'
        + "".join(f"<li>{icon(symbol, colors)} {html.escape(words)}</li>" for symbol, words in pairs)
        + "</ul>"
        for mode, colors in (("light", LIGHT), ("dark", DARK))
    )
    return "".join(lines)


def replay(trace: Trace, view: View | None = None) -> str:
    """Return the replay of a run, in light and dark; `view` may add the hidden layers of a DEMO run.

    Without a view only released layers are drawn.
    """
    view = view_of(trace) if view is None else view
    lines = lines_of(trace.algorithm, {step.kind for step in trace.steps})
    sentences = [shot.sentence.replace(" · ", ": ", 1) for shot in pane(trace).shots(trace)]
    looks = {
        mode: [
            {"name": panel.name, "alt": panel.alt, "figure": json.loads(panel.figure.to_json())}
            for panel in printed(dataclasses.replace(view, colors=colors))
        ]
        for mode, colors in (("light", LIGHT), ("dark", DARK))
    }
    record = json.dumps(
        {"sentences": sentences, "lines": lit(trace, lines), **looks}, separators=(",", ":"), ensure_ascii=False
    )
    safe = record.replace("<", "\\u003c")  # nothing in it can end the script element that holds it
    buttons = "".join(
        f'<button data-do="{name}" aria-label="{words}">{"".join(map(_icon, signs))}</button>'
        for name, words, signs in _BUTTONS
    )
    body = (
        f'<h1>{html.escape(headline(trace))}</h1><p><span class="badge">{badge(trace)}</span></p>'
        f'<div class="bar"><div class="row">{buttons}'
        f'<input type="range" min="0" max="{len(sentences) - 1}" step="1" aria-label="Step">'
        '<select aria-label="Speed"><option value="1800">½×</option><option value="900" selected>1×</option>'
        '<option value="450">2×</option></select></div><p class="say"><output aria-live="polite"></output></p></div>'
        f'{listing(trace, lines)}<div class="panels"></div>{_key(trace, view)}'
        '<p class="small"><b>How this picture can fool you.</b> '
        f"{html.escape(pane(trace).caution)}</p>{block(trace)}"
        f"<footer>{html.escape(trace.notice)}. Made with dpviz {html.escape(trace.version)}.</footer>"
        f'<script type="application/json" id="run">{safe}</script>'
        f'<script type="module">{stage()}{text_of("replay.js")}</script>'
    )
    return document(f"Replay: {headline(trace)}", body, head=f"<style>{text_of('replay.css')}{style()}</style>")
