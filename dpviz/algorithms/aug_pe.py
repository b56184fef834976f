"""Aug-PE's selection on PE-means: why the paper replaced it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.pe_means import PEMeans

__all__ = ["AugPE"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class AugPE(PEMeans):
    """PE-means with Aug-PE's selection: the k guesses with the most votes become the centers.

    Everything else is PE-means. Votes of one cluster split over its guesses, so a small cluster's best guess can lose
    to the fifth guess of a large one: the small cluster dies out. The paper's Fig. 1 shows it; so does this class,
    even without noise.

    Parameters
    ----------
    n_clusters, epsilon, delta, variations, refine
        As for PE-means.

    Formal guarantee
    ----------------
    As for PE-means: selection reads released votes only.

    Steps
    -----
    As for PE-means.

    Deviations from the paper
    -------------------------
    The baseline as the PE-means paper runs it, with PE-means' deviations.

    References
    ----------
    .. [1] Xie et al., "Differentially private synthetic data via foundation model APIs 2: text", ICML 2024.
    .. [2] PE-means, 2026, Section III-B and Fig. 1.

    Examples
    --------
    >>> AugPE(n_clusters=3).generations(2)
    6
    """

    name: ClassVar[str] = "Aug-PE"
    slug: ClassVar[str] = "aug-pe"
    tagline: ClassVar[str] = "PE-means with top-k voting instead of k-means: see votes split and clusters die out."

    def select(
        self, points: np.ndarray, histogram: np.ndarray, noisy_votes: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the k guesses with the most noisy votes, shape (k, d)."""
        return points[np.argsort(-noisy_votes, kind="stable")[: self.n_clusters]]

    def title(self, generation: Mapping[str, Any]) -> str:
        """Return what happened in a generation, in one line."""
        return (
            f"Round {generation['round']} of {generation['rounds']}: the {self.n_clusters} guesses with the most noisy "
            "votes become the centers"
        )
