"""The session's sweeps, and the choices with which they are viewed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dpviz.datasets import Dataset
from dpviz.sweeps.sweep import Sweep
from pages._ui.frame.session import Held, Kept, Once, nothing


class TradeoffState:
    """Values of one visitor's session, declared as in `SessionState`."""

    sweeps: Held[list[str]] = Held(list)
    at_once: Held[Any] = Held(nothing)  # The part of the form's sweep that is known, a `sweeps.Progress`.
    sweep_asked: Held[Sweep | None] = Held(nothing)  # The form's sweep when the page was last drawn.
    began: Held[set[str]] = Held(set)  # Own data sets whose sweep was started automatically.
    timed: Held[frozenset[Hashable]] = Held(frozenset)  # Kinds of runs that are being timed.
    timing: Held[str] = Held(str)  # The job that times runs.
    made_up: Kept[dict[str, Dataset]] = Kept(dict)  # Data sets of people drawn from released coresets.
    sweep_files: Kept[dict[str, str]] = Kept(dict)
    looked: Once[bool] = Once(bool)


tradeoff_state = TradeoffState()
