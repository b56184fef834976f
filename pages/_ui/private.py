"""What PRIVATE adds to a run: a confirmation, and claims that add up per file and are never given back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import defaultdict

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.privacy.guarantee import Guarantee
from pages._ui import runs


class Claims:
    """What was claimed on every file, kept by a keyed fingerprint: the same file in another tab finds the same list."""

    def __init__(self) -> None:
        self._secret, self._lock = secrets.token_bytes(32), threading.Lock()
        self._claimed: defaultdict[str, list[Guarantee]] = defaultdict(list)

    def fingerprint(self, content: bytes) -> str:
        """Return a name for a file that nobody can compute without this server's secret."""
        return hmac.new(self._secret, content, hashlib.sha256).hexdigest()

    def reserve(self, fingerprint: str, promise: Guarantee) -> None:
        """Add a claim, before the first draw. There is no way to take one back."""
        with self._lock:
            self._claimed[fingerprint].append(promise)

    def of(self, fingerprint: str) -> tuple[Guarantee, ...]:
        """Return what was claimed so far."""
        return tuple(self._claimed[fingerprint])


@st.cache_resource
def claims() -> Claims:
    """Return the server's one record."""
    return Claims()


def fingerprint(data: Dataset) -> str:
    """Return the fingerprint of the file that a private data set of this session came from."""
    return st.session_state.fingerprints[data.dataset_id]


def together(promises: tuple[Guarantee, ...]) -> str:
    """Return what several runs on one file add up to: epsilons and deltas summed, per neighboring relation."""
    sums: dict[str, list[float]] = {}
    for promise in promises:
        total = sums.setdefault(promise.unit, [0.0, 0.0])
        total[0] += promise.epsilon
        total[1] += promise.delta
    return "; ".join(f"\u03b5 = {e:.4g}, \u03b4 = {d:.2g} ({unit})" for unit, (e, d) in sums.items())


def ask(data: Dataset, algorithm: Algorithm) -> None:
    """Ask before a run on private data; a release that was made before is shown again for nothing."""
    identity = runs.run_id(data, algorithm, None)
    if runs.find(identity) is None:
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
    domain, before = data.domain, claims().of(fingerprint(data))
    promise = algorithm.guarantee(domain.n_features, domain.n_public or 1, rows_per_person=domain.rows_per_person)
    with st.container(border=True):
        st.subheader("Spend privacy on this file?")
        st.markdown(
            f"This run claims **\u03b5 = {promise.epsilon:.4g}**, \u03b4 = {promise.delta:.2g} for {promise.unit}."
        )
        if domain.rows_per_person > 1:
            person, rows = promise.person, domain.rows_per_person
            st.markdown(f"For a person with {rows} rows: \u03b5 = {person.epsilon:.4g}, \u03b4 = {person.delta:.2g}.")
        st.markdown(f"Claimed on this file so far: {together(before) or 'nothing'}.")
        st.markdown(f"Afterwards: **{together((*before, promise))}**.")
        st.caption("The sum counts every run of this server on this file, also cancelled ones. Nothing is given back.")
        with st.container(horizontal=True):
            if st.button("Run and spend", type="primary"):
                del state.asking
                claims().reserve(fingerprint(data), promise)
                runs.start(data, algorithm, None)
                st.rerun()
            if st.button("Not now"):
                del state.asking
                st.rerun()
