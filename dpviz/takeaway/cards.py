"""Draw the cards of a release as HTML, for screens and for pages to take away."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache

import numpy as np

from dpviz.numbers import counted
from dpviz.postprocessing.cards import Card, Fact
from dpviz.takeaway.style import text_of

__all__ = ["MOST_CARDS", "MOST_FACTS", "cards_html", "cards_style"]

MOST_CARDS, MOST_FACTS = 24, 12  # more clusters and columns are in the CSV and the JSON


@cache
def cards_style(prefix: str = "") -> str:
    """Return the CSS of the cards; its colors are CSS variables whose names begin with `prefix`."""
    return text_of("cards.css").replace("--dp-", f"--{prefix}")


def cards_html(some: Sequence[Card], nouns: str = "rows", most: int = MOST_FACTS) -> str:
    """Return the cards and a sentence on what they leave out; with more than `most` columns, the most telling ones."""
    told = _telling(some, most)
    drawn = "".join(_card(card, told, nouns) for card in some[:MOST_CARDS])
    left = [counted(len(some) - MOST_CARDS, "more cluster")] if len(some) > MOST_CARDS else []
    if some and len(some[0].facts) > len(told):
        left.append(counted(len(some[0].facts) - len(told), "more column"))
    more = f'<p class="dp-small small">{" and ".join(left)} are in the CSV and the JSON.</p>' if left else ""
    return f'<div class="dp-cards">{drawn}</div>{more}'


def _telling(some: Sequence[Card], most: int) -> list[int]:
    """Return the columns to show, in their order: all, or those in which the clusters lie farthest apart."""
    places = np.array([[fact.share(fact.value) for fact in card.facts] for card in some]).reshape(len(some), -1)
    if not len(some) or places.shape[1] <= most:
        return list(range(places.shape[1]))
    return sorted(np.argsort(-np.ptp(places, axis=0), kind="stable")[:most].tolist())


def _card(card: Card, told: Sequence[int], nouns: str) -> str:
    facts = "".join(_fact(card.facts[j]) for j in told)
    note = f'<p class="note">{html.escape(card.note)}</p>' if card.note else ""
    return (
        f"<article><header><h2>{card.kind} {card.number}</h2><span>{html.escape(card.size_text(nouns))}</span></header>"
        f"<p>{html.escape(card.words)}</p><dl>{facts}</dl>{note}</article>"
    )


def _fact(fact: Fact) -> str:
    """Return one row: name, value, and a bar from the lower to the upper bound with the noise on both sides."""
    at, sd = 100 * fact.share(fact.value), fact.sd or 0.0
    left, right = (100 * fact.share(fact.value + side * sd) for side in (-1, 1))
    band = f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>' if sd else ""
    flag = f'<dd class="flag">{html.escape(fact.flag)}</dd>' if fact.flag else ""
    low, high = (html.escape(fact.written_bound(end)) for end in (fact.low, fact.high))
    return (
        f"<div><dt>{html.escape(fact.column)}{', log scale' * fact.typical}</dt>"
        f'<dd class="value">{html.escape(fact.text)}</dd>'
        f'<dd class="track"><span>{low}</span><span>{high}</span>{band}<u style="left:{at:.2f}%"></u></dd>{flag}</div>'
    )
