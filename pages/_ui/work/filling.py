"""Make the runs for a drag of ε without stored runs, in the background and nearest to the form's ε first.

Private data have no such track of runs, because every run would spend ε.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.atlas import fill
from dpviz.atlas.cells import STOPS, Chapter, Yardstick
from dpviz.atlas.files import Chart, Stop
from dpviz.datasets import Dataset
from pages._ui.frame.catalog import is_public
from pages._ui.work import runs
from pages._ui.work.batch import Gathered, Piece, gather, peek

__all__ = ["MOST", "Track", "at", "track"]

MOST = 120.0  # maximum number of seconds that all runs of a track may take
_TOPIC = "track"


@dataclasses.dataclass(frozen=True, eq=False)
class Track:
    """The runs of a method on a data set at every stop of ε.

    Attributes
    ----------
    data : the form's data set
    algorithm : the form's algorithm at the form's ε
    """

    data: Dataset
    algorithm: Algorithm

    @property
    def _epsilon(self) -> float:
        return float(self.algorithm.epsilon)  # type: ignore[attr-defined]

    def _name(self, what: object) -> str:
        values = {field.name: getattr(self.algorithm, field.name) for field in dataclasses.fields(self.algorithm)}
        about = [self.data.dataset_id, self.algorithm.slug, values | {"epsilon": what}, fill.RUNS]
        return f"track {json.dumps(about)}"

    @property
    def chart(self) -> tuple[Chart, Yardstick] | None:
        """Return the finished stops in the atlas's format, together with KMeans, or None before the first."""
        public = is_public(self.data)
        ground: Yardstick | None = peek(self._name("KMeans"), public=public)
        results = [peek(self._name(epsilon), public=public) for epsilon in STOPS]
        stops: tuple[Stop, ...] = tuple(stop for stop in results if stop is not None)
        if ground is None or not stops:
            return None
        chapter, groups = Chapter(self.data.dataset_id, self.algorithm.slug), len(ground.groups.means)
        return Chart(chapter, None, groups, ground.loss, fill.RUNS, stops), ground

    @property
    def stops(self) -> int:
        """Return the number of finished stops."""
        return 0 if (there := self.chart) is None else len(there[0].stops)

    @property
    def whole(self) -> bool:
        """Return whether every stop is finished."""
        return self.stops == len(STOPS)

    def make(self) -> Gathered:
        """Have the missing stops made one by one for as long as somebody is watching."""
        public = is_public(self.data)
        name = self._name("KMeans")
        ground: Yardstick | None = peek(name, public=public)
        pieces = [Piece(name, fill.ground, (self.data, self.algorithm.n_clusters))]
        if ground is not None:
            nearest = sorted(STOPS, key=lambda epsilon: abs(math.log(epsilon / self._epsilon)))
            pieces += [
                Piece(self._name(one), fill.stop, (self.data, at(self.algorithm, one), ground)) for one in nearest
            ]
        seconds = len(STOPS) * fill.RUNS * runs.seconds(self.data, self.algorithm)
        return gather(_TOPIC, "The track of ε", pieces, public=public, seconds=seconds)


def at(algorithm: Algorithm, epsilon: float | None) -> Algorithm:
    """Return the algorithm with another ε."""
    values: dict[str, Any] = {"epsilon": epsilon}
    return dataclasses.replace(algorithm, **values)


def track(data: Dataset, algorithm: Algorithm) -> Track | None:
    """Return a method's track on a data set, or None for private data or if its runs cannot form one or take too long.

    Runs can form a track if ε is a parameter and they release centers for squared distances.
    """
    if data.private or "epsilon" not in params.specs(type(algorithm)) or algorithm.regions:
        return None
    if getattr(algorithm, "objective", "means") != "means":
        return None
    seconds = len(STOPS) * fill.RUNS * runs.seconds(data, algorithm)
    return Track(data, algorithm) if seconds <= MOST else None
