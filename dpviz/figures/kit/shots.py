"""What the player stops at: one record for every picture of a run, and how steps become pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dpviz.trace import Step, Trace

__all__ = ["Shot", "complete", "in_phases", "one_a_step", "split_title", "whole_title"]

Words = tuple[str, str]  # what is set in bold, and the rest


@dataclasses.dataclass(frozen=True)
class Shot:
    """One picture of the player.

    Attributes
    ----------
    step : number of the step of the trace that it shows
    head, tail : the line above it; the head is set in bold
    releases : how many entries the ledger has by then
    phase : which of the step's pictures it is, in the numbers of its family
    tick : whether the slider has a tick here
    """

    step: int
    head: str
    tail: str
    releases: int
    phase: int = 0
    tick: bool = True

    @property
    def sentence(self) -> str:
        """The line as one sentence; the screen sets what is before " · " in bold."""
        return f"{self.head} · {self.tail}" if self.tail else self.head


def whole_title(step: Step) -> Words:
    """Return a step's title as it is."""
    return step.title, ""


def split_title(step: Step) -> Words:
    """Return what is before and after the colon of a step's title."""
    head, _, tail = step.title.partition(": ")
    return head, tail


def one_a_step(trace: Trace, words: Callable[[Step], Words] = whole_title) -> list[Shot]:
    """Return one picture for every step."""
    return [Shot(t, *words(step), step.n_releases) for t, step in enumerate(trace.steps)]


def in_phases(
    trace: Trace,
    phases: Callable[[Step], Sequence[int]],
    words: Callable[[Step, int], Words],
    asking: int,
    due: Callable[[Step], int] | None = None,
) -> list[Shot]:
    """Return the pictures of steps that take several; a tick is where a step begins.

    Parameters
    ----------
    phases : of a step, in order
    words : of a step and a phase
    asking : the phase in which releases are still to come
    due : how many releases of a step those are; all of them unless given
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
    """Return the last step whose last picture has been seen by every picture; -1 before the first."""
    steps = [shot.step for shot in shots]
    ends = [now != after for now, after in zip(steps, [*steps[1:], len(steps)], strict=True)]
    return [step if end else step - 1 for step, end in zip(steps, ends, strict=True)]
