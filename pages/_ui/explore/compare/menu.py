"""Show the menu that puts a run beside the current one: a variant with one thing changed, or an earlier run."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from pages._ui.explore.compare import sides
from pages._ui.explore.compare.form import changed_to
from pages._ui.explore.compare.state import Side
from pages._ui.explore.form.picker import named, offered
from pages._ui.frame import catalog
from pages._ui.work import results
from pages._ui.work.results import Result


def menu(key: str, result: Result) -> None:
    """Offer runs to compare with this one; none for a private run, because each would cost ε.

    A run without noise is never compared with one that makes a promise, and a run on an earlier declaration of a file
    is never offered.
    """
    if result.data.private or result.trace.noiseless or not catalog.is_here(result.data):
        return
    box = st.popover(
        "Compare", icon=":material/compare:", help="Compare this run with others in one player.", key=f"{key}_beside",
        on_change="rerun",
    )  # fmt: skip
    if not box.open:
        return
    mine, name = side(result), result.data.dataset_id.removeprefix("sample:")
    with box:
        st.caption("Change one thing:")
        with st.container(horizontal=True):
            for words, other in changed(mine).items():
                if st.button(words, key=f"{key}_beside_{words}"):
                    sides.open_with(name, [mine, other])
        slugs = [slug for slug in offered(False) if slug != mine.algorithm.slug]
        slug = st.selectbox(
            "Another algorithm",
            slugs,
            None,
            format_func=named,
            key=f"{key}_beside_algorithm",
            placeholder="choose one",
        )
        if slug is not None:
            sides.open_with(name, [mine, changed_to(mine, slug, result.data)])
        past = {
            run.identity: run
            for run in results.history()
            if run.data.dataset_id == result.data.dataset_id
            and run.identity != result.identity
            and not run.trace.noiseless
        }
        if past:
            chosen = st.multiselect(
                "Earlier runs", past, format_func=results.labels(past.values()).__getitem__,
                key=f"{key}_beside_earlier",
                max_selections=sides.MOST - 1,
            )  # fmt: skip
            words = "Compare with the chosen runs"
            if st.button(words, key=f"{key}_beside_go", disabled=not chosen, type="primary"):
                sides.open_with(name, [mine, *(side(past[identity]) for identity in chosen)])


def side(result: Result) -> Side:
    """Return the request that makes this run again."""
    return Side(ALGORITHMS[result.trace.algorithm](**result.trace.parameters), int(result.trace.seed or 0))


def changed(mine: Side) -> dict[str, Side]:
    """Return variants of the run, each with one thing changed, keyed by the words for the change."""
    changes = {}
    for words, times in (("ε / 4", 0.25), ("4 ε", 4.0)):
        if (algorithm := mine.algorithm.scaled(times)) is not None:
            changes[words] = Side(algorithm, mine.seed)
    return {**changes, "Another seed": Side(mine.algorithm, mine.seed + 1)}
