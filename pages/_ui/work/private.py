"""Ask before PRIVATE runs, and book their claims, which add up per file and are never refunded."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from dpviz.algorithms import Algorithm, outside
from dpviz.datasets import Dataset
from dpviz.datasets.meanings import as_suggested
from dpviz.escape import plain
from dpviz.numbers import chance, listed, number
from dpviz.postprocessing.together import bet, together
from dpviz.privacy.accounts import URL, Account, Accounts, Claim, Refused
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.secret import state_folder
from pages._ui.frame import markup, messages
from pages._ui.frame.inside.patches import whole
from pages._ui.frame.shared import once
from pages._ui.frame.words import on_screen
from pages._ui.work import results, runs
from pages._ui.work.state import work_state


class NoAccounts(Refused):
    """Raised when the server cannot save accounts. The server log gives the reason, which visitors need not know."""

    def __init__(self) -> None:
        super().__init__(
            "This server cannot save accounts at the moment, so it accepts no file and spends no privacy. The reason "
            "is in the server log."
        )


@once
def _open(folder: str, url: str) -> Accounts:
    return Accounts.open()


@contextmanager
def accounts() -> Iterator[Accounts]:
    """Yield the server's accounts.

    Raises
    ------
    Refused
        If the accounts refuse an operation, or if they cannot be saved.
    """
    try:
        yield _open(str(state_folder()), os.environ.get(URL, ""))
    except Refused:
        raise
    except OSError as problem:
        logging.getLogger(__name__).error("%s", problem)
        raise NoAccounts from None


def fingerprint(data: Dataset) -> str:
    """Return the fingerprint of the file behind a private data set of this session."""
    return work_state.fingerprints[data.dataset_id]


def account_of(data: Dataset) -> Account:
    """Return the account of the file behind a private data set of this session."""
    with accounts() as store:
        return store.of(fingerprint(data))


def ask(data: Dataset, algorithm: Algorithm) -> None:
    """Ask for consent before a run on private data, or show the same run for free if the session already has it."""
    if results.find(runs.run_id(data, algorithm, None)) is None:
        work_state.waiting, work_state.leads = (data.dataset_id, algorithm), True
        return
    messages.say(
        "note", "You already have this release, with the same data and parameters. Seeing it again costs nothing."
    )
    runs.start(data, algorithm, None)


def lead() -> None:
    """Go to Spend, which asks for consent, if a run on private data was just requested."""
    if work_state.leads:
        st.switch_page("pages/spend.py")


def waiting(data: Dataset) -> Algorithm | None:
    """Return the run that waits for consent on a private data set, or None."""
    name, algorithm = work_state.waiting or ("", None)
    return algorithm if name == data.dataset_id else None


def confirm(
    data: Dataset,
    algorithm: Algorithm,
    *,
    slot: str,
    start: Callable[[Dataset, Algorithm, int | None], None],
    beyond: str = "is moved to the nearest bound",
) -> bool | None:
    """Show the cost of a run, and book and start it after consent; return the answer, or None until there is one.

    The claim stays, whatever happens to the run. `slot` names the question among those on a page; `start` runs the
    booked run; `beyond` says what happens to a value outside its bounds.
    """
    domain, relation = data.domain, algorithm.neighboring
    try:
        claim, before = Claim.of(algorithm, domain), account_of(data)
        algorithm.check_domain(domain, data.n_public)
        after = before.after(claim)
        # the total's distance, which is smaller than the run's own if another claim covers only shorter moves
        far = domain.length((after.rho_distance(relation) or 0.0) / float(domain.half_width.max()))
        promise = algorithm.guarantee(domain.n_features, data.n_public, rows_per_person=domain.rows_per_person)
    except (ValueError, Refused) as problem:
        st.error(plain(str(problem)))
        return None
    with st.container(border=True):
        st.html(markup.facts(_what(data, algorithm).items()))
        st.caption(
            "No cell was checked: a cell in another format counts as missing, and a value outside its bounds "
            f"{beyond}, both without a message. {_empty(data, relation)}{_suggested(data)}"
        )
        total = f"**ε = {number(promise.epsilon)}**, δ = {chance(promise.delta)}"
        st.markdown(f"This run claims {total} for {claim.hides}.")
        if domain.rows_per_person > 1:
            person, rows = promise.person, domain.rows_per_person
            st.markdown(f"For a person with {rows} rows: ε = {number(person.epsilon)}, δ = {chance(person.delta)}.")
        st.markdown(f"Claimed on this file so far, for {before.hides(relation)}: {together(before, relation)}.")
        st.markdown(f"Afterwards, for {after.hides(relation)}: **{together(after, relation)}**.")
        now, then = (bet(one, relation, domain.rows_per_person, far) for one in (before, after))
        st.markdown(
            f"A bet on {then.on} is right at most {now.odds} times in 100 today, and **{then.odds} times in 100** "
            f"after this run. A coin is right 50 times."
        )
        allowed = _allows(before, claim)
        st.markdown(
            "**What cannot be undone:** nothing is refunded, neither for a canceled run nor for a deleted file. The "
            "sum counts all of your runs on this file on this server; δ adds up as ε does."
        )
        if words := outside.warning(algorithm.slug):
            st.warning(plain(f"{words}."))
            allowed &= st.checkbox("Spend on its authors' word alone", key=f"{slot}_unaudited")
        with st.container(horizontal=True):
            if st.button("Not yet", type="primary", key=f"{slot}_not_yet"):
                return False
            if st.button("Run and spend", key=f"{slot}_spend", disabled=not allowed):
                with whole():  # a second click must not separate the claim from its run
                    try:
                        with accounts() as store:
                            store.reserve(fingerprint(data), claim)
                    except Refused as refused:
                        messages.say("problem", str(refused))
                    else:
                        start(data, algorithm, None)
                        return True
                st.rerun()
    return None


def _what(data: Dataset, algorithm: Algorithm) -> dict[str, str]:
    """Return the facts that a run's card shows, by label."""
    columns = ", ".join(data.columns[:12]) + ", …" * (len(data.columns) > 12)
    facts = {"File": data.title, "Method": algorithm.name, "Columns": columns}
    if k := getattr(algorithm, "n_clusters", None):
        facts |= {"Centers": f"k = {k}"}
    return facts


def _empty(data: Dataset, relation: Neighboring) -> str:
    """Say what an empty cell does under a neighboring relation: nobody may learn how many there are."""
    fills = [(column["name"], column["fill"]) for column in data.facts["columns"] if column["fill"] is not None]
    does = "is left out" if relation is Neighboring.ADD_REMOVE else "is put in the middle of all bounds"
    written = ", ".join(f"{plain(name)} ({number(value, 6)})" for name, value in fills)
    if len(fills) == len(data.columns):
        return f"An empty cell counts as the value declared for it: {written}."
    return (
        f"A row with an empty cell {does}{f', except in {written}: there the cell counts as that value' * bool(fills)}."
    )


def _suggested(data: Dataset) -> str:
    """Say which bounds come from suggestions for the columns' names, because no value of the file went into them."""
    names = [plain(name) for name in as_suggested(data.facts["columns"])]
    if not names:
        return ""
    return f" The bounds of {listed(names)} are those suggested for {'such names' if names[1:] else 'this name'}."


def _allows(account: Account, claim: Claim) -> bool:
    """Say how much of each total is left, and return whether they allow the claim; if not, say what is still free."""
    for relation, total in account.budgets.items():
        left = account.remaining(relation) or 0.0
        st.markdown(
            f"Of your total of ε = {number(total.epsilon)} for {account.hides(relation)}, {number(left)} is left."
        )
    if not account.budgets:
        st.page_link("pages/account.py", label="Set a total that claims may not exceed", icon=":material/receipt_long:")
    try:
        account.check(claim)
    except Refused as refused:
        why = plain(on_screen(str(refused).removeprefix("Account: ")))
        st.info(
            f"Your total does not allow this run. {why}  \nThese are still free: everything that was released and its "
            "files, other numbers of centers where weighted points were released, and any rehearsal."
        )
        with st.container(horizontal=True):
            st.page_link("pages/plan.py", label="Rehearse a smaller ε", icon=":material/play_circle:")
            st.page_link("pages/explore.py", label="See what was released", icon=":material/scatter_plot:")
            st.page_link("pages/account.py", label="Change the total", icon=":material/receipt_long:")
        return False
    return True
