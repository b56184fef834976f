"""Draw runs: pure functions turn a trace into a table (`*_table`, tested) and the table into a plotly figure.

`PANES` maps a kind of step to the `Pane` that draws runs with such steps. A new family needs one module with a `PANE`
and one line here; every other run gets the plain picture of `plain`.
"""

from dpviz.figures import dp_em, plain
from dpviz.figures.dist_dp import dist_dp
from dpviz.figures.evolution import hdpe_means, pe_means
from dpviz.figures.grids import continual, dp_dbscan, eugkm
from dpviz.figures.kit.view import Pane, Panel, View
from dpviz.figures.lloyd import lloyd
from dpviz.figures.nsm import nsm
from dpviz.figures.stemmer_kaplan import local, stemmer_kaplan
from dpviz.figures.trees import dpm, em_mc, lsh_splits, privtree
from dpviz.trace import Trace

PANES = {
    "iteration": plain.REFERENCE,
    "generation": pe_means.PANE,
    "projected-generation": hdpe_means.PANE,
    "noisy-iteration": lloyd.PANE,
    "noisy-points": dist_dp.PANE,
    "solve": nsm.PANE,
    "buckets": stemmer_kaplan.PANE,
    "cubes": stemmer_kaplan.PANE,
    "reports": local.PANE,
    "region": dpm.PANE,
    "grid": eugkm.PANE,
    "density": dp_dbscan.PANE,
    "partition": continual.PANE,
    "halving-level": privtree.PANE,
    "mixture": dp_em.PANE,
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
    """Return the pane of the run's first kind of step that has one, else that of the plain picture."""
    return next((PANES[step.kind] for step in trace.steps if step.kind in PANES), plain.PANE)
