"""Write how two releases differ as one page to hand out, without scripts or network access."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dpviz.figures.scenes.changes import MOST_COLUMNS, pair_svg
from dpviz.postprocessing.changes import Changes, Pair, together
from dpviz.takeaway.label import badge, headline
from dpviz.takeaway.style import document
from dpviz.trace import Trace

__all__ = ["changes_page"]

_BEYOND = {True: "yes", False: "no", None: "not known"}
_STYLE = (
    "<style>.pairs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:12px}"
    ".pairs section{break-inside:avoid}.beyond{font-weight:700}</style>"
)


def changes_page(traces: Sequence[Trace], found: Changes) -> str:
    """Return the comparison of two runs, A and B, as one HTML page."""
    heads = "".join(
        f'<p><b>{letter}:</b> {html.escape(headline(trace))} <span class="badge">{badge(trace)}</span></p>'
        for letter, trace in zip("AB", traces, strict=True)
    )
    pictures = "".join(f"<section><h2>{_named(pair)}</h2>{pair_svg(pair)}</section>" for pair in found.pairs)
    rows = "".join(_rows(pair) for pair in found.pairs)
    names = ("centers", "column", "A", "B", "B − A", "beyond")
    more = (
        f'<p class="small">Only the first {MOST_COLUMNS} columns are drawn; the table has all.</p>'
        if any(sum(change.facts is not None for change in pair.changes) > MOST_COLUMNS for pair in found.pairs)
        else ""
    )
    body = (
        f"<h1>What changed</h1>{heads}"
        f'<p class="verdict">{html.escape(found.sentences[0])}</p>'
        f"{''.join(f'<p>{html.escape(sentence)}</p>' for sentence in found.sentences[1:])}"
        f"<p>{html.escape(together(*traces))}</p>"
        f'<div class="pairs">{pictures}</div>{more}'
        '<p class="small">Hollow: A; filled: B; ends: the declared bounds; whiskers and ±: one standard deviation of '
        "the noise that privacy added; beyond: whether a difference is beyond the noise of both runs.</p>"
        f'<table class="numbers"><thead><tr>{"".join(f"<th scope=col>{name}</th>" for name in names)}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
        f"<footer>{html.escape('; '.join(dict.fromkeys(trace.notice.rstrip('.') for trace in traces)))}. Comparing is "
        f"free: it reads released values alone. Made with dpviz {html.escape(traces[0].version)}.</footer>"
    )
    return document("What changed", body, head=_STYLE)


def _named(pair: Pair) -> str:
    sizes = [change for change in pair.changes if change.facts is None]
    words = f": {sizes[0].before} → {sizes[0].after}" if sizes else ""
    return html.escape(f"A {pair.first} → B {pair.second}{words}")


def _rows(pair: Pair) -> str:
    return "".join(
        f"<tr{' class=beyond' * bool(change.beyond)}><td>{f'A {pair.first}, B {pair.second}' if not n else ''}</td>"
        f"<td>{html.escape(change.name)}</td><td>{html.escape(change.before)}</td><td>{html.escape(change.after)}</td>"
        f"<td>{html.escape(change.difference)}</td><td>{_BEYOND[change.beyond]}</td></tr>"
        for n, change in enumerate(pair.changes)
    )
