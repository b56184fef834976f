"""The player: transport above, plane left, side panels right, wide panels below."""

from __future__ import annotations

import streamlit as st

from dpviz.figures import PANES, View, panels
from pages._ui.runs import Result, sample
from pages._ui.shell import colors
from pages._ui.transport import transport

_CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False}


def view_of(result: Result, *, hidden: bool, axes: tuple[int, int] | None) -> View:
    """Collect what the figures of a result need."""
    data = sample(result.data)
    return View(
        trace=result.trace,
        colors=colors(),
        axes=axes,
        columns=data.columns,
        units=data.units,
        people=data.X if hidden else None,
        reference=result.reference.cluster_centers if hidden else None,
        losses=result.losses if hidden else None,
        reference_loss=result.reference_loss if hidden else None,
        hidden=hidden,
    )


def player(key: str, view: View, *, compact: bool = False, autoplay: bool = False) -> int:
    """Draw a run and its controls; return the frame that is shown. `compact` draws the plane alone."""
    pane = PANES[view.trace.steps[-1].kind]
    found = panels(view)
    plane, side, wide = ([p for p in found if p.name == name] for name in ("plane", "side", "wide"))
    scope = f"{key}_figures"

    def draw(panel, index: int) -> None:  # type: ignore[no-untyped-def]
        st.plotly_chart(panel.figure, theme=None, config=_CONFIG, key=f"{key}_{panel.name}_{index}", alt=panel.alt)

    controls = st.container(key=f"{key}_transport")
    with st.container(key=scope):
        if compact:
            draw(plane[0], 0)
        else:
            left, right = st.columns([11, 9], gap="medium")
            with left:
                for index, panel in enumerate(plane):
                    draw(panel, index)
            with right:
                for index, panel in enumerate(side):
                    draw(panel, index)
            for index, panel in enumerate(wide):
                draw(panel, index)
    with controls:
        return transport(
            f"{key}_player",
            scope=scope,
            titles=pane.sentences(view.trace),
            marks=pane.marks(view.trace),
            autoplay=autoplay,
        )
