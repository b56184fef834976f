"""What a session keeps of Trade-off: its sweeps, and how they are looked at."""

from __future__ import annotations

from collections.abc import Hashable

from dpviz.datasets import Dataset
from pages._ui.frame.session import Held, Kept, Once, nothing


class TradeoffState:
    """Values of one visitor's session, as in `Session`."""

    sweeps: Held[list[str]] = Held(list)
    timed: Held[frozenset[Hashable]] = Held(frozenset)  # kinds of runs whose time is being measured,
    timing: Held[str] = Held(str)  # and the job that does
    made_up: Kept[dict[str, Dataset]] = Kept(dict)  # drawn from released coresets
    sweep_files: Kept[dict[str, str]] = Kept(dict)
    looked: Once[bool] = Once(bool)
    watching: Once[str | None] = Once(nothing)


tradeoff_state = TradeoffState()
