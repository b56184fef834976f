"""Ledger: every number that left the rows, what it cost and why; for a private file, what all runs add up to."""

import streamlit as st

from dpviz.escape import plain
from dpviz.figures.kit.ledger import plot_steps
from dpviz.numbers import chance, number
from dpviz.postprocessing.verdict import reach
from pages._ui.address import links
from pages._ui.explore import centers
from pages._ui.frame import catalog, keys, markup, shell
from pages._ui.frame.session import session
from pages._ui.frame.words import on_screen
from pages._ui.ledger import view
from pages._ui.player import takeaway
from pages._ui.work import results, runs
from pages._ui.workspace.explore import asked

links.enter(__file__, asked)
data = catalog.chosen()
coming = view.follow(data)
result = None if session.job else runs.shown(st.session_state[keys.EXPLORE_DATA])
trace = results.drawn(result) if result else None
shell.strip(
    result.data.title if result else data.title,
    trace.name if trace else "",
    trace.claimed if trace else None,
    private=(result.data if result else data).private,
    reach=reach(trace) if trace and trace.claimed.rho_distance is not None else "",
)
links.notice("ledger", asked)
view.keep(result, coming)
shell.title()
runs.progress()
st.html(
    markup.lede(
        "Nothing leaves the rows except through one door, and the door keeps this list. It is written "
        "by the draws themselves and added up again from sensitivity and noise, independently of the plan."
    )
)
if data.private:
    st.page_link("pages/account.py", label="All runs on this file, and its total", icon=":material/receipt_long:")

past = results.history()
if len(past) > 1:
    labels = results.labels(past)
    now = list(labels).index(session.shown) if session.shown in labels else None
    chosen = st.selectbox("Run", tuple(labels), now, format_func=labels.__getitem__)
    if chosen not in (None, session.shown):
        session.shown = chosen
        st.rerun()

if session.job:
    st.skeleton(height=240)
elif trace is None:
    st.info("Nothing run yet on these data. Run a method on Watch; its ledger appears here.")
elif not trace.ledger:
    st.info(f"{trace.name} makes no private release: it reads every row as it is. There is nothing to add up.")
elif result is not None:
    st.header(plain(result.label))
    table = view.table_of(result)
    claimed, spent = trace.claimed, trace.spent
    releases = f"{len(table):,} release{'s' * (len(table) != 1)}"
    facts = [
        ("Claimed", on_screen(str(claimed))),
        ("Spent", f"ε = {number(spent.epsilon)}, δ = {chance(spent.delta)} in {releases}"),
        ("Trust", claimed.trust),
        ("Public", ", ".join(claimed.public)),
    ]
    if claimed.rows_per_person > 1:
        facts.insert(1, (f"A person with {claimed.rows_per_person} rows", on_screen(str(claimed.person))))
    if trace.seed is not None:
        facts.append(("Notice", trace.notice))
    st.html(markup.facts(facts))
    figure = plot_steps(trace, shell.colors())
    st.plotly_chart(
        figure, theme=None, config={"displayModeBar": False, "responsive": True}, key=keys.LEDGER_STEPS,
        alt=f"Epsilon rises to {number(spent.epsilon)} over {len(trace.steps)} steps; "
        f"{number(claimed.epsilon)} is claimed.",
    )  # fmt: skip
    view.releases(trace, table)
    view.downloads(result, table)
    centers.section("ledger", result)
    takeaway.menu("ledger", result, hidden=False, axes=result.data.view if len(result.data.columns) > 1 else None)
