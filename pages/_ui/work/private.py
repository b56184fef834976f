"""What PRIVATE adds to a run: a confirmation, and claims that add up per file and are never given back."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import chance, number
from dpviz.postprocessing.bet import Bet, bet_of
from dpviz.privacy.accounts import URL, Account, Accounts, Claim, Refused
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from dpviz.privacy.secret import state_folder
from pages._ui.frame import keys, messages
from pages._ui.frame.session import session
from pages._ui.frame.streamlit_patches import whole
from pages._ui.work import results, runs
from pages._ui.work.state import work_state


class NoAccounts(Refused):
    """The server cannot keep accounts just now. Its log says why; a visitor need not know."""

    def __init__(self) -> None:
        super().__init__(
            "This server cannot keep the accounts of files just now, so it takes no file and spends no privacy. "
            "Its operator finds the reason in its log."
        )


@st.cache_resource(max_entries=4, show_spinner=False)
def _open(folder: str, url: str) -> Accounts:
    return Accounts.open()


@contextmanager
def accounts() -> Iterator[Accounts]:
    """Give the server's one set of accounts.

    Raises
    ------
    Refused
        If what is done with them is refused, or they cannot be kept.
    """
    try:
        yield _open(str(state_folder()), os.environ.get(URL, ""))
    except Refused:
        raise
    except OSError as problem:
        logging.getLogger(__name__).error("%s", problem)
        raise NoAccounts from None


def fingerprint(data: Dataset) -> str:
    """Return the fingerprint of the file that a private data set of this session came from."""
    return work_state.fingerprints[data.dataset_id]


def account_of(data: Dataset) -> Account:
    """Return the account of the file that a private data set of this session came from."""
    with accounts() as kept:
        return kept.of(fingerprint(data))


def together(account: Account, relation: Neighboring) -> str:
    """Return what the claims on a file add up to under a relation, in words."""
    if not account.under(relation):
        return "nothing"
    total = account.total(relation)
    return f"ε = {number(total.epsilon)}, δ = {chance(total.delta)}"


def bet(account: Account, relation: Neighboring, rows_per_person: int, far: str) -> Bet:
    """Return the bet on one person, by all claims on a file together; `far` as for `bet_of`."""
    total, notion = account.total(relation), Notion.RHO if relation is Neighboring.MOVE_RHO else Notion.CENTRAL
    promise = Guarantee(
        notion, relation, total.epsilon, total.delta, mu=total.mu, pure_epsilon=total.pure_epsilon, zcdp=total.zcdp,
        rows_per_person=rows_per_person,
    )  # fmt: skip
    return bet_of(promise, far=far)


def ask(data: Dataset, algorithm: Algorithm) -> None:
    """Ask before a run on private data; a release that was made before is shown again for nothing."""
    identity = runs.run_id(data, algorithm, None)
    if results.find(identity) is None:
        session.asking = identity
        return
    messages.say("note", "You have this release already: same data, same parameters. Seeing it again costs nothing.")
    runs.start(data, algorithm, None)


def offer(data: Dataset, algorithm: Algorithm | None) -> None:
    """Ask at once where nothing was run yet on a private file; "Not now" is remembered until Run is pressed."""
    if algorithm is not None and not session.job and work_state.not_now != data.dataset_id:
        session.asking = runs.run_id(data, algorithm, None)


def confirm(
    data: Dataset,
    algorithm: Algorithm | None,
    *,
    slot: str = "asking",
    start: Callable[[Dataset, Algorithm, int | None], None] = runs.start,
) -> None:
    """Say what the run that was asked for costs, and start it; the claim stays, whatever happens to the run.

    `slot` is where the session keeps what it was asked for; `start` runs it once it is booked.
    """
    if algorithm is None or getattr(session, slot) != runs.run_id(data, algorithm, None):
        delattr(session, slot)
        return
    domain, relation = data.domain, algorithm.neighboring
    try:
        claim, before = Claim.of(algorithm, domain), account_of(data)
        promise = algorithm.guarantee(domain.n_features, data.n_public, rows_per_person=domain.rows_per_person)
    except (ValueError, Refused) as problem:
        delattr(session, slot)
        st.error(plain(str(problem)))
        return
    with st.container(border=True):
        st.header("Spend privacy on this file?")
        st.markdown(
            f"This run claims **ε = {number(promise.epsilon)}**, δ = {chance(promise.delta)} for {promise.unit}."
        )
        if domain.rows_per_person > 1:
            person, rows = promise.person, domain.rows_per_person
            st.markdown(f"For a person with {rows} rows: ε = {number(person.epsilon)}, δ = {chance(person.delta)}.")
        st.markdown(f"Claimed on this file so far, for {relation.unit}: {together(before, relation)}.")
        st.markdown(f"Afterwards: **{together(before.after(claim), relation)}**.")
        far = domain.length(promise.rho_distance or 0.0)
        now, then = (bet(one, relation, domain.rows_per_person, far) for one in (before, before.after(claim)))
        st.markdown(
            f"In a bet on {then.on} anybody is right at most {now.odds} times in 100 today, and "
            f"**{then.odds} times in 100** afterwards. A coin: 50."
        )
        for total_for, total in before.budgets.items():
            st.markdown(
                f"Left of your total of ε = {number(total.epsilon)} for {total_for.unit}: "
                f"{number(before.remaining(total_for) or 0.0)}."
            )
        if not before.budgets:
            st.page_link("pages/ledger.py", label="Set a total that no sum may exceed", icon=":material/receipt_long:")
        st.caption(
            "The sum counts every run of yours on this file on this server, canceled ones too. Nothing is given back. "
            "The δ of all runs add up, as their ε do."
        )
        with st.container(horizontal=True):
            if st.button("Run and spend", type="primary", key=keys.SPEND(slot)):
                with whole():  # a second click must not come between the claim and its run
                    delattr(session, slot)
                    try:
                        with accounts() as kept:
                            kept.reserve(fingerprint(data), claim)
                    except Refused as refused:
                        messages.say("problem", str(refused))
                    else:
                        start(data, algorithm, None)
                st.rerun()
            if st.button("Not now", key=keys.NOT_NOW(slot)):
                delattr(session, slot)
                work_state.not_now = data.dataset_id
                st.rerun()
