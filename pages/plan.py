"""Plan: forecast a run's result and cost from public facts alone, before anything is read or spent."""

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from pages._ui.data.plan.controls import plan
from pages._ui.data.plan.form import form
from pages._ui.data.plan.spending import onward
from pages._ui.data.plan.state import plan_state
from pages._ui.data.plan.view import show
from pages._ui.explore.form.public_rows import told
from pages._ui.frame import catalog, markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop
from pages._ui.frame.prepared import FORM

links.enter(__file__, plan, has=("form", "navigation"))
own = catalog.chosen()
shell.strip(own.title if own.private else "made-up people", private=own.private)
links.notice("plan", plan)
shell.title()
st.html(
    markup.lede(
        "See from public facts alone how far noise would move a center, how good the clusters would be, and which ε "
        "you would need. Made-up people stand in for yours: nothing is read and nothing is spent."
    )
)
wish, problem = None, ""
with st.container(key=FORM):
    try:
        wish = form()
    except (ValueError, TypeError) as error:
        problem = str(error).removeprefix("plan: ")
links.keep("plan", plan, private=plan_state.plan_private or own.private)
if wish is None:
    st.error(plain(f"{problem[0].upper()}{problem[1:]} Nothing was read or spent."))
    stop()
if own.private:
    wish = onward(own, wish)
told((ALGORITHMS[slug] for slug in wish.slugs), " Your own public rows may lie elsewhere.")
show(wish)
