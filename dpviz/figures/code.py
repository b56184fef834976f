"""List an algorithm's pseudo-code, and find the lines that run in each event of the film."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

import numpy as np

from dpviz.figures import pane
from dpviz.numbers import number
from dpviz.privacy.plan import Plan
from dpviz.trace import Step, Trace

__all__ = ["Line", "listing", "lit", "price", "style"]


class Line(Protocol):
    """A line of pseudo-code, as defined by `dpviz.algorithms.pseudocode.Line`."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def kinds(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def moments(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def given(self) -> str: ...  # noqa: D102
    @property
    def events(self) -> tuple[str, ...]: ...  # noqa: D102


def lit(trace: Trace, lines: Sequence[Line], kinds: Sequence[Sequence[str]]) -> list[list[list[int]]]:
    """Return the numbers of the lines that run in each event of each frame; `kinds` are those of the events.

    They follow from step kinds, released values and the ledger. An event to which no line belongs has its frame's.
    """
    frames = []
    for numbers, told in zip(_lit(trace, lines), kinds, strict=True):
        own = [[i for i in numbers if not lines[i].events or kind in lines[i].events] for kind in told]
        frames.append([now or numbers for now in own])
    return frames


def _lit(trace: Trace, lines: Sequence[Line]) -> list[list[int]]:
    """Return the numbers of the lines that run in each frame."""
    shots = pane(trace).shots(trace)
    steps, after = [shot.step for shot in shots], [shot.releases for shot in shots]
    ends = {kind: [t for t in steps if trace.steps[t].kind == kind] for kind in {step.kind for step in trace.steps}}
    marks = []
    for i, t in enumerate(steps):
        step, first, last = trace.steps[t], i == 0 or steps[i - 1] != t, i + 1 == len(steps) or steps[i + 1] != t
        released = {entry.label for entry in trace.ledger[after[i - 1] if i else 0 : after[i]]}
        begins, stops = t == ends[step.kind][0], t == ends[step.kind][-1]
        now = {"first": first and begins, "later": first and not begins, "before": first}
        now |= {"after": last, "end": last and stops}
        marks.append(
            [
                number
                for number, line in enumerate(lines)
                if step.kind in line.kinds and _holds(step, line.given) and _runs(line, now, released)
            ]
        )
    return marks


def _runs(line: Line, now: dict[str, bool], released: set[str]) -> bool:
    # a line named like one of its kinds makes the releases of all its kinds, of which a run makes one
    labels = set(line.kinds) | {line.label} if line.label in line.kinds else {line.label}
    reads = bool(labels & released) if line.label else bool(released)
    return any(reads if moment == "read" else now[moment] for moment in line.moments)


def _holds(step: Step, given: str) -> bool:
    name = given.removeprefix("not ")
    return not given or bool(np.any(step.released.get(name, False))) == (name == given)


def price(trace: Trace, label: str) -> str:
    """State the cost of all releases with this label: how often they are made, and the ε that they alone would cost."""
    costs = {name: paid for name, paid in trace.plan.costs.items() if name.partition(".")[0] == label}
    times = max(map(len, costs.values()), default=0)
    if not times:
        return "Reads rows, but not in this run, so it costs nothing here"
    alone = Plan(costs).total(trace.claimed.delta).epsilon
    once = "once" if times == 1 else f"at most {times} times"
    return f"Reads rows, {once}; alone, this would cost ε {number(alone, 2)} of {number(trace.claimed.epsilon)}"


def listing(trace: Trace, lines: Sequence[Line]) -> str:
    """Return the lines as a collapsible HTML list; each line that reads rows has a coin that shows its price."""
    items = []
    for line in lines:
        text = line.text.lstrip()
        inside = " class=in" if text != line.text else ""
        coin = ""
        if line.label and trace.claimed.private:
            words = html.escape(price(trace, line.label))
            coin = f'<span class="coin" tabindex="0" role="img" aria-label="{words}">ε<span>{words}</span></span>'
        items.append(f"<li{inside}><span>{html.escape(text)}</span>{coin}</li>")
    return (
        '<details class="dp-now" open><summary>What it does now</summary>'
        f'<ol class="dp-code">{"".join(items)}</ol></details>'
    )


@cache
def style(prefix: str = "") -> str:
    """Return the CSS of the list; its colors are CSS variables whose names begin with `prefix`."""
    return (files(__package__) / "code.css").read_text().replace("--dp-", f"--{prefix}")
