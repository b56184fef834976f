"""Figures: pure functions from a trace to a table (`*_table`, tested) and from there to a plotly figure.

`PANES` maps a kind of step to the `Pane` that draws runs with such steps. A new family's figures are one module with
a `PANE` and one line here; every other run gets the plain picture of `centers`.
"""

from dpviz.figures import (
    centers,
    continual,
    dpm,
    em_mc,
    grid,
    hdpe,
    lloyd,
    local,
    lsh_splits,
    mixture,
    nsm,
    pe,
    privtree,
    rho,
    spans,
    stemmer_kaplan,
)
from dpviz.figures.view import Pane, Panel, View
from dpviz.trace import Trace

PANES = {
    "iteration": centers.REFERENCE,
    "generation": pe.PANE,
    "projected-generation": hdpe.PANE,
    "noisy-iteration": lloyd.PANE,
    "noisy-points": rho.PANE,
    "solve": nsm.PANE,
    "buckets": stemmer_kaplan.PANE,
    "cubes": stemmer_kaplan.PANE,
    "reports": local.PANE,
    "region": dpm.PANE,
    "grid": grid.PANE,
    "density": spans.PANE,
    "partition": continual.PANE,
    "halving-level": privtree.PANE,
    "mixture": mixture.PANE,
    "cover": em_mc.PANE,
    "split-level": lsh_splits.PANE,
}

__all__ = ["PANES", "Pane", "Panel", "View", "pane", "printed"]


def printed(view: View, compact: bool = False) -> list[Panel]:
    """Return the panels of a run, ready to keep and to send; `compact` is the plane alone, without its title."""
    panels = pane(view.trace).panels(view)
    if compact:
        panels = [next(panel for panel in panels if panel.name == "plane")]
        panels[0].figure.update_layout(title_text="", margin_t=8)
    return [panel.printed() for panel in panels]


def pane(trace: Trace) -> Pane:
    """Return how a run is drawn: the pane of its first kind of step that has one, else the plain picture."""
    return next((PANES[step.kind] for step in trace.steps if step.kind in PANES), centers.PANE)
