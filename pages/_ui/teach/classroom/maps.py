"""Draw a class's people, centers, bars and scores as pictures of a few kilobytes, small enough for phones."""

from __future__ import annotations

import base64
from collections.abc import Collection, Sequence

import numpy as np

from dpviz.audits.game import Tally
from dpviz.figures.kit.theme import Theme
from pages._ui.frame import markup
from pages._ui.teach.classroom.compute import ACROSS, ALONG, HIGH, LOW
from pages._ui.teach.classroom.room import Answers

__all__ = ["bars", "grid", "people", "scores"]

_UNIT = 20  # number of SVG units per km


def _at(points: np.ndarray) -> np.ndarray:
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    return np.stack([points[:, 0] - LOW[0], HIGH[1] - points[:, 1]], axis=1) * _UNIT


def _image(body: str, alt: str, colors: Theme, width: float, height: float) -> str:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f'<rect width="{width:g}" height="{height:g}" fill="{colors.panel}"/>{body}</svg>'
    )
    source = base64.b64encode(svg.encode()).decode()
    words = markup.escape(alt)
    return f'<img class="dp-map" alt="{words}" src="data:image/svg+xml;base64,{source}">'


def _map(body: str, alt: str, colors: Theme) -> str:
    wide, high = (HIGH - LOW) * _UNIT
    lines = "".join(f'<path d="M{x} 0V{high:g}"/>' for x in range(0, int(wide) + 1, 120))
    lines += "".join(f'<path d="M0 {y}H{wide:g}"/>' for y in range(0, int(high) + 1, 120))
    frame = f'<rect width="{wide:g}" height="{high:g}" fill="none" stroke="{colors.line}" stroke-width="3"/>'
    return _image(f'<g stroke="{colors.grid}" stroke-width="2">{lines}</g>{frame}{body}', alt, colors, wide, high)


def you(x: float, y: float, colors: Theme) -> str:
    """Return the mark of a phone's own point, the same on every map: an orange ring."""
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="15" fill="none" stroke="{colors.hidden}" stroke-width="6"/>'


def people(
    colors: Theme,
    points: np.ndarray,
    centers: np.ndarray | None = None,
    mine: tuple[float, float] | None = None,
    *,
    private: bool = True,
) -> str:
    """Return the map with people (m, 2), released or exact centers (k, 2) and this phone's point, all in km."""
    marks = [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="6" fill="none" stroke="{colors.person}" stroke-width="2.5"/>'
        for x, y in _at(points)
    ]
    for x, y in _at(np.empty((0, 2)) if centers is None else centers):
        look = f'fill="{colors.released if private else colors.hidden}" stroke="{colors.ink}" stroke-width="4"'
        marks.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="12" {look}/>')
    if mine is not None:
        ((x, y),) = _at(np.array([mine]))
        marks.append(you(x, y, colors))
    k = 0 if centers is None else len(centers)
    which, ring = "released" if private else "exact", "; an orange ring where you stand" * (mine is not None)
    alt = f"A map with {len(points)} people and {k} {which} centers{ring}."
    return _map("".join(marks), alt, colors)


def grid(colors: Theme, counts: np.ndarray, sd: float) -> str:
    """Return the map's cells with estimated counts; the darkest is the largest count, or 2 `sd` if that is larger."""
    size = (HIGH - LOW) * _UNIT / (ACROSS, ALONG)
    marks = []
    for cell, count in enumerate(counts):
        x, y = cell % ACROSS * size[0], (ALONG - 1 - cell // ACROSS) * size[1]
        depth = float(np.clip(count / max(counts.max(), 2 * sd, 1e-9), 0, 1)) * 0.55
        marks.append(
            f'<rect x="{x:g}" y="{y:g}" width="{size[0]:g}" height="{size[1]:g}" fill="{colors.released}" '
            f'fill-opacity="{depth:.2f}" stroke="{colors.line}" stroke-width="2"/>'
            f'<text x="{x + size[0] / 2:g}" y="{y + size[1] / 2 + 10:g}" font-size="30" text-anchor="middle" '
            f'font-family="sans-serif" fill="{colors.ink}">{count:z.0f}</text>'
        )
    words = ", ".join(f"{count:z.0f}" for count in counts)
    return _map(
        "".join(marks), f"Estimated number of people per cell, from the south-west, row by row: {words}.", colors
    )


def bars(answers: Answers, truth: Collection[int] = (), *, word: str = "what happened") -> str:
    """Return people's answers as a histogram, or as two if some answered again; `truth` is marked with `word`."""
    histograms = {"at first": answers.first} | ({"after the run": answers.revised} if answers.again else {})
    most = max([1, *answers.first, *answers.revised])

    def cells(count: int) -> str:
        bar = f'<td><span class="bar" style="width:100%"><i style="width:{100 * count / most:.0f}%"></i></span></td>'
        return f"{bar}<td><b>{count}</b></td>"

    rows = "".join(
        f"<tr><th scope=row>{markup.escape(option)}{f' ← {word}' * (i in truth)}</th>"
        f"{''.join(cells(counts[i]) for counts in histograms.values())}</tr>"
        for i, option in enumerate(answers.question.options)
    )
    names = "".join(f'<th scope=col colspan="2">{name}</th>' for name in histograms)
    head = f"<thead><tr><th></th>{names}</tr></thead>" * bool(answers.again)
    total = f"{answers.phones} answer{'s' * (answers.phones != 1)}{f', {answers.again} again' * bool(answers.again)}"
    return (
        f'<div class="dp-table dp-free dp-bars dp-poll"><table>{head}<tbody>{rows}</tbody></table></div>'
        + markup.small(f"{total}, without names.")
    )


def scores(colors: Theme, scored: Sequence[tuple[int, int]], bound: int) -> str:
    """Return every phone's share of won bets as a dot under the bound, and the total as text."""
    width, base, unit = 1000, 250, 9.6
    columns: dict[int, int] = {}
    marks = []
    for hits, rounds in sorted(scored, key=lambda one: one[0] / one[1]):
        column = round(hits / rounds * 20)
        columns[column] = columns.get(column, 0) + 1
        x, y = 20 + column * 5 * unit, base - 10 - 17 * (columns[column] - 1)
        marks.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="8" fill="{colors.muted}"/>')

    def line(share: float, color: str, word: str, y: int, dash: str = "", side: int = 1) -> str:
        x = 20 + share * unit
        look = f'stroke="{color}" stroke-width="4"{dash}'
        text = f'font-size="24" font-family="sans-serif" fill="{color}" text-anchor="{"start" if side > 0 else "end"}"'
        return f'<path d="M{x:.0f} {y}V{base}" {look}/><text x="{x + 8 * side:.0f}" y="{y + 20}" {text}>{word}</text>'

    marks.append(line(50, colors.muted, "coin 50", 40, ' stroke-dasharray="8 8"', side=-1))
    marks.append(line(bound, colors.released, f"bound {bound}", 4))
    axis = "".join(
        f'<text x="{20 + at * unit:.0f}" y="{base + 32}" font-size="24" text-anchor="middle" font-family="sans-serif" '
        f'fill="{colors.muted}">{at}</text>'
        for at in (0, 25, 50, 75, 100)
    )
    body = f'<path d="M0 {base}H{width}" stroke="{colors.line}" stroke-width="3"/>{axis}{"".join(marks)}'
    alt = f"Shares of bets won by {len(scored)} phones; a coin wins 50 of 100, and the bound is {bound}."
    picture = _image(body, alt, colors, width, base + 44)
    total = Tally(sum(hits for hits, _ in scored), sum(rounds for _, rounds in scored))
    if not total.rounds:
        return picture + markup.odds("Nobody has bet yet.")
    low, high = total.interval()
    return (
        picture
        + markup.odds(
            "Everybody together: ",
            markup.bold(f"{100 * total.share:.0f} of 100 bets"),
            f" right, in {total.rounds:,} bet{'s' * (total.rounds != 1)} so far ({100 * low:.0f} to {100 * high:.0f}); "
            "at most ",
            markup.bold(bound),
            " in the long run.",
        )
        + markup.small(
            "After only a few bets, a phone may exceed the bound by luck, because the bound holds in the long run. The "
            "brackets mark a 95% interval."
        )
    )
