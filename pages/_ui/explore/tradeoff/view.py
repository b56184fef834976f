"""Show a sweep: its cost before the start, its progress, and its curves, which grow as rows arrive."""

from __future__ import annotations

import dataclasses
import time
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes import tradeoff
from dpviz.figures.scenes.tradeoff import short
from dpviz.numbers import chance, number
from dpviz.sweeps import estimate
from dpviz.sweeps.conclusion import conclusion, steadiness
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.summary import AXES, Summary
from dpviz.sweeps.sweep import REFERENCE, Run, Sweep
from pages._ui.explore.tradeoff import sweeps
from pages._ui.explore.tradeoff.charts import brief, chart, icon, named, title
from pages._ui.explore.tradeoff.details import details
from pages._ui.explore.tradeoff.state import tradeoff_state
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.explore.tradeoff.tables import SweepLook, tables
from pages._ui.frame import catalog, markup, shell
from pages._ui.frame.address.control import Control, choice, switch
from pages._ui.work.pace import duration
from pages._ui.work.runs import jobs
from pages._ui.work.workers import SWEEPERS

_SWEEP_ENDS = "sweep_ends"
_SWEEP_ALONG = "along_{}".format
_SWEEP_METRIC = "metric_{}".format

SCALE = Control(
    "scale", "sweep_scale", "Scale", choice("log", ("log", "linear")), widget="segmented_control",
    named="{} scale".format,
)  # fmt: skip
SINGLE = Control("single", "sweep_single", "Single runs", switch(True))
_SLICES = 25  # Maximum number of pictures of a running sweep.
_PACED = 10  # Number of new runs after which the pace is known.


def titles(progress: Progress) -> str:
    """Return the names of a sweep's data sets."""
    return ", ".join(map(title, progress.data))


def size(sweep: Sweep) -> str:
    """Return the size of a sweep in words."""
    parts = [f"{len(sweep.variants)} algorithm{'s' * (len(sweep.variants) > 1)}", f"{len(sweep.epsilon)} ε"]
    parts += [f"{len(values)} {named(name)}" for name, values in (*sweep.axes, ("n_rows", sweep.n_rows)) if values[1:]]
    return " × ".join([*parts, f"{sweep.repeats} runs"])


_composed = lru_cache(maxsize=16)(estimate.composed)


def spending(sweep: Sweep) -> None:
    """Show the ε that a sweep would spend on private data."""
    runs, epsilon = _composed(sweep)
    if runs:
        st.caption(
            f"On private data every run would be a release: the {runs:,} runs that use only Gaussian noise "
            f"would together spend ε = {number(epsilon)}. A sweep therefore accepts only public or made-up data."
        )


def ahead(sweep: Sweep, data: str) -> None:
    """Summarize and draw the stored runs of a sweep on one data set before a visitor asks for them."""
    progress = sweeps.everybodys(sweep, data)
    every = progress.summary(len(progress.rows), sweep.metrics[0], "epsilon")
    if not progress.rows or every.points.empty:
        return
    style = tradeoff.styles(every.points)
    figure = tradeoff.curves(every.points, every.runs, LIGHT, style, axis="epsilon", metric=every.metric, title=data)
    _ = figure.to_json(), every.turns, every.areas, every.winners, _composed(sweep)


def first(sweep: Sweep, data: str) -> None:
    """Explain a sweep before any of its runs is known."""
    st.html(
        markup.lede(
            "A sweep runs every chosen algorithm at every chosen ε many times. You will see every run, how precise "
            "the means are, how KMeans does without privacy, and the smallest ε that is good enough. The sweep keeps "
            "running while you visit other pages."
        )
    )
    names = ", ".join(ALGORITHMS[variant.algorithm].name for variant in sweep.variants)
    budgets = ", ".join(short("epsilon", value) for value in sweep.epsilon)
    facts = ("Data", data), ("Algorithms", f"{names}, and KMeans without privacy"), ("ε", budgets)
    st.html(markup.facts(facts))


def offer(sweep: Sweep) -> bool:
    """Offer to make a sweep's missing runs, with a forecast; return whether the visitor starts them."""
    left, total = sweeps.missing(sweep), sweeps.size(sweep)
    new, known = sweeps.counted(left), sweeps.counted(sweeps.known(sweep))
    if total > sweeps.MOST_LISTED or len(left) > sweeps.MOST_RUNS:
        st.caption(
            f"This server makes at most {sweeps.MOST_RUNS:,} runs at a time, and this sweep needs more. "
            "Use the command line."
        )
        return False
    if not left:
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        what = f"{new:,} missing run{'s' * (new > 1)}" if new and known else "this sweep"
        chosen = st.button(f"Start {what}", type="primary", icon=":material/play_arrow:", key="sweep_start")
        if sweeps.timeable(left):
            _forecast(left, known)
        else:
            st.caption(f"{new:,} runs of more than {sweeps.MOST_KINDS} kinds: too many kinds to time a run of each.")
    return chosen


def _forecast(left: list[Run], known: int) -> None:
    @st.fragment(run_every=1.0 if sweeps.expected(left) is None else None)
    def expected() -> None:
        seconds = sweeps.expected(left)
        there = f" {known:,} already exist." if known else ""
        words = f"{duration(seconds)} on" if seconds is not None else "a run of each kind is being timed on"
        st.caption(f"{sweeps.counted(left):,} runs, {words} {SWEEPERS} worker{'s' * (SWEEPERS > 1)}.{there}")

    expected()


def stops_of(sweep: Sweep) -> dict[str, int]:
    """Return the number of values of each axis along which a sweep can be drawn."""
    long = {"epsilon": sweep.epsilon, "n_rows": sweep.n_rows, **dict(sweep.axes)}
    return {name: len(values) for name, values in long.items() if values[1:]} or {"epsilon": 1}


def axes_of(sweep: Sweep) -> list[str]:
    """Return the axes along which a sweep can be drawn."""
    return list(stops_of(sweep))


def against_of(sweep: Sweep, axis: str) -> list[str]:
    """Return the possible second axes of a sweep drawn along `axis`."""
    others = [name for name in axes_of(sweep) if name not in (axis, "delta")]
    known = [name for name in AXES if name in others]
    return [*known, *sorted(set(others) - set(known)), *(["data"] if sweep.data[1:] else [])]


def along(progress: Progress) -> Control:
    """Return the control of the axis along which the curves run."""
    axes = axes_of(progress.sweep)
    key = _SWEEP_ALONG(progress.identity)
    return Control("along", key, "Along", choice(axes[0], axes), widget="segmented_control", named=named)


def measure(progress: Progress) -> Control:
    """Return the control of the drawn metric."""
    metrics, key = progress.sweep.metrics, _SWEEP_METRIC(progress.identity)
    return Control("metric", key, "Metric", choice(metrics[0], metrics), named=lambda m: METRICS[m].title)


def tools(progress: Progress) -> SweepLook:
    """Show the controls of the sweep's view; return the choices."""
    sweep = progress.sweep
    axes = axes_of(sweep)
    axis, metric = axes[0], sweep.metrics[0]
    boxes = st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom")
    if axes[1:]:
        axis = along(progress).draw(boxes)
    if sweep.metrics[1:]:
        metric = measure(progress).draw(boxes, width=200)
    scale = SCALE.draw(boxes, label_visibility="collapsed")
    single = SINGLE.draw(boxes)
    return SweepLook(axis, metric, scale == "log", single)


def watch(progress: Progress, look: SweepLook, *, active: bool) -> None:
    """Show progress while a sweep runs, and pictures of the rows so far.

    `active` says whether the page was drawn while the sweep ran.
    """

    @st.fragment(run_every=1.0 if active else None)
    def follow() -> None:
        if tradeoff_state.looked:
            st.rerun()  # the page then writes its address
        if progress.active:
            _bar(progress)
        elif active:
            st.rerun()  # the form's button and the details then reappear
        _pictures(progress, look)

    follow()


def going(progress: Progress) -> str:
    """Return the words for a sweep's progress, and the remaining time at its pace so far."""
    job, done = progress.job, len(progress.rows)
    ahead = jobs().position(job)
    if job.status == "queued" and ahead:
        return f"{ahead} sweep{'s' * (ahead > 1)} ahead in the queue"
    if progress.first is None:
        return "Starting the worker processes"
    begin, since = progress.first
    if done - begin < _PACED:  # the time that workers take to start says nothing about their pace
        a_run = job.seconds / (progress.total - begin + 1)
    else:
        a_run = (time.monotonic() - since) / (done - begin)
    left = f", {duration(a_run * (progress.total - done))} left" if a_run else ""
    return f"{sweeps.counted(progress.rows):,} of {progress.runs:,} runs{left}. The picture grows as runs finish."


def _bar(progress: Progress) -> None:
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(len(progress.rows) / progress.total, going(progress))
    if button.button("Cancel", key="sweep_cancel", width="stretch"):
        sweeps.cancel(progress)


def _pictures(progress: Progress, look: SweepLook) -> None:
    step = max(1, progress.total // _SLICES) if progress.active else 1
    summary = progress.summary(len(progress.rows) // step * step or len(progress.rows), look.metric, look.axis)
    rows = summary.rows
    so_far = f"{(rows.algorithm != REFERENCE).sum():,} of {progress.runs:,} runs"
    if progress.job.status == "cancelled":
        st.info(f"Canceled after {so_far}. The finished runs are shown.")
    elif progress.job.status == "failed":
        st.error(plain(f"{progress.job.error} {so_far} had finished and are shown."))
    elif progress.job.status == sweeps.ELSEWHERE:
        st.info(f"{so_far} so far. Another process is working on this sweep: reload to see more.")
    failures = rows[rows.status == "failed"].groupby(["label", "reason"]).size()
    if len(failures):
        words = (f"{n} run{'s' * (n > 1)} of {label} failed: {reason}" for (label, reason), n in failures.items())
        st.warning("  \n".join(map(plain, words)))
    points = summary.points
    if points.empty:
        st.skeleton(height=470) if progress.active else st.info("No run has a result.")
        return
    style = tradeoff.styles(points)
    flat = points[look.axis].isna()
    panels = list(points[~flat].groupby(["data", "notion"], sort=False))
    left, right = st.columns([7, 4], gap="medium")
    with left:
        if panels[1:]:
            _multiples(panels, summary, progress, look, style)
        elif panels:
            _one(panels[0][1], summary, progress, look, style)
        for point in points[flat].itertuples():
            st.html(markup.small(without_curve(point, look)))
        _caution(points, look)
    with right:
        tables(summary, progress, look, style)
    if not progress.active:
        details(summary, progress, look, style)


def without_curve(point: Any, look: SweepLook) -> str:
    """Return a sentence with the mean of a method without the axis, such as an outside program that has no ε."""
    metric = METRICS[look.metric]
    mean = f"{number(point.ratio)} times {metric.against}'" if metric.relative else number(point.mean)
    return f"{point.series} on {title(point.data)} has no {named(look.axis)}, so it has no curve; its mean is {mean}."


def _one(points: pd.DataFrame, every: Summary, progress: Progress, look: SweepLook, style: dict) -> None:
    """Show one panel; its curves are named at their ends or, on a phone, in a key, to save half the width."""
    with st.container(key=_SWEEP_ENDS):
        figure = _curves(points, every, progress, look, style, labels=True, height=470)
        st.html(f"<style>.st-key-{_SWEEP_ENDS}{{--dp-ends:{figure.layout.margin.r - 5}px}}</style>")
    with st.container(key="sweep_key"):
        st.html(_key(look, style))


def _key(look: SweepLook, style: dict) -> str:
    """Return the key of a panel's curves as HTML."""
    words = "".join(f"<span>{icon(one)}{markup.escape(name)}</span>" for name, one in style.items())
    return f'<div class="dp-key">{words}<span>… {METRICS[look.metric].against} (not private): dotted</span></div>'


def _curves(
    points: pd.DataFrame, every: Summary, progress: Progress, look: SweepLook, style: dict, *, labels: bool, height: int
) -> Any:  # fmt: skip
    data, notion = points.data.iloc[0], points.notion.iloc[0]
    mine, turns = (table[(table.data == data) & (table.notion == notion)] for table in (every.runs, every.turns))
    metric = METRICS[look.metric]
    name, which = metric.title.partition(" (")[0], (data, notion, *dataclasses.astuple(look))
    span = progress.spans.get(which) if progress.active else None

    def draw() -> Any:
        return tradeoff.curves(
            points, mine, shell.colors(), style, axis=look.axis, metric=metric.title, log=look.log, single=look.single,
            against=metric.against, times=metric.relative, span=span, labels=labels, height=height,
            title=brief(data) + (f": {name}" if labels else ""),
        )  # fmt: skip

    if sentence := conclusion(points, look.metric, look.axis):
        st.html(markup.conclusion(f"{sentence}."))
    best = points.loc[points["mean"].idxmax() if metric.higher_is_better else points["mean"].idxmin()]
    times = metric.relative and best.ratio > 0
    value = f"{number(best.ratio)} times {metric.against}'" if times else number(best["mean"])
    figure = chart(
        every, f"curves_{data}_{notion}", draw,
        f"{name} against {named(look.axis)} on {title(data)}, {points.series.nunique()} curves under {notion}; the "
        f"best mean, {value}, is that of {best.series} at {short(look.axis, best[look.axis])}.",
        look, labels, span,
    )  # fmt: skip
    if progress.active:
        progress.spans[which] = tuple(figure.layout.yaxis.range)  # while runs arrive, the scale only widens
    deltas = points.delta.dropna().unique()
    delta = f", δ = {chance(deltas[0])}" if len(deltas) == 1 else ""
    rhos = points.rho_distance.dropna().unique()
    rho = f", rho = {_distance(progress, data, rhos[0])}" if len(rhos) == 1 else ""
    st.html(markup.small(f"{tradeoff.promise(notion)}{rho}{delta}"))
    if words := steadiness(turns, look.axis):
        st.html(markup.small(" ".join(words)))
    return figure


def _distance(progress: Progress, data: str, rho: float) -> str:
    """Return rho in the unit of a sample or, for a file (which may be gone), as a share of the half-width."""
    kind, _, name = progress.sweep.data[progress.data.index(data)].partition(":")
    is_sample = kind == "sample"
    return catalog.public(name).domain.length(rho) if is_sample else f"{number(rho)} of the bounds' half-width"


def _multiples(panels: list, every: Summary, progress: Progress, look: SweepLook, style: dict) -> None:
    """Show one panel per data set and promise, never two promises on one axis, and one key for all."""
    if len({notion for (_, notion), _ in panels}) > 1:
        st.warning(
            "These algorithms make different promises. Each promise has its own panel; do not compare across panels."
        )
    st.html(_key(look, style))
    for start in range(0, len(panels), 2):
        for column, (_, points) in zip(st.columns(2, gap="small"), panels[start : start + 2], strict=False):
            with column:
                _curves(points, every, progress, look, style, labels=False, height=340)


def _caution(points: pd.DataFrame, look: SweepLook) -> None:
    runs, more = int(points.runs.max()), sorted(points.series[points.k_found > points.n_clusters].unique())
    words = [f"Pale: {runs} single runs. "] if look.single else []
    words.append(
        f"Solid: the mean of the runs, with a 95% rerun interval that says how well {runs} runs pin down this "
    )
    words += [markup.bold("mean"), ", not where your next run will land. "]
    if more:
        words.append(f"{', '.join(more)} released more than k centers, and extra centers always lower the loss. ")
    words.append("Equal ε does not mean equal risk if the kinds of noise differ.")
    st.html(markup.fooled(*words))
