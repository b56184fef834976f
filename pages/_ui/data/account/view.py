"""Show the account of a private file: a meter of the spent budget, the claims, the owner's total, the signed file."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.algorithms.nsm.nsm import NSM
from dpviz.algorithms.rows_outside import RowsOutside
from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.escape import plain
from dpviz.numbers import chance, number
from dpviz.postprocessing.together import together
from dpviz.privacy.accounting import default_delta
from dpviz.privacy.accounts import Account, Claim, FileBudget, Refused
from dpviz.privacy.delta import meaning
from dpviz.privacy.guarantee import Neighboring
from dpviz.takeaway.nearest import nearest_code
from dpviz.trace import Trace
from pages._ui.data import key_file
from pages._ui.data.account.state import account_state
from pages._ui.explore.ledger import view as ledger
from pages._ui.explore.player import takeaway
from pages._ui.explore.player.how import How
from pages._ui.frame import markup, messages
from pages._ui.server.owner import owner
from pages._ui.work import results
from pages._ui.work.private import account_of, accounts, fingerprint, waiting

__all__ = ["account", "example", "releases"]


def account(data: Dataset) -> None:
    """Show the claims of all runs on a private file, the total that its owner allows, and the account's file."""
    key = fingerprint(data)
    try:
        now = account_of(data)
        with accounts() as store:
            signed = store.to_file(key)
    except Refused as problem:
        st.error(plain(str(problem)))
        return
    for relation in now.relations or (Neighboring.ADD_REMOVE,):
        _total(now, relation, data)
    _claims_table(now)
    left, right = st.columns(2, gap="large")
    with left.form("book_budget", border=False):
        _budget_form(data, now)
    with right:
        st.download_button(
            "Download the account file", signed, "dpviz-account.json", "application/json",
            icon=":material/download:", on_click="ignore", help="This server signs the file and rejects edited copies.",
        )  # fmt: skip
        key_file.download(owner())
        dropped = st.file_uploader(
            "Add an account file for this data file", "json", key=f"book_file_{account_state.book_files}",
            help="Adds your claims from a server with the same secret, and never removes a claim.",
        )  # fmt: skip
        if dropped is not None:
            account_state.book_files += 1
            try:
                with accounts() as store:
                    added = store.load(key, dropped.getvalue())
                messages.say("done", f"The account file added {added} claim{'s' * (added != 1)}.")
            except (ValueError, Refused) as problem:
                messages.say("problem", str(problem))
            st.rerun()


def example(data: Dataset) -> None:
    """Show, grayed, what an account looks like after two runs and a question on a file that does not exist."""
    domain = Domain.box(0, 1, 4, n_public=3000)
    asked = (NSM(n_clusters=3, epsilon=1.0), NSM(n_clusters=5, epsilon=0.5), RowsOutside(epsilon=0.05))
    relation = Neighboring.ADD_REMOVE
    total = FileBudget(2.0, default_delta(domain.n_public or 1))
    now = Account("", tuple(Claim.of(one, domain) for one in asked), {relation: total})
    st.header("An example")
    with st.container(key="account_example"):
        _total(now, relation, data)
        _claims_table(now)
    st.caption(
        "The file is made up: 3,000 people, 4 columns, two runs of NSM and one count of the rows outside the bounds, "
        f"within the owner's total of ε {number(total.epsilon)}."
    )


def _total(now: Account, relation: Neighboring, data: Dataset) -> None:
    """Show the claims under a neighboring relation, the rest of the owner's total, and the number of runs left out."""
    st.markdown(f"**{together(now, relation)}** claimed, for {now.hides(relation)}.")
    spent, run = (now.total(relation).epsilon if now.under(relation) else 0.0), waiting(data)
    parts = [("spent", spent)]
    if run is not None and run.neighboring is relation:
        parts.append(("the waiting run", now.after(Claim.of(run, data.domain)).total(relation).epsilon - spent))
    if relation in now.budgets:
        left = now.budgets[relation].epsilon - sum(part for _, part in parts)
        parts.append(("left" if left >= 0 else "over the total", abs(left)))
    if len(parts) > 1:
        st.html(markup.meter([(words, part, f"ε {number(part)}") for words, part in parts]))
    converted = sum(claim.neighboring is not relation for claim in now.under(relation))
    if converted:
        st.caption(
            f"This total includes {_runs(converted)} under another neighboring relation, converted by group privacy."
        )
    others = len(now.unprotected(relation))
    if others:
        st.caption(f"This total does not cover the releases of {_runs(others)} under a weaker neighboring relation.")


def _runs(number: int) -> str:
    return f"{number} run{'s' * (number != 1)}"


def _budget_form(data: Dataset, now: Account) -> None:
    relations: list[Neighboring] = list(Neighboring)
    relation = st.selectbox("Total for", relations, format_func=lambda one: one.unit)
    epsilon = st.number_input("at most ε", value=_short(now.total(relation).epsilon + 1.0), format="%g", step=None)
    least = max(_short(default_delta(data.n_public)), _short(now.added_delta(relation), up=True))
    delta = st.number_input(
        "at δ", value=least, format="%g", step=None,
        help=f"The δ of the total: {meaning(relation)}. Keep it far below 1/n, where n is the number of rows, but "
            "not below the sum of the claims' δ.",
    )  # fmt: skip
    rho = st.number_input(
        "for moves of up to rho", value=now.rho_distance(Neighboring.MOVE_RHO), format="%g", step=None,
        placeholder="only for moves",
        help="In the data's own units. For this total, a run that hides only shorter moves counts several times.",
    )  # fmt: skip
    if st.form_submit_button("Set the total"):
        try:
            budget = FileBudget(epsilon, delta, rho if relation is Neighboring.MOVE_RHO else None)
            with accounts() as store:
                store.set_budget(fingerprint(data), relation, budget)
            messages.say("done", "The total is set. A run that would exceed it is refused before its first draw.")
        except (ValueError, TypeError, Refused) as problem:
            messages.say("problem", str(problem))
        st.rerun()


def _short(value: float, *, up: bool = False) -> float:
    """Return a number rounded (or rounded up) to three significant digits, which a field can show in full."""
    short = float(f"{value:.3g}")
    return float(f"{short + 10.0 ** (math.floor(math.log10(value)) - 2):.3g}") if up and short < value else short


def _claims_table(now: Account) -> None:
    if not now.claims:
        st.info("Nothing has been claimed on this file yet.")
        return
    rows = (
        markup.row(
            [str(i), claim.name, number(claim.total.epsilon), chance(claim.total.delta), claim.hides],
            lit=True,
        )
        for i, claim in enumerate(now.claims, 1)
    )
    st.html(markup.table("Claims", ("#", "claimed by", "ε", "δ", "for"), rows))


def releases(data: Dataset) -> None:
    """List this visit's runs on the file, each with its releases and files; their pictures are on Watch."""
    mine = [run for run in results.history() if run.data.private and fingerprint(run.data) == fingerprint(data)]
    if not mine:
        return
    st.header("Released during this visit")
    for place, (run, words) in enumerate(zip(mine, results.labels(mine).values(), strict=True)):
        box = st.expander(plain(words), key=f"account_{place}_run", on_change="rerun", expanded=place == 0)
        if box.open:
            with box:
                table = ledger.table_of(run)
                ledger.releases(table)
                ledger.downloads(run, table)
                takeaway.menu(f"account_{place}", run, How())
                _who(run.trace)


def _who(trace: Trace) -> None:
    """Say why no file lists each person's cluster, and how to compute the clusters where the file is stored."""
    st.markdown(
        "**Which person is in which cluster?** A row's nearest center depends on that row alone, so a list of nearest "
        "centers would reveal the secret that you spent ε to keep. If you may read the file, you need no list: save "
        "the run's centers as centers.json, load the declared columns as X, and run these lines where the file is "
        "stored. A row with a missing value gets the number 0."
    )
    st.code(nearest_code(trace), language="python")
