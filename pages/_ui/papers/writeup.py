"""Our own method on the Papers page: its write-up, measurements, and commands."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.numbers import plus_minus
from dpviz.papers.writeup import write_up
from pages._ui.frame import keys
from pages._ui.frame.words import on_screen

__all__ = ["MEASURED", "MORE", "measured", "show_own"]

MEASURED = Path(__file__).parents[3] / "benchmarks" / "results"
_EPSILONS = ("0.25", "0.5", "1", "2", "4")
MORE = {  # further results: file and what it answers
    "leave-one-out": "Ablation of every part, set by set, with defaults chosen on the other sets",
    "oracle": "How far it is from an oracle that knows the clusters",
    "robustness": "A wrong number of rows, bounds, or k: every method",
}


def show_own(slug: str) -> None:
    """Show the write-up of one algorithm."""
    paper = write_up(slug)
    st.header(on_screen(paper.title))
    st.caption("Our own method. The text comes from its source code and the numbers from our benchmarks.")
    _section("Idea", paper.idea)
    st.subheader("Algorithm")
    st.code("\n".join(line.text for line in ALGORITHMS[slug].CODE), language=None)
    _section("Theorem and proof", paper.guarantee)
    st.subheader("Measured")
    table = measured(slug)
    if table.empty:
        st.markdown("Not yet run on this machine; use the command below.")
    else:
        st.markdown(
            "Loss relative to KMeans at each ε, and the area under the loss curve relative to KMeans, with its "
            "standard error. The bounds come from the data. NOT PRIVATE."
        )
        st.dataframe(table, hide_index=True, width="stretch", height=36 * len(table) + 40)
    st.code(
        f"DPVIZ_DATASETS=FOLDER .venv/bin/python -m benchmarks.utility --table nsm --algorithms {slug}", language="bash"
    )
    _section("Ablation, limits, where it loses", paper.findings)
    for name, words in MORE.items():
        path = MEASURED / f"{name}.md"
        if path.is_file():
            box = st.expander(words, key=keys.PAPERS_ITEM(slug, name), on_change="rerun")
            if box.open:
                box.markdown(on_screen(path.read_text(encoding="utf-8")))
    _section("References", paper.sources)


def measured(slug: str) -> pd.DataFrame:
    """Return the committed benchmark, one row per set; empty if it was not run."""
    path = MEASURED / f"{slug}.csv"
    if not path.is_file():
        return pd.DataFrame()
    found = pd.read_csv(path)
    found = found[found.algorithm == ALGORITHMS[slug].name]
    ratios = {f"ε {e}": (found[f"loss {e}"] / found["kmeans loss"]).map(_ratio) for e in _EPSILONS}
    areas = [plus_minus(a, e) for a, e in zip(found["auc ratio"], found["se auc ratio"], strict=True)]
    shape = {"data": found.data, "rows": found.n, "columns": found.d, "k": found.k}
    return pd.DataFrame({**shape, **ratios, "area": areas, "seeds": found.seeds})


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _section(title: str, paragraphs: tuple[str, ...]) -> None:
    st.subheader(title)
    for paragraph in paragraphs:
        st.markdown(on_screen(paragraph))
