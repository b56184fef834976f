"""Show an item on the Papers page: its verdict, printed numbers beside ours, differing settings, and the command."""

from __future__ import annotations

import base64
from pathlib import Path

import pandas as pd
import streamlit as st

from dpviz.figures.kit.theme import LIGHT
from dpviz.numbers import number, plus_minus
from dpviz.papers import results
from dpviz.papers.overview import Overview, overview
from dpviz.papers.picture import Plot, key_entries, looks, panel_svg, panels, picture_svg
from dpviz.papers.registry import Item, Paper
from dpviz.papers.results import load_numbers
from dpviz.papers.verdicts import (
    DOES_NOT,
    NOT_RUN,
    PART,
    REPRODUCES,
    WITHIN,
    PaperVerdict,
    behind,
    beside_printed,
    judge,
)
from dpviz.papers.words import axis_name, curve_name, measure_name, plainly, set_name
from pages._ui.frame import markup, shell
from pages._ui.frame.words import on_screen

__all__ = ["RESULTS", "WORDS", "glance", "numbers", "show", "verdict"]

PAPERS_ITEM = "papers_{}_{}".format

RESULTS = results.RESULTS
_ICONS = {
    **{REPRODUCES: "check_circle", WITHIN: "contrast", PART: "warning", DOES_NOT: "cancel", NOT_RUN: "pending"},
}
_GRID = "display:grid;grid-template-columns:repeat(auto-fill,minmax(min(270px,100%),1fr));gap:4px 14px"
WORDS = ("all", *_ICONS)  # filters of the list
_COLORS = {REPRODUCES: "green", WITHIN: "gray", PART: "orange", DOES_NOT: "red", NOT_RUN: "gray"}


@st.cache_data(show_spinner="Reading the reruns")
def _read(path: str, modified: int, _item: Item) -> tuple[pd.DataFrame, PaperVerdict, pd.DataFrame]:
    measured = load_numbers(Path(path))
    return measured, judge(_item, measured), beside_printed(_item.printed, measured)


@st.cache_resource(max_entries=4, show_spinner="Judging the reruns")
def _counts(files: tuple[tuple[str, int], ...], _papers: dict[str, Paper]) -> Overview:
    every = {(paper.id, item.id): numbers(paper, item) for paper in _papers.values() for item in paper.items}
    return overview(_papers, every)


def _file(paper: Paper, item: Item) -> tuple[str, int]:
    """Return the file of an item's committed numbers and its modification time, 0 if it does not exist."""
    path = RESULTS / f"{paper.id}-{item.id}.csv"
    return str(path), path.stat().st_mtime_ns if path.is_file() else 0


def _committed(paper: Paper, item: Item) -> tuple[pd.DataFrame, PaperVerdict, pd.DataFrame]:
    """Return our numbers, the verdict, and the printed numbers beside ours, read once per version of the file."""
    return _read(*_file(paper, item), item)


def numbers(paper: Paper, item: Item) -> pd.DataFrame:
    """Return the numbers of the committed rerun of an item; an empty table if there is none."""
    return _committed(paper, item)[0]


def verdict(paper: Paper, item: Item) -> PaperVerdict:
    """Return the verdict of the committed rerun."""
    return _committed(paper, item)[1]


def glance(papers: dict[str, Paper]) -> Overview:
    """Return the overview of all committed reruns, counted once per version of the files."""
    return _counts(tuple(_file(paper, item) for paper in papers.values() for item in paper.items), papers)


def show(paper: Paper, item: Item) -> None:
    """Show one item."""
    measured, judged, beside = _committed(paper, item)
    with st.container(border=True):
        head = st.container(horizontal=True, vertical_alignment="center")
        head.subheader(item.name, width="content")
        head.badge(judged.word, icon=f":material/{_ICONS[judged.word]}:", color=_COLORS[judged.word])  # type: ignore[arg-type]
        head.caption(judged.shares)
        st.markdown(f"**The paper says:** {item.claim} *Printed: {item.prints}.*")
        st.markdown(f"**Ours:** {_ours(item, judged)}")
        drawn = panels(item, measured)
        if drawn:
            st.html(_picture(drawn))
        key = PAPERS_ITEM(paper.id, item.id)
        box = st.expander("Numbers, settings that differ, and the command", key=key, on_change="rerun")
        if box.open:  # send the table only when the box is unfolded
            with box:
                _details(paper, item, measured, judged, beside)
                if drawn:
                    st.download_button(
                        "Picture (SVG)", picture_svg(f"{paper.short}, {item.name}", drawn, LIGHT),
                        f"{paper.id}-{item.id}.svg", "image/svg+xml", on_click="ignore",
                        key=PAPERS_ITEM(paper.id, f"{item.id}-picture"),
                    )  # fmt: skip


def _ours(item: Item, judged: PaperVerdict) -> str:
    """Say in one line which runs the verdict rests on."""
    if judged.word == NOT_RUN:
        return "not yet run on this machine; use the command below."
    return f"{behind(item, judged)}."


def _picture(plots: list[Plot]) -> str:
    """Return the panels of an item below their key, as many side by side as fit."""
    colors, look = shell.colors(), looks(plots)
    pictures = "".join(_image(panel_svg(panel, look, colors), f"{panel.words}. Not private.") for panel in plots)
    entries = key_entries(plots, colors)
    key = "".join(f'<span style="white-space:nowrap">{_image(m)} {markup.escape(n)}&emsp;</span> ' for n, m in entries)
    return f'<p class="dp-small">{key}{markup.tag()}</p><div style="{_GRID}">{pictures}</div>'


def _image(svg: str, words: str = "") -> str:
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{markup.escape(words)}" src="data:image/svg+xml;base64,{code}">'


def _details(paper: Paper, item: Item, measured: pd.DataFrame, judged: PaperVerdict, beside: pd.DataFrame) -> None:
    lines = "".join(f"\n| {name} | {markup.escape(words)} |" for name, words in _settings(item, judged))
    st.markdown(f"**Settings that differ from the paper's**\n\n| setting | here |\n|---|---|{lines}")
    if judged.against:
        lines = "".join(f"\n- {markup.escape(on_screen(plainly(words)))}" for words in judged.against[:8])
        st.markdown(f"**What contradicts the claim**{': ' if item.because else ''}{item.because}\n{lines}")
    if item.facts:
        st.markdown("**As printed**")
        st.dataframe(pd.DataFrame(item.facts[1:], columns=item.facts[0]), hide_index=True, width="stretch")
    if len(beside):
        st.markdown("**Printed numbers and ours**")
        table = pd.DataFrame({
            "data": beside.data.map(set_name), "curve": beside.label.map(curve_name),
            "what": beside.what.map(measure_name), "printed": beside.printed.map(_short),
            "ours": _with_half(beside, "ours"), "seeds": beside.runs.map(_short), "source": beside.source,
        })  # fmt: skip
        st.dataframe(table, hide_index=True, width="stretch")
    if len(measured):
        st.markdown("**All our numbers**: the mean over seeds ± half the width of its 95% interval. NOT PRIVATE.")
        table = pd.DataFrame({
            "data": measured.data.map(set_name), "curve": measured.label.map(curve_name),
            "at": measured.point.map(plainly), "what": measured.metric.map(measure_name),
            "ours": _with_half(measured, "mean"), "seeds": measured.runs, "δ": measured.delta.map(_short),
        })  # fmt: skip
        st.dataframe(table, hide_index=True, width="stretch", height=min(36 * len(table) + 40, 400))
    st.code(f"DPVIZ_DATASETS=FOLDER .venv/bin/python -m dpviz reproduce {paper.id} {item.id}", language="bash")
    st.caption(
        "This command makes the full run, with the paper's rows and repeats; --quick makes a part of the runs. If you "
        "stop it, run it again to resume. FOLDER holds the benchmark sets as NAME/NAME.csv.gz "
        "(lab/benchmarks/specs/README.md)."
    )


def _settings(item: Item, judged: PaperVerdict) -> list[tuple[str, str]]:
    """Return the settings of the runs behind a verdict that differ from the paper, with their values here."""
    names = {"data": set_name, "algorithms": curve_name}
    lines = [("settings", on_screen(words)) for words in item.differs]
    for given in () if judged.full else item.shortened():
        for name, value in given.items():
            listed = value if isinstance(value, list) else [value]
            words = ", ".join(names.get(name, str)(one) for one in listed)
            lines.append((f"{axis_name(name)}, quick run", words))
    return list(dict.fromkeys(lines))


def _short(value: float) -> str:
    return "" if pd.isna(value) else number(value)


def _with_half(table: pd.DataFrame, column: str) -> list[str]:
    pairs = zip(table[column], table.half, strict=True)
    return ["not run" if pd.isna(v) else plus_minus(v, h) for v, h in pairs]
