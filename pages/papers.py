"""Papers: every figure and table of the five papers, rerun, with a verdict; and a write-up of our own method."""

import streamlit as st

from dpviz.papers.registry import papers
from dpviz.papers.verdicts import RULE
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.prepared import FORM
from pages._ui.learn.papers.bench import BENCH, show_bench
from pages._ui.learn.papers.controls import PAPER, VERDICT
from pages._ui.learn.papers.controls import papers as papers_controls
from pages._ui.learn.papers.view import glance, show, verdict
from pages._ui.learn.papers.writeup import show_own

links.enter(__file__, papers_controls, has=("form", "navigation"))
every = papers()
source = "the papers' sets"
shell.strip(source)
links.notice("papers", papers_controls)
shell.title()
st.html(
    markup.lede(
        f"{glance(every).sentence} Each entry gives the paper's claim, the result of our rerun, and "
        "the settings that differ."
    )
    + markup.small(RULE)
)
first, second = st.container(key=FORM).columns([3, 2], vertical_alignment="bottom")
name = PAPER.draw(first)
word = VERDICT.draw(second) if name in every else "all"
links.keep("papers", papers_controls)
if name in every:
    paper = every[name]
    st.header(paper.title)
    st.caption(paper.cite)
    items = [item for item in paper.items if word in ("all", verdict(paper, item).word)]
    for item in items:
        show(paper, item)
    if not items:
        st.info(f"No item of this paper got the verdict “{word}”.")
elif name == BENCH:
    show_bench()
else:
    show_own(name)
