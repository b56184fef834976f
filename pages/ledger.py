"""Cost: every number that the current run released, its cost, and the reason for it."""

import dataclasses

import streamlit as st

from dpviz.escape import plain
from dpviz.figures.kit.ledger import plot_steps
from dpviz.numbers import chance, number
from pages._ui.explore import drag
from pages._ui.explore.ledger import view
from pages._ui.explore.look import opened
from pages._ui.explore.notices import first_run, heading, notices
from pages._ui.explore.player import takeaway
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop
from pages._ui.frame.words import on_screen
from pages._ui.work import results

_LEDGER_STEPS = "ledger_steps"

links.enter(__file__, explore, has=("form", "navigation"))

head, choice, result, how = opened()

with head:
    heading(choice, result)
    shell.title()
notices(choice, result)
if choice.data.private:
    st.page_link("pages/account.py", label="All runs on this file, and its total", icon=":material/receipt_long:")
if result is None:
    first_run(choice)
    stop()
drag.section(_LEDGER_STEPS, choice, result, how)
trace = results.drawn(result)
st.html(
    markup.lede(
        "Every release goes through the curator, who keeps this list. Each draw of noise adds its own line, and the "
        "sum is computed again from sensitivity and noise, independently of the plan."
    )
)
if not trace.ledger:
    st.info(f"{trace.name} makes no private release: it reads every row as it is, so there is nothing to add up.")
else:
    st.header(plain(result.label))
    table = view.table_of(result)
    claimed, spent = trace.claimed, trace.spent
    releases = f"{len(table):,} release{'s' * (len(table) != 1)}"
    facts = [
        ("Claimed", on_screen(str(claimed))),
        ("Spent", f"ε = {number(spent.epsilon)}, δ = {chance(spent.delta)} in {releases}"),
        ("Trust", claimed.trust),
        ("Public", on_screen(", ".join(claimed.public))),
    ]
    if claimed.rows_per_person > 1:
        facts.insert(1, (f"A person with {claimed.rows_per_person} rows", on_screen(str(claimed.person))))
    if trace.seed is not None:
        facts.append(("Notice", trace.notice))
    st.html(markup.facts(facts))
    figure = plot_steps(trace, shell.colors())
    st.plotly_chart(
        figure, theme=None, config={"displayModeBar": False, "responsive": True}, key=_LEDGER_STEPS,
        alt=f"ε rises to {number(spent.epsilon)} over {len(trace.steps)} steps; "
        f"{number(claimed.epsilon)} is claimed.",
    )  # fmt: skip
    view.releases(table)
    view.downloads(result, table)
    takeaway.menu("ledger", result, dataclasses.replace(how, hidden=False))
