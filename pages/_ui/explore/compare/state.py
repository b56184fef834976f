"""The session's comparison: the requested runs, and the job that makes them."""

from __future__ import annotations

import dataclasses

from dpviz.algorithms import Algorithm
from pages._ui.frame.session import Held, Once, nothing
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result


@dataclasses.dataclass(frozen=True)
class Side:
    """One requested run."""

    algorithm: Algorithm
    seed: int = 0


@dataclasses.dataclass
class Batch:
    """A job that makes runs; `inbox` stores them for this session alone."""

    wanted: tuple[str, ...]
    inbox: list[Result]
    job: Job


class CompareState:
    """Values of one visitor's session, declared as in `SessionState`."""

    compare_next: Once[tuple[str, list[Side]]] = Once(lambda: ("", []))  # runs sent by another page
    compare_on: Held[str | None] = Held(nothing)
    compare_mine: Held[Side | None] = Held(nothing)  # run A as last requested in the other views
    compare_drawn: Held[list[Side] | None] = Held(nothing)
    compare_turn: Held[int] = Held(int)
    compare_start: Held[list[Side]] = Held(list)
    compare_batch: Held[Batch | None] = Held(nothing)


compare_state = CompareState()
