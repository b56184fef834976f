"""Show the clusters of a run on an own file as cards, a table and a page, from released values alone."""

from __future__ import annotations

from dpviz.datasets import Dataset
from dpviz.postprocessing.cards import cards, centers_csv, noise_words
from dpviz.takeaway.cards import cards_html
from dpviz.takeaway.page import page
from dpviz.trace import Trace

__all__ = ["clusters"]


def clusters(trace: Trace, data: Dataset, counted: str = "") -> dict[str, str]:
    """Return the `cards` as HTML, the sentences on their `noise`, and the files `csv` and `page`.

    `counted` is a line of the page's label, as in `takeaway.label.facts`.
    """
    some = cards(trace, data.columns, data.units)
    return {
        "cards": cards_html(some, data.nouns),
        "noise": noise_words(trace, some),
        "csv": centers_csv(trace, data.columns, data.units),
        "page": page(trace, data, counted),
    }
