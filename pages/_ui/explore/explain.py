"""Show what sets clusters apart, below the centers: for free from the centers, or from the rows for a small budget."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms.explain_clusters import ExplainClusters
from dpviz.datasets import Dataset
from dpviz.numbers import chance, number
from dpviz.postprocessing import explain_cells
from dpviz.postprocessing.center_sd import CELLS
from dpviz.postprocessing.explain import of_centers, of_trace, truth_of
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import center_noise
from dpviz.runs.single import replay
from dpviz.sweeps.processes import FIRST, USUAL
from dpviz.trace import Trace
from pages._ui.explore.state import explore_state
from pages._ui.frame import markup, messages
from pages._ui.frame.session import session
from pages._ui.work import private, runs
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

__all__ = ["section"]

_KEPT = 20  # maximum number of simulated answers kept in one session
_SLOT = "asking_explain"
_HOLDS = "± holds for all numbers together in 95 of 100 runs."
_NOISE = (
    "± is the noise of the averages, with 95% confidence for all numbers together; where groups touch, another "
    "run's centers may lie farther away."
)
_WHERE = "These sentences say where clusters lie, not how wide they are."
_CELLS = "All rows in a cell count toward the cell's cluster."


def section(key: str, result: Result, *, hidden: bool) -> None:
    """Show what the release says about the clusters, and offer to ask the rows."""
    trace = result.trace
    if len(trace.cluster_centers) < 2 or not trace.claimed.private:
        return
    with st.expander("What sets the clusters apart"):
        _inside(key, result, hidden=hidden)


def _inside(key: str, result: Result, *, hidden: bool) -> None:
    trace, data = result.trace, result.data
    answer = next((trace for (run, _), trace in reversed(_answers().items()) if run == result.identity), None)
    if answer is None:
        _free(result)
    else:
        _bought(key, result, answer, hidden and not data.private)
    if not has_regions(trace):  # the question is about the rows nearest to a center
        _ask(key, result)


def _answers() -> dict[tuple[str, float], Trace]:
    """Return the session's answers, keyed by run and ε, the newest at the end."""
    return explore_state.explained


def _list(sentences: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{markup.escape(sentence)}</li>' for sentence in sentences)}</ul>"


def _free(result: Result) -> None:
    trace, (sentences, by_cells) = result.trace, _known(result)
    if words := sentences or by_cells:
        what = "centers and their noise" if sentences else "counts of cells"
        ends = f"{_NOISE} {_WHERE}" if sentences else f"{_HOLDS} {_CELLS}"
        st.html(_list(words) + markup.small(f"From the released {what}, at no cost. {ends}"))
    elif center_noise(trace).meaning == CELLS:
        st.html(markup.small("The positions of rows inside a cell are unknown, so nothing is certain. Ask the rows."))
    else:
        st.html(
            markup.small(
                "This algorithm declares no noise per center, so differences between centers may be noise. Ask the "
                "rows."
            )
        )


@per_run(shared=32, own=4)
def _known(identity: str, _result: Result) -> tuple[list[str] | None, list[str] | None]:
    """Return the sentences that follow from the centers or, without centers, from the counts of cells."""
    trace, words = _result.trace, (_result.data.columns, _result.data.units)
    sentences = of_centers(trace, *words)
    return sentences, None if sentences else explain_cells.sentences(trace, *words)


def _bought(key: str, result: Result, answer: Trace, hidden: bool) -> None:
    explanation, columns, spent = of_trace(answer), result.data.columns, answer.spent
    st.html(
        _list(explanation.sentences(columns, result.data.units))
        + markup.small(
            f"From the rows, for ε {number(spent.epsilon)} at δ {chance(spent.delta)}, in addition to the run's own "
            f"spending: {answer.steps[-1].title}. {_HOLDS}"
        )
    )
    with st.popover("Every column of every cluster"):
        table = explanation.table(columns, truth_of(answer) if hidden else None, result.data.units)
        floats = [name for name in table.columns if table[name].dtype.kind == "f"]
        table = table.assign(**{name: table[name].map(number) for name in floats})
        st.dataframe(table, hide_index=True, width="stretch", key=f"{key}_explain_table")


def _ask(key: str, result: Result) -> None:
    """Offer to ask the rows; in PRIVATE, state the cost first, and spend from the file's account."""
    data = result.data
    with st.container(horizontal=True, vertical_alignment="bottom"):
        epsilon = st.number_input(
            "ε for this question", 0.01, 10.0, 0.2, 0.1, key=f"{key}_explain_epsilon", width=160,
            help="A separate budget, in addition to the run's. A larger ε gives narrower intervals.",
        )  # fmt: skip
        question = ExplainClusters.after(result.trace, epsilon)
        asked = st.button("Ask the rows", key=f"{key}_explain_ask")
    if trusts := question.trusts(result.trace):
        st.html(markup.small(trusts))
    bought = (result.identity, epsilon)
    if asked and data.private and bought in _answers():
        _answers()[bought] = _answers().pop(bought)
        messages.say("note", "You already have this answer, for the same run and ε. Seeing it again costs nothing.")
        st.rerun()
    elif asked and data.private:
        session.asking_explain = runs.run_id(data, question, None)
    elif asked:
        _run(result, question)
        st.rerun()
    if data.private and session.asking_explain == runs.run_id(data, question, None):
        answer = private.confirm(data, question, slot=_SLOT, start=lambda *_: _run(result, question))
        if answer is not None:
            del session.asking_explain
            st.rerun()


def _run(result: Result, question: ExplainClusters) -> None:
    """Ask the question, and store the answer with the run."""
    data: Dataset = result.data
    try:
        answer = workers().run(replay, data, question, result.trace.seed, rank=FIRST if data.private else USUAL)
    except (ValueError, ChildProcessError) as problem:
        messages.say("problem", f"{problem} The clusters did not change.")
        return
    answers = _answers()
    answers[result.identity, answer.trace.parameters["epsilon"]] = answer.trace
    for old in [asked for asked, trace in answers.items() if trace.seed is not None][:-_KEPT]:
        del answers[old]  # never drop an answer that was paid for
