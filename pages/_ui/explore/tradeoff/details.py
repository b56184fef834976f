"""Show the details of a sweep in tabs below its picture: winners, runs at one value, areas, files, two axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.figures.kit.theme import Style
from dpviz.figures.scenes import tradeoff
from dpviz.figures.scenes.tradeoff import short
from dpviz.numbers import number
from dpviz.sweeps.conclusion import area_words, dots_words, heat_words
from dpviz.sweeps.measures import METRICS, Metric
from dpviz.sweeps.summary import Summary
from pages._ui.explore.tradeoff.charts import brief, chart, named, sign, title, under
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.explore.tradeoff.tables import SweepLook, looked, table
from pages._ui.explore.tradeoff.take import files, one_run
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.address.control import number as number_of

_SWEEP_AT = "dots_at_{}_{}".format
_SWEEP_AGAINST = "against_{}_{}".format

_DOTS = 20  # maximum number of dots at one value; each dot stands for the same share of the runs


def at_one(progress: Progress, axis: str, stops: int) -> Control:
    """Return the control of the place, out of `stops` on an axis, whose runs are drawn."""
    key = _SWEEP_AT(progress.identity, axis)
    return Control("at", key, "Runs at one value", number_of(stops // 2, 0, stops - 1), widget="select_slider")


def against(progress: Progress, axis: str, others: Sequence[str]) -> Control:
    """Return the control of the second axis of curves that run along `axis`."""
    key = _SWEEP_AGAINST(progress.identity, axis)
    return Control("against", key, "Against", choice(others[0], others), widget="segmented_control", named=named)


def details(every: Summary, progress: Progress, look: SweepLook, style: dict[str, Style]) -> None:
    """Show winners, runs at one value, areas, files and, if there are two axes, a table of both.

    Only the open tab is drawn. An address that sets a value or a second axis opens the tab that shows it.
    """
    beside, metric = _beside(every, progress, look), METRICS[look.metric]
    one, two = f"Runs at one {sign(look.axis)}", "Two axes"
    tabs = {
        "Who wins where": lambda: _winners(every.winners),
        one: lambda: _dots(every, progress, look, metric, style),
        "Area under the curve": lambda: _areas(every, metric, style),
        "Take it with you": lambda: _take(every, progress),
    }
    if beside:
        tabs[two] = lambda: _heat(every, progress, look, metric, beside)
    asked = {one: at_one(progress, look.axis, 1), two: against(progress, look.axis, beside or ["data"])}
    first = [name for name in tabs if name in asked and asked[name].key in st.session_state]
    boxes = st.tabs(list(tabs), default=first[0] if first else None, key="sweep_tab", on_change="rerun")
    for box, show in zip(boxes, tabs.values(), strict=True):
        if box.open:
            with box:
                show()


def _take(every: Summary, progress: Progress) -> None:
    files(every, progress)
    one_run(every, progress)


def _areas(every: Summary, metric: Metric, style: dict[str, Style]) -> None:
    if every.areas.empty:
        st.caption("The area needs at least two values of ε and a seed whose runs finished at all of them.")
    style = {**tradeoff.styles(every.areas), **style}  # the curves of areas have other names if the axis is not ε
    for (data, notion), group in every.areas.groupby(["data", "notion"], sort=False):

        def draw(group: pd.DataFrame = group, data: str = data) -> Any:
            return tradeoff.area_bars(
                group, shell.colors(), style, relative=metric.relative, against=metric.against,
                title=f"{brief(data)}: {area_words(group, every.metric)}",
            )  # fmt: skip

        chart(
            every, f"area_{data}_{notion}", draw,
            f"Area under each curve on {title(data)} under {notion}, with intervals over reruns.",
        )  # fmt: skip
        under(notion)


def _dots(every: Summary, progress: Progress, look: SweepLook, metric: Metric, style: dict[str, Style]) -> None:
    stops = sorted(every.points[look.axis].dropna().unique())
    control, place = at_one(progress, look.axis, len(stops)), len(stops) // 2
    if stops[1:]:
        _only(control.key, range(len(stops)))
        place = control.draw(
            label=sign(look.axis), options=range(len(stops)), format_func=lambda i: short(look.axis, stops[i]),
            on_change=looked,
        )  # fmt: skip
    at, where = stops[place], f"{sign(look.axis)} = {short(look.axis, stops[place])}"
    here = every.points[every.points[look.axis] == at]
    for data, notion in here[["data", "notion"]].drop_duplicates().itertuples(index=False):

        def draw(data: str = data, notion: str = notion) -> Any:
            dots = every.quantile_dots(_DOTS, at=at)
            mine = dots[(dots.data == data) & (dots.notion == notion)]
            words = f"{brief(data)}, {where}: {dots_words(mine, every.metric)}"
            return tradeoff.dots(mine, shell.colors(), style, metric=metric.title, title=words)

        chart(
            every, f"dots_{data}_{notion}", draw,
            f"Quantile dot plot of {metric.title} on {title(data)} at {where} under {notion}.", at,
        )  # fmt: skip
        under(notion)
    st.html(
        markup.small(
            f"One dot is 1 run in {min(_DOTS, every.points.runs.max())}. The share of dots to the left of a value "
            f"is the share of runs below it. The dotted line is {metric.against}."
        )
    )


def _winners(winners: pd.DataFrame) -> None:
    body = [
        [
            title(row.data), row.notion, short("epsilon", row.epsilon), f"{row.n_rows:,.0f}", f"{row.n_clusters:.0f}",
            markup.bold(row.best) if row.best else "no clear winner: the intervals overlap",
            f"{number(100 * row.gap, 2)}%" if row.best else "",
        ]
        for row in winners.itertuples()
    ]  # fmt: skip
    table(["Data", "Promise", "ε", "people", "k", "Best", "gap between intervals"], body, "Winners")
    st.html(
        markup.small(
            "An algorithm is named the winner only if its 95% rerun interval overlaps no other interval. Algorithms "
            "that released more than k centers or make another promise do not compete."
        )
    )


def _beside(every: Summary, progress: Progress, look: SweepLook) -> list[str]:
    """Return the possible second axes: all but the axis along which the curves run."""
    axes = [axis for axis in every.axes if axis in every.points and axis not in (look.axis, "delta")]
    per_data = every.points.groupby("data")
    return [axis for axis in axes if per_data[axis].nunique().max() > 1] + ["data"] * (len(progress.data) > 1)


def _heat(every: Summary, progress: Progress, look: SweepLook, metric: Metric, long: list[str]) -> None:
    y = long[0]
    if long[1:]:
        control = against(progress, look.axis, long)
        _only(control.key, long)
        y = control.draw(on_change=looked)

    for (label, notion), group in every.points.groupby(["label", "notion"], sort=False):
        for data, one in [("", group)] if y == "data" else group.groupby("data", sort=False):
            name = ", ".join([group.name.iloc[0], *([brief(data)] if data else [])])

            def draw(one: pd.DataFrame = one, name: str = name) -> Any:
                table = one.assign(data=one.data.map(title))
                return tradeoff.heat(
                    table,
                    shell.colors(),
                    x=look.axis,
                    y=y,
                    relative=metric.relative,
                    title=f"{name}: {heat_words(one, every.metric)}",
                )

            chart(
                every, f"heat_{label}_{notion}_{data}", draw,
                f"{metric.title} of {name} over {named(look.axis)} and {named(y)}.", y,
            )  # fmt: skip
            under(notion)


def _only(key: str, choices: Collection[Any]) -> None:
    """Drop a widget's value, which an address may have set, if it is not one of the choices."""
    if st.session_state.get(key) not in choices:
        st.session_state.pop(key, None)
