"""Run Stemmer-Kaplan in the shuffle model: local reports, mixed so that none can be traced to its sender."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar, cast

import numpy as np

from dpviz.algorithms.base import delta
from dpviz.algorithms.pseudocode import Line
from dpviz.algorithms.stemmer_kaplan.local import StemmerKaplanLocal
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.privacy.accounting import report_of_shuffled
from dpviz.privacy.costs import Shuffled
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import TRUST, Neighboring, Notion
from dpviz.privacy.plan import Plan
from dpviz.trace import Step

__all__ = ["StemmerKaplanShuffle"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StemmerKaplanShuffle(StemmerKaplanLocal):
    """Stemmer-Kaplan, shuffled: people randomize a little; a shuffler mixes the reports, and the crowd hides each one.

    Everything is as in the local model, except for a shuffler between people and server. The shuffler receives sealed
    reports and passes them on unread, in random order. Because a report cannot be traced to its sender, each may be
    much more accurate than the promise alone would allow: with 100,000 people and epsilon = 1 a report may spend an
    epsilon of 5.6 by itself.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 20]
        Total epsilon that all mixed reports cost one person, for the given delta.
    delta : float or None, in [1e-12, 0.5]
        Delta of the joint promise. None means 1/(100 n_public).
    oracle : {"oue", "hadamard"}
        Encoding of one of K answers: K noisy bits (less noise), or one noisy bit of a public Hadamard row.
    budget : {"users"}
        People are divided among the rounds: everyone sends one report, as the bound requires.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row changed to any value, against everybody who sees the mixed reports and the result.
    Public: all parameters, the domain and n. The shuffler must be trusted not to reveal who sent which report; against
    the shuffler the promise is the report's own, epsilon_0-local-DP, which the ledger names. A person's number is their
    place in the mixed order, so nobody knows who was asked which question; later questions may depend on earlier
    reports, which the bound allows. epsilon_0 is the largest e with ln(1 + (exp(e) - 1)/(exp(e) + 1) (8 sqrt(exp(e)
    ln(4/delta)/n) + 8 exp(e)/n)) at most epsilon, and e <= ln(n / (16 ln(2/delta))). If no such e exceeds epsilon,
    mixing gains nothing: reports spend epsilon by themselves, delta is 0, and `advice` says so.

    Steps
    -----
    reports, averages, weights, choose    as for `stemmer-kaplan-local`

    Deviations from the paper
    -------------------------
    As for `stemmer-kaplan-local`; the shuffle model is not in the paper. The bound used is the closed form; the
    numerical bound of its authors is up to twice as good. DEMO and private runs simulate shuffler and people on one
    machine: the rows are put in a secret order before any question, which has the protocol's distribution.

    References
    ----------
    .. [1] Feldman, McMillan and Talwar, "Hiding among the clones: a simple and nearly optimal analysis of privacy
       amplification by shuffling", FOCS 2021, Theorem 3.1; arXiv 2012.12803.
    .. [2] Stemmer and Kaplan, "Differentially private k-means with constant multiplicative error", NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 20_000, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=40_000)
    >>> trace = StemmerKaplanShuffle(n_clusters=2, epsilon=1.0).run(X, domain=domain, seed=0)
    >>> bool(np.abs(np.sort(trace.cluster_centers[:, 0]) - [-0.5, 0.5]).max() < 0.1)
    True
    >>> report = StemmerKaplanShuffle(epsilon=1.0).plan(2, 100_000).costs["report"][0]
    >>> round(report.epsilon, 1), round(report.pure, 3)
    (5.6, 1.0)
    """

    name: ClassVar[str] = "Stemmer-Kaplan, shuffled"
    slug: ClassVar[str] = "stemmer-kaplan-shuffle"
    tagline: ClassVar[str] = (
        "The local model with mixed reports: the crowd hides every report, so a report may be more accurate."
    )
    notion: ClassVar[Notion] = Notion.SHUFFLE
    trust: ClassVar[str] = TRUST[Notion.SHUFFLE]
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"one bit each": {"oracle": "hadamard"}}
    AUDIT: ClassVar[dict[str, Any]] = {}  # the base class's value does not apply, because `budget` has one choice here
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("everybody randomizes at home, only a little", ("reports",), events=("ask",)),
        Line("a shuffler mixes the reports: senders are hidden", ("reports",), events=("ask",)),
        Line("  in which bucket are you? Randomized answer", ("reports",), "report", events=("ask",)),
        Line("  keep buckets that many seem to name", ("reports",), events=("add",)),
        Line("  where in it? One random bit each", ("averages",), "report"),
        Line("which average is nearest? Randomized answer", ("weights",), "report"),
        Line("weighted k-means on the averages", ("choose",)),
    )

    epsilon: float = param(
        1.0, low=0.01, high=20, log=True, help="Total ε that all mixed reports cost one person, for the given δ."
    )
    delta: float | None = delta(Neighboring.REPLACE)
    budget: str = param("users", choices=("users",), advanced=True, help="Everyone sends one report.")

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one report per person."""
        delta = self.resolved_delta(n_public)
        return Plan({"report": (Shuffled(report_of_shuffled(self.epsilon, n_public, delta), n_public, delta),)})

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the local model's warnings, and one if mixing gains nothing or cannot use the whole budget."""
        warnings = super().advice(n_features, n_public)
        cost = cast(Shuffled, self.plan(n_features, n_public).costs["report"][0])
        if cost.own_delta:
            unused = cost.pure < 0.99 * self.epsilon
            words = (
                f"{self.name}: with {n_public:,} people the bound lets a report spend at most {cost.epsilon:.3g}, so "
            )
            words += f"only {cost.pure:.3g} of epsilon {self.epsilon:g} is spent."
            return (*warnings, words) if unused else warnings
        return (
            *warnings,
            f"{self.name}: mixing gains nothing here: for epsilon {self.epsilon:g} and this delta the bound needs "
            f"about {self._needed(n_public):,} people, but there are {n_public:,}. Every report spends epsilon by "
            "itself, as in the local model.",
        )

    def _needed(self, n_public: int) -> int:
        """Return the number of people above which mixing gains something, to within 10% and two significant digits."""
        users = n_public
        while report_of_shuffled(self.epsilon, users, self.resolved_delta(users)) <= self.epsilon:
            users = math.ceil(1.1 * users)
        return int(float(f"{users:.2g}"))

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Mix all people, then run the local model."""
        curator.shuffle()
        yield from super().steps(curator, domain, rng)
