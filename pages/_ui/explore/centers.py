"""Show the released centers and the weighted points as tables; the Save menu has their files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.figures.kit.shapes import Drawing, pictures
from dpviz.postprocessing.in_words import center_words
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import AT_BOUNDS, center_noise, centers_text, coreset_text
from dpviz.postprocessing.verdict import spread_words
from pages._ui.explore.question import N
from pages._ui.explore.reruns import scatter_of
from pages._ui.frame import markup, shell
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result

AGAIN = f"± over {N} reruns"
# number of cells above which a table draws only its visible part; the script for this makes the page a fifth larger
_LARGE = 1_000


@per_run(shared=64, own=8)
def _table(identity: str, scatter: np.ndarray | None, _result: Result) -> str | pd.DataFrame:
    """Return the table of centers with noise in the data's units, as HTML if small; bars are also put into words."""
    trace, data = _result.trace, _result.data
    table = centers_text(trace, data.columns, data.units, scatter=scatter)
    if data.shape == "bars":
        table = table.drop(columns=AT_BOUNDS, errors="ignore")  # the words say it, too
        table.insert(1, "in words", center_words(trace, data.columns, data.units))
    if scatter is not None and center_noise(trace).sd is None:
        table[AGAIN] = [spread_words(float(sd), trace.domain, data.columns, data.units) for sd in scatter]
    if (flat := data.projection) is not None:
        east, north = (trace.cluster_centers[:, data.columns.index(name)] for name in (flat.east, flat.north))
        for name, degrees in zip(("latitude", "longitude"), flat.backward(east, north), strict=True):
            table[name] = [f"{value:.4f}" for value in degrees]
    return _drawn(table) if table.size <= _LARGE else table


@per_run(shared=64, own=8)
def _points(identity: str, _result: Result) -> pd.DataFrame | None:
    return coreset_text(_result.trace, _result.data.columns, _result.data.units)


@per_run(shared=64, own=8)
def _pictures(identity: str, mode: str, hidden: bool, _result: Result) -> str:
    reference = _result.reference.cluster_centers if hidden and _result.reference else None
    return pictures(Drawing(_result.trace, _result.data, shell.colors(), reference))


def section(key: str, result: Result, *, hidden: bool = False) -> None:
    """Show the folded table of centers. Centers are released, so both modes show them at no cost."""
    trace, data = result.trace, result.data
    kind = "Middles of the regions" if has_regions(trace) else "Released centers"
    with st.expander(f"{kind if trace.claimed.private else 'Centers'} in numbers"):
        if data.shape == "picture":
            st.html(_pictures(result, st.context.theme.type or "light", hidden and not data.private))
        scatter = scatter_of(result)
        table = _table(result, scatter)
        if isinstance(table, str):
            st.html(table)
        else:
            st.dataframe(table, hide_index=True, width="stretch", key=f"{key}_centers")
        noise = center_noise(trace)
        words = (
            f"The noise is one standard deviation {noise.meaning}. " if noise.sd is not None else f"{noise.meaning} "
        )
        if noise.sd is None and scatter is not None:
            words = f"No formula gives this method's noise: {AGAIN} is each center's standard deviation. "
        st.html(
            markup.small(
                "Values are in the data's units. ",
                "The size is noisy too and may fall below zero. " if noise.sizes is not None else "",
                words if trace.claimed.private else "",
                f"{trace.notice[0].upper()}{trace.notice[1:].rstrip('.')}.",
            )
        )
    points = _points(result)
    if points is not None:
        _weighted(key, points)


def _weighted(key: str, points: pd.DataFrame) -> None:
    """Show the weighted points when the visitor opens their box."""
    box = st.expander(f"Weighted points, also released: {len(points):,}", key=f"{key}_weighted", on_change="rerun")
    if box.open:
        box.dataframe(points, hide_index=True, width="stretch", key=f"{key}_points")


def _drawn(table: pd.DataFrame) -> str:
    rows = (markup.row(list(cells), lit=True) for cells in table.itertuples(index=False))
    return markup.table("Centers", map(str, table.columns), rows)
