"""The ledger as a list that opens, its downloads, and the account of a private file over all runs."""

from __future__ import annotations

import json
import math

import pandas as pd
import streamlit as st

from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.figures.kit.ledger import releases_table
from dpviz.numbers import chance, number
from dpviz.privacy.accounting import default_delta
from dpviz.privacy.accounts import Account, Budget, Refused
from dpviz.privacy.guarantee import Neighboring
from dpviz.trace import Trace
from pages._ui.address import links
from pages._ui.compare.sides import asked_by
from pages._ui.data import key_file
from pages._ui.frame import catalog, keys, markup, messages
from pages._ui.frame.session import session
from pages._ui.ledger.state import ledger_state
from pages._ui.server.owner import owner
from pages._ui.work import runs
from pages._ui.work.private import account_of, accounts, fingerprint, together
from pages._ui.work.results import Result
from pages._ui.workspace.explore import explored
from pages._ui.workspace.ledger import ledger

MOST = 400  # releases listed on the page; the downloads have all
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
_HEADS = ("", "#", "release", "mechanism", "pure ε", "μ", "ε at δ", "zCDP ρ")


def follow(data: Dataset) -> str:
    """Run what an address asks for, once it was opened; return the run's identity, "" if no address was followed."""
    opened = links.opened("ledger")
    if opened is None or data.private:
        return ""
    try:
        side = asked_by(opened.scene, ledger)
    except ValueError as problem:
        if session.opened_now:
            st.error(plain(str(problem)))
        return ""
    noiseless = bool(opened.scene.values.get("exact"))
    if session.opened_now and not runs.paid():
        runs.abandon()
        runs.start(data, side.algorithm, side.seed, noiseless=noiseless)
    return runs.run_id(data, side.algorithm, side.seed, noiseless=noiseless)


def keep(result: Result | None, coming: str) -> None:
    """Write the address of the run that is seen, or of the one that is coming; a private run has none."""
    opened = links.opened("ledger")
    if result is not None and not result.data.private and catalog.is_here(result.data):
        links.keep("ledger", ledger, entry=result.identity, scene=explored(result))
    elif result is None and coming and session.job and opened is not None:
        links.keep("ledger", ledger, entry=coming, scene=opened.scene)
    else:
        links.keep("ledger", ledger, private=True)


def releases(trace: Trace, table: pd.DataFrame) -> None:
    """List every release with the totals so far; each opens to say why its sensitivity is what it is."""
    rows = []
    for row in table.head(MOST).itertuples():
        cells = [
            str(row.release), markup.escape(row.label), row.mechanism, _number(row.pure_epsilon), _number(row.mu),
            f"{number(row.epsilon)} at {chance(row.delta)}" if row.delta else number(row.epsilon), _number(row.zcdp),
        ]  # fmt: skip
        spans = "".join(f"<span>{cell}</span>" for cell in cells)
        scope = "" if row.scope == "0" else f" Released on part {markup.escape(row.scope)} of the rows."
        size = f" {row.entries:,} numbers were released." if row.entries > 1 else ""
        rows.append(f"<details><summary>{spans}</summary><p>{markup.escape(row.why)}{scope}{size}</p></details>")
    heads = "".join(f"<span>{head}</span>" for head in _HEADS)
    st.html(
        '<div class="dp-rel" tabindex="0" role="region" aria-label="Releases and totals so far">'
        f'<div class="head">{heads}</div>{"".join(rows)}</div>'
    )
    more = f" The first {MOST} of {len(table):,} are listed; the downloads have all." if len(table) > MOST else ""
    st.caption(
        "Totals so far, in every notion in which one exists; n/a where it does not. Open a line to see why. "
        f"Releases on different parts of the rows do not add up: the total is the most that any row pays.{more}"
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


def account(data: Dataset) -> None:
    """Show what all runs on a private file add up to, the owner's total, and the account file."""
    key = fingerprint(data)
    st.header("This file, over all runs")
    try:
        now = account_of(data)
        with accounts() as kept:
            signed = kept.to_file(key)
    except Refused as problem:
        st.error(plain(str(problem)))
        return
    for relation in now.relations or (Neighboring.ADD_REMOVE,):
        _total(now, relation)
    _claims_table(now)
    left, right = st.columns(2, gap="large")
    with left.form("book_budget", border=False):
        _budget_form(data, now)
    with right:
        st.download_button(
            "Download the account file", signed, "dpviz-account.json", "application/json",
            icon=":material/download:", on_click="ignore", help="Signed by this server: an edited one is refused.",
        )  # fmt: skip
        key_file.download(owner())
        dropped = st.file_uploader(
            "Add an account file of this data file", "json", key=keys.BOOK_FILE(ledger_state.book_files),
            help="It brings your claims over from a server with the same secret. It never takes a claim away.",
        )  # fmt: skip
        if dropped is not None:
            ledger_state.book_files += 1
            try:
                with accounts() as kept:
                    added = kept.load(key, dropped.getvalue())
                messages.say("done", f"The account file added {added} claim{'s' * (added != 1)}.")
            except (ValueError, Refused) as problem:
                messages.say("problem", str(problem))
            st.rerun()


def _unit(now: Account, relation: Neighboring) -> str:
    rho = now.rho_distance(relation)
    return relation.unit if rho is None else relation.unit.replace("rho", f"rho = {number(rho)}")


def _total(now: Account, relation: Neighboring) -> None:
    """Show what was claimed for one relation, how much is left, and which runs promise nothing there."""
    st.markdown(f"**{together(now, relation)}** claimed, for {_unit(now, relation)}.")
    if relation in now.budgets:
        budget, spent = now.budgets[relation], now.total(relation).epsilon
        st.progress(
            min(1.0, spent / budget.epsilon),
            f"{number(now.remaining(relation))} is left of ε = {number(budget.epsilon)} at δ = {chance(budget.delta)}",
        )
    converted = sum(claim.neighboring is not relation for claim in now.under(relation))
    if converted:
        st.caption(f"{_runs(converted)} for another relation converted by group privacy.")
    others = len(now.unprotected(relation))
    if others:
        st.caption(f"{_runs(others)} for a weaker relation: nothing is promised here about what they released.")


def _runs(number: int) -> str:
    return f"{number} run{'s' * (number != 1)}"


def _budget_form(data: Dataset, now: Account) -> None:
    relation = st.selectbox("Total for", list(Neighboring), format_func=lambda r: r.unit)
    epsilon = st.number_input("at most ε", value=_short(now.total(relation).epsilon + 1.0), format="%g", step=None)
    delta = st.number_input(
        "at δ", value=_short(default_delta(data.n_public)), format="%g", step=None,
        help="The total's own δ. Far below 1/n.",
    )  # fmt: skip
    rho = st.number_input(
        "for moves up to rho", value=now.rho_distance(Neighboring.MOVE_RHO), format="%g", step=None,
        placeholder="only for moves", help="In the data's own units. A run for shorter moves counts several times.",
    )  # fmt: skip
    if st.form_submit_button("Set the total"):
        try:
            budget = Budget(epsilon, delta, rho if relation is Neighboring.MOVE_RHO else None)
            with accounts() as kept:
                kept.set_budget(fingerprint(data), relation, budget)
            messages.say("done", "Set. A run that would go above it is refused before its first draw.")
        except (ValueError, TypeError, Refused) as problem:
            messages.say("problem", str(problem))
        st.rerun()


def _short(value: float) -> float:
    """Return a number that a field can show in full."""
    return float(f"{value:.3g}")


def _claims_table(now: Account) -> None:
    if not now.claims:
        st.info("Nothing was claimed on this file yet.")
        return
    rows = (
        markup.row(
            [str(i), claim.name, number(claim.total.epsilon), chance(claim.total.delta), claim.neighboring.unit],
            lit=True,
        )
        for i, claim in enumerate(now.claims, 1)
    )
    st.html(markup.table("Claims", ("#", "claimed by", "ε", "δ", "for"), rows))


def table_of(result: Result) -> pd.DataFrame:
    """Return the releases of a run with totals so far, computed once a session."""
    return _table(result.identity, result)


@st.cache_resource(max_entries=8, show_spinner=False, scope="session")
def _table(identity: str, _result: Result) -> pd.DataFrame:
    return releases_table(_result.trace)
