"""Open the result of an own file with a card for each cluster, and read the same release again for another k."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.datasets import Dataset
from dpviz.numbers import counted, number, percent
from dpviz.planning.rehearsal import same_run
from dpviz.planning.words import compared
from dpviz.postprocessing.cards import cards, centers_csv, noise_words
from dpviz.postprocessing.coresets import at_k, elbow, free, further_releases, numbers_of_centers
from dpviz.takeaway import page
from dpviz.takeaway.cards import cards_html, cards_style
from dpviz.trace import Trace
from pages._ui.explore import changed
from pages._ui.explore.default_k import MORE
from pages._ui.explore.player.how import cards_k
from pages._ui.explore.reruns import scatter_of
from pages._ui.explore.state import explore_state
from pages._ui.frame import markup
from pages._ui.frame.catalog import is_public
from pages._ui.frame.session import session
from pages._ui.work import results
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

__all__ = ["section", "shown"]


def shown(result: Result) -> bool:
    """Return whether a run opens with cards: on an own file, unless its rows are pictures."""
    return not is_public(result.data) and result.data.shape != "picture"


def section(key: str, result: Result) -> None:
    """Draw the number of centers, the cards, and the files made of them. Only released values are shown."""
    if not shown(result):
        return
    with st.container(key=f"{key}_cards", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            k = _number(result)
            st.html(markup.small(*_about(result, k)), width="stretch")
        trace = _at(result, k)
        st.html(_drawn(result, k, scatter_of(result) if trace is result.trace else None))
        if trace is result.trace and (words := _rehearsed(trace)):
            st.html(markup.small(words))
        _files(key, result, trace)
        if result.trace.claimed.private:
            changed.section(key, result)


def _number(result: Result) -> int:
    """Draw the slider of k, which a new run sets to its own; return k."""
    own, numbers = len(result.trace.cluster_centers), numbers_of_centers(result.trace)
    if len(numbers) == 1:
        return own
    control = cards_k(own)
    if explore_state.carded != result.identity:
        explore_state.carded = result.identity
        if not session.opened_now:  # a link brings a number of its own
            st.session_state[control.key] = own
    st.session_state[control.key] = min(int(st.session_state.get(control.key) or own), numbers[-1])
    return int(control.draw(max_value=numbers[-1], width=300))


@per_run(shared=32, own=24)
def _at(identity: str, k: int, _result: Result) -> Trace:
    """Return the run, under the promise of the method that ran, as if it had ended with k centers."""
    trace = results.drawn(_result)
    return trace if k == len(trace.cluster_centers) else workers().call(at_k, trace, k)


@per_run(shared=32, own=24)
def _drawn(identity: str, k: int, scatter: np.ndarray | None, _result: Result) -> str:
    trace, data = _at(_result, k), _result.data
    some = cards(trace, data.columns, data.units, scatter=scatter)
    noise = noise_words(trace, some)
    style = f"<style>{cards_style('dp-')}</style>"
    return style + cards_html(some, data.nouns) + (markup.small(noise) if noise else "")


def _about(result: Result, k: int) -> list[object]:
    """Return what another number of centers costs and changes, as parts of a sentence."""
    trace, own = result.trace, len(result.trace.cluster_centers)
    if not trace.claimed.private:
        return [markup.tag() if trace.claimed.exact else "", f" {trace.notice.rstrip('.')}."]
    if len(numbers_of_centers(trace)) == 1:
        return [f"This method releases {counted(own, 'center')} and no points to read again: another k is another run."]
    parts: list[object] = [free(trace), markup.bold(number(trace.spent.epsilon)), "."]
    if k != own:
        more = further_releases(trace)
        rest = f", without the {counted(more, 'release')} that corrected the run's own {own}" if more else ""
        parts.append(
            f" These {counted(k, 'center')} come from the points alone{rest}; the picture shows the run's {own}."
        )
    elif trace.parameters.get("exactly_k") is False:
        parts.append(f" The method found its {counted(own, 'center')} itself.")
    elif (falls := _default(result)) is not None:
        parts.append(f" k = {k} is a default: on these points, noise included, k-means' loss falls ")
        parts += [markup.bold(f"another {percent(falls)}"), f" at k = {MORE * k}."]
    return parts


def _default(result: Result) -> float | None:
    """Return by how much more centers lower the loss on the released points; None if the visitor has chosen k.

    For a public file Watch says so of the rows themselves instead, see `default_k.py`.
    """
    data, trace, k = result.data, result.trace, Dataset.n_clusters
    if not data.private or not data.n_clusters == trace.parameters["n_clusters"] == len(trace.cluster_centers) == k:
        return None
    return _falls(result) if MORE * k in numbers_of_centers(trace) else None


@per_run(shared=1, own=24)
def _falls(identity: str, _result: Result) -> float:
    trace, k = _result.trace, len(_result.trace.cluster_centers)
    table = workers().call(elbow, trace.coreset, trace.domain, MORE * k)
    return float(1 - table.coreset.iloc[-1] / table.coreset.iloc[k - 1])


def _rehearsed(trace: Trace) -> str:
    """Compare the noise of a run with its rehearsal in this visit; "" if exactly this run was not rehearsed."""
    looked = explore_state.rehearsed.get(same_run(trace.algorithm, trace.parameters, trace.claimed, trace.domain))
    return compared(looked, trace) if looked else ""


def _files(key: str, result: Result, trace: Trace) -> None:
    """Offer the cards as CSV and on a page."""
    data = result.data
    scatter = scatter_of(result) if trace is result.trace else None
    name = f"dpviz-{trace.algorithm}-{len(trace.cluster_centers)}-clusters"
    with st.container(horizontal=True, gap="xsmall"):
        st.download_button(
            "Clusters as CSV", partial(centers_csv, trace, data.columns, data.units, scatter=scatter), f"{name}.csv",
            "text/csv", key=f"{key}_cards_csv", on_click="ignore",
        )  # fmt: skip
        if trace.claimed.private:
            st.download_button(
                "Clusters on one page", partial(page, trace, data), f"{name}.html", "text/html",
                key=f"{key}_cards_page", on_click="ignore",
            )  # fmt: skip
            st.download_button(
                "Released values as JSON", result.trace.to_json, f"dpviz-{trace.algorithm}.json", "application/json",
                key=f"{key}_cards_json", on_click="ignore",
                help="The whole run: `dpviz compare`, and the comparison below, say what changed since then.",
            )  # fmt: skip
