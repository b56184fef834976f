"""The effect of ε on every sample: stored runs of each method, drawn at nine stops of a slider."""

from __future__ import annotations

import dataclasses
import html
import json
from importlib.resources import files
from typing import Any

import pandas as pd

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import EXACTLY_K, METHODS, STOPS, Cell, trace
from dpviz.atlas.files import Chart, read
from dpviz.datasets import SAMPLES, Dataset
from dpviz.figures.kit.theme import SLOTS
from dpviz.figures.scenes import drag
from dpviz.figures.scenes.drag import Edition, curve_table
from dpviz.figures.stage import script as stage
from dpviz.lessons.ground import ground
from dpviz.numbers import fraction, ratio_words
from dpviz.postprocessing.bet import bet_of, odds_of_any
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Notion

from .folder import Folder
from .in_tab.tradeoff import curves
from .shell import Shell, aliases, link, text_of

__all__ = ["HOME", "add"]

EPSILON = 1.0  # first position of the slider
WEAKER = (
    "hides a move only up to a given distance. That is a different promise, so no table compares it with the others"
)


def _address(sample: str) -> str:
    return f"tradeoff/{sample}.html"


HOME = _address(SAMPLES[0])


def add(folder: Folder, shell: Shell) -> None:
    """Add a page for each sample."""
    for sample in SAMPLES:
        folder.put(_address(sample), _page(sample, shell))


def _page(sample: str, shell: Shell) -> str:
    there, here = ground(sample), _address(sample)
    charts = {slug: stored for slug in METHODS if slug != "kmeans" and (stored := read(sample, slug))}
    start = STOPS.index(EPSILON)
    films = {slug: _film(slug, chart) for slug, chart in charts.items()}
    tables = {slug: _rows(sample, slug, chart) for slug, chart in charts.items() if _strong(slug)}
    names = {slug: _named(slug, there.data.n_clusters) for slug in charts}
    record = {"films": films, "rows": {slug: _cells(table) for slug, table in tables.items()}, "start": start}
    given = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    slots = (files("dpviz.figures.kit") / "slots.js").read_text(encoding="utf-8")
    samples = "".join(
        f'<li><a href="{link(here, _address(name))}"{" aria-current=page" * (name == sample)}>{name}</a></li>'
        for name in SAMPLES
    )
    options = "".join(f'<option value="{slug}">{html.escape(ALGORITHMS[slug].name)}</option>' for slug in charts)
    data = there.data
    body = (
        f'<h1>Trade-off: {html.escape(data.title)}</h1><ul class="tabs" aria-label="Samples">{samples}</ul>'
        f'<div class="controls" hidden><p><label>Method <select>{options}</select></label></p>'
        '<div class="dpviz-drag"><div class="epsilon"><div class="name">Privacy budget <b></b>'
        f"<i>· {drag.CURVE}</i></div>"
        '<div class="track"></div></div></div><p class="said"><output aria-live="polite"></output></p></div>'
        "<noscript><p>Without scripts, ε cannot be dragged; the table is for ε 1.</p></noscript>"
        f'<div class="two"><div class="plane" hidden><canvas role="img"></canvas></div>'
        f'<div>{_table(tables, names, start)}{_chart(tables, names)}<p class="small">{_notes(charts)}</p></div></div>'
        f"{_source(data)}"
        f"{_elsewhere(here, shell.live)}"
        f'<script type="application/json" id="runs">{given}</script>'
        f'<script type="module">{stage()}{slots}{drag.text_of("track.js")}{text_of("tradeoff.js")}</script>'
    )
    head = (
        f"<style>.dpviz-drag{{{aliases()}--st-font:system-ui,sans-serif}}"
        f"{drag.text_of('track.css')}{text_of('tradeoff.css')}</style>"
    )
    return shell.page(here, f"Trade-off: {data.title}", body, head=head, wide=True)


def _elsewhere(here: str, live: str) -> str:
    """Return where other methods and people have their curves: in a tab if the site can run them, else on a server."""
    if not live:
        return f'<p>For other methods, columns or data, <a href="{link(here, "run.html")}">run it yourself</a>.</p>'
    own = f'<a href="{link(here, live)}?data=file:#trade-off">draw the curves on your own file</a>'
    return f"<p>For other methods, made-up groups or painted people, or {own}, in this tab.</p>"


def _source(data: Dataset) -> str:
    """Return the license of a sample's rows, and where they come from if they are not made up."""
    return f'<p class="small">Rows: {html.escape(str(data.facts["licence"]))}.</p>'


def _strong(slug: str) -> bool:
    return ALGORITHMS[slug].notion is not Notion.RHO


def _edition(slug: str, chart: Chart) -> Edition:
    sample = chart.chapter.sample
    there = ground(sample)
    data, values = there.data, dict(chart.chapter.values)
    most = [
        odds_of_any(
            ALGORITHMS[slug](n_clusters=data.n_clusters, **values | {"epsilon": stop.epsilon}).guarantee(
                data.domain.n_features, data.n_public
            )
        )
        for stop in chart.stops
    ]
    return Edition(sample, data.n_public, chart.stops, most, chart.groups, chart.best, data.X, there.reference)


def _film(slug: str, chart: Chart) -> dict[str, Any]:
    """Return the record of a method at every stop, with `SLOTS` as colors."""
    there = ground(chart.chapter.sample)
    run = trace(Cell(chart.chapter, None, EPSILON, 0))
    view = dataclasses.replace(there.view(run, SLOTS), picture=there.data.picture)
    film = drag.record(view, [_edition(slug, chart)], 0, bet_of(run.claimed, far=reach(run), noun=there.data.noun).on)
    (edition,) = film["editions"]
    return {"stops": edition["stops"], "top": film["top"], "figure": json.loads(edition["figure"])}


def _rows(sample: str, slug: str, chart: Chart) -> pd.DataFrame:
    """Return a method's row of the comparison at every stop; a method that may release more centers is held to k."""
    exact = read(sample, slug, None, EXACTLY_K) if _may_release_more(slug) else None
    chosen = exact or chart
    table = curve_table(_edition(slug, chosen))
    return table.assign(bet=[stop.bet for stop in chosen.stops], groups=chosen.groups)


def _cells(table: pd.DataFrame) -> list[list[str]]:
    return [[f"{row.bet} of 100 bets", ratio_words(row.median), _again(row)] for row in table.itertuples()]


def _again(row: Any) -> str:
    return f"{row.again} of {row.runs}"


def _table(tables: dict[str, pd.DataFrame], names: dict[str, str], start: int) -> str:
    lines = "".join(
        f'<tr data-method="{slug}"><th scope=row>{html.escape(names[slug])}</th>'
        + "".join(f"<td>{cell}</td>" for cell in _cells(table)[start])
        + "</tr>"
        for slug, table in tables.items()
    )
    epsilon = fraction(float(next(iter(tables.values())).epsilon[start]))
    return (
        f'<h2>Every method at ε <span class="at">{epsilon}</span> <span class="tag">NOT PRIVATE</span></h2>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Every method"><table><thead><tr>'
        "<th scope=col>Method</th><th scope=col>An attacker wins at most</th><th scope=col>Loss × KMeans'</th>"
        f"<th scope=col>All groups found</th></tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _chart(tables: dict[str, pd.DataFrame], names: dict[str, str]) -> str:
    """Return the figure of all methods' medians against ε, in light and in dark."""
    return curves(
        (names[slug], float(row.epsilon), float(row.median))
        for slug, table in tables.items()
        for row in table.itertuples()
    )


def _notes(charts: dict[str, Chart]) -> str:
    runs = min(chart.seeds for chart in charts.values())
    weaker = [ALGORITHMS[slug].name for slug in charts if not _strong(slug)]
    words = [
        f"Medians of at least {runs} stored runs at each ε; every method knows the same public facts.",
        *(f"{name} {WEAKER}." for name in weaker),
    ]
    return html.escape(" ".join(words))


def _named(slug: str, k: int) -> str:
    """Return a method's name in the table and in the chart, which hold every method to k centers."""
    return ALGORITHMS[slug].called(dict(EXACTLY_K) if _may_release_more(slug) else {}, k)


def _may_release_more(slug: str) -> bool:
    return "exactly_k" in params.specs(ALGORITHMS[slug])
