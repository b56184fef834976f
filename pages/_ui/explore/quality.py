"""Compare a run with KMeans on the raw rows, below the player. DEMO only."""

from __future__ import annotations

import streamlit as st

from dpviz.metrics import quality, reference_name, run_loss
from dpviz.postprocessing.regions import has_regions
from pages._ui.frame import markup
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

_WORDS = {
    "cost": ("k-median cost", "mean distance from a row to its nearest center, in z units; lower is better", ".4g"),
    "loss": ("Loss", "mean squared distance from a row to its nearest center, in z units; lower is better", ".4g"),
    "silhouette": ("Silhouette", "between -1 and 1; higher is better", ".2f"),
    "majority accuracy": (
        "Accuracy, majority",
        "each center takes its most frequent label, so more centers can only help",
        ".2f",
    ),
    "one-to-one accuracy": ("Accuracy, one to one", "each label has one center, so more centers can only hurt", ".2f"),
    "distance to KMeans": (
        "From these centers to KMeans",
        "mean distance to the nearest center, as a share of the box's diagonal",
        ".4f",
    ),
    "distance from KMeans": (
        "From KMeans to these centers",
        "the same distance in the other direction; large if centers are missing",
        ".4f",
    ),
    "centers": ("Centers", "", ".0f"),
}


@per_run(shared=256, own=64, words="Comparing with KMeans")
def _table(identity: str, _result: Result) -> tuple[dict[str, float], dict[str, float]]:
    """Return the measures of a run and of its KMeans reference."""
    assert _result.reference is not None
    data, reference = _result.data, _result.reference.cluster_centers
    ours, theirs = (
        workers().call(quality, data.X, centers, reference, data.domain, data.labels)
        for centers in (_result.trace.cluster_centers, reference)
    )
    if reference_name(_result.trace) == "KMedians":
        costs = (run_loss(_result.trace, data.X, centers) for centers in (_result.trace.cluster_centers, reference))
        ours, theirs = ({"cost": cost, **measures} for cost, measures in zip(costs, (ours, theirs), strict=True))
    return ours, theirs


def section(result: Result, *, hidden: bool) -> None:
    """Show the comparison if the run has hidden layers and they are switched on."""
    if not hidden or result.reference is None or result.reference is result.trace or has_regions(result.trace):
        return
    against = reference_name(result.trace)
    box = st.expander(
        f"How good is this run? Compared with {against} on the raw rows", key="quality", on_change="rerun"
    )
    if not box.open:  # compute nothing while the box is folded
        return
    with box:
        ours, theirs = _table(result)
        rows = []
        for name, ours_at in ours.items():
            title, meaning, form = _WORDS[name]
            numbers = markup.bold(f"{ours_at:{form}}"), f"{theirs[name]:{form}}"
            rows.append(markup.row([title.replace("KMeans", against), *numbers, meaning]))
        heads = ("", result.trace.name, against, "")
        st.html(markup.table(f"Comparison with {against}", heads, rows, look="dp-free", mark=markup.tag()))
