"""Show one figure of a page, which a canvas draws at every step; Plotly loads only for “Look closely”."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.figures import Panel
from pages._ui.explore.player import stage
from pages._ui.explore.player.how import How
from pages._ui.frame.inside import client

_PANEL = "{}_{}_{}".format

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_panel",
    html='<div class="dpviz-stage"></div>',
    css=(_HERE / "panel.css").read_text(),
    js=client.PAGE + (_HERE / "panel_stub.js").read_text(),
    isolate_styles=False,  # in a shadow root, Plotly's own style sheet would have no effect
)


def draw(
    key: str, panels: list[Panel], zoom_of: str = "", *, ends: Sequence[int] | None = None, linked: str = "",
    pick: bool = False, tall: bool = False, saved: dict[str, Any] | None = None, how: How | None = None,
) -> tuple[float, float] | None:  # fmt: skip
    """Show figures, which follow the transport of their scope. A zoom lasts while `zoom_of` stays the same.

    `ends` lists, for every tick of a clock of several runs, how many events of the figures' film are over at its end.
    Figures `linked` by the same word share zoom and a crosshair. With `pick`, a click is returned once, as a position
    in units of the axes. A `tall` figure fills the height of the window. `saved` holds the options of the camera
    button, which a touch screen always shows. `how` is what the figures show of a run.
    """
    picked = None
    for index, panel in enumerate(panels):
        name = _PANEL(key, panel.name, index)
        data = {
            "key": name,
            "name": panel.name,
            "figure": panel.figure.to_json(),
            "alt": panel.alt,
            "stage": stage.NAME,
            "plotly": client.plotly(),
            "zoomOf": zoom_of,
            "ends": None if ends is None else list(ends),
            "linked": linked,
            "pick": pick,
            "tall": tall,
            "saved": saved,
            "how": None if how is None else how.switches,
        }
        if pick:
            place = _component(key=name, data=data, height="content", on_picked_change=lambda: None).get("picked")
            picked = (float(place[0]), float(place[1])) if place else picked
        else:
            _component(key=name, data=data, height="content")
    return picked
