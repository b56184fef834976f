"""Show the ledger as a list of expandable lines, with its downloads."""

from __future__ import annotations

import json
import math

import pandas as pd
import streamlit as st

from dpviz.figures.kit.ledger import releases_table
from dpviz.numbers import chance, number
from pages._ui.frame import markup
from pages._ui.frame.session import session
from pages._ui.work.results import Result

MOST = 400  # maximum number of releases listed on the page; the downloads contain all of them
_KEPT = (
    "notice",
    "version",
    "algorithm",
    "name",
    "parameters",
    "dataset_id",
    "seed",
    "claimed",
    "spent",
    "plan",
    "ledger",
)
_NOTIONS = {"pure_epsilon": "pure ε", "mu": "μ", "zcdp": "zCDP ρ"}


def releases(table: pd.DataFrame) -> None:
    """List every release with running totals in the notions that apply to the run; each line opens an explanation."""
    notions = {name: head for name, head in _NOTIONS.items() if table[name].notna().any()}
    rows = []
    for row in table.head(MOST).itertuples():
        cells = [
            str(row.release), markup.escape(row.label), row.mechanism,
            f"{number(row.epsilon)} at {chance(row.delta)}" if row.delta else number(row.epsilon),
            *(_number(getattr(row, name)) for name in notions),
        ]  # fmt: skip
        spans = "".join(f"<span>{cell}</span>" for cell in cells)
        scope = "" if row.scope == "0" else f" Released from part {markup.escape(row.scope)} of the rows."
        size = f" {row.entries:,} numbers were released." if row.entries > 1 else ""
        rows.append(f"<details><summary>{spans}</summary><p>{markup.escape(row.why)}{scope}{size}</p></details>")
    heads = "".join(f"<span>{head}</span>" for head in ("", "#", "release", "mechanism", "ε at δ", *notions.values()))
    st.html(
        f'<div class="dp-rel" style="--notions:{len(notions)}" tabindex="0" role="region" '
        'aria-label="Releases and totals so far">'
        f'<div class="head">{heads}</div>{"".join(rows)}</div>'
    )
    more = ""
    if len(table) > MOST:
        more = f" The first {MOST} of {len(table):,} releases are listed; the files contain all."
    st.caption(
        "Running totals in every notion that applies to this run. Open a line to see the reason. Costs "
        f"on disjoint parts of the rows are not added together: the total is the largest cost for any single row.{more}"
    )


def _number(value: float) -> str:
    return '<span class="na">n/a</span>' if math.isnan(value) else number(value)


def downloads(result: Result, table: pd.DataFrame) -> None:
    """Offer the ledger as JSON and CSV, each with the notice that every export of the run carries."""
    trace = result.trace
    history = session.history
    number = history.index(result.identity) + 1 if result.identity in history else 0
    name = f"dpviz-{trace.algorithm}-{number}-ledger"
    record = json.loads(trace.to_json())
    with st.container(horizontal=True):
        st.download_button(
            "Download JSON", json.dumps({key: record[key] for key in _KEPT}, indent=1), f"{name}.json",
            "application/json", icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "Download CSV", table.assign(notice=trace.notice).to_csv(index=False), f"{name}.csv", "text/csv",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def table_of(result: Result) -> pd.DataFrame:
    """Return the releases of a run with running totals, computed once per session."""
    return _table(result.identity, result)


@st.cache_resource(max_entries=8, show_spinner=False, scope="session")
def _table(identity: str, _result: Result) -> pd.DataFrame:
    return releases_table(_result.trace)
