"""The reruns to make: the same number for every ε, with the seeds that follow the current run's."""

from __future__ import annotations

import dataclasses

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.numbers import number
from dpviz.runs.bootstrap import bootstrap
from dpviz.runs.reruns import rerun
from pages._ui.form.forms import STOPS
from pages._ui.work import runs
from pages._ui.work.batch import Piece
from pages._ui.work.results import Result

N = 20


@dataclasses.dataclass(frozen=True, eq=False)
class RerunQuestion:
    """The reruns of one run: an algorithm for every ε, the current one first, and their seeds."""

    result: Result
    algorithms: dict[str, Algorithm]  # by label
    current: str
    seeds: range

    @classmethod
    def of(cls, result: Result) -> RerunQuestion:
        """Return the reruns to make: at every stop of ε if that does not take too long."""
        trace = result.trace
        own = ALGORITHMS[trace.algorithm](**trace.parameters)
        epsilon = trace.parameters.get("epsilon")
        seed = int(trace.seed or 0)
        seeds = range(seed + 1, seed + 1 + N)
        if epsilon is None:
            return cls(result, {trace.name: own}, trace.name, seeds)
        stops = sorted({*STOPS, epsilon})
        if N * len(stops) * runs.seconds(result.data, own) > runs.MOST_SECONDS / 2:
            stops = [epsilon]
        every = {label(stop): type(own)(**{**trace.parameters, "epsilon": stop}) for stop in stops}
        return cls(result, every, label(epsilon), seeds)

    @property
    def seconds(self) -> float:
        """Return the expected time of the reruns at the current ε."""
        return N * runs.seconds(self.result.data, self.algorithms[self.current])

    def name(self, one: str) -> str:
        """Return the public name of the reruns at one ε."""
        return f"{N} reruns {runs.run_id(self.result.data, self.algorithms[one], self.seeds[0])}"

    def pieces(self) -> list[Piece]:
        """Return the pieces to compute, those of the current ε first, then of its neighbors."""
        order = list(self.algorithms)
        near = sorted(order, key=lambda one: abs(order.index(one) - order.index(self.current)))
        data, trace = self.result.data, self.result.trace
        if data.private:
            return [Piece(self.name(one), bootstrap, (trace, self.algorithms[one], self.seeds)) for one in near]
        return [Piece(self.name(one), rerun, ([data], self.algorithms[one], self.seeds)) for one in near]


def label(epsilon: float) -> str:
    """Return the label of one ε."""
    return f"ε {number(epsilon, 6)}"  # all digits: it is a key
