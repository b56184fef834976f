"""What a session keeps of Explore: what the form asks for, answers, and figures made once."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.trace import Trace
from pages._ui.frame.session import Held, Kept, Once, nothing
from pages._ui.work import runs


@dataclasses.dataclass(frozen=True)
class Settings:
    """What Run would do: an algorithm, unless a parameter is wrong, the seed, what to expect in words, and no noise."""

    algorithm: Algorithm | None
    seed: int
    outlook: str
    noiseless: bool = False

    def asks_for(self, data: Dataset) -> str:
        """Return the identity of the run that Run would make, "" if a parameter is wrong."""
        if self.algorithm is None:
            return ""
        return runs.run_id(data, self.algorithm, None if data.private else self.seed, noiseless=self.noiseless)


class ExploreState:
    """Values of one visitor's session, as in `Session`."""

    explained: Kept[dict[tuple[str, float], Trace]] = Kept(dict)  # answers by run and ε, the last one at the end
    settings: Held[Settings | None] = Held(nothing)
    released: Once[bool] = Once(bool)  # a drag of ε was let go: the form asks for a run, however long it takes
    reruns_panels: Held[tuple[Any, list[Any]] | None] = Held(nothing)


explore_state = ExploreState()
