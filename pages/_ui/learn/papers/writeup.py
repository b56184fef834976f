"""Show our own method on the Papers page: its write-up, measurements, and commands."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.papers.results import MORE, RESULTS, measured
from dpviz.papers.writeup import write_up
from pages._ui.frame.words import on_screen
from pages._ui.learn.papers.view import PAPERS_ITEM

__all__ = ["MEASURED", "MORE", "show_own"]

MEASURED = RESULTS


def show_own(slug: str) -> None:
    """Show the write-up of one algorithm."""
    paper = write_up(slug)
    st.header(on_screen(paper.title))
    st.caption("This is our own method. The text comes from the source code, and the numbers come from our benchmarks.")
    _section("Idea", paper.idea)
    st.subheader("Algorithm")
    st.code("\n".join(line.text for line in ALGORITHMS[slug].CODE), language=None)
    _section("Theorem and proof", paper.guarantee)
    st.subheader("Measured")
    table = measured(slug, MEASURED)
    if table.empty:
        st.markdown("Not yet run on this machine; use the command below.")
    else:
        st.markdown(
            "Loss relative to KMeans at each ε, and the area under the loss curve relative to KMeans, with its "
            "standard error. The bounds come from the data. NOT PRIVATE."
        )
        st.dataframe(table, hide_index=True, width="stretch", height=36 * len(table) + 40)
    st.code(
        f"DPVIZ_DATASETS=FOLDER .venv/bin/python -m lab.benchmarks.utility --table nsm --algorithms {slug}",
        language="bash",
    )
    _section("Ablations, limits, and weak spots", paper.findings)
    for name, words in MORE.items():
        path = MEASURED / f"{name}.md"
        if path.is_file():
            box = st.expander(words, key=PAPERS_ITEM(slug, name), on_change="rerun")
            if box.open:
                box.markdown(on_screen(path.read_text(encoding="utf-8")))
    _section("References", paper.sources)


def _section(title: str, paragraphs: tuple[str, ...]) -> None:
    st.subheader(title)
    for paragraph in paragraphs:
        st.markdown(on_screen(paragraph))
