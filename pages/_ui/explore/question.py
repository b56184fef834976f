"""List the reruns of a run; their seeds are the same for every ε and every visitor, so the atlas holds most of them."""

from __future__ import annotations

import dataclasses

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.numbers import number
from dpviz.runs.bootstrap import bootstrap
from dpviz.runs.reruns import Reruns, rerun
from pages._ui.explore.form.forms import STOPS
from pages._ui.explore.stored import runs_of
from pages._ui.work import runs
from pages._ui.work.batch import Piece
from pages._ui.work.results import Result

N = 20
SEEDS = range(N)  # seeds of the atlas: its run i has seed i


@dataclasses.dataclass(frozen=True, eq=False)
class RerunQuestion:
    """The reruns of one run: an algorithm for every ε, and the reruns that the atlas holds.

    Attributes
    ----------
    algorithms : an algorithm for every ε, by label
    current : the label of the run's own algorithm
    stored : finished reruns, by label
    """

    result: Result
    algorithms: dict[str, Algorithm]
    current: str
    stored: dict[str, Reruns]

    @classmethod
    def of(cls, result: Result) -> RerunQuestion:
        """Return the reruns at every stop of ε, or only the stored and current ones if all would take too long."""
        trace = result.trace
        own = own_of(result)
        epsilon = trace.parameters.get("epsilon")
        every = {trace.name: own}
        if epsilon is not None:
            every = {
                label(stop): type(own)(**{**trace.parameters, "epsilon": stop}) for stop in sorted({*STOPS, epsilon})
            }
        current = trace.name if epsilon is None else label(epsilon)
        stored = {one: some for one, algorithm in every.items() if (some := stored_of(result, algorithm)) is not None}
        missing = len(every) - len(stored)
        if N * missing * runs.seconds(result.data, own) > runs.MOST_SECONDS / 2:
            every = {one: algorithm for one, algorithm in every.items() if one in stored or one == current}
        return cls(result, every, current, stored)

    @property
    def seconds(self) -> float:
        """Return the expected time of the reruns at the current ε."""
        if self.current in self.stored:
            return 0.0
        return N * runs.seconds(self.result.data, self.algorithms[self.current])

    def name(self, one: str) -> str:
        """Return the public name of the reruns at one ε."""
        return name_of(self.result, self.algorithms[one])

    def pieces(self) -> list[Piece]:
        """Return the missing reruns as pieces to compute, those nearest to the current ε first."""
        order = list(self.algorithms)
        near = sorted(order, key=lambda one: abs(order.index(one) - order.index(self.current)))
        near = [one for one in near if one not in self.stored]
        data, trace = self.result.data, self.result.trace
        if data.private:
            return [Piece(self.name(one), bootstrap, (trace, self.algorithms[one], SEEDS)) for one in near]
        return [Piece(self.name(one), rerun, ([data], self.algorithms[one], SEEDS)) for one in near]


def own_of(result: Result) -> Algorithm:
    """Return the algorithm of a run."""
    return ALGORITHMS[result.trace.algorithm](**result.trace.parameters)


def name_of(result: Result, algorithm: Algorithm) -> str:
    """Return the public name of the reruns of an algorithm; simulated reruns belong to a single release."""
    release = f" simulated from {result.identity}" if result.data.private else ""
    return f"{N} reruns {runs.run_id(result.data, algorithm, SEEDS[0])}{release}"


def stored_of(result: Result, algorithm: Algorithm) -> Reruns | None:
    """Return the reruns of an algorithm that the atlas holds, or None if it lacks some."""
    stop = runs_of(result.data, algorithm)
    if stop is None or len(stop.centers) < N:
        return None
    return Reruns(tuple(SEEDS), stop.centers[:N], stop.losses[:N])


def label(epsilon: float) -> str:
    """Return the label of one ε."""
    return f"ε {number(epsilon, 6)}"  # six digits, because the label is a key
