"""One figure of a page: drawn on a canvas at once and at every step; Plotly comes when somebody looks closely."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from dpviz.figures import Panel
from dpviz.figures.stage import script

_HERE = Path(__file__).parent
SCRIPT = script() + (_HERE / "panel.js").read_text()
_PLOTLY = next((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")).name

_component = st.components.v2.component(
    "dpviz_panel",
    html='<div class="dpviz-stage"></div>',
    css=(_HERE / "panel.css").read_text(),
    js=(_HERE / "panel_stub.js").read_text(),
    isolate_styles=False,  # Plotly's own style sheet does not reach into a shadow root
)


def draw(
    key: str, panels: list[Panel], zoom_of: str = "", *, frames: Sequence[int] | None = None, linked: str = ""
) -> None:
    """Show figures; the transport whose scope they stand in drives them. A zoom is kept while `zoom_of` stays.

    `frames` says which of their own frames they show at every tick of the transport (-1: none yet). Figures that are
    `linked` by the same word share zoom and a crosshair.

    Their script (`SCRIPT`) comes with the page's transport: a component sends its own with every instance.
    """
    for index, panel in enumerate(panels):
        name = f"{key}_{panel.name}_{index}"
        data = {
            "key": name,
            "name": panel.name,
            "figure": panel.figure.to_json(),
            "alt": panel.alt,
            "plotly": _PLOTLY,
            "zoomOf": zoom_of,
            "at": None if frames is None else list(frames),
            "linked": linked,
        }
        _component(key=name, data=data, height="content")
