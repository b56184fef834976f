"""The guarantee of a release: its notion, unit, neighboring relation, epsilon, delta and mu, and who is trusted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from scipy.special import ndtr

from dpviz.numbers import chance, number, odds
from dpviz.privacy.accounting import epsilon_of_mu, epsilon_of_zcdp

__all__ = ["BY_AUTHORS", "TRUST", "Guarantee", "Neighboring", "Notion"]


class Neighboring(StrEnum):
    """The relation between two data sets that must be hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    MOVE_RHO = "move-rho"

    @property
    def unit(self) -> str:
        """Return the unit of protection as text: the difference between neighbors."""
        return _UNIT[self]


class Notion(StrEnum):
    """A notion of privacy. Figures put different notions on one axis only if the axis title says so."""

    NONE = "none"
    CENTRAL = "central DP"
    SHUFFLE = "shuffle DP"
    LOCAL = "local DP"
    RHO = "rho-distance DP"
    # shown with every run of an outside program
    CLAIMED = "claims by its authors, not checked here; its noise is not ours"

    @property
    def private(self) -> bool:
        """Return whether dpviz itself promises anything."""
        return self not in (Notion.NONE, Notion.CLAIMED)


_UNIT = {
    Neighboring.ADD_REMOVE: "one row added or removed",
    Neighboring.REPLACE: "one row changed to any value",
    Neighboring.MOVE_RHO: "one row moved by at most rho",
}


TRUST = {  # who must be trusted, by notion
    Notion.CENTRAL: "a trusted curator sees the raw rows",
    Notion.RHO: "a trusted curator sees the raw rows",
    Notion.SHUFFLE: "a shuffler, which reveals to nobody who sent which report and need not read any",
    Notion.LOCAL: "nobody: every person randomizes their own report",
}
BY_AUTHORS = "by its authors: "  # begins the trust of an algorithm from outside, for which dpviz does not vouch


@dataclasses.dataclass(frozen=True)
class Guarantee:
    """A privacy promise.

    Attributes
    ----------
    notion : Notion
    neighboring : Neighboring
    epsilon, delta : the (epsilon, delta) statement; epsilon is inf if dpviz promises nothing
    mu : float or None, the Gaussian-DP parameter if every release is Gaussian
    pure_epsilon : float or None, epsilon of pure DP, if the promise holds with delta = 0
    zcdp : float or None, rho of zero-concentrated DP if every release has one
    rho_distance : float or None, z units, for MOVE_RHO only
    trust : who must be trusted
    public : facts that the promise treats as public
    rows_per_person : int, maximum number of rows that one person contributes
    """

    notion: Notion
    neighboring: Neighboring
    epsilon: float
    delta: float
    mu: float | None = None
    pure_epsilon: float | None = None
    zcdp: float | None = None
    rho_distance: float | None = None
    trust: str = TRUST[Notion.CENTRAL]
    public: tuple[str, ...] = ()
    rows_per_person: int = 1

    @classmethod
    def none(cls) -> Guarantee:
        """Return the empty promise of the non-private reference."""
        return cls(Notion.NONE, Neighboring.ADD_REMOVE, math.inf, 1.0, trust="everyone who sees the output")

    @property
    def private(self) -> bool:
        """Return whether the guarantee promises anything at all."""
        return self.notion.private

    @property
    def by_authors(self) -> bool:
        """Return whether the promise is that of an outside algorithm's authors."""
        return self.private and self.trust.startswith(BY_AUTHORS)

    @property
    def exact(self) -> bool:
        """Return whether the result is exact, that is, nobody claims to add noise."""
        return self.notion is Notion.NONE

    @property
    def unit(self) -> str:
        """Return the neighboring relation as text."""
        return self.neighboring.unit

    @property
    def best_bet(self) -> float:
        """Return an upper bound on the probability of winning a bet, at even odds, on which of two neighbors was used.

        The bound is the smallest that applies of Phi(mu/2), under Gaussian DP, (e^epsilon + delta) / (1 + e^epsilon),
        and (1 + sqrt(rho/2)) / 2, under rho-zCDP. The last holds by Pinsker's inequality, because the Kullback-Leibler
        divergence between the outputs is at most rho (Bun and Steinke 2016, Definition 1.1 as alpha goes to 1).
        """
        if not self.private:
            return 1.0
        bounds = [1.0]
        if math.isfinite(self.epsilon):
            bounds.append((1 + self.delta * math.exp(-self.epsilon)) / (1 + math.exp(-self.epsilon)))
        if self.pure_epsilon is not None:
            bounds.append(1 / (1 + math.exp(-self.pure_epsilon)))
        if self.mu is not None:
            bounds.append(float(ndtr(self.mu / 2)))
        if self.zcdp is not None:
            bounds.append((1 + math.sqrt(self.zcdp / 2)) / 2)
        return min(bounds)

    @property
    def odds(self) -> int:
        """Return `best_bet` as the N in "at most N times in 100", rounded UP."""
        return odds(self.best_bet)

    def under(self, neighboring: Neighboring) -> Guarantee:
        """Convert an add/remove promise to replacement: (2 epsilon, (1 + e^epsilon) delta), mu -> 2 mu.

        Raises
        ------
        ValueError
            For any other conversion, because no other conversion holds in general.
        """
        if neighboring == self.neighboring or not self.private:
            return self
        if (self.neighboring, neighboring) != (Neighboring.ADD_REMOVE, Neighboring.REPLACE):
            raise ValueError(
                f"Guarantee: cannot convert {self.neighboring} to {neighboring}; only add-remove to replace works."
            )
        return dataclasses.replace(self._times(2), neighboring=neighboring)

    @property
    def person(self) -> Guarantee:
        """Return the promise to a person who contributes up to `rows_per_person` rows."""
        return dataclasses.replace(self.of_rows(self.rows_per_person), rows_per_person=1)

    def of_rows(self, m: int) -> Guarantee:
        """Return the promise about m rows at once, at the same delta wherever the notion of the promise allows it.

        Data sets that differ in m rows are joined by m steps of one row each, with M(D_0), ..., M(D_m) along the way.

        - Pure DP: each step changes a probability by a factor of at most e^epsilon, and all steps together by at most
          e^(m epsilon).
        - Gaussian DP: a test with false-alarm rate a between M(D_0) and M(D_1) has power at most G(a) = Phi(Phi^-1(a) +
          mu). As a test between D_1 and D_2, its false-alarm rate is this power, so its power there is at most G(G(a)),
          and at most Phi(Phi^-1(a) + m mu) after m steps: m mu-GDP (Dong, Roth and Su, arXiv
          1905.02383, Theorem 2.14). `epsilon_of_mu` gives epsilon at the same delta, exactly.
        - zCDP: rho becomes m^2 rho (Bun and Steinke 2016, Proposition 1.9).
        - Any (epsilon, delta): P_0(S) <= e^epsilon P_1(S) + delta, applied m times, gives m epsilon and delta (1 +
          e^epsilon + ... + e^((m-1) epsilon)).

        Of the first three that apply, the smallest epsilon counts. A promise that mixes pure and Gaussian releases has
        the last rule, whose delta grows; only where that delta reaches 1, and nothing would be promised, zCDP's larger
        epsilon at the old delta takes its place.
        """
        many = self._times(m)
        known = [] if many.pure_epsilon is None else [many.pure_epsilon]
        if many.mu is not None:
            known.append(epsilon_of_mu(many.mu, self.delta))
        if many.zcdp is not None and (known or many.delta >= 1):
            known.append(epsilon_of_zcdp(many.zcdp, self.delta))
        if m == 1 or not known:
            return many
        return dataclasses.replace(many, epsilon=min(known), delta=self.delta)

    def _times(self, m: int) -> Guarantee:
        """Convert to m rows by the rule for any (epsilon, delta), with m mu, m epsilon of pure DP and m^2 zcdp."""
        whole = m * self.epsilon
        growth = math.inf if whole > 700 else math.expm1(whole) / math.expm1(self.epsilon) if whole else float(m)
        return dataclasses.replace(
            self,
            epsilon=m * self.epsilon,
            delta=min(1.0, growth * self.delta) if self.delta else 0.0,
            mu=None if self.mu is None else m * self.mu,
            pure_epsilon=None if self.pure_epsilon is None else m * self.pure_epsilon,
            zcdp=None if self.zcdp is None else m * m * self.zcdp,
        )

    def __str__(self) -> str:
        if not self.private:
            return "no privacy" if self.exact else str(self.notion)
        delta = f"{self.delta:.2g} ({chance(self.delta)})" if self.delta else "0"
        numbers = f"epsilon = {number(self.epsilon, 4)}, delta = {delta}"
        if self.mu is not None:
            numbers += f", mu = {number(self.mu)}"
        if self.rho_distance is not None:
            numbers += f", rho (distance) = {number(self.rho_distance)}"
        return f"{'by its authors, ' * self.by_authors}{self.notion} for {self.unit}: {numbers}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Guarantee:
        """Rebuild a guarantee from the mapping that `to_dict` returned."""
        return cls(
            **{
                **record,
                "notion": Notion(record["notion"]),
                "neighboring": Neighboring(record["neighboring"]),
                "public": tuple(record["public"]),
            }
        )
