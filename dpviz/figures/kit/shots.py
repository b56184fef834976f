"""Turn steps into shots, the pictures at which the player stops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dpviz.trace import Step, Trace

__all__ = ["Shot", "complete", "in_phases", "one_a_step", "split_title", "whole_title"]

Words = tuple[str, str]  # bold head and plain tail


@dataclasses.dataclass(frozen=True)
class Shot:
    """One picture of the player.

    Attributes
    ----------
    step : number of the step that the picture shows
    head, tail : the two parts of the line above the picture; the head is bold
    releases : number of releases made so far
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
        """Return the line above the picture as one sentence; on screen, the part before " · " is bold."""
        return f"{self.head} · {self.tail}" if self.tail else self.head


def whole_title(step: Step) -> Words:
    """Return the whole title of a step as the head, with an empty tail."""
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
    """Return several pictures for each step; the slider has a tick at the first of them.

    Parameters
    ----------
    phases : step -> its phases, in order
    words : step, phase -> head and tail of the line
    asking : the phase in which releases are still to come
    due : step -> number of its releases that are still to come in phase `asking`; by default all
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
    """Return for every picture the number of the last complete step; -1 if there is none yet."""
    steps = [shot.step for shot in shots]
    ends = [now != after for now, after in zip(steps, [*steps[1:], len(steps)], strict=True)]
    return [step if end else step - 1 for step, end in zip(steps, ends, strict=True)]
