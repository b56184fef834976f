"""Draw the area above Explore's picture: its heading, progress, and warnings."""

from __future__ import annotations

import streamlit as st

from dpviz.escape import plain
from dpviz.figures import pane
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Neighboring
from pages._ui.explore import stale
from pages._ui.explore.look import Choice
from pages._ui.explore.settings import begin
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.session import session
from pages._ui.frame.words import on_screen
from pages._ui.work import private, results, runs
from pages._ui.work.results import Result


def heading(choice: Choice, result: Result | None) -> None:
    """Show the strip, and the page's heading for screen readers."""
    data, promise, name, weaker = choice.data, None, choice.cls.name, ""
    if result is not None:
        drawn = results.drawn(result)
        data, promise, name = result.data, drawn.claimed, drawn.name
        weaker = reach(drawn) if promise.rho_distance is not None else ""
    shell.strip(data.title, name, promise, private=data.private, reach=weaker)
    if session.page == "explore":
        st.html(markup.unseen(f"Watch: {name}"))


def notices(choice: Choice, result: Result | None) -> None:
    """Show open questions, the progress of the running job, and the warnings about the drawn run."""
    data = choice.data
    with st.container(key="messages"):  # always present, so that a message does not move the figures
        links.notice(session.page, explore)
        private.lead()
        runs.progress()
        if result is not None:
            stale.ribbon(result, data, choice.form)
            _about(result)


def _about(result: Result) -> None:
    data, trace = result.data, result.trace
    if data.domain.origin != "declared":
        st.caption(plain(f"{data.domain.origin[0].upper()}{data.domain.origin[1:]}."))
    if data.incomplete:
        treatment = (
            "left out" if trace.claimed.neighboring is Neighboring.ADD_REMOVE else "set to the middle of the bounds"
        )
        st.caption(f"{data.incomplete:,} of {len(data.X):,} rows have a missing cell and are {treatment}.")
    own = trace.warnings if results.drawn(result) is trace else ()  # these warnings hold for the drawn run only
    if sentences := [plain(on_screen(words)) for words in (pane(trace).warning(trace), *own) if words]:
        st.warning("  \n".join(sentences))  # one box with a line per warning, because the picture needs the height


def first_run(choice: Choice) -> None:
    """Show a placeholder until there is a run."""
    if session.job:
        st.skeleton(height=478)
        return
    cls, data = choice.cls, choice.data
    if data.private:
        st.header("Nothing released yet")
        st.markdown(f"A run on {plain(data.title)} spends privacy. Rehearse first: a rehearsal spends none.")
        st.page_link("pages/plan.py", label="Rehearse the run without reading a row", icon=":material/play_circle:")
        return
    st.header("No run yet")
    st.markdown(f"{cls.tagline} {choice.form.outlook}")
    if choice.form.algorithm is not None:
        words = plain(f"Run {cls.name} on {data.title}")
        st.button(words, type="primary", on_click=begin, args=(data,), key="explore_first")
