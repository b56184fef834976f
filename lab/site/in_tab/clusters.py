"""Show the clusters of a run on an own file as cards, a table and a page, from released values alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.datasets import Dataset
from dpviz.numbers import number
from dpviz.postprocessing.cards import cards, centers_csv, noise_words
from dpviz.postprocessing.coresets import at_k, free, numbers_of_centers
from dpviz.takeaway.cards import cards_html
from dpviz.takeaway.page import page
from dpviz.trace import Trace

from .forms import answered

__all__ = ["clusters", "read_again"]

_Names = tuple[Sequence[str], Sequence[str], str]  # of the columns, their units, and the people
_shown: list[tuple[Trace, _Names]] = []  # the run whose clusters are shown


def clusters(trace: Trace, data: Dataset, counted: str = "") -> dict[str, Any]:
    """Return the `cards` as HTML, the sentences on their `noise`, and the files `csv` and `page`.

    If the run released points that can be read again, the answer has the numbers of centers from 1 to `most`, the run's
    `own`, and a sentence on what they cost, `free`. `counted` is a line of the page's label, as in
    `takeaway.label.facts`.
    """
    names = data.columns, data.units, data.nouns
    _shown[:] = [(trace, names)]
    numbers = numbers_of_centers(trace)
    price = f"{free(trace)}{number(trace.spent.epsilon)}."
    again = {"most": numbers[-1], "own": len(trace.cluster_centers), "free": price}
    return (
        _cards(trace, names)
        | {"csv": centers_csv(trace, data.columns, data.units), "page": page(trace, data, counted)}
        | (again if len(numbers) > 1 else {})
    )


def read_again(asked: str) -> str:
    """Return the `cards` and their `noise` as if the run had ended with another number of centers, or `refused`.

    Parameters
    ----------
    asked : JSON with the number of centers `k`
    """
    return answered(asked, lambda form: _read_again(int(form["k"])))


def _read_again(k: int) -> dict[str, str]:
    trace, names = _shown[0]
    return _cards(at_k(trace, k), names)


def _cards(trace: Trace, names: _Names) -> dict[str, str]:
    columns, units, nouns = names
    some = cards(trace, columns, units)
    return {"cards": cards_html(some, nouns), "noise": noise_words(trace, some)}
