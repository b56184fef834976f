"""Ask how many rows lie outside the declared bounds, before any value is clipped: one noisy count."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.privacy.costs import Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import MarkedRows
from dpviz.trace import Step

__all__ = ["RowsOutside"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowsOutside(Algorithm):
    """A question about a file: how many rows have a value outside its declared bounds, in at least one used column?

    This question finds no centers, so it is not in the list of algorithms, and its trace holds none. It spends a small
    budget of its own. `dpviz.postprocessing.rows_outside` puts the answer into words.

    Parameters
    ----------
    epsilon : float, in [0.001, 10]
        Budget epsilon of this question alone.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed; delta is 0. Public: the bounds and n. Proof: (1) every row gets a mark by
    comparing its own values with the bounds, before clipping; a row with a missing cell is left out, as in a run.
    (2) The number of marked rows changes by at most 1 if one row is added or removed. (3) Laplace noise of scale 1 /
    epsilon hides that change (Dwork et al. 2006). One person with m rows changes it by at most m.

    Steps
    -----
    outside            released: centers (0, 1), noisy_count, count_sd; hidden: true count

    References
    ----------
    .. [1] Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Domain.box(0, 1, 1, n_public=1000)
    >>> X = np.repeat([[0.5], [7.0]], [700, 300], axis=0)
    >>> trace = RowsOutside(epsilon=10.0).run(X, domain=domain, seed=0)
    >>> round(trace.steps[-1].released["noisy_count"], -1)
    300.0
    """

    name: ClassVar[str] = "Rows outside the bounds"
    slug: ClassVar[str] = "rows-outside"
    tagline: ClassVar[str] = "Counts the rows that have a value outside the declared bounds."
    follows_a_run: ClassVar[bool] = True
    marks_outside: ClassVar[bool] = True
    n_clusters: ClassVar[int] = 0  # type: ignore[misc]

    epsilon: float = param(0.05, low=0.001, high=10, log=True, help="Privacy budget of this question alone.")

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one noisy count."""
        return Plan({"outside": (Laplace(self.epsilon),)})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count the marked rows."""
        noisy = curator.release("outside", MarkedRows())
        count, sd = float(noisy.value), float(noisy.sd)
        yield Step(
            "outside",
            f"one count of the rows outside the bounds, with noise of ±{sd:.3g}",
            {"centers": np.empty((0, 1)), "noisy_count": count, "count_sd": sd},
        )
