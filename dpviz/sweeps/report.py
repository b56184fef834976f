"""Write a sweep as one HTML file: self-contained, offline, ready to print."""

from __future__ import annotations

import base64
import datetime
import html
from collections.abc import Iterable, Sequence
from string import Template
from typing import Any

import numpy as np
import pandas as pd

from dpviz import validate
from dpviz.figures.kit import packed
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes import tradeoff
from dpviz.numbers import chance, number
from dpviz.privacy.guarantee import Notion
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.spec import Published
from dpviz.sweeps.summary import AXES, Summary
from dpviz.takeaway.policy import sealed

__all__ = ["against_published", "report"]

MOST_IN_SHORT = 4  # maximum number of data sets named in the first paragraph
_STYLE = Template("""
body { font: 16px/1.5 "Source Sans 3", "Source Sans Pro", system-ui, sans-serif; color: $ink; background: $bg;
  max-width: 980px; margin: 32px auto; padding: 0 16px; }
h1, h2 { font-family: "Source Serif 4", Georgia, serif; line-height: 1.15; margin: 1.4em 0 .4em; }
.tag { border: 1px solid $hidden; color: $hidden; background: $hidden_tag; font-weight: 700; font-size: 12px;
  padding: 1px 5px; border-radius: 3px; white-space: nowrap; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: 4px 14px 4px 0; border-bottom: 1px solid $line; white-space: nowrap; }
th { color: $muted; } .small { color: $muted; font-size: 14px; } figure { margin: 0 0 8px; }
td img { vertical-align: -2px; margin-right: 6px; }
@media print { body { background: #fff; margin: 0; max-width: none; } figure, table { break-inside: avoid; }
  .modebar { display: none !important; } }
""").substitute(LIGHT.tokens())
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head><body><h1>{title}</h1>
<p><b>In short.</b> {short}</p>
<p><span class=tag>NOT PRIVATE</span> Simulation on public data: the seeds are known and every metric reads raw rows.
{facts}.</p>
<p class=small>Pale: single runs. Solid: their mean with a 95% rerun interval, which shows how well these runs determine
the mean, not where the next run will land. Dotted: KMeans without privacy. With different kinds of noise, equal ε is
not equal risk; different promises never share a panel.</p>{body}{library}</body></html>
"""


def report(
    rows: pd.DataFrame,
    title: str,
    published: Sequence[Published] = (),
    *,
    axis: str | None = None,
    made: datetime.date | None = None,
) -> str:
    """Return the HTML report of a sweep: summary, curves, areas, winners, smallest sufficient values, failures.

    Parameters
    ----------
    rows : a table, as `rowfile.read_rows` returns it
    published : numbers to compare with ours
    axis : x axis of the curves; None means epsilon, or the first axis with more than one value
    made : date of the report; None means today

    Raises
    ------
    ValueError
        If no run of a private algorithm has finished.
    """
    done = rows[rows.status == "ok"]
    if not (done.algorithm != "kmeans").any():
        raise ValueError("report: the rows hold no finished run of a private algorithm.")
    for notion in done.notion.unique():
        validate.one_of("report", list(Notion), notion=notion)
    varied = [name for name in AXES if done[name].nunique() > 1]
    axis = axis or ("epsilon" if "epsilon" in varied or not varied else varied[0])
    metrics = [name for name in METRICS if done[name].notna().any()]
    parts = []
    for metric in metrics:
        parts.append(f"<h2>{html.escape(METRICS[metric].title)}</h2>")
        summary = Summary(rows, metric, axis)
        points, runs = summary.points, summary.runs
        look = tradeoff.styles(points)
        curved = points[points[axis].notna()]  # a program without the axis appears only in the tables
        for (data, notion), group in curved.groupby(["data", "notion"], sort=False):
            figure = tradeoff.curves(
                group, runs[(runs.data == data) & (runs.notion == notion)], LIGHT, look, axis=axis,
                metric=METRICS[metric].title, against=METRICS[metric].against, times=METRICS[metric].relative,
                title=str(data),
            )  # fmt: skip
            figure.update_layout(paper_bgcolor="#fff")
            words = f"<figcaption class=small>{tradeoff.promise(notion)}</figcaption>"
            parts.append(f"<figure>{packed.drawn(figure)}{words}</figure>")
        parts += _tables(summary, look)
    if published:
        parts += ["<h2>Compared with published numbers</h2>", _published(rows, published)]
    failures = rows[rows.status == "failed"]
    if len(failures):
        counted = failures.groupby(["label", "reason"]).size().reset_index(name="runs")
        parts += ["<h2>Failed runs</h2>", _table(counted.columns, counted.itertuples(index=False))]
    day = made or datetime.date.today()
    facts = f"{_facts(done)}, {day.day} {day:%B %Y}"
    text = _PAGE.format(
        title=html.escape(title),
        style=_STYLE,
        short=html.escape(_short(rows, "loss" if "loss" in metrics else metrics[0])),
        facts=html.escape(facts),
        body="".join(parts),
        library=packed.library(),
    )
    return sealed(text, [packed.unpacked()])


def _short(rows: pd.DataFrame, metric: str) -> str:
    """Return a one-paragraph summary: the best curve of each data set at the ε nearest 1."""
    table = Summary(rows, metric).points
    table = table[table.epsilon.notna() & (table.k_found <= table.n_clusters)]  # more centers always lower the loss
    measure, sentences = METRICS[metric], []
    for (data, notion), group in table.groupby(["data", "notion"], sort=False):
        epsilon = min(group.epsilon.unique(), key=lambda value: abs(np.log(value)))
        at = group[group.epsilon == epsilon].sort_values("mean", ascending=not measure.higher_is_better, kind="stable")
        first, among = at.iloc[0], at.series.nunique()
        others = f" of {among} methods" if among > 1 else ""
        promise = f" ({notion})" if table.notion.nunique() > 1 or notion == Notion.CLAIMED else ""
        sentences.append(
            f"On {data} at ε = {number(epsilon)}{promise}, {first.series} did best{others}: "
            f"{measure.title.lower()} {number(first['mean'])}"
            + (f", {number(first.ratio)} times that of {measure.against} without privacy" if measure.relative else "")
            + f", on average over {first.runs:,.0f} run{'' if first.runs == 1 else 's'}."
        )
    more = f" {len(sentences) - MOST_IN_SHORT} more data sets follow." if len(sentences) > MOST_IN_SHORT else ""
    return " ".join(sentences[:MOST_IN_SHORT]) + more


def _facts(done: pd.DataFrame) -> str:
    private = done[done.algorithm != "kmeans"]
    facts = [f"{len(private):,} private runs", f"seeds {private.seed.min():.0f} to {private.seed.max():.0f}"]
    deltas = sorted(private.delta.dropna().unique())
    if deltas:
        facts.append(f"δ {chance(deltas[0])}" + (f" to {chance(deltas[-1])}" if len(deltas) > 1 else ""))
    if taken := sorted(set(done.bounds) - {"declared", ""}):
        facts.append(f"bounds taken from the data as in the papers ({', '.join(taken)})")
    return ", ".join([*facts, f"dpviz {', '.join(sorted(set(done.version)))}"])


def _tables(summary: Summary, look: dict[str, Any]) -> Iterable[str]:
    axis, relative, against = summary.axis, METRICS[summary.metric].relative, METRICS[summary.metric].against
    areas = summary.areas
    if len(areas):
        yield "<h3>Area under the curve over ε" + (f" relative to {against}'s" if relative else "") + "</h3>"
        yield _table(
            ("data", "promise", "algorithm", "area", "95% interval of the mean", "reruns", "centers"),
            [
                (
                    r.data,
                    r.notion,
                    _named(r.series, look),
                    number(r.area),
                    f"{number(r.low)} to {number(r.high)}",
                    r.runs,
                    number(r.k_found),
                )
                for r in areas.itertuples()
            ],
        )
    if relative and axis in ("epsilon", "n_rows"):
        what = "ε" if axis == "epsilon" else "number of people"
        yield f"<h3>Smallest tested {what} at and above which 90% of the runs are within 10% of {against}</h3>"
        table = summary.smallest(within=0.1, share=0.9)
        yield _table(
            ("data", "promise", "algorithm", "smallest", "runs within 10%"),
            [
                (
                    r.data, r.notion, _named(r.series, look),
                    _least(r),
                    f"{r.good} of {r.runs}",
                )
                for r in table.itertuples()
            ],
        )  # fmt: skip
    wins = summary.winners
    if len(wins):
        yield "<h3>Who wins where</h3>"
        yield _table(
            ("data", "promise", "ε", "people", "k", "best (its interval overlaps no other)"),
            [
                (
                    r.data,
                    r.notion,
                    number(r.epsilon),
                    f"{r.n_rows:,.0f}",
                    f"{r.n_clusters:,.0f}",
                    r.best or "no clear winner: the intervals overlap",
                )
                for r in wins.itertuples()
            ],
        )


def against_published(rows: pd.DataFrame, published: Sequence[Published]) -> pd.DataFrame:
    """Return each published number with ours, the ends of our interval, and our number of runs.

    `what` is a metric, "ratio" (the loss divided by KMeans' loss) or "area" (see `Summary.areas`).
    """
    lines = []
    for entry in published:
        ours = low = high = runs = float("nan")
        mine = rows[(rows.data == entry.data) & ((rows.label == entry.label) | (rows.algorithm == "kmeans"))]
        if entry.what == "area":
            table = Summary(mine, "loss").areas.rename(columns={"area": "ours"})
        else:
            metric = "loss" if entry.what == "ratio" else entry.what
            table = Summary(mine, metric).points.rename(columns={"mean": "ours"})
            table = table if entry.epsilon is None else table[table.epsilon == entry.epsilon]
            if entry.what == "ratio":
                table = table.assign(**{name: table[name] / table.reference for name in ("ours", "low", "high")})
        if len(table):
            ours, low, high, runs = (float(table[name].iloc[0]) for name in ("ours", "low", "high", "runs"))
        lines.append(
            [entry.data, entry.label, entry.epsilon, entry.what, entry.value, ours, low, high, runs, entry.source]
        )
    return pd.DataFrame(
        lines, columns=["data", "label", "epsilon", "what", "published", "ours", "low", "high", "runs", "source"]
    )


def _published(rows: pd.DataFrame, published: Sequence[Published]) -> str:
    table = against_published(rows, published)
    return _table(
        ("data", "algorithm", "ε", "what", "published", "ours", "95% interval of the mean", "runs", "source"),
        [
            (
                r.data, r.label, "" if pd.isna(r.epsilon) else number(r.epsilon), r.what, number(r.published),
                "not run" if pd.isna(r.ours) else number(r.ours),
                "" if pd.isna(r.low) else f"{number(r.low)} to {number(r.high)}",
                "" if pd.isna(r.runs) else f"{r.runs:.0f}",
                r.source,
            )
            for r in table.itertuples()
        ],
    )  # fmt: skip


class _Html(str):
    """Text that is already HTML."""


def _least(row: Any) -> str:
    """Write the smallest sufficient value, preceded by "at most" if no smaller value was tested."""
    if pd.isna(row.least):
        return f"more than {number(row.tested)}"
    return f"{'at most ' if row.first else ''}{number(row.least)}"


def _named(series: str, look: dict[str, Any]) -> _Html:
    code = base64.b64encode(tradeoff.glyph(look[series], LIGHT).encode()).decode()
    return _Html(f'<img alt="" src="data:image/svg+xml;base64,{code}">{html.escape(series)}')


def _table(heads: Iterable[str], body: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in heads)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{cell if isinstance(cell, _Html) else html.escape(str(cell))}</td>" for cell in row)
        + "</tr>"
        for row in body
    )
    return f"<div class=table><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
