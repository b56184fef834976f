"""Run PE-means with the selection of Aug-PE, its predecessor."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from dpviz.algorithms.evolution.family import evolution_code
from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.pseudocode import Line
from dpviz.params import param

__all__ = ["AugPE"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class AugPE(PEMeans):
    """PE-means with Aug-PE's selection: the k trial points with the most votes become the centers.

    Everything else is as in PE-means. A cluster's votes are split among its trial points, so a small cluster's best
    point can lose to a large cluster's fifth best, and the small cluster dies out. The paper's Fig. 1 shows this, and
    so does this class, even without noise.

    Parameters
    ----------
    selection : {"top-k", "k-means"}
        Rule that picks the centers; "k-means" gives PE-means.
    others
        As for PE-means.

    Formal guarantee
    ----------------
    As for PE-means, because selection depends on released votes only.

    Steps
    -----
    generation, refinement    as for `pe-means`

    Deviations from the paper
    -------------------------
    This is the baseline as the PE-means paper runs it, with PE-means' deviations.

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
    CODE: ClassVar[tuple[Line, ...]] = evolution_code("generation", "the k trial points with the most votes win")

    selection: str = param(
        "top-k",
        choices=("k-means", "top-k"),
        advanced=True,
        help="How a round chooses centers, as for PE-means; 'top-k' makes this Aug-PE.",
    )
