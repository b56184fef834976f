"""Turn steps into the pictures at which the player stops, one record per picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dpviz.trace import Step, Trace

__all__ = ["Shot", "complete", "in_phases", "one_a_step", "split_title", "whole_title"]

Words = tuple[str, str]  # bold head, plain rest


@dataclasses.dataclass(frozen=True)
class Shot:
    """One picture of the player.

    Attributes
    ----------
    step : number of the step of the trace that it shows
    head, tail : the two parts of the line above it; the head is set in bold
    releases : number of ledger entries by then
    phase : number of the picture within its step
    tick : True if the slider has a tick here
    """

    step: int
    head: str
    tail: str
    releases: int
    phase: int = 0
    tick: bool = True

    @property
    def sentence(self) -> str:
        """Return the line as one sentence; the screen sets the part before " · " in bold."""
        return f"{self.head} · {self.tail}" if self.tail else self.head


def whole_title(step: Step) -> Words:
    """Return a step's title as it is."""
    return step.title, ""


def split_title(step: Step) -> Words:
    """Return the parts before and after the colon of a step's title."""
    head, _, tail = step.title.partition(": ")
    return head, tail


def one_a_step(trace: Trace, words: Callable[[Step], Words] = whole_title) -> list[Shot]:
    """Return one picture per step."""
    return [Shot(t, *words(step), step.n_releases) for t, step in enumerate(trace.steps)]


def in_phases(
    trace: Trace,
    phases: Callable[[Step], Sequence[int]],
    words: Callable[[Step, int], Words],
    asking: int,
    due: Callable[[Step], int] | None = None,
) -> list[Shot]:
    """Return the pictures of steps that have several pictures; the first of each step gets a tick.

    Parameters
    ----------
    phases : step -> its phases, in order
    words : step, phase -> head and tail of the line
    asking : the phase before the releases
    due : step -> number of its releases that are still to come in phase `asking`; by default all of them
    """
    shots, before = [], 0
    for t, step in enumerate(trace.steps):
        early = before if due is None else step.n_releases - due(step)
        shots += [
            Shot(t, *words(step, phase), early if phase == asking else step.n_releases, phase, tick=i == 0)
            for i, phase in enumerate(phases(step))
        ]
        before = step.n_releases
    return shots


def complete(shots: Sequence[Shot]) -> list[int]:
    """Return for every picture the last step that is complete by then; -1 before the first."""
    steps = [shot.step for shot in shots]
    ends = [now != after for now, after in zip(steps, [*steps[1:], len(steps)], strict=True)]
    return [step if end else step - 1 for step, end in zip(steps, ends, strict=True)]
