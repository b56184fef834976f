"""A sweep in numbers: overview, how much budget is enough, and the details below the picture."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Collection
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.escape import plain
from dpviz.figures.kit.theme import Style
from dpviz.figures.scenes import tradeoff
from dpviz.figures.scenes.tradeoff import short
from dpviz.numbers import number
from dpviz.sweeps.measures import METRICS, Metric
from dpviz.sweeps.report import report
from dpviz.sweeps.spec import to_script
from dpviz.sweeps.summary import Summary, axes_of
from pages._ui.form.numbers import whole_number
from pages._ui.frame import keys, markup, shell
from pages._ui.frame.catalog import sample
from pages._ui.tradeoff.state import tradeoff_state
from pages._ui.tradeoff.sweeps import Kept
from pages._ui.tradeoff.take import one_run

_NAMES = {"epsilon": "ε", "n_rows": "people", "n_clusters": "centers", "rho_distance": "rho", "delta": "δ"}
_SIGNS = {"epsilon": "ε", "n_rows": "n", "n_clusters": "k", "rho_distance": "rho", "delta": "δ"}
_COLUMNS = {**_SIGNS, "mu": "μ", "k_found": "centers released", "peak_memory_mb": "memory (MB)", "parameters": "other"}
_NONE = "…"
_CONFIG = {
    "displaylogo": False, "responsive": True, "scrollZoom": False, "modeBarButtons": [["toImage"]],
}  # fmt: skip
PICTURES = ("SVG", "PNG")
WITHIN = (1, 2, 5, 10, 20, 50)  # % of KMeans's loss that is good enough


@dataclasses.dataclass(frozen=True)
class Look:
    """How a sweep is looked at."""

    axis: str
    metric: str
    log: bool
    single: bool


def named(axis: str) -> str:
    """Name an axis in a sentence."""
    return _NAMES.get(axis, axis.replace("_", " "))


def _sign(axis: str) -> str:
    return _SIGNS.get(axis, axis.replace("_", " "))


def title(data: str) -> str:
    """Name a data set of a sweep."""
    return sample(data.removeprefix("sample:")).title if data.startswith("sample:") else data


def brief(data: str) -> str:
    """Name a data set in the title of a figure."""
    return title(data).partition(",")[0]


def icon(style: Style) -> str:
    """Return a curve's symbol as HTML."""
    code = base64.b64encode(tradeoff.glyph(style, shell.colors()).encode()).decode()
    return f'<img alt="" src="data:image/svg+xml;base64,{code}">'


def chart(figure: Any, key: str, alt: str) -> None:
    """Draw a figure; its camera button saves it in the chosen format."""
    saved = {"format": st.session_state.get(keys.SWEEP_PICTURE, PICTURES[0]).lower(), "filename": "dpviz-tradeoff"}
    config = {**_CONFIG, "toImageButtonOptions": saved | {"scale": 1 if saved["format"] == "svg" else 2}}
    st.plotly_chart(figure, theme=None, config=config, key=key, alt=f"{alt} Not private.")


def _kept(key: str) -> dict[str, Any]:
    """Return the arguments of a widget whose value is in the address: the page must run again to write it."""
    return {"key": key, "persist_state": "session", "on_change": _looked}


def _looked() -> None:
    tradeoff_state.looked = True


def _only(key: str, choices: Collection[Any]) -> None:
    """Forget what an address asks of a widget if these runs do not have it."""
    if st.session_state.get(key) not in choices:
        st.session_state.pop(key, None)


def tables(every: Summary, kept: Kept, look: Look, style: dict[str, Style]) -> None:
    """Show the overview and the solver for one data set."""
    data = kept.data[0]
    if kept.data[1:]:
        data = st.segmented_control(
            "Tables for",
            kept.data,
            default=data,
            required=True,
            format_func=lambda name: plain(title(name)),
            **_kept(keys.SWEEP_OF(kept.identity)),
        )
    rows, points = every.rows, every.points
    mine = Summary(rows[rows.data == data], look.metric, look.axis) if kept.data[1:] else every
    _overview(mine, look, points[points.data == data], style)
    if look.axis in ("epsilon", "n_rows"):
        _solver(mine, kept, look, style)


def _overview(mine: Summary, look: Look, points: pd.DataFrame, style: dict[str, Style]) -> None:
    relative = METRICS[look.metric].relative
    stops = sorted(points[look.axis].dropna().unique())
    shown = stops if len(stops) <= 3 else [stops[0], stops[len(stops) // 2], stops[-1]]
    areas = mine.areas.set_index("series").area if look.axis == "epsilon" else pd.Series()
    st.header(f"Over all {len(stops)} {named(look.axis)}")
    body = []
    for name, line in points.groupby("series", sort=False):
        cells = [markup.text(_named(name, style), _promise(line.notion.iloc[0], points))]
        if len(areas):
            cells.append(markup.bold(f"{areas[name]:.2f}") if name in areas.index else _NONE)
        values = line.set_index(look.axis)["ratio" if relative else "mean"]
        for stop in shown:
            value = values.get(stop)
            cells.append(_NONE if pd.isna(value) else f"{value:.2f}×" if relative else number(value))
        body.append([*cells, f"{line.k_found.median():.0f}"])
    heads = [f"{_sign(look.axis)} {short(look.axis, stop)}" for stop in shown]
    _table(["Algorithm", *(["area"] if len(areas) else []), *heads, "k′"], body, "Overview")
    against = METRICS[look.metric].against
    words = [f"×: times {against}'s."] if relative else []
    if len(areas) and relative:
        words.insert(0, f"Area over ε relative to {against}'s (PE-means, equation 7): 1 is as good as {against}.")
    st.html(markup.small(markup.tag(), f" {' '.join(words)} k′: centers released."))


def _solver(mine: Summary, kept: Kept, look: Look, style: dict[str, Style]) -> None:
    sign, runs = _sign(look.axis), kept.sweep.repeats
    st.header("How many people do I need?" if look.axis == "n_rows" else "How much ε do I need?")
    one, two = st.columns(2)
    within = one.selectbox(
        f"For a {look.metric.replace('_', ' ')} within", WITHIN, WITHIN.index(10),
        format_func=lambda p: f"{p}% of {METRICS[look.metric].against}", **_kept(keys.SWEEP_WITHIN),
    )  # fmt: skip
    good = _kept(keys.SWEEP_GOOD(runs))
    wanted = whole_number(f"in this many of {runs} runs", 1, runs, most_of(runs), on=two, **good)
    found = mine.smallest(within=within / 100, share=wanted / runs)
    body = []
    for row in found.itertuples():
        answer = f"more than {short(look.axis, row.tested)}"
        if pd.notna(row.least):
            answer = f"{sign} {chr(8804) if row.first else '='} {short(look.axis, row.least)}"
        star = "*" if row.k_found > mine.rows.n_clusters.median() else ""
        name = markup.text(_named(row.series, style), star, _promise(row.notion, found))
        body.append([name, answer, f"{row.good} of {row.runs}"])
    _table(["Algorithm", "smallest tested", "runs there"], body, "Solver")
    st.html(
        markup.small(
            "From that value on, every larger tested one does as well. Counted in these runs; other "
            "runs may differ by a few. *\u202freleased more than k centers."
        )
    )


def most_of(runs: int) -> int:
    """Return in how many of so many runs a result must be good enough, unless somebody says otherwise."""
    return max(1, round(0.9 * runs))


def details(every: Summary, kept: Kept, look: Look, style: dict[str, Style]) -> None:
    """Show areas, runs at one place, winners, two axes, and downloads."""
    _files(every.rows, kept)  # above the tabs, whose last one is out of sight on a phone
    names = ["Area over ε", f"Runs at one {_sign(look.axis)}", "Who wins where", "Take it with you"]
    beside = _beside(every.points, kept, look)
    area, one, wins, take, *two = st.tabs([*names, *["Two axes"] * bool(beside)])
    metric = METRICS[look.metric]
    with area:
        _areas(every.areas, metric, style)
    with one:
        _dots(every.quantile_dots(), kept, look, metric, style)
    with wins:
        _winners(every.winners)
    for tab in two:
        with tab:
            _heat(every.points, kept, look, metric, beside)
    with take:
        _downloads(every.rows)
        one_run(every.rows, kept, look.metric)


def _areas(areas: pd.DataFrame, metric: Metric, style: dict[str, Style]) -> None:
    if areas.empty:
        st.caption("An area needs at least two values of ε, and a seed that has finished at all of them.")
    style = {**tradeoff.styles(areas), **style}  # along another axis the curves have other names
    for (data, notion), group in areas.groupby(["data", "notion"], sort=False):
        chart(
            tradeoff.area_bars(
                group,
                shell.colors(),
                style,
                relative=metric.relative,
                against=metric.against,
                title=f"{brief(data)}: over all ε",
            ),
            f"area_{data}_{notion}",
            f"Area of each curve on {title(data)} under {notion}, with rerun intervals.",
        )
        _under(notion)


def _dots(every: pd.DataFrame, kept: Kept, look: Look, metric: Metric, style: dict[str, Style]) -> None:
    stops = sorted(every[look.axis].dropna().unique())
    places, key = range(len(stops)), keys.SWEEP_AT(kept.identity, look.axis)
    place = len(stops) // 2
    if stops[1:]:
        _only(key, places)
        place = st.select_slider(
            _sign(look.axis), places, place, format_func=lambda i: short(look.axis, stops[i]), **_kept(key)
        )
    at = stops[place]
    for (data, notion), group in every[every[look.axis] == at].groupby(["data", "notion"], sort=False):
        where = f"{_sign(look.axis)} = {short(look.axis, at)}"
        chart(
            tradeoff.dots(group, shell.colors(), style, metric=metric.title, title=f"{brief(data)} at {where}"),
            f"dots_{data}_{notion}",
            f"Quantile dots of {metric.title} on {title(data)} at {where} under {notion}.",
        )
        _under(notion)
    st.html(
        markup.small(
            f"One dot is 1 run in {every.of.max()}. Count dots: the share of them left of a value is "
            f"how often a run lands below it. The dotted line is {metric.against}."
        )
    )


def _winners(winners: pd.DataFrame) -> None:
    body = [
        [
            title(row.data),
            row.notion,
            short("epsilon", row.epsilon),
            f"{row.n_rows:,.0f}",
            f"{row.n_clusters:.0f}",
            markup.bold(row.best) if row.best else "no clear winner: the intervals overlap",
            f"{number(100 * row.gap, 2)}%" if row.best else "",
        ]
        for row in winners.itertuples()
    ]
    _table(["Data", "Promise", "ε", "people", "k", "Best", "gap between intervals"], body, "Winners")
    st.html(
        markup.small(
            "A winner is named only where its 95% rerun interval is apart from every other's. "
            "Algorithms that released more than k centers, and other promises, do not compete."
        )
    )


def _beside(points: pd.DataFrame, kept: Kept, look: Look) -> list[str]:
    """Return what can be a second axis beside the one that curves run along."""
    per_data = points.groupby("data")
    long = [
        a
        for a in axes_of(kept.table(len(kept.rows)))
        if a in points and a not in (look.axis, "delta") and per_data[a].nunique().max() > 1
    ]
    return long + ["data"] * (len(kept.data) > 1)


def _heat(points: pd.DataFrame, kept: Kept, look: Look, metric: Metric, long: list[str]) -> None:
    y = long[0]
    if long[1:]:
        _only(key := keys.SWEEP_AGAINST(kept.identity, look.axis), long)
        y = st.segmented_control("Against", long, default=y, required=True, format_func=named, **_kept(key))
    what = f"times {metric.against}'s" if metric.relative else metric.title
    for (label, notion), group in points.groupby(["label", "notion"], sort=False):
        for data, one in [("", group)] if y == "data" else group.groupby("data", sort=False):
            shown = one.assign(data=one.data.map(title))
            name = ", ".join([group.name.iloc[0], *([brief(data)] if data else [])])
            chart(
                tradeoff.heat(
                    shown, shell.colors(), x=look.axis, y=y, relative=metric.relative, title=f"{name}: {what}"
                ),
                f"heat_{label}_{notion}_{data}",
                f"{metric.title} of {name} over {named(look.axis)} and {named(y)}.",
            )
            _under(notion)


def _under(notion: str) -> None:
    """Say below a figure under which promise everything in it ran."""
    st.html(markup.small(tradeoff.promise(notion)))


def _files(rows: pd.DataFrame, kept: Kept) -> None:
    with st.container(horizontal=True):
        for words, make, name, kind in (
            ("Rows (CSV)", lambda: rows.to_csv(index=False), "dpviz-sweep.csv", "text/csv"),
            (
                "Script that reruns exactly this",
                lambda: to_script(dataclasses.replace(kept.sweep, data=kept.data), kept.title),
                "dpviz-sweep.py",
                "text/x-python",
            ),
            ("Report (HTML, offline)", lambda: report(rows, kept.title), "dpviz-sweep.html", "text/html"),
        ):
            st.download_button(words, make, name, kind, on_click="ignore")


def _downloads(rows: pd.DataFrame) -> None:
    st.segmented_control(
        "The camera button of a figure saves it as",
        PICTURES,
        default=PICTURES[0],
        required=True,
        **_kept(keys.SWEEP_PICTURE),
    )
    st.html(markup.small("Simulation: the seeds are known and metrics read raw rows; nothing here is private."))
    st.dataframe(readable(rows), height=260, hide_index=True)


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a sweep as people read them: columns in words, and of the parameters what has no column."""
    given = (json.loads(text or "{}") for text in rows.parameters)
    other = [{name: value for name, value in one.items() if value is not None and name not in rows} for one in given]
    words = [", ".join(f"{named(name)} {value}" for name, value in one.items()) for one in other]
    shown = rows.drop(columns=["key", "version"]).assign(parameters=words)
    return shown.rename(columns=lambda name: _COLUMNS.get(name, name.replace("_", " ")))


def _named(series: str, style: dict[str, Style]) -> markup.Html:
    return markup.Html(f"{icon(style[series])} {markup.text(series)}")


def _promise(notion: str, table: pd.DataFrame) -> markup.Html:
    """Name the promise where a table holds more than one kind: they are not comparable."""
    one = table.notion.nunique() == 1
    return markup.Html("" if one else f' <span class="dp-small">{markup.text(notion)}</span>')


def _table(heads: list[str], body: list[list[str]], label: str) -> None:
    st.html(markup.table(label, heads, (markup.row(cells, lit=True) for cells in body), look="dp-free"))
