"""The session's plan."""

from __future__ import annotations

from dpviz.algorithms import Algorithm
from dpviz.trace import Trace
from pages._ui.frame.session import Held, Kept, Once, nothing


class PlanState:
    """Values of one visitor's session, declared as in `SessionState`."""

    plan_taken: Once[str | None] = Once(nothing)
    plan_of: Held[str] = Held(str)  # the private data set whose declaration was taken automatically
    plan_private: Held[bool] = Held(bool)
    # a run that was postponed on Spend, whose values the form takes over
    plan_back: Once[Algorithm | None] = Once(nothing)
    outside: Kept[dict[tuple[str, float], Trace]] = Kept(
        dict
    )  # paid counts by declaration and ε, the newest at the end
    outside_asked: Held[str] = Held(str)  # the question about rows outside that awaits consent


plan_state = PlanState()
