"""The show as a component: all pictures go to the browser before it begins."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from dpviz.figures.kit.theme import theme
from dpviz.figures.stage import script
from pages._ui.address.deck import Slide
from pages._ui.frame import keys
from pages._ui.present.pictures import Picture
from pages._ui.present.scenes import Staged

__all__ = ["show"]

_HERE = Path(__file__).parent
_STYLES = "".join(
    f"const {name} = {json.dumps((_HERE / file).read_text())};\n"
    for name, file in (("SHOW_CSS", "show.css"), ("NOTES_CSS", "notes.css"))
)

_component = st.components.v2.component(
    "dpviz_show",
    html='<div class="bar"><button class="main" data-do="begin">Present</button>'
    '<button data-do="notes">Notes in a second window</button><p class="ready" role="status"></p></div>'
    '<p role="alert"></p>',
    css=(_HERE / "page.css").read_text(),
    js=script() + _STYLES + (_HERE / "show.js").read_text(),
)


def show(
    shown: Sequence[tuple[Slide, Staged, Mapping[str, Picture]]], *, start: int, mode: str, ready: str, opened: int = 0
) -> int | None:
    """Offer the show; return the slide (1, 2, ...) at which one has ended, else None.

    Parameters
    ----------
    shown : the slides that can be shown, with the pictures by their names
    start : index of the slide at which it begins
    ready : what is said beside the button
    opened : another number than before begins at once
    """
    tokens = "".join(f"--{name}:{value};" for name, value in theme(mode).tokens().items())
    data = {
        "slides": [_record(*one) for one in shown],
        "start": start,
        "ready": ready,
        "open": opened,
        "tokens": f"{tokens}color-scheme:{mode};",
    }
    ended = _component(key=keys.PRESENT_SHOW, data=data, on_slide_change=lambda: None, height="content").get("slide")
    return ended if isinstance(ended, int) and 1 <= ended <= len(shown) else None


def _record(slide: Slide, staged: Staged, made: Mapping[str, Picture]) -> dict[str, object]:
    return {
        "title": slide.title,
        "notes": slide.notes,
        "seconds": slide.seconds,
        "step": staged.step,
        "play": staged.play,
        "others": {key: _screen(made[one.name]) for key, one in staged.others.items() if one.name in made},
        "refusal": staged.refusal,
        **_screen(made[staged.piece.name]),
    }


def _screen(picture: Picture) -> dict[str, object]:
    return {
        "figure": picture.figure,
        "html": picture.html,
        "alt": picture.alt,
        "titles": picture.titles,
        "big": picture.big,
        "small": picture.small,
        "promise": picture.promise,
        "legend": [
            (f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}", words)
            for svg, words in picture.legend
        ],
    }
