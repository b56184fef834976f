"""Ask what is promised, and whom to trust. The method answers both questions, so a new answer changes the method.

Only "several clients" leaves the method unchanged; it then runs over clients who keep their rows.
"""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.federated import refusal
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.distance import methods
from pages._ui.explore.federated import wire
from pages._ui.explore.form import picker
from pages._ui.explore.form.picker import ALGORITHM_NEXT, offered
from pages._ui.frame import messages
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.prepared import locked
from pages._ui.frame.session import session

__all__ = ["TRUST", "answers", "by_clients"]

_PROMISED = "explore_promised"

PROMISES = {"person": "a person", "move": "a move of up to rho"}
_TRUST = {"curator": "one curator", "clients": "several clients", "mixer": "a mixer of reports", "nobody": "nobody"}
TRUST = Control(
    "trust", "explore_trust", "Whom do you trust", choice("curator", tuple(_TRUST)), named=_TRUST,
    help="A curator who sees the rows; clients who keep their rows and send masked sums; a mixer of reports; or "
    "nobody.",
)  # fmt: skip
_OF = {Notion.SHUFFLE: "mixer", Notion.LOCAL: "nobody"}  # under every other notion, people trust a curator


def promised(cls: type[Algorithm]) -> str:
    """Return what a method's promise hides, as a key of `PROMISES`."""
    return "move" if cls.notion is Notion.RHO else "person"


def trusts(cls: type[Algorithm], answer: str, data: Dataset) -> bool:
    """Return whether, on these data, a method matches an answer, given as a choice of `TRUST`."""
    if answer != "clients":
        return _OF.get(cls.notion, "curator") == answer
    return not data.private and wire.small(data) and not refusal(cls(), data.domain.n_features, data.n_public)


def by_clients(cls: type[Algorithm], data: Dataset) -> bool:
    """Return whether the method runs over several clients."""
    return TRUST.held == "clients" and trusts(cls, "clients", data)


def answers(data: Dataset, cls: type[Algorithm]) -> None:
    """Show both questions, answered as the method requires; another answer chooses a method that matches it."""
    state = st.session_state
    now = TRUST.held
    if not trusts(cls, now, data):
        state[TRUST.key] = _OF.get(cls.notion, "curator")
        if now == "clients":
            state[TRUST.key] = now = "curator" if cls.notion not in _OF else _OF[cls.notion]
            messages.say("note", _no_clients(cls, data))
    state[_PROMISED] = promised(cls)
    promises = PROMISES if methods.one_distance(data) else {"person": PROMISES["person"]}
    st.selectbox(
        "What is promised", promises, format_func=PROMISES.__getitem__, key=_PROMISED,
        persist_state="session", disabled=locked(_PROMISED),
        on_change=_another, args=(data, cls), help="A move is a single distance, so it needs one scale for all "
            "columns.",
    )  # fmt: skip
    offers = [answer for answer in _TRUST if answer != "clients" or (wire.small(data) and not data.private)]
    TRUST.draw(options=offers, on_change=_another, args=(data, cls))
    if TRUST.held == "clients" and session.page != "explore":
        st.caption("This view shows a run with one curator; Watch shows what the clients send.")


def _no_clients(cls: type[Algorithm], data: Dataset) -> str:
    """Return a sentence on why a method does not run over several clients on these data, and what is shown instead."""
    reason = refusal(cls(), data.domain.n_features, data.n_public)
    if not wire.small(data) or data.private:
        reason = f"{data.title}: too large for clients on this server."
        if data.private:
            reason = "A private file has one curator here."
    return f"{reason} You see the run with one curator instead."


def _another(data: Dataset, cls: type[Algorithm]) -> None:
    """Choose a method that matches the chosen answers if the current one does not, and report the change."""
    state = st.session_state
    promise, trust = state[_PROMISED], state[TRUST.key]
    if promised(cls) == promise and trusts(cls, trust, data):
        return
    changed = promise != promised(cls)
    fits = [
        other
        for other in (ALGORITHMS[slug] for slug in offered(data.private))
        if promised(other) == promise and other.notion.private and (changed or trusts(other, trust, data))
    ]
    if not fits:
        messages.say("note", f"No method hides {PROMISES[promise]} if you trust {_TRUST[trust]}.")
        return
    other = min(fits, key=lambda one: one.__module__.rpartition(".")[0] != cls.__module__.rpartition(".")[0])
    if not trusts(other, trust, data):
        state[TRUST.key] = _OF.get(other.notion, "curator")
    key = picker.PRIVATE_METHOD if data.private else picker.METHOD
    state[ALGORITHM_NEXT(key)] = other.slug
    messages.say(
        "note", plain(f"{other.name} replaces {cls.name}, which makes another promise or trusts somebody else.")
    )
