"""Figures: pure functions from a trace to a table (`*_frame`, tested) and from there to a plotly figure.

`PANES` maps a kind of step to the `Pane` that draws runs with such steps. A new family's figures are one module with
a `PANE` and one line here; every other run gets the plain picture of `centers`.
"""

from dpviz.figures import centers, dpm, em_mc, hdpe, lloyd, local, lsh_splits, nsm, pe, rho, stemmer_kaplan
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
    "cover": em_mc.PANE,
    "split-level": lsh_splits.PANE,
}

__all__ = ["PANES", "Pane", "Panel", "View", "pane"]


def pane(trace: Trace) -> Pane:
    """Return how a run is drawn: the pane of its first kind of step that has one, else the plain picture."""
    return next((PANES[step.kind] for step in trace.steps if step.kind in PANES), centers.PANE)
