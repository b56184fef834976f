"""What the Papers page shows of an item: its verdict, printed numbers beside ours, what differs, the command."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.numbers import number, plus_minus
from dpviz.papers.overview import Overview, overview
from dpviz.papers.registry import Item, Paper
from dpviz.papers.reproduce import load_numbers
from dpviz.papers.verdicts import DOES_NOT, NOT_RUN, REPRODUCES, WITHIN, Verdict, beside_printed, judge
from dpviz.sweeps.measures import METRICS
from pages._ui.frame import keys, markup
from pages._ui.frame.words import on_screen

__all__ = ["RESULTS", "WORDS", "glance", "numbers", "show", "verdict"]

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "papers"
_ICONS = {REPRODUCES: "check_circle", WITHIN: "contrast", DOES_NOT: "cancel", NOT_RUN: "pending"}
WORDS = ("all", *_ICONS)  # what the list may be narrowed to
_COLORS = {REPRODUCES: "green", WITHIN: "gray", DOES_NOT: "red", NOT_RUN: "gray"}
_TITLES = {"auc": "area of the loss over ε", "seconds": "seconds", "milliseconds": "milliseconds", "bytes": "bytes"}


@st.cache_data(show_spinner="Reading the reruns")
def _read(path: str, modified: int, _item: Item) -> tuple[pd.DataFrame, Verdict, pd.DataFrame]:
    measured = load_numbers(Path(path))
    return measured, judge(_item, measured), beside_printed(_item.printed, measured)


@st.cache_resource(max_entries=4, show_spinner="Judging the reruns")
def _counts(files: tuple[tuple[str, int], ...], _papers: dict[str, Paper]) -> Overview:
    every = {(paper.id, item.id): numbers(paper, item) for paper in _papers.values() for item in paper.items}
    return overview(_papers, every)


def _file(paper: Paper, item: Item) -> tuple[str, int]:
    """Return the file of an item's committed numbers and when it was written, 0 if it is not there."""
    path = RESULTS / f"{paper.id}-{item.id}.csv"
    return str(path), path.stat().st_mtime_ns if path.is_file() else 0


def _committed(paper: Paper, item: Item) -> tuple[pd.DataFrame, Verdict, pd.DataFrame]:
    """Return numbers, verdict and printed numbers beside ours, read and judged once for a file as it is."""
    return _read(*_file(paper, item), item)


def numbers(paper: Paper, item: Item) -> pd.DataFrame:
    """Return the numbers of the committed rerun of an item; empty if it was not run."""
    return _committed(paper, item)[0]


def verdict(paper: Paper, item: Item) -> Verdict:
    """Return what the committed rerun says."""
    return _committed(paper, item)[1]


def glance(papers: dict[str, Paper]) -> Overview:
    """Return what came of all committed reruns, counted once for the files as they are."""
    return _counts(tuple(_file(paper, item) for paper in papers.values() for item in paper.items), papers)


def show(paper: Paper, item: Item) -> None:
    """Show one item."""
    measured, judged, beside = _committed(paper, item)
    with st.container(border=True):
        head, badge = st.columns([3, 2], vertical_alignment="center")
        head.subheader(item.name)
        badge.badge(judged.word, icon=f":material/{_ICONS[judged.word]}:", color=_COLORS[judged.word])  # type: ignore[arg-type]
        st.markdown(f"**The paper says:** {item.claim} *Printed: {item.prints}.*")
        if judged.word == NOT_RUN:
            st.markdown("**Ours:** not run on this machine yet; the command below does it.")
        else:
            total = judged.yes + judged.tie + judged.no
            st.markdown(
                f"**Ours:** {total} comparison{'s' * (total != 1)}. Hold: {judged.yes}, within noise: {judged.tie}, "
                f"contradict: {judged.no}."
            )
        if judged.no and item.because:
            st.markdown(f"**Because** {item.because}.")
        key = keys.PAPERS_ITEM(paper.id, item.id)
        box = st.expander("Numbers, settings that differ, and the command", key=key, on_change="rerun")
        if box.open:  # no table is sent that nobody looks at
            with box:
                _details(paper, item, measured, judged, beside)


def _details(paper: Paper, item: Item, measured: pd.DataFrame, judged: Verdict, beside: pd.DataFrame) -> None:
    differs = [*item.differs, *(f"quick run: {words}" for words in item.shortened())]
    st.markdown(
        "**Settings that differ from the paper's**\n" + "".join(f"\n- {on_screen(words)}." for words in differs)
    )
    if judged.against:
        st.markdown("**What contradicts**\n" + "".join(f"\n- {_plainly(words)}" for words in judged.against[:8]))
    if item.facts:
        st.markdown("**As printed**")
        st.dataframe(pd.DataFrame(item.facts[1:], columns=item.facts[0]), hide_index=True, width="stretch")
    if len(beside):
        st.markdown("**Printed beside ours**")
        table = beside.assign(
            what=beside.what.map(_title), printed=beside.printed.map(_short), ours=_with_half(beside, "ours")
        )
        table = table.drop(columns=["half", "rounding"]).rename(columns={"label": "curve", "runs": "seeds"})
        st.dataframe(table, hide_index=True, width="stretch")
    if len(measured):
        st.markdown("**All our numbers**: mean ± half a 95 % interval over seeds. NOT PRIVATE.")
        table = pd.DataFrame({
            "data": measured.data, "curve": measured.label, "at": measured.point, "what": measured.metric.map(_title),
            "ours": _with_half(measured, "mean"), "seeds": measured.runs, "δ": measured.delta.map(_short),
        })  # fmt: skip
        st.dataframe(table, hide_index=True, width="stretch", height=min(36 * len(table) + 40, 400))
    st.code(f"DPVIZ_DATASETS=FOLDER .venv/bin/python -m dpviz reproduce {paper.id} {item.id}", language="bash")
    st.caption(
        "That is the paper's number of repeats; with --quick it makes the runs behind this page. Run it again to "
        "resume where it was stopped. FOLDER holds the benchmark sets, NAME/NAME.csv.gz each "
        "(benchmarks/specs/README.md)."
    )


def _plainly(words: str) -> str:
    """Return a comparison with the names of algorithms and letters in place of the code's."""
    for slug, cls in ALGORITHMS.items():
        words = re.sub(rf"(?<![\w-]){slug}(?![\w-])", cls.name, words)
    return markup.escape(on_screen(words.removeprefix("bench:")))


def _title(metric: str) -> str:
    return _TITLES.get(metric) or METRICS[metric].title


def _short(value: float) -> str:
    return "" if pd.isna(value) else number(value)


def _with_half(table: pd.DataFrame, column: str) -> list[str]:
    pairs = zip(table[column], table.half, strict=True)
    return ["not run" if pd.isna(v) else plus_minus(v, h) for v, h in pairs]
