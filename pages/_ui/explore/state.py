"""The values that a session stores for Explore: the form's run, answers, and cached figures."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.planning.rehearsal import Rehearsal
from dpviz.trace import Trace
from pages._ui.frame.session import Held, Kept, Once, nothing
from pages._ui.work import runs


@dataclasses.dataclass(frozen=True)
class Settings:
    """The run that Run starts: algorithm (None if a parameter is wrong), seed, forecast, and whether noise is off."""

    algorithm: Algorithm | None
    seed: int
    outlook: str
    noiseless: bool = False

    def asks_for(self, data: Dataset) -> str:
        """Return the identity of the run that Run would start, "" if a parameter is wrong."""
        if self.algorithm is None:
            return ""
        return runs.run_id(data, self.algorithm, None if data.private else self.seed, noiseless=self.noiseless)


class ExploreState:
    """Values of one visitor's session, declared as in `SessionState`."""

    explained: Kept[dict[tuple[str, float], Trace]] = Kept(dict)  # answers by run and ε, the newest one at the end
    rehearsed: Kept[dict[str, list[Rehearsal]]] = Kept(dict)  # by `Rehearsal.run`, the worst town first
    settings: Held[Settings | None] = Held(nothing)
    released: Once[bool] = Once(bool)  # a drag of ε has ended: the form requests a run, however long it takes
    carded: Held[str] = Held(str)  # the run whose cards were drawn last
    reruns_panels: Held[tuple[Any, list[Any]] | None] = Held(nothing)


explore_state = ExploreState()
