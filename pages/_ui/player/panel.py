"""One figure of a page, drawn on a canvas at every step; Plotly loads only for “Look closely”."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from dpviz.figures import Panel
from pages._ui.frame import keys
from pages._ui.player import stage

_HERE = Path(__file__).parent
_PLOTLY = next((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")).name

_component = st.components.v2.component(
    "dpviz_panel",
    html='<div class="dpviz-stage"></div>',
    css=(_HERE / "panel.css").read_text(),
    js=(_HERE / "panel_stub.js").read_text(),
    isolate_styles=False,  # Plotly's own style sheet does not reach into a shadow root
)


def draw(
    key: str, panels: list[Panel], zoom_of: str = "", *, frames: Sequence[int] | None = None, linked: str = "",
    pin: tuple[str, str] | None = None, pick: bool = False, tall: bool = False,
) -> tuple[float, float] | None:  # fmt: skip
    """Show figures; the transport whose scope they stand in drives them. A zoom is kept while `zoom_of` stays.

    `frames` says which of their own frames they show at every tick of the transport (-1: none yet). Figures that are
    `linked` by the same word share zoom and a crosshair. A `pin` can be dragged in the first figure; its place is kept
    under these two keys of the session's state, in units of the axes. With `pick` a click tells its place: it is
    returned once, in units of the axes. A `tall` figure takes the height that the window leaves.
    """
    picked = None
    for index, panel in enumerate(panels):
        name = keys.PANEL(key, panel.name, index)
        data = {
            "key": name,
            "name": panel.name,
            "figure": panel.figure.to_json(),
            "alt": panel.alt,
            "stage": stage.NAME,
            "plotly": _PLOTLY,
            "zoomOf": zoom_of,
            "at": None if frames is None else list(frames),
            "linked": linked,
            "pick": pick,
            "tall": tall,
        }
        if pick:
            place = _component(key=name, data=data, height="content", on_picked_change=lambda: None).get("picked")
            picked = (float(place[0]), float(place[1])) if place else picked
            continue
        if pin is None or index:
            _component(key=name, data=data, height="content")
            continue
        data["pin"] = [st.session_state[key] for key in pin]
        _component(key=name, data=data, height="content", on_pin_change=partial(_moved, name, pin))
    return picked


def _moved(name: str, pin: tuple[str, str]) -> None:
    """Keep where a pin was dropped; what is not a place is nothing."""
    place = st.session_state[name].get("pin")
    if isinstance(place, list) and len(place) == 2 and all(isinstance(at, int | float) for at in place):
        for key, at in zip(pin, place, strict=True):
            st.session_state[key] = float(at)
