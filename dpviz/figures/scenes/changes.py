"""Draw two matched centers as one small SVG: in each column, where both lie between the declared bounds."""

from __future__ import annotations

import base64
import html

from dpviz.figures.kit.theme import Theme
from dpviz.postprocessing.cards import Fact
from dpviz.postprocessing.changes import Change, Pair

__all__ = ["MOST_COLUMNS", "pair_image", "pair_svg"]

MOST_COLUMNS = 12  # more columns are in the table
WIDTH, ROW, SIDE = 340, 54, 8
_LONGEST = 26  # characters of a name or a value that fit beside each other


def pair_svg(pair: Pair) -> str:
    """Return an SVG with a track per column: hollow for the first run, filled for the second, whiskers of one sd.

    A difference beyond the noise of both has an arrow and the word; colors alone say nothing.
    """
    drawn = [change for change in pair.changes if change.facts is not None][:MOST_COLUMNS]
    rows = "".join(_row(change, change.facts, ROW * i) for i, change in enumerate(drawn) if change.facts is not None)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ROW * len(drawn)}" width="{WIDTH}" role="img" '
        f'aria-label="Center {pair.first} of A and center {pair.second} of B" font-family="system-ui,sans-serif" '
        f'font-size="12"><defs><marker id="tip{pair.first}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="var(--ink)"/></marker></defs>'
        f"{rows}</svg>"
    ).replace("url(#tip)", f"url(#tip{pair.first})")


def pair_image(pair: Pair, colors: Theme) -> str:
    """Return the same drawing as an image, for pages that take no SVG."""
    svg = pair_svg(pair)
    for name, value in colors.tokens().items():
        svg = svg.replace(f"var(--{name})", value)
    alt = f"Center {pair.first} of A and center {pair.second} of B between the declared bounds, as in the table"
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{code}">'


def _row(change: Change, facts: tuple[Fact, Fact], top: float) -> str:
    track = top + 28
    low, high = facts[0].written_bound(facts[0].low), facts[0].written_bound(facts[0].high)
    a, b = (_place(fact, fact.value) for fact in facts)
    arrow = (
        f'<path d="M{a:.1f} {track}H{b:.1f}" stroke="var(--ink)" stroke-width="2" marker-end="url(#tip)"/>'
        if change.beyond and abs(b - a) > 8
        else ""
    )
    weight = ' font-weight="700"' if change.beyond else ""
    words = f"{change.difference}{', beyond the noise' * bool(change.beyond)}"
    return (
        f'<text x="{SIDE}" y="{top + 13}" fill="var(--ink)">{_cut(change.name)}</text>'
        f'<text x="{WIDTH - SIDE}" y="{top + 13}" text-anchor="end" fill="var(--ink)"{weight}>{html.escape(words)}'
        "</text>"
        f'<path d="M{SIDE} {track}H{WIDTH - SIDE}" stroke="var(--line)" stroke-width="3"/>{arrow}'
        f"{_mark(facts[0], track - 5, hollow=True)}{_mark(facts[1], track + 5, hollow=False)}"
        f'<text x="{SIDE}" y="{top + 46}" fill="var(--muted)" font-size="11">{html.escape(low)}</text>'
        f'<text x="{WIDTH - SIDE}" y="{top + 46}" text-anchor="end" fill="var(--muted)" font-size="11">'
        f"{html.escape(high)}</text>"
    )


def _place(fact: Fact, value: float) -> float:
    return SIDE + (WIDTH - 2 * SIDE) * fact.share(value)


def _mark(fact: Fact, y: float, *, hollow: bool) -> str:
    x, sd = _place(fact, fact.value), fact.sd or 0.0
    left, right = _place(fact, fact.value - sd), _place(fact, fact.value + sd)
    whisker = f'<path d="M{left:.1f} {y}H{right:.1f}" stroke="var(--released)" stroke-width="1.5"/>' if sd else ""
    fill = "var(--bg)" if hollow else "var(--released)"
    return f'{whisker}<circle cx="{x:.1f}" cy="{y}" r="4" fill="{fill}" stroke="var(--released)" stroke-width="1.5"/>'


def _cut(name: str) -> str:
    return html.escape(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
