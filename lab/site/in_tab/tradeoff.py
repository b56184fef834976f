"""Run a method at one ε with some seeds on public or made-up people, and draw the medians so far. NOT PRIVATE."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.metrics import reference_name
from dpviz.numbers import fraction, ratio_words
from dpviz.privacy.guarantee import Notion
from dpviz.runs.public import started
from dpviz.runs.reruns import rerun

from .forms import answered, seed_of, values_of
from .public import data_of, groups_beside, reference_of

__all__ = ["CURVES", "curves", "plotted"]

_MOST_RUNS = 100
_SAME = ("n_clusters", "delta")  # parameters that all methods share with the form; the others have their defaults
_EXACTLY = {"exactly_k": "True"}  # makes a method that may release more than k centers comparable with the others
CURVES = tuple(  # methods whose losses at an ε can be compared
    slug
    for slug, cls in ALGORITHMS.items()
    if "epsilon" in params.specs(cls) and cls.notion is not Notion.RHO and not cls.regions
)


def plotted(asked: str, say: Callable[[int, int], None]) -> str:
    """Return a `row` on a method at one ε, and the `figure` of all rows in HTML; or `refused`.

    Parameters
    ----------
    asked : JSON with the texts of the form (`data`, `blobs`, `columns`, `seed`, and of `values` those in `_SAME`), with
        `method`, `epsilon` and the number of `runs` as texts, and the `rows` so far
    say : function that receives the numbers of runs made and planned
    """
    return answered(asked, lambda form: _plotted(form, say))


def _plotted(form: dict[str, Any], say: Callable[[int, int], None]) -> dict[str, Any]:
    data, first = data_of(form), seed_of(form["seed"])
    algorithm = started(_algorithm(form), data)
    runs = _number_of_runs(form["runs"])
    made = rerun([data], algorithm, range(first, first + runs), say)
    kmeans, k = reference_of(data, algorithm, first), getattr(algorithm, "n_clusters", data.n_clusters)
    there = groups_beside(data, kmeans)
    row = {
        "method": algorithm.slug,
        "name": algorithm.called(dict.fromkeys(_exactly(type(algorithm)), True), k)
        + " with public rows" * algorithm.takes_public_rows,
        "epsilon": float(form["epsilon"]),
        "ratio": float(np.median(made.losses)) / (kmeans.loss or 1.0),
        "found": sum(bool(there.found_by(data.domain.normalize(centers)).all()) for centers in made.centers),
        "runs": runs,
        "beside": reference_name(kmeans.trace),
    }
    return {"row": row, "figure": _figure([*form["rows"], row], there.words)}


def _algorithm(form: Mapping[str, Any]) -> Algorithm:
    cls = ALGORITHMS[form["method"]]
    specs = params.specs(cls)
    texts = {name: text for name, text in form["values"].items() if name in _SAME and name in specs}
    texts |= {"epsilon": form["epsilon"]} | {name: _EXACTLY[name] for name in _exactly(cls)}
    return cls(**values_of(cls.name, specs, texts))


def _exactly(cls: type[Algorithm]) -> set[str]:
    return _EXACTLY.keys() & params.specs(cls).keys()


def _number_of_runs(text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdecimal() and 0 < int(text) <= _MOST_RUNS):
        raise ValueError(f"Runs at each ε must be a whole number from 1 to {_MOST_RUNS}; got {text!r}.")
    return int(text)


def _figure(rows: list[dict[str, Any]], groups: str) -> str:
    """Return the medians as curves, and below them as a table with a row for each method."""
    stops = sorted({row["epsilon"] for row in rows})
    cells = {(row["name"], row["epsilon"]): row for row in rows}
    names = list(dict.fromkeys(row["name"] for row in rows))
    heads = "".join(f"<th scope=col>ε {fraction(epsilon)}</th>" for epsilon in stops)
    lines = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th>"
        + "".join(f"<td>{_cell(cells.get((name, epsilon)))}</td>" for epsilon in stops)
        + "</tr>"
        for name in names
    )
    runs, beside = rows[0]["runs"], rows[0]["beside"]
    return (
        f'{curves([(row["name"], row["epsilon"], row["ratio"]) for row in rows])}<div class="scroll" tabindex="0" '
        f'role="region" aria-label="Losses over ε"><table><thead><tr><th scope=col>Method</th>{heads}</tr>'
        f'</thead><tbody>{lines}</tbody></table></div><p class="small">Median loss × {beside}\' over {runs} '
        f"run{'s' * (runs > 1)} with known seeds, and in how many of them all {html.escape(groups)} were found. "
        "Compared with the raw rows, so NOT PRIVATE.</p>"
    )


def _cell(row: Mapping[str, Any] | None) -> str:
    return "" if row is None else f"{ratio_words(row['ratio'])}<br><small>{row['found']} of {row['runs']}</small>"


def curves(medians: Iterable[tuple[str, float, float]]) -> str:
    """Return methods' median losses against ε, in light and in dark, as HTML.

    Parameters
    ----------
    medians : the name of a method, ε, and the median of the loss over the reference's
    """
    # imported here, because it takes two seconds of a tab
    from dpviz.papers.picture import Plot, Point, key_entries, looks, panel_svg

    points = [Point(name, epsilon, ratio) for name, epsilon, ratio in medians]
    panel = Plot("Median loss", "× KMeans'", "epsilon", tuple(points), 1.0)
    pictures = []
    for mode, colors in (("light", LIGHT), ("dark", DARK)):
        keys = "".join(f"<li>{mark} {html.escape(name)}</li>" for name, mark in key_entries([panel], colors))
        svg = panel_svg(panel, looks([panel]), colors)
        pictures.append(f'<div class="{mode} chart"><ul class="marks">{keys}</ul>{svg}</div>')
    return "".join(pictures)
