"""Show the tables of a sweep: the overview, and the smallest sufficient budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpviz.escape import plain
from dpviz.figures.kit.theme import Style
from dpviz.figures.scenes.tradeoff import short
from dpviz.numbers import number, ratio_words
from dpviz.privacy.guarantee import Notion
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.summary import Summary
from pages._ui.explore.form.numbers import whole
from pages._ui.explore.tradeoff.charts import icon, shared, sign, title
from pages._ui.explore.tradeoff.state import tradeoff_state
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.frame import markup
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.address.control import number as number_of

_NONE = "…"


@dataclasses.dataclass(frozen=True)
class SweepLook:
    """The visitor's choices for viewing a sweep."""

    axis: str
    metric: str
    log: bool
    single: bool


def looked() -> None:
    """Note that a control of the view has changed: the page is run once more, and its address has the new value."""
    tradeoff_state.looked = True


def data_of(progress: Progress) -> Control:
    """Return the control of the data set that the tables are about."""
    return Control(
        "of", f"of_{progress.identity}", "Tables for", choice(progress.data[0], progress.data),
        widget="segmented_control", named=lambda name: plain(title(name)),
    )  # fmt: skip


WITHIN = Control("within", "sweep_within", "Within % of KMeans", choice(10, (1, 2, 5, 10, 20, 50)))


def good_enough(runs: int) -> Control:
    """Return the control of the number of runs, out of all runs, that must be good enough."""
    first = max(1, round(0.9 * runs))
    return Control("good", f"wanted_{runs}", "Runs good enough", number_of(first, 1, runs))


def tables(every: Summary, progress: Progress, look: SweepLook, style: dict[str, Style]) -> None:
    """Show the overview and the smallest sufficient budget for one data set."""
    data = progress.data[0]
    if progress.data[1:]:
        data = data_of(progress).draw(on_change=looked)
    rows, points = every.rows, every.points
    mine = Summary(rows[rows.data == data], look.metric, look.axis) if progress.data[1:] else every
    _overview(mine, look, points[points.data == data], style, progress.sweep.variants[0].algorithm)
    if look.axis in ("epsilon", "n_rows"):
        _solver(mine, progress, look, style)


def _overview(mine: Summary, look: SweepLook, points: pd.DataFrame, style: dict[str, Style], now: str) -> None:
    """Show one row per curve, with the sweep's first method in bold."""
    relative = METRICS[look.metric].relative
    stops = sorted(points[look.axis].dropna().unique())
    examples = stops if len(stops) <= 3 else [stops[0], stops[len(stops) // 2], stops[-1]]
    areas = mine.areas.set_index("series").area if look.axis == "epsilon" else pd.Series()
    st.header(f"Over {len(stops)} value{'s' * (len(stops) != 1)} of {sign(look.axis)}")
    body = []
    for name, line in points.groupby("series", sort=False):
        bold = markup.bold if line.algorithm.iloc[0] == now else markup.text
        cells: list[str] = [bold(_named(name, style), _promise(line.notion.iloc[0], points))]
        if len(areas):
            cells.append(markup.bold(f"{areas[name]:.2f}") if name in areas.index else _NONE)
        values = line.set_index(look.axis)["ratio" if relative else "mean"]
        for stop in examples:
            value = values.get(stop)
            cells.append(_NONE if pd.isna(value) else f"{ratio_words(value)}×" if relative else number(value))
        body.append([*cells, f"{line.k_found.median():.0f}"])
    heads = [f"{sign(look.axis)} {short(look.axis, stop)}" for stop in examples]
    table(["Algorithm", *(["area"] if len(areas) else []), *heads, "k′"], body, "Overview")
    against = METRICS[look.metric].against
    words = [f"× means times {against}' loss."] if relative else []
    if len(areas) and relative:
        words.insert(0, f"Area under the curve, as a multiple of {against}' (equation 7 of PE-means).")
    st.html(markup.small(markup.tag(), f" {' '.join(words)} k′: number of released centers."))


def _solver(mine: Summary, progress: Progress, look: SweepLook, style: dict[str, Style]) -> None:
    runs = progress.sweep.repeats
    st.header("How many people do I need?" if look.axis == "n_rows" else "How much ε do I need?")
    one, two = st.columns(2)
    within = WITHIN.draw(
        one, label=f"For a {look.metric.replace('_', ' ')} within", on_change=looked,
        format_func=lambda p: f"{p}% of {METRICS[look.metric].against}",
    )  # fmt: skip
    wanted = whole(good_enough(runs), two, label=f"in this many of {runs} runs", on_change=looked)
    smallest = shared(mine, (within, wanted), lambda: mine.smallest(within=within / 100, share=wanted / runs))
    body, starred = [], False
    for row in smallest.itertuples():
        answer = f"more than {short(look.axis, row.tested)}"
        if pd.notna(row.least):
            answer = f"{sign(look.axis)} {chr(8804) if row.first else '='} {short(look.axis, row.least)}"
        more = bool(row.k_found > mine.rows.n_clusters.median())
        starred |= more
        name = markup.text(_named(row.series, style), "*" * more, _promise(row.notion, smallest))
        body.append([name, answer, f"{row.good} of {row.runs}"])
    table(["Algorithm", "smallest tested", "runs good enough"], body, "Solver")
    words = "Every larger tested value is also good enough. Other runs may give slightly different counts."
    st.html(markup.small(words, " *\u202freleased more than k centers." * starred))


def _named(series: str, style: dict[str, Style]) -> markup.Html:
    return markup.Html(f"{icon(style[series])} {markup.text(series)}")


def _promise(notion: str, beside: pd.DataFrame) -> markup.Html:
    """Name the promise if a table holds several kinds, which are not comparable, or if the promise is only claimed."""
    alone = beside.notion.nunique() == 1 and notion != Notion.CLAIMED
    return markup.Html("" if alone else f' <span class="dp-small">{markup.text(notion)}</span>')


def table(heads: Sequence[str], body: Sequence[Sequence[str]], label: str) -> None:
    """Show a table."""
    st.html(markup.table(label, heads, (markup.row(cells, lit=True) for cells in body), look="dp-free"))
