"""The player: transport above, plane left, side panels right, wide panels below."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.figures import PANES, View, panels
from dpviz.figures.panels import spend_frame
from dpviz.trace import Trace
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


def ledger_table(trace: Trace, frame: int) -> pd.DataFrame:
    """Return every release with its price; marked where it has happened at the shown frame."""
    per_frame = PANES[trace.steps[-1].kind].releases(trace)
    happened = per_frame[min(frame, len(per_frame) - 1)]
    spent = spend_frame(trace).epsilon.tolist()[1:]
    return pd.DataFrame(
        {
            "": ["\u25cf" if i < happened else "\u25cb" for i in range(len(trace.ledger))],
            "release": [f"{entry.name} {entry.occurrence + 1}" for entry in trace.ledger],
            "mechanism": [entry.mechanism for entry in trace.ledger],
            "sensitivity": [entry.sensitivity for entry in trace.ledger],
            "noise scale": [entry.scale for entry in trace.ledger],
            "epsilon so far": spent,
            "why this sensitivity": [entry.reason for entry in trace.ledger],
        }
    )
