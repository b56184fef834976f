"""Write how two releases differ, for screens and as one page to hand out, without scripts or network access."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.changes import MOST_COLUMNS, pair_image, pair_svg
from dpviz.postprocessing.changes import Changes, Pair, changes, check_comparable, together
from dpviz.takeaway.cards import MOST_CARDS
from dpviz.takeaway.foreign import drawing, read
from dpviz.takeaway.label import badge, headline, names_of
from dpviz.takeaway.style import document
from dpviz.trace import Trace

__all__ = ["between", "changes_html", "changes_page", "since"]

_BEYOND = {True: "yes", False: "no", None: "not known"}
_STYLE = (
    "<style>.dp-changes .pairs{display:grid;gap:12px;"
    "grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr))}"
    ".dp-changes section{break-inside:avoid;min-width:0}.dp-changes :is(svg,img){max-width:100%;height:auto}"
    ".dp-changes h2{font-size:17px;line-height:1.35;margin:8px 0 4px;padding:0}"
    ".dp-changes .beyond td{font-weight:700;color:var(--ink)}</style>"
)


def between(first: Trace, second: Trace) -> Changes:
    """Return how two runs differ.

    Raises
    ------
    ValueError
        If they cannot be compared, or the released values of a trace from a file do not fit each other.
    """
    check_comparable(first, second)
    with drawing(first), drawing(second):
        return changes(first, second, *names_of(first))


def since(text: str, second: Trace, colors: Theme) -> tuple[str, ...]:
    """Return what changed since the run in a file that `run --json` wrote.

    The parts are both runs, the sentences, what the two promise together, and last, as HTML, the picture and the table.

    Raises
    ------
    ValueError
        If the text is not a trace, or the runs cannot be compared; the message is one sentence.
    """
    first = read(text)
    found = between(first, second)
    with drawing(first):
        both = zip("AB", (first, second), strict=True)
        heads = (f"{letter}: {headline(trace)}; {trace.notice}" for letter, trace in both)
        lines = (*heads, *found.sentences, together(first, second))
    return *lines, _STYLE.replace("var(--", "var(--dp-") + changes_html(found, colors)


def changes_html(found: Changes, colors: Theme | None = None) -> str:
    """Return the matched centers as pictures and as a table; pictures are images if colors are given."""
    drawn = [
        (_named(pair), pair_image(pair, colors) if colors else pair_svg(pair)) for pair in found.pairs[:MOST_CARDS]
    ]
    pictures = "".join(f"<section><h2>{words}</h2>{drawing}</section>" for words, drawing in drawn)
    rows = "".join(_rows(pair) for pair in found.pairs)
    heads = "".join(f"<th scope=col>{name}</th>" for name in ("centers", "column", "A", "B", "B − A", "beyond"))
    left = []
    if any(sum(change.facts is not None for change in pair.changes) > MOST_COLUMNS for pair in found.pairs):
        left.append(f"first {MOST_COLUMNS} columns")
    if len(found.pairs) > MOST_CARDS:
        left.append(f"first {MOST_CARDS} centers")
    more = f"Only the {' and the '.join(left)} are drawn; the table has all. " if left else ""
    return (
        f'<div class="dp-changes"><div class="pairs">{pictures}</div><p class="dp-small small">{more}Hollow: A; '
        "filled: B; ends: the declared bounds; whiskers and ±: one standard deviation of the noise that privacy added; "
        "beyond: whether a difference is beyond the noise of both runs.</p>"
        '<div class="dp-table dp-free numbers" tabindex="0" role="region" aria-label="All differences"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def changes_page(traces: Sequence[Trace], found: Changes) -> str:
    """Return the comparison of two runs, A and B, as one HTML page."""
    heads = "".join(
        f'<p><b>{letter}:</b> {html.escape(headline(trace))} <span class="badge">{badge(trace)}</span></p>'
        for letter, trace in zip("AB", traces, strict=True)
    )
    body = (
        f"<h1>What changed</h1>{heads}"
        f'<p class="verdict">{html.escape(found.sentences[0])}</p>'
        f"{''.join(f'<p>{html.escape(sentence)}</p>' for sentence in found.sentences[1:])}"
        f"<p>{html.escape(together(*traces))}</p>"
        f"{changes_html(found)}"
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
