"""Describe released clusters by noisy counts of their rows between public edges, column by column."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.domain import Domain
from dpviz.geometry import GRID, snap
from dpviz.params import param
from dpviz.postprocessing.explain import BINS, edges_between
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Gaussian, Plan
from dpviz.privacy.queries import ClusterBins
from dpviz.trace import Step, Trace

__all__ = ["ExplainClusters"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplainClusters(ApproximateDP):
    """A follow-up question about released clusters: how many of their rows lie between public edges, in each column.

    This question finds no centers, so it is not in the list of algorithms. It follows a run and spends a small budget
    of its own, on top of the run's. `dpviz.postprocessing.explain.of_trace` turns its counts into sentences with
    intervals.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        The number k of centers. Public.
    centers : tuple of k tuples of d numbers, original units
        The released centers. Public.
    epsilon : float, in [0.01, 100]
        Budget epsilon of this question alone.
    delta : float or None, in [1e-12, 0.5]
        Delta of this question; None means 1/(100 n_public).

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: the domain, its n, and the centers and edges, which depend
    on released values alone. Proof: (1) a row has one nearest center, by exact comparison, and one bin in every column,
    so it changes d of the k d b counts by 1: l2 sensitivity sqrt(d). (2) The mu of the one Gaussian release follows
    from epsilon and delta (Balle and Wang). (3) The centers of an earlier run are a fixed public value here, so by
    adaptive composition the account adds the costs of the run and the question. (4) The sentences depend on released
    values only.

    Steps
    -----
    explain            released: centers (k, d), edges (d, b - 1), bin_counts (k, d, b), counts_sd; hidden: true counts

    Deviations from the paper
    -------------------------
    DPClustX picks contrastive histograms per cluster with the exponential mechanism and releases only those. Here all
    columns are counted at once, which costs a factor of sqrt(d) in noise, but any column can be shown and "cannot tell"
    is a possible answer.

    References
    ----------
    .. [1] "DPClustX: differentially private explanations of clusters", arXiv 2506.05900, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> question = ExplainClusters(n_clusters=2, centers=((-0.5, 0.0), (0.5, 0.0)), epsilon=1.0)
    >>> trace = question.run(X, domain=domain, seed=0)
    >>> trace.steps[-1].released["bin_counts"].shape
    (2, 2, 6)
    """

    name: ClassVar[str] = "Explain the clusters"
    slug: ClassVar[str] = "explain"
    tagline: ClassVar[str] = "Counts the rows of every cluster between public edges in every column."
    follows_a_run: ClassVar[bool] = True

    epsilon: float = param(0.2, low=0.01, high=100, log=True, help="Privacy budget of this question alone.")
    centers: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def after(cls, trace: Trace, epsilon: float, delta: float | None = None) -> ExplainClusters:
        """Return an instance for the centers of a finished run."""
        centers = tuple(tuple(map(float, center)) for center in np.asarray(trace.cluster_centers))
        return cls(n_clusters=len(centers), centers=centers, epsilon=epsilon, delta=delta)

    def trusts(self, trace: Trace) -> str:
        """Return a sentence if this question requires trust in parties that the run did not have to trust, else ""."""
        if trace.claimed.trust == self.trust:
            return ""
        return f"Trust differs. In the run: {trace.claimed.trust}. In this question: {self.trust}."

    def _given(self, n_features: int) -> np.ndarray:
        """Return the centers (k, d) in original units; raise ValueError unless they are k finite points (d,)."""
        given = np.array(self.centers, dtype=float)
        if len(given) != self.n_clusters or given.ndim != 2 or not np.isfinite(given).all():
            raise ValueError(f"{self.name}: centers must be the {self.n_clusters} finite released centers of a run.")
        if given.shape[1] != n_features:
            raise ValueError(f"{self.name}: centers have {given.shape[1]} columns, but the data have {n_features}.")
        return given

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one Gaussian release of all counts."""
        self._given(n_features)
        return Plan({"bins": (Gaussian(mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))),)})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count every cluster's rows, column by column, between edges derived from the centers."""
        given = self._given(curator.n_features)
        centers = snap(domain.clip(domain.normalize(given)))
        # a row on an edge counts as above it
        edges = domain.normalize(edges_between(given, domain, BINS).T).T - 2 * GRID
        noisy = curator.release("bins", ClusterBins(centers, edges))
        yield Step(
            "explain",
            f"{noisy.value.size:,} counts by cluster, column and range, each with noise of ±{noisy.sd:.3g}",
            {"centers": centers, "edges": edges, "bin_counts": noisy.value, "counts_sd": noisy.sd},
        )
