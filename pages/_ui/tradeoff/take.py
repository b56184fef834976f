"""One run of a sweep to take away: the best, or any other, made again when it is asked for."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.numbers import number
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import Run, trace_of
from dpviz.takeaway import KINDS, export
from pages._ui.frame import keys
from pages._ui.tradeoff import sweeps
from pages._ui.tradeoff.sweeps import Kept

_MOST = 200  # runs in the list, the best first
_WORDS = {"label": "Privacy label", "page": "One page", "replay": "Replay", "script": "Python script"}


def one_run(rows: pd.DataFrame, kept: Kept, metric: str) -> None:
    """Offer label, page, replay and script of one finished run on a sample or on blobs, as the data set declares it."""
    cells = {key: cell for key, cell in sweeps.cells(kept.sweep) if _again(cell)}
    done = rows[(rows.status == "ok") & (rows.algorithm != "kmeans") & rows.key.isin(list(cells))]
    if done.empty:
        return
    best = done.sort_values(metric, ascending=not METRICS[metric].higher_is_better, kind="stable").head(_MOST)
    words = {
        row.key: f"{row.label} on {row.data}, ε = {number(row.epsilon)}, seed {row.seed}: "
        f"{METRICS[metric].title.lower()} {number(getattr(row, metric))}"
        for row in best.itertuples()
    }
    chosen = st.selectbox("One run, the best first", list(words), format_func=words.get, key=keys.SWEEP_TAKE)
    with st.container(horizontal=True):
        for kind, name in _WORDS.items():

            def made(kind: str = kind) -> str:
                return export(trace_of(cells[chosen]), kind)

            _, ending, mime = KINDS[kind]
            st.download_button(
                name, made, f"dpviz-{cells[chosen].algorithm}-{kind}.{ending}", mime, key=keys.SWEEP_TAKE_KIND(kind),
                on_click="ignore",
            )  # fmt: skip


def _again(cell: Run) -> bool:
    """Return whether a script of its own can make the run again: known data, declared bounds, all rows, noise."""
    known = cell.data.startswith("sample:")
    return known and (cell.bounds, cell.n_rows, cell.noise) == ("declared", None, "seeded")
