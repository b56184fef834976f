"""Show a released coreset below the player; it gives centers for any k without a new release."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.figures import Panel
from dpviz.figures.scenes import coreset as figures
from dpviz.metrics import reference_name
from dpviz.numbers import chance, number
from dpviz.postprocessing import coresets
from pages._ui.explore.player.how import ANY_K, How, of_coreset
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import view_of
from pages._ui.frame import markup, shell
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

_CORESET = "{}_coreset".format

MOST = 20


def section(key: str, result: Result, how: How) -> None:
    """Offer centers for any k if the run has a coreset."""
    if result.trace.coreset is not None and len(result.trace.coreset.points) > 1:
        box = st.expander("Any k afterwards, at no cost", key=ANY_K.key, on_change="rerun")
        if box.open:  # Solve and draw nothing while the box is folded.
            with box:  # Not a fragment, because the choice goes into the page's address.
                _body(key, result, how)


@per_run(shared=128, own=32, words="Solving for every k")
def _elbow(identity: str, cost: str, hidden: bool, _result: Result) -> pd.DataFrame:
    rows = _result.data.X if hidden else None
    return workers().call(coresets.elbow, _result.trace.coreset, _result.trace.domain, MOST, cost=cost, rows=rows)


@per_run(shared=128, own=16)
def _panels(identity: str, mode: str, k: int, cost: str, how: How, _result: Result) -> list[Panel]:
    """Return the panel of the weighted points with the centers for one k, and the panel of the cost for every k."""
    coreset = _result.trace.coreset
    assert coreset is not None
    full = view_of(_result, how)
    # KMeans' centers and the lost groups are those for the run's k
    view = dataclasses.replace(full, reference=None, missed=None)
    centers = workers().call(coresets.resolve, coreset, _result.trace.domain, k, cost=cost)
    table = _elbow(_result, cost, view.hidden)
    return workers().call(figures.printed, view, coreset, centers, table, cost)


def _body(key: str, result: Result, how: How) -> None:
    trace, coreset = result.trace, result.trace.coreset
    assert coreset is not None
    most = min(MOST, len(coreset.points))
    start = min(int(trace.parameters["n_clusters"]), most)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    centers, costs = of_coreset(start, medians=reference_name(trace) == "KMedians")
    # another run might have released fewer points
    st.session_state[centers.key] = min(int(st.session_state.get(centers.key) or start), most)
    k = int(centers.draw(left, max_value=most))
    cost = costs.draw(right)
    plane, elbow = _panels(result, st.context.theme.type or "light", k, cost, how)
    releases = len(trace.ledger)
    st.html(
        markup.small(
            f"This run released {len(coreset.points):,} weighted points, each weight ±{np.median(coreset.sd):.0f} "
            f"rows. {cost} on these points reads no row: for every k, the ε spent stays at ",
            markup.bold(number(trace.spent.epsilon)),
            f" at δ {chance(trace.spent.delta)}, and the ledger keeps its ",
            markup.bold(f"{releases} releases"),
            ". Distances count the half-width of the bounds as 1.",
        )
    )
    left, right = st.columns([11, 9], gap="medium")
    with left:
        draw(_CORESET(key), [plane])
        shell.key_line(figures.LEGEND, how.hidden and not result.data.private, result.data.noun)
    with right:
        draw(_CORESET(key), [elbow])
