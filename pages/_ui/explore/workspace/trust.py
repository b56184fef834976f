"""Ask what is promised, and whom to trust. The method answers both questions, so a new answer changes the method.

Only "several clients" leaves the method unchanged; it then runs over clients who keep their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.federated import CLIENTS, DRAWN_BY, SPREADS, refusal
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.distance import methods
from pages._ui.explore.federated import wire
from pages._ui.explore.form.fields import choice, switch
from pages._ui.explore.form.picker import offered
from pages._ui.frame import keys, messages
from pages._ui.frame.address.scene import Control, number
from pages._ui.frame.prepared import args
from pages._ui.frame.session import session

__all__ = ["TRUST", "answers", "by_clients", "clients"]

PROMISES = {"person": "a person", "move": "a move of up to rho"}
TRUST = {"curator": "one curator", "clients": "several clients", "mixer": "a mixer of reports", "nobody": "nobody"}
_OF = {Notion.SHUFFLE: "mixer", Notion.LOCAL: "nobody"}  # under every other notion, people trust a curator


def promised(cls: type[Algorithm]) -> str:
    """Return what a method's promise hides, as a key of `PROMISES`."""
    return "move" if cls.notion is Notion.RHO else "person"


def trusts(cls: type[Algorithm], answer: str, data: Dataset) -> bool:
    """Return whether, on these data, a method matches an answer, given as a key of `TRUST`."""
    if answer != "clients":
        return _OF.get(cls.notion, "curator") == answer
    return not data.private and wire.small(data) and not refusal(cls(), data.domain.n_features, data.n_public)


def by_clients(cls: type[Algorithm], data: Dataset) -> bool:
    """Return whether the method runs over several clients."""
    return st.session_state.get(keys.TRUST) == "clients" and trusts(cls, "clients", data)


def answers(data: Dataset, cls: type[Algorithm]) -> None:
    """Show both questions, answered as the method requires; another answer chooses a method that matches it."""
    state = st.session_state
    now = state.get(keys.TRUST, "curator")
    if not trusts(cls, now, data):
        state[keys.TRUST] = _OF.get(cls.notion, "curator")
        if now == "clients":
            state[keys.TRUST] = now = "curator" if cls.notion not in _OF else _OF[cls.notion]
            messages.say("note", _no_clients(cls, data))
    state[keys.PROMISED] = promised(cls)
    promises = PROMISES if methods.one_distance(data) else {"person": PROMISES["person"]}
    st.selectbox(
        "What is promised", promises, format_func=PROMISES.__getitem__, **args(keys.PROMISED),
        on_change=_another, args=(data, cls), help="A move is a single distance, so it needs one scale for all "
            "columns.",
    )  # fmt: skip
    offers = [answer for answer in TRUST if answer != "clients" or (wire.small(data) and not data.private)]
    st.selectbox(
        "Whom do you trust", offers, format_func=TRUST.__getitem__, **args(keys.TRUST),
        on_change=_another, args=(data, cls),
        help="A curator who sees the rows; clients who keep their rows and send masked sums; a mixer of reports; or "
            "nobody.",
    )  # fmt: skip
    if state.get(keys.TRUST) == "clients" and session.page != "explore":
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
    promise, trust = state[keys.PROMISED], state[keys.TRUST]
    if promised(cls) == promise and trusts(cls, trust, data):
        return
    changed = promise != promised(cls)
    fits = [
        other
        for other in (ALGORITHMS[slug] for slug in offered(data.private))
        if promised(other) == promise and other.notion.private and (changed or trusts(other, trust, data))
    ]
    if not fits:
        messages.say("note", f"No method hides {PROMISES[promise]} if you trust {TRUST[trust]}.")
        return
    other = min(fits, key=lambda one: one.__module__.rpartition(".")[0] != cls.__module__.rpartition(".")[0])
    if not trusts(other, trust, data):
        state[keys.TRUST] = _OF.get(other.notion, "curator")
    key = keys.PRIVATE_ALGORITHM if data.private else keys.EXPLORE_ALGORITHM
    state[keys.ALGORITHM_NEXT(key)] = other.slug
    messages.say(
        "note", plain(f"{other.name} replaces {cls.name}, which makes another promise or trusts somebody else.")
    )


def clients(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of a run over several clients, whose number determines who may fall silent."""
    listed = [
        Control("clients", keys.FED_CLIENTS, "Clients", number(4, 2, 32), always=True),
        Control("spread", keys.FED_SPREAD, "Rows are spread", choice("even", SPREADS)),
        Control("noise", keys.FED_NOISE, "The noise is drawn by", choice(CLIENTS, DRAWN_BY)),
        Control("bare", keys.FED_EXACT, "What if nobody drew noise?", switch(False)),
        Control("ring", keys.FED_RING, "Ring", choice("64", ("64", "32"))),
        Control("delay", keys.FED_DELAY, "Network delay", number(0.25, 0, 10_000)),
    ]
    if "clients" in known:
        who = range(known["clients"])
        listed += [
            Control("silent", keys.FED_SILENT, "A client falls silent", choice(None, (None, *who))),
            Control("from", keys.FED_CLIENT, "Seen from", choice(0, who)),
            Control("round", keys.FED_ROUND, "Round", number(1, 1, 10_000)),
        ]
    return listed
