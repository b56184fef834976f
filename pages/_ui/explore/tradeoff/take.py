"""Offer a sweep's files: its rows, script and report, and the files of any single run, repeated on request."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dpviz.numbers import number
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.report import report
from dpviz.sweeps.spec import to_script
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import REFERENCE, Run, trace_of
from dpviz.takeaway import KINDS, export
from pages._ui.explore.tradeoff import sweeps
from pages._ui.explore.tradeoff.charts import CAMERA, SIGNS, named, shared
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.explore.tradeoff.tables import looked
from pages._ui.frame import markup

_MOST = 200  # maximum number of runs in the list, which begins with the best
_COLUMNS = {**SIGNS, "mu": "μ", "k_found": "centers released", "peak_memory_mb": "memory (MB)", "parameters": "other"}
_WORDS = {"label": "Privacy label", "page": "One page", "replay": "Replay", "script": "Python script"}


def files(every: Summary, progress: Progress) -> None:
    """Offer a sweep's files and the formats of its pictures, and list its rows."""
    rows = every.rows

    def script() -> str:
        return to_script(dataclasses.replace(progress.sweep, data=progress.data), progress.title)

    with st.container(horizontal=True):
        for words, make, ending, kind in (
            ("Rows (CSV)", lambda: rows.to_csv(index=False), "csv", "text/csv"),
            ("Script that reruns this sweep", script, "py", "text/x-python"),
            ("Report (HTML, offline)", lambda: report(rows, progress.title), "html", "text/html"),
        ):
            st.download_button(words, make, f"dpviz-sweep.{ending}", kind, on_click="ignore")
    CAMERA.draw(label="The camera button of a figure saves it as", on_change=looked)
    st.html(
        markup.small(
            "This is a simulation: the seeds are known and the metrics read raw rows, so nothing here is private."
        )
    )
    st.dataframe(shared(every, "rows", lambda: readable(rows)), height=260, hide_index=True)


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a sweep's rows with readable names for the columns, and one column for all other parameters."""
    given = (json.loads(text or "{}") for text in rows.parameters)
    other = [{name: value for name, value in one.items() if value is not None and name not in rows} for one in given]
    words = [", ".join(f"{named(name)} {value}" for name, value in one.items()) for one in other]
    columns = rows.drop(columns=["key", "version"]).assign(parameters=words)
    return columns.rename(columns=lambda name: _COLUMNS.get(name, name.replace("_", " ")))


def one_run(every: Summary, progress: Progress) -> None:
    """Offer the label, page, replay and script of one finished run that a script can repeat."""
    cells = {key: cell for key, cell in sweeps.cells(progress.sweep) if _again(cell)}
    words = shared(every, "one run", lambda: _best(every, cells))
    if not words:
        return
    chosen = st.selectbox("A single run (best first)", list(words), format_func=words.__getitem__, key="sweep_take")
    cell = cells[chosen]
    with st.container(horizontal=True):
        for kind, name in _WORDS.items():

            def written(kind: str = kind) -> str:
                return export(trace_of(cell), kind)

            _, ending, mime = KINDS[kind]
            st.download_button(
                name, written, f"dpviz-{cell.algorithm}-{kind}.{ending}", mime, key=f"sweep_take_{kind}",
                on_click="ignore",
            )  # fmt: skip


def _best(every: Summary, cells: Mapping[str, Run]) -> dict[str, str]:
    """Return the names of the best of these runs, keyed by run."""
    metric, rows = METRICS[every.metric], every.rows
    done = rows[(rows.status == "ok") & (rows.algorithm != REFERENCE) & rows.key.isin(list(cells))]
    best = done.sort_values(every.metric, ascending=not metric.higher_is_better, kind="stable").head(_MOST)
    return {
        row.key: f"{row.label} on {row.data}, ε = {number(row.epsilon)}, seed {row.seed}: "
        f"{metric.title.lower()} {number(getattr(row, every.metric))}"
        for row in best.itertuples()
    }


def _again(cell: Run) -> bool:
    """Return whether a script can repeat the run: it needs known data, declared bounds, all rows, and noise."""
    known = cell.data.startswith("sample:")
    return known and (cell.bounds, cell.n_rows, cell.noise) == ("declared", None, "seeded")
