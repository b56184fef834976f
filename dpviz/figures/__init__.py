"""Draw runs: pure functions turn a trace into a table (`*_table`), which is tested, and the table into a Plotly figure.

`PANES` maps each kind of step to the `Pane` that draws runs with such steps. A new family needs one module with a
`PANE` and one line here; runs of other families get the simple picture of `plain`.
"""

from dpviz.datasets import Dataset
from dpviz.figures import dp_em, mst_kmeans, plain
from dpviz.figures.dist_dp import dist_dp
from dpviz.figures.evolution import hdpe_means, pe_means
from dpviz.figures.grids import continual, dp_dbscan, eugkm
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.theme import untitled
from dpviz.figures.kit.view import Panel, View
from dpviz.figures.lloyd import choose_k, lloyd
from dpviz.figures.nsm import nsm
from dpviz.figures.stemmer_kaplan import local, stemmer_kaplan
from dpviz.figures.trees import dpm, em_mc, lsh_splits, privtree
from dpviz.postprocessing.span import widest
from dpviz.trace import Trace

PANES = {
    "iteration": plain.REFERENCE,
    "generation": pe_means.PANE,
    "projected-generation": hdpe_means.PANE,
    "choice": choose_k.PANE,
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
    "marginals": mst_kmeans.PANE,
}

__all__ = ["PANES", "Pane", "Panel", "View", "columns", "pane", "printed"]


def printed(view: View, compact: bool = False) -> list[Panel]:
    """Return the panels of a run, with figures stored as JSON; `compact` gives only the plane, without a title."""
    panels = pane(view.trace).panels(view)
    if compact:
        panels = [next(panel for panel in panels if panel.name == "plane")]
        untitled(panels[0].figure)
    return [panel.printed() for panel in panels]


def pane(trace: Trace) -> Pane:
    """Return the pane for the first step whose kind has a pane, or the plain pane if no step has one."""
    return next((PANES[step.kind] for step in trace.steps if step.kind in PANES), plain.PANE)


def columns(data: Dataset, *traces: Trace) -> tuple[int, int] | None:
    """Return the two columns that are drawn by default, or None if planes are drawn along other directions.

    With three or more columns, a plane chooses its own directions unless it draws cells, which look like boxes only
    along columns. The default columns are the declared ones or, if none are declared, those in which the released
    centers differ most. Data whose columns are the cells of a picture are drawn as pictures, so there are no default
    columns.
    """
    if len(data.columns) < 3:
        return data.view if len(data.columns) == 2 else None
    if data.picture is not None:
        return None
    drawn = [pane(trace) for trace in traces]
    if not any(one.cells for one in drawn) or (len(drawn) == 1 and drawn[0].follows):
        return None
    return data.view if data.facts.get("view") else widest(traces[0])
