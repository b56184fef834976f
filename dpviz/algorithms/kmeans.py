"""Run scikit-learn's KMeans, the non-private reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from dpviz import validate
from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.geometry import alone, cluster_sums
from dpviz.metrics import mean_distance
from dpviz.params import param
from dpviz.postprocessing.medians import OBJECTIVES, medians_on
from dpviz.postprocessing.weighted import work_of_starts
from dpviz.privacy.curator import Hidden
from dpviz.privacy.guarantee import Guarantee, Notion
from dpviz.privacy.plan import Plan
from dpviz.privacy.rows import Rows
from dpviz.trace import Step, Trace

__all__ = ["KMeans", "raw_rows"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class KMeans(Algorithm):
    """Lloyd's k-means with k-means++ starts, on the raw rows: the NON-PRIVATE reference.

    Every private algorithm is compared with this result. scikit-learn finds the best of
    ten starts; the trace replays that start iteration by iteration.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k.
    objective : {"means", "medians"}
        k-means, or k-median: 20 Weiszfeld steps from the k-means centers of each start; the best result is kept.

    Formal guarantee
    ----------------
    None. Every value depends on the raw rows without noise; the plan is empty and the claimed epsilon is infinite.

    Steps
    -----
    iteration    released: nothing; hidden: centers (k, d), z units

    Deviations from the paper
    -------------------------
    None.

    References
    ----------
    .. [1] Lloyd, "Least squares quantization in PCM", IEEE Trans. Inf. Theory 28(2), 1982.
    .. [2] Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> trace = KMeans(n_clusters=2).run(X, domain=Domain.box(0, 1, 1), seed=0)
    >>> sorted(trace.cluster_centers.ravel().round(2).tolist())
    [0.05, 0.95]
    """

    name: ClassVar[str] = "KMeans"
    slug: ClassVar[str] = "kmeans"
    tagline: ClassVar[str] = "The non-private reference: plain k-means on the raw rows."
    notion: ClassVar[Notion] = Notion.NONE

    N_INIT: ClassVar[int] = 10
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("choose k rows as the first centers", ("iteration",), at=("first",)),
        Line("repeat until nothing moves:", ("iteration",)),
        Line("  assign each row to its nearest center", ("iteration",), at=("later",), events=("assign",)),
        Line("  move each center to the mean of its rows", ("iteration",), at=("later",), events=("move",)),
        Line("start ten times, keep the best", ("iteration",), at=("end",), events=("move",)),
        Line("no noise anywhere: NOT PRIVATE", ("iteration",), at=("end",), events=("move",)),
    )

    n_clusters: int = param(8, low=1, high=256, help="Number of centers to return.")
    objective: str = param(
        "means",
        choices=OBJECTIVES,
        advanced=True,
        help="Minimize squared distances (k-means) or distances (k-median).",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return an empty plan: nothing is released under a guarantee."""
        return Plan({})

    def guarantee(self, n_features: int, n_public: int, *, rows_per_person: int = 1) -> Guarantee:
        """Return the guarantee "none"."""
        return Guarantee.none()

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values."""
        return work_of_starts(n_public, self.n_clusters, n_features)

    def run(
        self,
        X: np.ndarray | Rows,
        *,
        domain: Domain | None = None,
        seed: int | None = None,
        noise: str = "seeded",
        on_step: Callable[[Step], None] | None = None,
        dataset_id: str = "unnamed",
    ) -> Trace:
        """Run on the raw rows, unclipped, without those with a non-finite cell; refuse any noise but "seeded".

        Raises
        ------
        ValueError
            If noise is not "seeded", or there are more clusters than rows.
        TypeError
            If X is not an array or no domain is given.
        """
        Z, domain = raw_rows(self, X, domain, seed, noise)
        with alone():  # the same seed gives the same path with any number of threads
            path = self._path(Z, np.random.default_rng(seed))
        steps = []
        for index, centers in enumerate(path):
            title = "k-means++ start" if index == 0 else f"Iteration {index} of {len(path) - 1}"
            if self.objective == "medians" and index:
                title = ("", "k-means", "k-median: the smallest sum of distances")[index]
            step = Step(
                "iteration",
                title,
                freeze({}),
                index=index,
                hidden=(Hidden("centers", 0, freeze({"centers": centers})),),
            )
            steps.append(step)
            if on_step is not None:
                on_step(step)
        none = Guarantee.none()
        return Trace(
            algorithm=self.slug,
            name=self.name,
            parameters=freeze({"n_clusters": self.n_clusters, "objective": self.objective}),
            dataset_id=dataset_id,
            domain=domain,
            seed=seed,
            steps=tuple(steps),
            plan=Plan({}),
            ledger=(),
            claimed=none,
            spent=none,
            cluster_centers=freeze(domain.denormalize(path[-1])),
        )

    def _path(self, Z: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Return the centers of the best start at every iteration; the last ones are scikit-learn's."""
        starts = [
            kmeans_plusplus(Z, self.n_clusters, random_state=int(rng.integers(2**31)))[0] for _ in range(self.N_INIT)
        ]
        fits = [SklearnKMeans(self.n_clusters, init=start, n_init=1).fit(Z) for start in starts]
        if self.objective == "medians":
            return self._medians(Z, starts, [fit.cluster_centers_ for fit in fits])
        best = min(range(self.N_INIT), key=lambda i: fits[i].inertia_)
        path = [starts[best]]
        for _ in range(fits[best].n_iter_ - 1):
            labels = pairwise_distances_argmin(Z, path[-1])
            sums, counts = cluster_sums(Z, labels, self.n_clusters)
            path.append(np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], path[-1]))
        return [*path, fits[best].cluster_centers_]

    def _medians(self, Z: np.ndarray, starts: list[np.ndarray], means: list[np.ndarray]) -> list[np.ndarray]:
        """Return the initial, k-means and k-median centers of the start with the smallest final mean distance."""
        ends = [medians_on(Z, np.ones(len(Z)), centers) for centers in means]
        best = min(range(len(ends)), key=lambda i: mean_distance(Z, ends[i]))
        return [starts[best], means[best], ends[best]]


def raw_rows(
    algorithm: Algorithm, X: np.ndarray | Rows, domain: Domain | None, seed: int | None, noise: str
) -> tuple[np.ndarray, Domain]:
    """Return the rows (n, d) in z units, without those with non-finite cells, and the domain, for non-private runs.

    Raises
    ------
    ValueError
        If noise is not "seeded", or there are more clusters than rows.
    TypeError
        If X is not an array or no domain is given.
    """
    name, k = algorithm.name, algorithm.n_clusters
    if noise != "seeded":
        raise ValueError(f"{name}: noise must be 'seeded', because this algorithm makes no private release.")
    if isinstance(X, Rows) or domain is None:
        raise TypeError(f"{name}: the data must be an array with a domain, because this algorithm reads raw rows.")
    validate.integer(name, 0, None, seed=seed)
    Z = domain.normalize(X)
    Z = Z[np.isfinite(Z).all(axis=1)]
    if k > len(Z):
        raise ValueError(f"{name}: n_clusters must be <= n = {len(Z)}; got {k}.")
    return Z, domain
