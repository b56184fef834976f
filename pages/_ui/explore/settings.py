"""Show a run's parameters, its seed and the Run button.

A change in one of these fields redraws the page with a new picture or a ribbon.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from pages._ui.explore.form import budget
from pages._ui.explore.form.fields import EXACT, SEED
from pages._ui.explore.form.forms import ShownAtField, in_words, may_be_noiseless, parameters
from pages._ui.explore.form.numbers import whole
from pages._ui.explore.form.public_rows import OPEN, begun
from pages._ui.explore.state import Settings, explore_state
from pages._ui.explore.workspace import trust
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address import links
from pages._ui.frame.session import session
from pages._ui.frame.words import on_screen
from pages._ui.work import private, runs

__all__ = ["FormRow", "begin", "settings"]

LIVE = 1.0  # a DEMO run that is forecast to take fewer seconds starts by itself when a control changes


class FormRow(NamedTuple):
    """The containers of a form: those for k, ε, details, Run, the drag of ε, and errors below.

    If ε has no container of its own, its field is among the details, next to a drag.
    """

    k: DeltaGenerator
    epsilon: DeltaGenerator | None
    details: DeltaGenerator
    run: DeltaGenerator
    drag: DeltaGenerator | None
    below: DeltaGenerator


def settings(name: str, data: Dataset, cls: type[Algorithm], row: FormRow) -> Settings:
    """Show the form and start its run; return its current choices."""
    seed, noiseless = 0, False
    with row.details:
        algorithm, outlook = _chosen(name, data, cls, row)
        if not data.private:
            seed = whole(SEED)
            noiseless = may_be_noiseless(cls) and EXACT.draw()
        trust.answers(data, cls)
    explore_state.settings = now = Settings(algorithm, seed, outlook, noiseless)
    moved = _live(data, now)
    pressed = _waits(data, now) and row.run.button(
        "Run", type="primary", key="explore_run", disabled=algorithm is None or bool(session.job)
    )
    if pressed:
        begin(data)
    _address(data, now, asked=pressed or moved)
    if pressed and session.job:
        st.rerun()  # drawn again, the page disables the button during the run
    _say(data, now, row)
    return now


def _waits(data: Dataset, now: Settings) -> bool:
    """Return whether a run waits for its button: private runs do, and so do runs too slow to start by themselves."""
    result = runs.shown(data.dataset_id.removeprefix("sample:"))
    return data.private or bool(session.job) or result is None or result.identity != now.asks_for(data)


def _say(data: Dataset, now: Settings, row: FormRow) -> None:
    """Show the forecast of a run in the details, and its advice below the form."""
    algorithm = now.algorithm
    if algorithm is not None:
        if now.noiseless:
            row.details.caption("NO PRIVACY: every release is the true answer. ε still determines how many.")
        elif algorithm.notion.private:
            row.details.caption(budget.rule(algorithm, data.domain.n_features, data.n_public))
        size = data.domain.n_features, data.n_public
        if sentences := [plain(on_screen(sentence)) for sentence in algorithm.runs(*size).advice(*size)]:
            row.below.warning("  \n".join(sentences))  # one box, as for the warnings about a run
    cost = f"Each run on private data would spend ε again. Here the {data.nouns} are made up or public."
    if now.noiseless:
        cost = "Private data allow no run without noise."
    if data.private:
        cost = "You are asked before each run, because it spends ε on this file again."
    row.details.caption(f"{now.outlook} {cost}")


def _chosen(name: str, data: Dataset, cls: type[Algorithm], row: FormRow) -> tuple[Algorithm | None, str]:
    """Show the parameters; return the algorithm (None if a parameter is wrong) and the forecast of a run."""
    places = {"n_clusters": row.k} | ({} if row.epsilon is None else {"epsilon": row.epsilon})
    try:
        values = parameters(cls, name, data, {"n_clusters": data.n_clusters}, places=places, problems=row.below)
        if cls.takes_public_rows and not data.private:
            OPEN.draw()
        algorithm = begun(cls(**values), data)
        runs.check(data, algorithm)
        return algorithm, runs.forecast(data, algorithm)
    except ShownAtField:
        return None, ""
    except (ValueError, TypeError) as problem:
        row.below.error(plain(f"{in_words(problem, cls)} Nothing was spent."))
        return None, ""


def begin(data: Dataset) -> None:
    """Start the run that the form describes; on private data, ask first."""
    now = explore_state.settings
    if now is None or now.algorithm is None:
        return
    if data.private:
        private.ask(data, now.algorithm)
    else:
        runs.start(data, now.algorithm, now.seed, noiseless=now.noiseless)


def _live(data: Dataset, now: Settings) -> bool:
    """Start the run at once when a control has changed, if it is fast and free; return whether it started.

    A run in progress with older values is dropped unless it was paid for.
    """
    asked = now.asks_for(data)
    if data.private or now.algorithm is None or asked == session.asked or runs.paid():
        return False
    first = session.asked is None and runs.shown(data.dataset_id.removeprefix("sample:")) is not None
    session.asked = asked
    # after a drag or a newly opened address, the run is wanted however long it takes
    wanted = explore_state.released or session.opened_now
    if first or (not wanted and runs.seconds(data, now.algorithm) >= LIVE):
        return False
    runs.abandon()
    begin(data)
    return True


def _address(data: Dataset, now: Settings, *, asked: bool) -> None:
    """Write the address of the run just requested, or of the picture while the form still matches it."""
    result, identity = runs.shown(data.dataset_id.removeprefix("sample:")), now.asks_for(data)
    if data.private:
        links.keep(session.page, explore, private=True)
    elif identity and (asked or session.opened_now or (result and result.identity == identity)):
        links.keep(session.page, explore, entry=identity)
