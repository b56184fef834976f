"""Draw Watch for a run over several clients, who keep their rows."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import Algorithm
from dpviz.escape import plain
from pages._ui.explore.federated import view, wire
from pages._ui.explore.look import Choice
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links


def page(choice: Choice, algorithm: Algorithm, top: DeltaGenerator) -> None:
    """Show the questions about clients, and the run that they describe or the reason why it cannot run."""
    data, run, same, why = choice.data, None, False, ""
    asked = view.form(choice.name, algorithm, choice.form.seed)
    try:
        run, same = wire.federated(asked)
    except (OverflowError, ValueError, PermissionError) as problem:
        why = str(problem)
    with top:
        shell.strip(data.title, algorithm.name, run.trace.claimed if run is not None and run.trace else None)
        st.html(markup.unseen(f"Watch: {algorithm.name}, {asked.clients} clients"))
        links.notice("explore", explore)
    if run is None:
        st.error(plain(why))
    else:
        view.watch(data, asked, run, same)
