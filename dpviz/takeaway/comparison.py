"""Write runs side by side as one page of released values to hand out: promises, pictures, differences, curves."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from dpviz.figures.compare import CURVES
from dpviz.figures.kit.svg import plane_svg
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.postprocessing.beside import LETTERS, curves, facts, promises
from dpviz.postprocessing.span import Span, shared
from dpviz.postprocessing.verdict import private_verdict
from dpviz.takeaway.label import badge, names_of
from dpviz.takeaway.page import view_of
from dpviz.takeaway.style import document
from dpviz.trace import Trace

__all__ = ["comparison"]

_SIDE, _LEFT, _BOTTOM = 260, 52, 40


def comparison(traces: Sequence[Trace]) -> str:
    """Return two to four runs on the same data as one HTML page without scripts or network access.

    Raises
    ------
    ValueError
        If there are fewer than two runs or more than four, or their data or columns differ.
    """
    if not 2 <= len(traces) <= len(LETTERS):
        raise ValueError(f"comparison: two to {len(LETTERS)} runs can be compared; got {len(traces)}.")
    if len({(trace.dataset_id, trace.domain.n_features) for trace in traces}) > 1:
        raise ValueError("comparison: the runs must be on the same data.")
    named = list(zip(LETTERS, traces, strict=False))
    title = " beside ".join(f"{letter} {trace.name}" for letter, trace in named)
    differing = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in promises(traces))
    warning = f'<section class="label"><b>The promises differ.</b>{differing}</section>' if differing else ""
    rows = "".join(
        f"<tr><th scope=row>{html.escape(row.name)}</th><td>{'</td><td>'.join(map(html.escape, row.values))}</td></tr>"
        for row in facts(traces)
        if row.differs
    )
    heads = "".join(f"<th scope=col>{letter}</th>" for letter, _ in named)
    body = (
        f"<h1>{html.escape(title)}</h1>{warning}"
        f'<div class="beside">{"".join(_run(letter, trace, shared(traces)) for letter, trace in named)}</div>'
        f"<h2>What differs</h2><table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f"<h2>What an attacker can do at best</h2>{_curves(traces)}"
        '<p class="small">False alarms increase to the right, misses increase upward; every attacker lies on or '
        "above the curve. Curves of different promises answer different questions.</p>"
        f"<footer>{html.escape('; '.join(dict.fromkeys(t.notice.rstrip('.') for t in traces)))}. Made with dpviz "
        f"{html.escape(traces[0].version)}.</footer>"
    )
    style = (
        "<style>.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:12px}"
        ".beside section{break-inside:avoid}</style>"
    )
    return document(title, body, head=style)


def _run(letter: str, trace: Trace, span: Span) -> str:
    exact = trace.claimed.exact
    sentence = f"{len(trace.cluster_centers)} exact centers" if exact else private_verdict(trace, *names_of(trace))
    words = bounds_sentence(trace, *names_of(trace))
    bounds = f'<p class="small">{html.escape(words)}</p>' if words else ""
    return (
        f'<section><h2>{letter}: {html.escape(trace.name)}</h2><p><span class="badge">{badge(trace)}</span></p>'
        f"{plane_svg(view_of(trace, span))}<p>{html.escape(str(sentence))}</p>{bounds}</section>"
    )


def _curves(traces: Sequence[Trace]) -> str:
    """Return the trade-off curves as a still picture."""
    alarm = np.concatenate([np.geomspace(1e-3, 0.05, 12), np.linspace(0.06, 1, 48)])

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + _SIDE * x, 8 + _SIDE * (1 - y)

    def path(miss: np.ndarray) -> str:
        points = (at(x, y) for x, y in zip(alarm, miss, strict=True))
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    found = curves(traces)
    lines = f'<path d="{path(1 - alarm)}" stroke="currentColor" stroke-dasharray="2 4"/>'
    words = ""
    for (letter, bound), style, place in zip(found.bounds.items(), CURVES, (14, 20, 26, 32), strict=False):
        miss = bound.miss(alarm)
        dash = {"solid": "", "dot": "2 4"}.get(style.dash, style.dash.replace("px", ""))
        lines += f'<path d="{path(miss)}" stroke="{style.light}" stroke-width="2.2" stroke-dasharray="{dash}"/>'
        x, y = at(alarm[place], miss[place])
        words += f'<text x="{x + 4:.0f}" y="{y - 4:.0f}">{letter}</text>'
    ticks = "".join(
        f'<text x="{_LEFT + _SIDE * t:.0f}" y="{_SIDE + 24}" text-anchor="middle">{t:.0%}</text>'
        f'<text x="{_LEFT - 6}" y="{12 + _SIDE * (1 - t):.0f}" text-anchor="end">{t:.0%}</text>'
        for t in (0, 0.5, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _SIDE + 20} {_SIDE + _BOTTOM}" width="330" '
        'role="img" aria-label="Trade-off curves of the promises" font-family="system-ui,sans-serif" font-size="12">'
        f'<g fill="none"><rect x="{_LEFT}" y="8" width="{_SIDE}" height="{_SIDE}" stroke="currentColor" '
        f'stroke-opacity=".4"/>{lines}</g><g fill="currentColor">{ticks}{words}</g></svg>'
        f"<p>{html.escape(found.note)}</p>"
    )
