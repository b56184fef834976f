"""Write a one-page handout (A4, no scripts, no network): verdict, a card per cluster, picture, label and caution."""

from __future__ import annotations

import html

import pandas as pd

from dpviz.datasets import Dataset
from dpviz.figures import pane
from dpviz.figures.kit.shapes import Drawing, drawn
from dpviz.figures.kit.svg import plane_svg
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.postprocessing.cards import cards, noise_words
from dpviz.postprocessing.released import centers_text
from dpviz.postprocessing.span import Span, widest
from dpviz.postprocessing.verdict import private_verdict
from dpviz.takeaway.cards import cards_html, cards_style
from dpviz.takeaway.label import badge, block, footer, headline, names_of
from dpviz.takeaway.style import document
from dpviz.trace import Trace

__all__ = ["page", "view_of"]

MOST_ROWS, MOST_COLUMNS = 24, 6
# cards beside each other on paper, and the columns on a card that one sheet has room for with 1, 2 and 3 such rows
ABREAST, FITTING = 3, (12, 6, 3)


def view_of(trace: Trace, span: Span | None = None) -> View:
    """Return a run's view with released layers alone, along columns or the directions of `span`."""
    columns, units = names_of(trace)
    axes = widest(trace) if len(columns) == 2 or (len(columns) > 2 and span is None and pane(trace).cells) else None
    return View(trace=trace, colors=LIGHT, axes=axes, columns=columns, units=units, span=span)


def page(trace: Trace, data: Dataset | None = None, counted: str = "") -> str:
    """Return a run as one HTML page; if the rows of `data` are pictures, its centers are drawn as pictures.

    `counted` is a line of the label, as in `label.facts`.
    """
    columns, units = names_of(trace)
    verdict = None if trace.claimed.exact else private_verdict(trace, columns, units)
    sentence = str(verdict) if verdict else f"{len(trace.cluster_centers)} exact centers, no privacy"
    why = f'<p class="small">{html.escape(verdict.why)}</p>' if verdict and verdict.why else ""
    if data is not None and data.shape == "picture" and len(trace.cluster_centers) <= MOST_ROWS:
        centers = drawn(Drawing(trace, data, LIGHT))
    elif len(trace.cluster_centers) <= len(FITTING) * ABREAST:
        some = cards(trace, columns, units)
        most = FITTING[(len(some) - 1) // ABREAST]
        noise = f'<p class="small">{html.escape(noise_words(trace, some))}</p>'
        centers = cards_html(some, "rows" if data is None else data.nouns, most) + noise
    else:
        centers = _table(centers_text(trace, columns, units))
    body = (
        f"<h1>{html.escape(headline(trace))}</h1>"
        f'<p><span class="badge">{badge(trace)}</span></p><p class="verdict">{html.escape(sentence)}</p>{why}'
        f"{centers}{plane_svg(view_of(trace))}{block(trace, counted)}"
        f'<p class="small"><b>How this can fool you.</b> {html.escape(pane(trace).caution)}</p>'
        f"{footer(trace)}"
    )
    return document(f"{headline(trace)}: {sentence}", body, head=f"<style>{cards_style()}</style>")


def _table(table: pd.DataFrame) -> str:
    """Return a table that fits a page, with a note on how many centers and columns it leaves out."""
    corner = table.iloc[:MOST_ROWS, : MOST_COLUMNS + 1]
    heads = "".join(f"<th scope=col>{html.escape(str(name))}</th>" for name in corner.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in row)}</tr>" for row in corner.itertuples(index=False)
    )
    left = [
        f"{len(table) - MOST_ROWS} more centers" * (len(table) > MOST_ROWS),
        f"{table.shape[1] - MOST_COLUMNS - 1} more columns" * (table.shape[1] > MOST_COLUMNS + 1),
    ]
    words = " and ".join(filter(None, left))
    more = f'<p class="small">{words} are in the CSV and the JSON.</p>' if words else ""
    return f'<table class="numbers"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}'
