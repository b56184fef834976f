"""Convert our own Markdown to HTML: paragraphs, headings, lists, tables, code, bold, italics; nothing else."""

from __future__ import annotations

import html
import re

__all__ = ["inline", "rendered"]

_SIGN = re.compile(r"\\([*_$~|`\\])")


def inline(text: str) -> str:
    """Return the text of one paragraph as HTML.

    >>> inline("**a < b** by `x_y`, *not* 2\\\\*3")
    '<b>a &lt; b</b> by <code>x_y</code>, <i>not</i> 2*3'
    """
    parts = re.split(r"`([^`]*)`", _SIGN.sub(lambda sign: f"\0{ord(sign[1])}\0", text))
    markup = "".join(f"<code>{html.escape(part)}</code>" if i % 2 else _words(part) for i, part in enumerate(parts))
    return re.sub(r"\0(\d+)\0", lambda sign: html.escape(chr(int(sign[1]))), markup)


def _words(text: str) -> str:
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text, quote=False))
    return re.sub(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])", r"<i>\1</i>", text)


def rendered(text: str, level: int = 2) -> str:
    """Return text as HTML; `#` becomes a heading of this level."""
    return "".join(_block(block, level) for block in re.split(r"\n\s*\n", text.strip()))


def _block(block: str, level: int) -> str:
    lines = block.strip("\n").split("\n")
    if lines[0].startswith("```"):
        return f"<pre><code>{html.escape(chr(10).join(lines[1:-1]))}</code></pre>"
    if heading := re.match(r"(#+) (.*)", lines[0]):
        deep = min(level + len(heading[1]) - 1, 6)
        rest = "\n".join(lines[1:])
        return f"<h{deep}>{inline(heading[2])}</h{deep}>" + (_block(rest, level) if rest.strip() else "")
    if lines[0].startswith("|"):
        return _table([[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines])
    if lines[0].startswith("- "):
        items = re.split(r"\n- ", "\n" + "\n".join(lines))[1:]
        return f"<ul>{''.join(f'<li>{inline(_one_line(item))}</li>' for item in items)}</ul>"
    return f"<p>{inline(_one_line(block))}</p>"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _table(rows: list[list[str]]) -> str:
    heads = "".join(f"<th scope=col>{inline(cell)}</th>" if cell else "<td></td>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows[2:])
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(rows[0][0] or "Table")}"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
