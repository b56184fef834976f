"""Show the scores: a bar from chance to certainty that marks both players, their intervals, and the bound."""

from __future__ import annotations

import numpy as np

from dpviz.audits.game import Tally
from dpviz.numbers import odds
from pages._ui.frame import shell


def percent(share: float) -> str:
    """Return a share as a number out of 100."""
    return f"{100 * share:.0f}"


def span(score: Tally) -> str:
    """Return the 95% interval as text."""
    return " to ".join(map(percent, score.interval()))


def bar(yours: Tally, machine: Tally, bound: float, *, least: int) -> str:
    """Return the bar as HTML; with fewer than `least` rounds the machine has no score, because luck would decide it."""
    c = shell.colors()
    most = odds(bound)
    place = _at(most / 100)  # position of the tick and of its label, which stays within the bar
    machine = machine if machine.rounds >= least else Tally(0, 0)
    shares = [
        f"{who} {percent(one.share)}" for who, one in (("You", yours), ("best known attack", machine)) if one.rounds
    ]
    label = ", ".join([*shares, f"bound {most} of 100 bets"])
    later = f"shown from {least:,} rounds on"
    return (
        f'<div class="dp-score" role="img" aria-label="{label}"><i style="left:0;width:100%;background:{c.line}"></i>'
        f"{_mark(yours, 12, c.ink)}{_mark(machine, 30, c.muted)}"
        f'<s style="left:{place:.1f}%;background:{c.released}"></s><b style="left:{place:.1f}%;color:{c.released};'
        f'transform:translateX(-{place:.1f}%)">bound: {most}</b></div>'
        '<div class="dp-ends"><span>coin: 50</span><span>100</span></div>'
        f'<p class="dp-small" style="margin-top:6px">{_words("You (upper dot)", yours, "no round yet")}<br>'
        f"{_words('Best known attack (lower dot)', machine, later)}<br>Brackets and bands show 95% intervals.</p>"
    )


def _at(share: float) -> float:
    return float(np.clip(200 * (share - 0.5), 0, 100))


def _mark(score: Tally, top: int, color: str) -> str:
    """Return a player's interval and dot, or nothing before the first round."""
    if not score.rounds:
        return ""
    low, high = map(_at, score.interval())
    return (
        f'<i style="left:{low:.1f}%;width:{high - low:.1f}%;top:{top}px;background:{color};opacity:.35"></i>'
        f'<u style="left:{_at(score.share):.1f}%;top:{top - 4}px;border-color:{color};background:{color}"></u>'
    )


def _words(name: str, score: Tally, none: str) -> str:
    if not score.rounds:
        return f"{name}: {none}"
    rounds = f"{score.rounds:,} round{'s' * (score.rounds != 1)}"
    return f"{name}: <b>{percent(score.share)}</b> of 100 bets won after {rounds} ({span(score)})"
