"""Add up the claims on one private file under every relation; this module does arithmetic and stores nothing."""

from __future__ import annotations

import dataclasses
import math
import uuid
from collections.abc import Mapping
from typing import Any

from dpviz import validate
from dpviz.domain import Domain
from dpviz.numbers import chance, counted, number
from dpviz.privacy import accounting
from dpviz.privacy.accounting import Total
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from dpviz.privacy.plan import Plan

__all__ = ["Account", "FileBudget", "Claim", "Refused"]


class Refused(PermissionError):
    """Raised when the owner's decisions about a file forbid a request; the message is written for the visitor."""


# (claim's relation, wanted relation) -> number of changes of the first kind that make up one of the second kind.
# Moves are counted by `Claim.changes`. Pairs missing here do not convert: a promise about one row's new value says
# nothing about the row's presence, and a promise about moves says nothing about other values.
_CHANGES = {
    (Neighboring.ADD_REMOVE, Neighboring.ADD_REMOVE): 1,
    (Neighboring.ADD_REMOVE, Neighboring.REPLACE): 2,  # remove the row, add the other one
    (Neighboring.ADD_REMOVE, Neighboring.MOVE_RHO): 2,
    (Neighboring.REPLACE, Neighboring.REPLACE): 1,
    (Neighboring.REPLACE, Neighboring.MOVE_RHO): 1,
}


@dataclasses.dataclass(frozen=True)
class _Charge:
    """The cost of a claim under a relation, as separate costs and as one (epsilon, delta) statement."""

    pure: float
    mu: float
    own_delta: float
    zcdp: float | None
    epsilon: float
    delta: float


@dataclasses.dataclass(frozen=True)
class Claim:
    """The releases that one run may make, booked before the run starts.

    Attributes
    ----------
    id : str, random
    algorithm : slug of the algorithm
    name : name of the algorithm as shown to people
    parameters : the public parameters
    neighboring : the relation that the plan's costs are meant for
    delta : the run's own delta
    plan : every cost that the run may pay
    rho_distance : the longest move that the claim hides, in the data's own units; None for other relations
    """

    id: str
    algorithm: str
    name: str
    parameters: Mapping[str, Any]
    neighboring: Neighboring
    delta: float
    plan: Plan
    rho_distance: float | None = None

    @classmethod
    def of(cls, algorithm: Any, domain: Domain) -> Claim:
        """Return the claim of an `Algorithm` on data of a public domain, under a new random id.

        Raises
        ------
        ValueError
            If the domain declares no number of rows.
        """
        if domain.n_public is None:
            raise ValueError(f"{algorithm.name}: n_public must be declared in the domain for a private release.")
        rho = getattr(algorithm, "rho_distance", None)
        return cls(
            id=uuid.uuid4().hex,
            algorithm=algorithm.slug,
            name=algorithm.name,
            parameters={field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)},
            neighboring=algorithm.neighboring,
            delta=algorithm.resolved_delta(domain.n_public),
            plan=algorithm.plan(domain.n_features, domain.n_public),
            rho_distance=None if rho is None else rho * float(domain.half_width.max()),
        )

    @property
    def hides(self) -> str:
        """Return the change that the claim hides, as text."""
        return _unit(self.neighboring, self.rho_distance)

    @property
    def total(self) -> Total:
        """Return the run's own promise."""
        return self.plan.total(self.delta)

    def changes(self, relation: Neighboring, rho_distance: float | None) -> int | None:
        """Return how many changes under the claim's relation make up one under `relation`, or None if no number does.

        A move longer than the claim's is divided into several steps, which stay in the declared box because it is
        convex.
        """
        if self.neighboring is relation is Neighboring.MOVE_RHO:
            if rho_distance is None or self.rho_distance is None:
                return 1
            return max(1, math.ceil(rho_distance / self.rho_distance * (1 - 1e-9)))
        return _CHANGES.get((self.neighboring, relation))

    def charge(self, relation: Neighboring, rho_distance: float | None) -> _Charge | None:
        """Return the claim's cost under a relation, by group privacy, or None if it promises nothing there."""
        m = self.changes(relation, rho_distance)
        if m is None:
            return None
        costs = self.plan.costliest
        total, zcdps = self.total, [cost.zcdp for cost in costs]
        own_delta = math.fsum(cost.own_delta for cost in costs)
        epsilon, delta = m * total.epsilon, _group_delta(m, total.epsilon, total.delta)
        if m > 1 and own_delta:  # group privacy cannot scale a cost with its own delta, so the whole claim is converted
            return _Charge(epsilon, 0.0, delta, None, epsilon, delta)
        return _Charge(
            pure=m * math.fsum(cost.pure for cost in costs),
            mu=m * math.sqrt(math.fsum(cost.gdp**2 for cost in costs)),
            own_delta=own_delta,
            zcdp=None if None in zcdps else m * m * math.fsum(z for z in zcdps if z is not None),
            epsilon=epsilon,
            delta=delta,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        record = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **record,
            "parameters": dict(self.parameters),
            "neighboring": str(self.neighboring),
            "plan": self.plan.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Claim:
        """Rebuild a claim from the mapping that `to_dict` returned."""
        plan, neighboring = Plan.from_dict(record["plan"]), Neighboring(record["neighboring"])
        return cls(**{**record, "plan": plan, "neighboring": neighboring})


@dataclasses.dataclass(frozen=True)
class FileBudget:
    """The budget that the owner of a file has set for it under one relation.

    Attributes
    ----------
    epsilon, delta : the limit of the total
    rho_distance : the longest move that the budget covers, in the data's own units; None for other relations
    """

    epsilon: float
    delta: float
    rho_distance: float | None = None

    def __post_init__(self) -> None:
        validate.positive("Budget", epsilon=self.epsilon)
        validate.in_range("Budget", 0, 1, open_ends=True, delta=self.delta)
        if self.rho_distance is not None:
            validate.positive("Budget", rho_distance=self.rho_distance)

    def stricter(self, other: FileBudget) -> FileBudget:
        """Return the highest budget that allows nothing which either of two, for the same relation, refuses."""
        moves = [budget.rho_distance for budget in (self, other) if budget.rho_distance is not None]
        return FileBudget(min(self.epsilon, other.epsilon), min(self.delta, other.delta), max(moves, default=None))


@dataclasses.dataclass(frozen=True)
class Account:
    """All claims on one file.

    Claims under different relations convert if one promise implies the other (by group privacy, an add/remove claim
    costs twice as much under replacement). `unprotected` names the other claims, which are refused if a budget would
    have to cover them.

    Attributes
    ----------
    key : str, an HMAC of the file and its owner
    claims : tuple of Claim, in booking order
    budgets : mapping from a relation to its FileBudget, for the relations under which the owner has set one
    private : bool, the owner's answer, or None before any answer
    """

    key: str
    claims: tuple[Claim, ...] = ()
    budgets: Mapping[Neighboring, FileBudget] = dataclasses.field(default_factory=dict)
    private: bool | None = None

    @property
    def relations(self) -> tuple[Neighboring, ...]:
        """Return the relations under which there is a claim or a budget."""
        used = {claim.neighboring for claim in self.claims} | set(self.budgets)
        return tuple(relation for relation in Neighboring if relation in used)

    def under(self, relation: Neighboring) -> tuple[Claim, ...]:
        """Return the claims that imply a promise under a relation."""
        return tuple(c for c in self.claims if c.changes(relation, self.rho_distance(relation)) is not None)

    def unprotected(self, relation: Neighboring) -> tuple[Claim, ...]:
        """Return the claims that promise nothing under a relation."""
        return tuple(c for c in self.claims if c.changes(relation, self.rho_distance(relation)) is None)

    def rho_distance(self, relation: Neighboring) -> float | None:
        """Return the longest move that a relation's total covers: the budget's, or else the shortest claim's."""
        if relation in self.budgets and self.budgets[relation].rho_distance is not None:
            return self.budgets[relation].rho_distance
        claims = (c for c in self.claims if c.neighboring is relation)
        return min((c.rho_distance for c in claims if c.rho_distance is not None), default=None)

    def hides(self, relation: Neighboring) -> str:
        """Return the change that a relation's total covers, as text."""
        return _unit(relation, self.rho_distance(relation))

    def total(self, relation: Neighboring) -> Total:
        """Return the total of the claims under a relation, at the budget's delta, or else at the sum of their deltas.

        The total composes all costs (Gaussian ones by their squares), or adds epsilons and deltas if that gives less.
        """
        charges, added = self._charges(relation), self.added_delta(relation)
        if not charges:
            return Total(0.0, 0.0, None, None, None)
        delta = self.budgets[relation].delta if relation in self.budgets else added
        zcdps = [charge.zcdp for charge in charges]
        together = accounting.total(
            pure=math.fsum(c.pure for c in charges),
            mu=math.hypot(*(c.mu for c in charges)),
            own_delta=math.fsum(c.own_delta for c in charges),
            zcdp=None if None in zcdps else math.fsum(z for z in zcdps if z is not None),
            delta=delta,
        )
        simply = math.fsum(c.epsilon for c in charges)
        if added <= delta * (1 + 1e-12) and simply < together.epsilon:
            return dataclasses.replace(together, epsilon=simply, delta=added)
        return together

    def added_delta(self, relation: Neighboring) -> float:
        """Return the sum of the claims' own deltas under a relation, at most 1."""
        return min(1.0, math.fsum(charge.delta for charge in self._charges(relation)))

    def _charges(self, relation: Neighboring) -> list[_Charge]:
        rho = self.rho_distance(relation)
        return [charge for claim in self.claims if (charge := claim.charge(relation, rho)) is not None]

    def remaining(self, relation: Neighboring) -> float | None:
        """Return the epsilon that is left of the budget, or None if there is no budget."""
        if relation not in self.budgets:
            return None
        return max(0.0, self.budgets[relation].epsilon - self.total(relation).epsilon)

    def promise(self, relation: Neighboring, rows_per_person: int = 1) -> Guarantee:
        """Return what all claims together promise under a relation; its `person` is somebody with so many rows."""
        total, notion = self.total(relation), Notion.RHO if relation is Neighboring.MOVE_RHO else Notion.CENTRAL
        return Guarantee(
            notion, relation, total.epsilon, total.delta, mu=total.mu, pure_epsilon=total.pure_epsilon,
            zcdp=total.zcdp, rows_per_person=rows_per_person,
        )  # fmt: skip

    def joined(self, other: Account) -> Account:
        """Return the claims on this file and another one, for a person whose rows may be in both."""
        return Account("", (*self.claims, *other.claims))

    @property
    def summary(self) -> str:
        """Return one line: the number of runs, and what they spent of which total under each relation."""
        if not self.private:
            return "public"
        totals = [
            f"epsilon = {number(total.epsilon, 4)}, delta = {chance(total.delta)} for {self.hides(relation)}"
            + _limit(self.budgets.get(relation))
            for relation in self.relations
            if (total := self.total(relation)).epsilon or relation in self.budgets
        ]
        return "; ".join([f"private, {counted(len(self.claims), 'run')}", *totals])

    def after(self, claim: Claim) -> Account:
        """Return the account with one more claim."""
        return dataclasses.replace(self, claims=(*self.claims, claim))

    def check(self, claim: Claim) -> None:
        """Refuse a claim that a budget does not cover.

        Raises
        ------
        Refused
            If a budget does not cover the claim.
        """
        after = self.after(claim)
        for relation, budget in self.budgets.items():
            if claim in after.unprotected(relation):
                raise Refused(
                    f"Account: the promise of {claim.name} covers only {claim.hides}; this file's total is for "
                    f"{after.hides(relation)}. Nothing was spent."
                )
            total = after.total(relation)
            if total.epsilon > budget.epsilon * (1 + 1e-9):
                reach = (
                    f"epsilon = {number(total.epsilon, 4)} at delta = {chance(budget.delta)}"
                    if math.isfinite(total.epsilon)
                    else f"a delta above {chance(budget.delta)}"
                )
                left = max(0.0, budget.epsilon - self.total(relation).epsilon)
                raise Refused(
                    f"Account: {claim.name} would bring this file to {reach}, for {after.hides(relation)}, above the "
                    f"total of {number(budget.epsilon)}; {number(left, 4)} is left. Nothing was spent."
                )

    def check_budget(self, relation: Neighboring, budget: FileBudget) -> None:
        """Refuse a budget that could not cover the claims made so far.

        Raises
        ------
        ValueError
            If a budget for moves states no length, if any other budget states a length, or if some claims promise
            nothing under the budget's relation.
        """
        if (relation is Neighboring.MOVE_RHO) != (budget.rho_distance is not None):
            raise ValueError("Account: a total for moves must state how far a row may move, and other totals must not.")
        others = len(self.unprotected(relation))
        if others:
            raise ValueError(
                f"Account: {others} run{'s' * (others != 1)} on this file promise{'s' * (others == 1)} nothing for "
                f"{_unit(relation, budget.rho_distance)}, so no total for it can hold. Set a total for another "
                "relation."
            )


def _limit(budget: FileBudget | None) -> str:
    """Return the total that an owner allows, as text, or ""."""
    if budget is None:
        return ""
    return f", of at most epsilon = {number(budget.epsilon, 4)} at delta = {chance(budget.delta)}"


def _unit(relation: Neighboring, rho_distance: float | None) -> str:
    """Return a relation's unit as text, with the length of a move in the data's own units."""
    return relation.unit if rho_distance is None else f"{relation.unit} = {number(rho_distance)}"


def _group_delta(m: int, epsilon: float, delta: float) -> float:
    """Return delta (1 + e^eps + ... + e^((m-1) eps)), at most 1: group privacy for m changes."""
    if m == 1 or delta == 0:
        return delta
    if m * epsilon > 700:
        return 1.0
    growth = math.expm1(m * epsilon) / math.expm1(epsilon) if epsilon > 0 else float(m)
    return min(1.0, delta * growth)
