"""Figures: pure functions from a trace to a table (`*_frame`, tested) and from there to a plotly figure (`plot_*`).

`PANES` maps a step kind to the module that can draw it; a new algorithm's figures are one module and one line here.
"""

from dpviz.figures import lloyd, pe
from dpviz.figures.panels import Panel, View

PANES = {"generation": pe, "iteration": lloyd, "refinement": lloyd, "recovery": lloyd}

__all__ = ["PANES", "Panel", "View", "panels"]


def panels(view: View) -> list[Panel]:
    """Return the panels of a run, drawn by the module that knows its kind of step."""
    return PANES[view.trace.steps[-1].kind].panels(view)
