"""What PRIVATE adds to a run: a confirmation, and claims that add up per file and are never given back."""

from __future__ import annotations

import secrets

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.session_ledger import Claim, Ledgers, SessionLedger, server_secret
from pages._ui import results, runs


@st.cache_resource
def _server() -> tuple[Ledgers, str]:
    """Return the server's one store of ledgers, and what keeps it from outlasting a restart, if anything does."""
    try:
        return Ledgers(server_secret()), ""
    except OSError as problem:
        return Ledgers(secrets.token_bytes(32)), str(problem)


def claims() -> Ledgers:
    """Return the server's one store of ledgers."""
    return _server()[0]


def short_lived() -> str:
    """Return why ledger files will not be readable after a restart; empty if they will."""
    return _server()[1]


def fingerprint(data: Dataset) -> str:
    """Return the fingerprint of the file that a private data set of this session came from."""
    return st.session_state.fingerprints[data.dataset_id]


def together(ledger: SessionLedger, relation: Neighboring) -> str:
    """Return what the claims on a file add up to under a relation, in words."""
    if not ledger.under(relation):
        return "nothing"
    total = ledger.total(relation)
    return f"ε = {total.epsilon:.4g}, δ = {total.delta:.2g}"


def ask(data: Dataset, algorithm: Algorithm) -> None:
    """Ask before a run on private data; a release that was made before is shown again for nothing."""
    identity = runs.run_id(data, algorithm, None)
    if results.find(identity) is None:
        st.session_state.asking = identity
        return
    st.session_state.note = "You have this release already: same data, same parameters. Seeing it again costs nothing."
    runs.start(data, algorithm, None)


def confirm(data: Dataset, algorithm: Algorithm | None) -> None:
    """Say what the run that was asked for costs, and start it; the claim stays, whatever happens to the run."""
    state = st.session_state
    if algorithm is None or state.get("asking") != runs.run_id(data, algorithm, None):
        state.pop("asking", None)
        return
    domain, relation, key = data.domain, algorithm.neighboring, fingerprint(data)
    claim, before = Claim.of(algorithm, domain.n_features, data.n_public), claims().of(key)
    promise = algorithm.guarantee(domain.n_features, data.n_public, rows_per_person=domain.rows_per_person)
    with st.container(border=True):
        st.header("Spend privacy on this file?")
        st.markdown(f"This run claims **ε = {promise.epsilon:.4g}**, δ = {promise.delta:.2g} for {promise.unit}.")
        if domain.rows_per_person > 1:
            person, rows = promise.person, domain.rows_per_person
            st.markdown(f"For a person with {rows} rows: ε = {person.epsilon:.4g}, δ = {person.delta:.2g}.")
        st.markdown(f"Claimed on this file so far, for {relation.unit}: {together(before, relation)}.")
        st.markdown(f"Afterwards: **{together(before.after(claim), relation)}**.")
        if relation in before.budgets:
            total = before.budgets[relation]
            st.markdown(f"Left of your total of ε = {total.epsilon:g}: {before.remaining(relation):.4g}.")
        st.caption("The sum counts every run of this server on this file, also cancelled ones. Nothing is given back.")
        with st.container(horizontal=True):
            if st.button("Run and spend", type="primary"):
                del state.asking
                try:
                    claims().reserve(key, claim)
                except PermissionError as refused:
                    state.problem = str(refused)
                else:
                    runs.start(data, algorithm, None)
                st.rerun()
            if st.button("Not now"):
                del state.asking
                st.rerun()
