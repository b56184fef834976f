"""Offer a paid count of the rows of a private file that lie outside its declared bounds."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st

from dpviz.algorithms.rows_outside import RowsOutside
from dpviz.datasets import Dataset
from dpviz.datasets.meanings import as_suggested
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.params import in_labels
from dpviz.postprocessing.at_bound import HIGH, LOW, at_bounds
from dpviz.postprocessing.rows_outside import advice, answer
from dpviz.privacy.accounts import Claim, Refused
from dpviz.runs.single import replay
from dpviz.sweeps.processes import FIRST
from dpviz.trace import Trace
from pages._ui.data.plan.state import plan_state
from pages._ui.frame import markup, messages
from pages._ui.frame.words import on_screen
from pages._ui.work import private, results, runs
from pages._ui.work.workers import workers

__all__ = ["EPSILON", "section"]

EPSILON = 0.05  # Proposed budget: in 95 of 100 draws, the noise stays within 60 rows.
_SLOT = "asking_outside"


def section(data: Dataset) -> None:
    """Show the paid counts for this declaration, newest first, and offer to ask the rows for another."""
    about = _about(data)
    paid = {epsilon: trace for (one, epsilon), trace in plan_state.outside.items() if one == about}
    with st.expander("How many rows lie outside your bounds?", expanded=bool(paid or plan_state.outside_asked)):
        for epsilon, trace in reversed(paid.items()):
            _shown(data, epsilon, trace)
        st.html(
            markup.small(
                "A run moves values outside their bounds to the nearest bound, and no ± covers that. One noisy count "
                "says how many rows have such a value in a used column. It is a claim of its own, booked in this "
                "file's account before the rows are read. A row with an empty cell is left out."
            )
        )
        _ask(data, about)


def _about(data: Dataset) -> str:
    """Return what a count depends on: the file, and the declaration of what is read and bounded."""
    columns = [[column[key] for key in ("name", "low", "high", "fill")] for column in data.facts["columns"]]
    declared = [data.facts[key] for key in ("recode", "projection", "form")]
    return json.dumps([private.fingerprint(data), columns, declared])


def _shown(data: Dataset, epsilon: float, trace: Trace) -> None:
    released = trace.steps[-1].released["noisy_count"]
    words = advice(trace, data.n_public, [plain(name) for name in _suspected(data)])
    st.markdown(f"**{answer(trace, data.n_public)}** {words}")
    st.html(markup.small(f"Released for ε {number(epsilon)}: {number(released, 6)}, with Laplace noise."))


def _suspected(data: Dataset) -> list[str]:
    """Return the columns in which a released center lies at a bound, or else those with suggested bounds."""
    mine = [run.trace for run in results.history() if run.data.dataset_id == data.dataset_id]
    at = np.zeros(len(data.columns), dtype=bool)
    for trace in mine:
        at |= np.isin(at_bounds(trace), (LOW, HIGH)).any(axis=0)
    return [data.columns[j] for j in np.flatnonzero(at)] or as_suggested(data.facts["columns"])


def _ask(data: Dataset, about: str) -> None:
    """Ask for ε and consent; a question that was paid for is shown again, and one that cannot be paid is refused."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        epsilon = st.number_input(
            "ε for this question", value=EPSILON, step=None, format="%g", key="outside_epsilon", width=160,
            help="A separate budget. A larger ε gives a more exact count.",
        )  # fmt: skip
        asked = st.button("Ask the rows", key="outside_ask")
    try:
        question = RowsOutside(epsilon=epsilon)
    except (TypeError, ValueError) as problem:
        if asked:
            st.error(plain(f"{in_labels(str(problem), ('epsilon',))} Nothing was spent."))
        return
    identity = runs.run_id(data, question, None)
    if asked and (about, question.epsilon) in plan_state.outside:
        plan_state.outside[about, question.epsilon] = plan_state.outside.pop((about, question.epsilon))
        messages.say("note", "You already have this answer, for the same bounds and ε. Seeing it again costs nothing.")
        st.rerun()
    if asked:
        plan_state.outside_asked = identity
    if plan_state.outside_asked != identity:
        return
    try:
        private.account_of(data).check(Claim.of(question, data.domain))
    except Refused as refused:
        st.error(plain(on_screen(str(refused).removeprefix("Account: "))))
        return
    agreed = private.confirm(
        data, question, slot=_SLOT, beyond="counts as outside", start=lambda *_: _run(data, question, about)
    )
    if agreed is not None:
        del plan_state.outside_asked
        st.rerun()


def _run(data: Dataset, question: RowsOutside, about: str) -> None:
    """Ask the question, whose claim is booked, and keep the answer."""
    try:
        run = workers().run(replay, data, question, None, rank=FIRST)
    except (ValueError, ChildProcessError) as problem:
        messages.say("problem", f"{problem} The claim of {question.name} stays booked.")
        return
    plan_state.outside[about, question.epsilon] = run.trace
