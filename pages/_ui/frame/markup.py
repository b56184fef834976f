"""Small pieces of HTML. Everything that is not already `Html` is text and is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = [
    "Html", "bet", "bold", "definitions", "escape", "facts", "fetched", "fooled", "lede", "link", "odds", "question",
    "row", "small", "table", "tag", "text", "told", "unseen",
]  # fmt: skip


class Html(str):
    """A string that is markup; any other string is text."""


def text(*parts: object) -> Html:
    """Join parts as markup: escape text and keep markup."""
    return Html("".join(part if isinstance(part, Html) else html.escape(str(part), quote=False) for part in parts))


def bold(*parts: object) -> Html:
    """Return bold text."""
    return Html(f"<b>{text(*parts)}</b>")


def tag(words: str = "NOT PRIVATE") -> Html:
    """Return a badge."""
    return Html(f'<span class="dp-tag">{text(words)}</span>')


def link(address: str, words: str, *, fresh: bool = False) -> Html:
    """Return a link that opens here or in a `fresh` window."""
    where = 'target="_blank" rel="noopener"' if fresh else 'target="_self"'
    return Html(f'<a href="{escape(address)}" {where}>{text(words)}</a>')


def bet(words: str = "bet") -> Html:
    """Return words about a bet as a link to the picture of what it means; a page left here would end its session."""
    return link("./learn?v=1&part=definition", words, fresh=True)


def small(*parts: object) -> Html:
    """Return a note below a picture."""
    return Html(f'<p class="dp-small">{text(*parts)}</p>')


def fooled(*parts: object, what: str = "picture") -> Html:
    """Return the note that says how something, usually a picture, can fool the reader."""
    return small(bold(f"How this {what} can fool you."), " ", *parts)


def paragraph(look: str, *parts: object) -> Html:
    """Return a paragraph with a class of the style sheet."""
    return Html(f'<p class="{look}">{text(*parts)}</p>')


def lede(*parts: object) -> Html:
    """Return the sentences that open a page."""
    return Html(f'<p class="dp-lede">{text(*parts)}</p>')


def question(*parts: object) -> Html:
    """Return the question that a page answers, beside its title."""
    return Html(f'<p class="dp-question">{text(*parts)}</p>')


def conclusion(*parts: object) -> Html:
    """Return the conclusion above a picture."""
    return Html(f'<p class="dp-conclusion">{text(*parts)}</p>')


def odds(*parts: object) -> Html:
    """Return a sentence in large letters, which draw attention to the number in it."""
    return Html(f'<p class="dp-odds">{text(*parts)}</p>')


def told(*parts: object) -> Html:
    """Return a paragraph that answers the visitor, which screen readers announce."""
    return Html(f'<p class="dp-card-flip" role="status">{text(*parts)}</p>')


def unseen(title: str) -> Html:
    """Return a title for screen readers alone, on a page that shows its title elsewhere."""
    return Html(f'<h1 class="dp-unseen">{text(title)}</h1>')


def fetched(address: str) -> Html:
    """Return an invisible element that makes the browser request an address of this server."""
    return Html(f'<img src="{escape(address)}" alt="" hidden>')


def facts(lines: Iterable[tuple[str, object]]) -> Html:
    """Return names with their values, one per line, with no line break between a symbol and its number."""
    markup = "".join(f'<p class="dp-fact"><span>{text(name)}</span> {text(value)}</p>' for name, value in lines)
    return Html(markup.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"))


def meter(parts: Iterable[tuple[str, float, str]]) -> Html:
    """Return a bar that consists of parts, each given by its name, its size in any unit, and its amount as text."""
    bars = "".join(
        f'<span style="flex-grow:{share:.6f}"><b>{text(amount)}</b> {text(name)}</span>'
        for name, share, amount in parts
    )
    return Html(f'<div class="dp-meter">{bars}</div>')


def definitions(entries: Iterable[tuple[str, str]]) -> Html:
    """Return terms with their definitions."""
    lines = "".join(f"<dt>{text(term)}</dt><dd>{text(meaning)}</dd>" for term, meaning in entries)
    return Html(f'<dl class="dp-words">{lines}</dl>')


def row(cells: Iterable[object], *, head: str | None = None, lit: bool = False) -> Html:
    """Return a row of a table; the row's name, if any, comes first."""
    first = "" if head is None else f"<th scope=row>{text(head)}</th>"
    body = "".join(f"<td>{text(cell)}</td>" for cell in cells)
    return Html(f"<tr{' data-lit' * lit}>{first}{body}</tr>")


def table(label: str, heads: Iterable[str], rows: Iterable[Html], *, look: str = "", mark: str = "") -> Html:
    """Return a table in a scrolling box that is named `label`, with a `mark`, such as a tag, above the table."""
    head = "".join(f"<th scope=col>{text(name)}</th>" if name else "<td></td>" for name in heads)
    return Html(
        f'<div class="dp-table{" " * bool(look)}{look}" tabindex="0" role="region" aria-label="{html.escape(label)}">'
        f"{text(mark)}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def escape(value: str) -> str:
    """Escape text for any place within markup, including quoted values."""
    return html.escape(value, quote=True)
