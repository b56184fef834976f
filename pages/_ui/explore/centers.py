"""The released centers, to read and to take away: a table in the data's units, CSV, JSON, and the weighted points."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.figures.kit.shapes import Shown, drawn
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import (
    center_noise,
    centers_csv,
    centers_json,
    centers_text,
    coreset_csv,
    coreset_text,
)
from pages._ui.explore.reruns import scatter_of
from pages._ui.frame import keys, markup, shell
from pages._ui.frame.session import session
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result

_LARGE = 1_000  # cells: above, a table that draws only what is in sight, whose script is a fifth of the page's bytes


@per_run(shared=64, own=8)
def _table(identity: str, _result: Result) -> pd.DataFrame:
    return centers_text(_result.trace, _result.data.columns, _result.data.units)


@per_run(shared=64, own=8)
def _small(identity: str, _result: Result) -> str | None:
    """Return the table as HTML unless it is large."""
    table = _table(_result)
    return _drawn(table) if table.size <= _LARGE else None


@per_run(shared=64, own=8)
def _points(identity: str, _result: Result) -> pd.DataFrame | None:
    return coreset_text(_result.trace, _result.data.columns, _result.data.units)


@per_run(shared=64, own=8)
def _shape(identity: str, mode: str, hidden: bool, _result: Result) -> str:
    reference = _result.reference.cluster_centers if hidden and _result.reference else None
    return drawn(Shown(_result.trace, _result.data, shell.colors(), reference))


def section(key: str, result: Result, *, hidden: bool = False) -> None:
    """Show the centers below the picture; all of it is released, so it is there in both modes and costs nothing.

    In the data's own shape, KMeans' beside them where hidden layers are shown, and as a table.
    """
    trace = result.trace
    kind = "Middles of the regions" if has_regions(trace) else "Released centers"
    st.header(kind if trace.claimed.private else "Centers")
    private = result.data.private
    st.html(_shape(result, st.context.theme.type or "light", hidden and not private))
    if small := _small(result):
        st.html(small)
    else:
        table = _table(result)
        st.dataframe(table, hide_index=True, width="stretch", key=keys.CENTERS(key))
    noise = center_noise(trace)
    words = f"The noise is one standard deviation {noise.meaning}. " if noise.sd is not None else f"{noise.meaning} "
    st.html(
        markup.small(
            "In the data's units. ",
            "The size is noisy too and may fall below zero. " if noise.sizes is not None else "",
            words if trace.claimed.private else "",
            f"{trace.notice[0].upper()}{trace.notice[1:].rstrip('.')}.",
        )
    )
    points = _points(result)
    if points is not None:
        _weighted(key, points)
    downloads(key, result)


def _weighted(key: str, points: pd.DataFrame) -> None:
    """Show the weighted points once somebody opens them."""
    box = st.expander(f"Weighted points, released too: {len(points):,}", key=keys.WEIGHTED(key), on_change="rerun")
    if box.open:
        box.dataframe(points, hide_index=True, width="stretch", key=keys.POINTS(key))


def _drawn(table: pd.DataFrame) -> str:
    rows = (markup.row(list(cells), lit=True) for cells in table.itertuples(index=False))
    return markup.table("Centers", map(str, table.columns), rows)


def downloads(key: str, result: Result) -> None:
    """Offer centers as CSV and JSON, and the weighted points where the run releases some; made when asked for."""
    trace, data = result.trace, result.data
    history = session.history
    number = history.index(result.identity) + 1 if result.identity in history else 0
    name = f"dpviz-{trace.algorithm}-{number}-centers"
    keep = {"icon": ":material/download:", "on_click": "ignore"}
    with st.container(horizontal=True):
        st.download_button(
            "Centers as CSV", lambda: centers_csv(trace, data.columns, data.units, scatter=scatter_of(result)),
            f"{name}.csv", "text/csv", key=keys.CENTERS_CSV(key), **keep,
        )  # fmt: skip
        st.download_button(
            "Centers as JSON", lambda: centers_json(trace, data.columns, data.units), f"{name}.json",
            "application/json", key=keys.CENTERS_JSON(key), **keep,
        )  # fmt: skip
        points = _points(result)
        if points is not None:
            st.download_button(
                "Weighted points as CSV", lambda: coreset_csv(trace, data.columns, data.units),
                f"dpviz-{trace.algorithm}-{number}-points.csv", "text/csv", key=keys.POINTS_CSV(key), **keep,
            )  # fmt: skip
