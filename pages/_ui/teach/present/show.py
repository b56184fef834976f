"""Run the show as a component, which sends all pictures to the browser before it begins."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dpviz.takeaway.deck import Picture, Shown, show_code, tokens
from pages._ui.frame.address.deck import Slide
from pages._ui.frame.inside.client import PAGE
from pages._ui.teach.present.scenes import Staged

__all__ = ["Did", "memory", "show", "shown"]

LEAST, MOST = 0.01, 100.0  # range of a typed ε

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_show",
    html='<div class="bar"><button class="main" data-do="begin">Present</button>'
    '<button data-do="notes">Notes in a second window</button><p class="ready" role="status"></p></div>'
    '<p role="alert"></p><ol aria-label="The deck in its order"></ol>',
    css=(_HERE / "page.css").read_text(),
    js=PAGE + show_code() + (_HERE / "host.js").read_text(),
)


_memory = st.components.v2.component("dpviz_deck", html="<span></span>", js=(_HERE / "memory.js").read_text())


class Did(NamedTuple):
    """The lecturer's actions in a show.

    Attributes
    ----------
    ended : the slide (1, 2, ...) at which the show ended, None before the end
    into : address of the scene that was opened, "" for none
    typed : the scene of a slide and the ε that was typed there, None if nothing was typed
    """

    ended: int | None
    into: str
    typed: tuple[str, float] | None


def show(
    slides: Sequence[tuple[Slide, Staged, Mapping[str, Picture]]], *, start: int, mode: str, ready: str, opened: int = 0
) -> Did:
    """Offer the show, and return the lecturer's actions in it.

    Parameters
    ----------
    slides : the slides that can be shown, with their pictures by name
    start : index of the slide at which the show begins
    ready : text beside the button that begins the show
    opened : number of the opened address if it asks for the show to begin, else 0; a new number starts the show
    """
    data = {
        "slides": [_record(*one) for one in slides],
        "start": start,
        "ready": ready,
        "open": opened,
        "tokens": tokens(mode),
        "turned": mode != (st.context.theme.type or "light"),
    }
    events = _component(
        key="present_show", data=data, height="content",
        on_slide_change=lambda: None, on_into_change=lambda: None, on_asked_change=lambda: None,
    )  # fmt: skip
    slide, into, asked = events.get("slide"), events.get("into"), events.get("asked")
    ended = slide if _is_slide(slide, slides) else None
    scene, epsilon = "", None
    if isinstance(into, dict) and _is_slide(into.get("slide"), slides):
        one = slides[into["slide"] - 1][1]
        step = into.get("step")
        at = f"&t={step}" if isinstance(step, int) and not isinstance(step, bool) and 0 <= step < 100_000 else ""
        scene = one.into.get(str(into.get("key")), one.address) + at
    if isinstance(asked, dict) and _is_slide(asked.get("slide"), slides):
        typed = asked.get("epsilon")
        if isinstance(typed, int | float) and not isinstance(typed, bool) and LEAST <= typed <= MOST:
            epsilon = (slides[asked["slide"] - 1][0].scene, float(typed))
    return Did(ended, scene, epsilon)


def memory(deck: str) -> str:
    """Store a deck's file in the browser's tab, or delete it if empty; return the one stored before a reload, once."""
    kept = _memory(key="present_memory", data={"deck": deck}, on_kept_change=lambda: None, height=1).get("kept")
    return kept if isinstance(kept, str) else ""


def _is_slide(number: Any, slides: Sequence[object]) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(slides)


def shown(slide: Slide, staged: Staged, pictures: Mapping[str, Picture]) -> Shown:
    """Return a slide with its picture."""
    return Shown(
        slide.title, pictures[staged.piece.name], slide.notes, slide.seconds, step=staged.step, play=staged.play
    )


def _record(slide: Slide, staged: Staged, pictures: Mapping[str, Picture]) -> dict[str, object]:
    others = {key: dataclasses.asdict(pictures[one.name]) for key, one in staged.others.items() if one.name in pictures}
    return shown(slide, staged, pictures).record(scene=slide.scene, others=others, refusal=staged.refusal)
