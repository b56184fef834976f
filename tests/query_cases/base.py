"""Define a case: a function that builds a query, and hand-written worst pairs of data sets for each relation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.geometry import snap
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries import Query

AR, REPLACE, MOVE = Neighboring.ADD_REMOVE, Neighboring.REPLACE, Neighboring.MOVE_RHO


@dataclass
class Case:
    """A query type's cases: `build(rng, d)` makes a query; `worst[relation]` lists (query, rows, neighbor rows).

    Each part reaches its declared sensitivity in one of these pairs. `radius` is the l2 bound of the domain that the
    query expects, and `rho` is the longest move in z units.
    """

    build: Callable[[np.random.Generator, int], Query]
    worst: dict[Neighboring, list[tuple[Query, np.ndarray, np.ndarray]]]
    radius: float | None = None
    rho: float = 0.25
    dims: tuple[int, ...] = (1, 2, 3, 6)


def points(rng, m, d):
    """Return m random points of the box, snapped to the grid."""
    return snap(rng.uniform(-1, 1, (m, d)))
