"""The curator, the only way from an algorithm to the rows: it prices, draws and records every release."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from dpviz.frozen import freeze
from dpviz.geometry import GRID
from dpviz.privacy.answers import Chosen, Hidden, Noisy, NoisyKeys, Reports
from dpviz.privacy.choice import chances
from dpviz.privacy.costs import (
    BestOf,
    Cost,
    Cover,
    Exact,
    Exponential,
    Gaussian,
    Halving,
    Laplace,
    Report,
    Shuffled,
    Threshold,
)
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.ledger import NextPrices, Release
from dpviz.privacy.local import ORACLES, OneBit, Randomizer
from dpviz.privacy.noise import Noise
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import (
    Candidates,
    CellCover,
    Halvings,
    KeyQuery,
    Positions,
    Predicate,
    Query,
    Question,
    Score,
    untested,
)
from dpviz.privacy.race import Truth, race
from dpviz.privacy.rows import ALL, UTILITY_SLACK, Rows

__all__ = ["ALL", "Curator", "Hidden", "Noisy", "NoisyKeys", "Reports"]

# The smallest sensitivity and the smallest noise scale. With noise of 32 steps or more, a discrete Gaussian's delta is
# at most 1.0065 times the continuous one's for mu <= 14.1, the largest that can be asked for; with a few steps and mu =
# 8 it is up to 1.9 times as large.
_NARROWEST = 32 * GRID
# The largest noise scale. The sampler's whole numbers of steps end at 2^63, that is, at noise of 2^39, where draws pile
# up and show the true value. That end is 64 of these scales away: Laplace noise reaches it with chance e^-64.
_WIDEST = 2.0**33


class Curator:
    """The curator of one run, which answers an algorithm's queries under a plan.

    It takes the queries of `dpviz.privacy.queries` and no others. An algorithm cannot tell DEMO from PRIVATE by it.

    Parameters
    ----------
    rows : Rows
    plan : Plan; every release must be in it
    noise : Noise
    neighboring : Neighboring, the relation that the plan's costs are meant for
    n_public : int, the declared number of rows
    hidden : list to which true statistics are added for the trace's hidden values, in DEMO; None keeps none
    rho_distance : float, the longest move under move-rho, z units; limited to the domain's diameter
    exact : bool, whether to draw no noise at all and record every release as "Exact"; for DEMO only
    """

    def __init__(
        self,
        rows: Rows,
        plan: Plan,
        noise: Noise,
        *,
        neighboring: Neighboring,
        n_public: int,
        hidden: list[Hidden] | None,
        rho_distance: float = math.inf,
        exact: bool = False,
    ) -> None:
        if exact and hidden is None:
            raise PermissionError("Curator: a run without noise is for DEMO only.")
        if type(plan) is not Plan:  # a subclass could price a release at more than it adds to the total
            raise PermissionError(f"Curator: a plan must be a Plan; got {type(plan).__name__}.")
        self.plan = plan
        self.neighboring = neighboring
        self.n_public = n_public
        self.n_features = rows.n_features
        self.rho_distance = min(rho_distance, rows.domain.diameter)
        self._session = rows.open(None if neighboring is Neighboring.ADD_REMOVE else n_public)
        self._noise = self._session.drawn_by(noise)
        self._exact = exact
        self._ledger: list[Release] = []
        self._hidden = hidden
        self._by_user: set[int] = set()
        self._mixed = False
        self._next = NextPrices()
        self._way: int | None = None  # the number of the plan's way that the run goes
        self._tally = np.zeros(2)  # sums over the noisy tallies: of tally / variance, and of 1 / variance

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and not name.startswith("_"):
            raise AttributeError(f"Curator: {name} is fixed for the run.")
        super().__setattr__(name, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("Curator: it can be neither pickled nor copied, because it holds rows.")

    @property
    def ledger(self) -> tuple[Release, ...]:
        """Return all releases so far."""
        return tuple(self._ledger)

    @property
    def n_noisy(self) -> Noisy | None:
        """Estimate the number of rows as the precision-weighted mean of the released tallies; None without tallies."""
        total, precision = self._tally
        return Noisy(float(total / precision), float(precision**-0.5)) if precision else None

    @property
    def n_credible(self) -> float:
        """Return the n closest to the declared n that is at least 1 and within one standard deviation of `n_noisy`.

        One standard deviation is used, not three, because a declared number is approximate and its uses (which counts
        to keep, how far rows spread) suffer more from an error of 10% than from noise.
        """
        noisy = self.n_noisy
        if noisy is None:
            return float(self.n_public)
        return float(max(np.clip(self.n_public, noisy.value - noisy.sd, noisy.value + noisy.sd), 1.0))

    def release(self, label: str, query: Query, scope: int = ALL) -> Noisy:
        """Release one noisy statistic of the rows in `scope`.

        Raises
        ------
        PermissionError
            If the plan holds no such release, if the relation allows no release of a part of the rows, or if the query
            is calibrated for shorter moves than the promise covers. Nothing is drawn before this error.
        """
        self._admit(label, query, Query, scope)
        path = self._path(label, scope)
        self._check_move(label, query)
        priced = {
            part: self._price(label, part, query.sensitivity, query.reason, path)
            for part in query.sensitivity(2, self.neighboring)
        }
        for _, entry in priced.values():
            self._next.pay(entry)

        def draw(part: str, true: np.ndarray) -> np.ndarray:
            cost, entry = priced[part]
            self._ledger.append(dataclasses.replace(entry, shape=true.shape))
            return true + cost.draw(self._noise, entry.scale, true.shape)

        noisy, true = self._session.noisy_sum(query, scope, draw)
        self._remember(label, scope, {part or label: value for part, value in true.items()})
        sds = {part: cost.sd(entry.scale) * math.sqrt(entry.excess) for part, (cost, entry) in priced.items()}
        if query.tally is not None and scope == ALL and sds[query.tally] > 0:
            counts, variance = noisy[query.tally], sds[query.tally] ** 2
            self._tally += query.times * np.array([counts.sum(), query.times]) / (variance * counts.size)
        return Noisy(_unwrap(noisy), _unwrap(sds))

    def select(self, label: str, score: Score, scope: int = ALL) -> int:
        """Choose one candidate by the exponential mechanism; return its index."""
        _, entry = self._price_one(
            label, score, Score, scope, Exponential, lambda: score.range(self.neighboring) + UTILITY_SLACK
        )
        self._next.pay(entry)
        self._ledger.append(entry)
        choice, true = self._session.noisy_argmax(
            score, scope, lambda utilities: self._noise.gumbel_argmax(utilities, entry.scale)
        )
        self._remember(label, scope, true)
        return choice

    def cover(self, label: str, query: CellCover, scope: int = ALL) -> np.ndarray:
        """Pick cells that hold many rows not yet covered, all at one cost; return them, shape (grids, picks)."""
        _, entry = self._price_one(label, query, CellCover, scope, Cover, lambda: 1.0 + UTILITY_SLACK, added="a cover")
        self._next.pay(entry)
        self._ledger.append(entry)

        def pick(counts: np.ndarray, empty: int) -> int:
            """Pick a cell by Gumbel-max; empty cells share one draw, shifted by scale times log(their number)."""
            others = [entry.scale * math.log(empty)] if empty else []
            at = self._noise.gumbel_argmax(np.concatenate([counts, others]), entry.scale)
            return at if at < len(counts) else at + self._noise.integer(empty)

        cells, true = self._session.noisy_cover(query, scope, pick)
        self._remember(label, scope, true)
        return cells

    def grow(self, label: str, query: Halvings, scope: int = ALL) -> tuple[np.ndarray, np.ndarray]:
        """Halve boxes that hold enough rows, at one cost for the tree; return (nodes (m,), mask of the halved (m,))."""
        cost, entry = self._price_one(label, query, Halvings, scope, Halving, lambda: 1.0, added="a tree")
        decay = cost.scale(1.0) * math.log(2)
        self._next.pay(entry)
        self._ledger.append(entry)

        def halve(counts: np.ndarray, depth: int) -> np.ndarray:
            biased = np.maximum(counts - depth * decay, query.threshold - decay)
            return biased + cost.draw(self._noise, entry.scale, counts.shape) > query.threshold

        nodes, halved, true = self._session.grown(query, scope, halve)
        self._remember(label, scope, true)
        return nodes, halved

    def choose(self, label: str, query: Candidates, scope: int = ALL) -> Chosen:
        """Run a secret, random number of candidates at one cost, and release the best one with all its noisy values."""
        cost, entry = self._price_one(
            label, query, Candidates, scope, BestOf, lambda: query.sensitivity(self.neighboring), added="a choice"
        )
        sds, changes = {}, query.changes(self.neighboring)
        for part, unit in query.units().items():
            _check_noise(f"{label}.{part}", changes[part], cost.scale(entry.sensitivity) * unit)
            sds[part] = entry.scale * unit
        self._next.pay(entry)
        self._ledger.append(entry)
        many = cast(BestOf, cost)
        tried = self._noise.weighted(chances(many.tries, many.most))

        def draw(part: str, true: np.ndarray) -> np.ndarray:
            return true + cost.draw(self._noise, sds[part], true.shape)

        def run(truth: Truth) -> tuple[Chosen, Mapping[str, np.ndarray]]:
            watched = self._hidden is not None
            return race(query, tried, many.most, truth, draw, self._noise.integer, sds, watched=watched)

        winner, others = self._session.best(query, scope, run)
        self._remember(label, scope, others)
        return winner

    def release_keys(self, label: str, query: KeyQuery, scope: int = ALL) -> NoisyKeys:
        """Release the keys whose noisy count passes the threshold of the plan's `Threshold` cost."""
        cost, entry = self._price_one(
            label, query, KeyQuery, scope, Threshold, lambda: query.sensitivity(self.neighboring)
        )
        tau = cast(Threshold, cost).threshold(entry.scale, query.l0)
        self._next.pay(entry)
        self._ledger.append(entry)  # without a shape, because the number of non-empty keys is private

        def keep(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            noisy = np.rint(counts + cost.draw(self._noise, entry.scale, counts.shape))
            return noisy, noisy >= tau

        keys, noisy, true = self._session.noisy_keys(query, scope, keep)
        self._remember(label, scope, true)
        return NoisyKeys(keys, noisy, entry.scale, tau)

    def perturb_rows(self, label: str, query: Positions, *, name: str, limit: float) -> Noisy:
        """Release every row with noise; each noisy value is clipped to [-limit, limit].

        The released values are stored under `name`, and later queries may group rows by them.

        Raises
        ------
        PermissionError
            Under any relation other than move-rho, or if the plan holds no such release.
        """
        self._admit(label, query, Positions)
        if self.neighboring is not Neighboring.MOVE_RHO:
            raise PermissionError(
                f"Curator: release {label!r} of one value per row is refused under {self.neighboring}: it reveals the "
                "number of rows, and its noise hides only moves by at most rho."
            )
        path = self._path(label, ALL)
        self._check_move(label, query)

        def l2(norm: float, neighboring: Neighboring) -> dict[str, float]:
            return {"": query.sensitivity(self.n_features)}

        cost, entry = self._price(label, "", l2, query.reason, path, allowed=(Gaussian,))
        self._next.pay(entry)

        def draw(true: np.ndarray) -> np.ndarray:
            self._ledger.append(dataclasses.replace(entry, shape=true.shape))
            return np.clip(true + cost.draw(self._noise, entry.scale, true.shape), -limit, limit)

        noisy, true = self._session.perturb(name, query, draw)
        self._remember(label, ALL, true)
        return Noisy(noisy, cost.sd(entry.scale))

    def shuffle(self) -> None:
        """Shuffle all rows into a secret order; reports priced as mixed may be collected afterwards.

        The reports then have the same distribution as if people sent them through a shuffler that hides the senders.
        Shuffling is free, because it releases nothing.
        """
        if self.neighboring is not Neighboring.REPLACE:
            raise PermissionError(f"Curator: mixing needs the relation replace; got {self.neighboring}.")
        self._session.shuffle(self._noise.permutation(self.n_public))
        self._mixed = True

    def collect(
        self, label: str, question: Question, scope: int = ALL, *, oracle: str = "oue", shown: int = 0
    ) -> Reports:
        """Collect one report from every person in `scope`, each randomized before anybody sees it.

        Parameters
        ----------
        oracle : "oue" or "hadamard", the encoding of one of `question.size` answers; numbers are sent in one bit
        shown : number of people whose reports are returned as sent; all other reports are only added up

        Raises
        ------
        PermissionError
            If the plan holds no such report, if the relation is not replacement (adding or removing rows would change
            people's public numbers), or if a report priced as mixed is collected before `shuffle`.
        """
        self._admit(label, question, Question, scope)
        if self.neighboring is not Neighboring.REPLACE:
            raise PermissionError(f"Curator: report {label!r} needs the relation replace; got {self.neighboring}.")
        path = self._path(label, scope)
        one = {"": 1.0}
        cost, entry = self._price(label, "", lambda *_: one, question.reason, path, allowed=(Report, Shuffled))
        if isinstance(cost, Shuffled) and not (self._mixed and cost.users <= self.n_public):
            raise PermissionError(
                f"Curator: report {label!r} is priced as mixed among {cost.users}; mix the rows first."
            )
        randomizer: Randomizer = (
            ORACLES[oracle](question.size, entry.scale, question.seed) if question.size else OneBit(entry.scale)
        )
        self._next.pay(entry)
        self._ledger.append(dataclasses.replace(entry, mechanism=type(randomizer).__name__))
        value, sample, users, true = self._session.ask(
            question, scope, lambda answers, ids: randomizer.gather(self._noise, answers, ids, shown)
        )
        self._remember(label, scope, true)
        return Reports(value, randomizer.sd(users) * question.spread, users, sample)

    def partition(self, scope: int, predicate: Predicate) -> tuple[int, ...]:
        """Split a scope into disjoint child scopes by a public rule on single rows, at no cost.

        If n is fixed, the rule may use only the rows' public numbers; under add/remove it must not use them, because
        they shift.
        """
        self._admit("partition", predicate, Predicate, scope)
        if not predicate.by_user:
            self._refuse_parts(f"a partition of scope {scope}")
            return self._session.partition(scope, predicate)
        if self.neighboring is Neighboring.ADD_REMOVE:
            raise PermissionError(f"Curator: a partition by row number is refused under {self.neighboring}.")
        parts = self._session.partition(scope, predicate)
        self._by_user.update(parts)
        return parts

    def _admit(self, label: str, query: object, kind: type, scope: int = ALL) -> None:
        """Refuse a query that no test covers, and a label or scope whose class could compare as it likes."""
        if why := untested(query):
            raise PermissionError(f"Curator: release {label!r} is refused: {why}.")
        if not isinstance(query, kind):
            raise PermissionError(f"Curator: release {label!r} takes a {kind.__name__}; got {type(query).__name__}.")
        if type(label) is not str or type(scope) is not int:
            raise PermissionError("Curator: a release needs a label that is a str and a scope that is an int.")

    def _remember(self, label: str, scope: int, true: Mapping[str, np.ndarray]) -> None:
        if self._hidden is not None:
            self._hidden.append(Hidden(label, scope, freeze(dict(true))))

    def _check_move(self, label: str, query: Query | Positions) -> None:
        """Refuse a query calibrated for shorter moves than the promise covers."""
        meant = getattr(query, "rho_distance", None)
        if meant is not None and meant < self.rho_distance:
            raise PermissionError(
                f"Curator: release {label!r} is calibrated for moves of up to {meant:.6g}, "
                f"but the promise is about moves of up to {self.rho_distance:.6g}."
            )

    def _refuse_parts(self, what: str) -> None:
        if self.neighboring is not Neighboring.ADD_REMOVE:
            raise PermissionError(
                f"Curator: {what} is refused under {self.neighboring}: a changed row may leave one part and enter "
                "another; parts of the rows are for add-remove only."
            )

    def _path(self, label: str, scope: int) -> tuple[int, ...]:
        """Return the scopes from the whole data set down to `scope`, if the relation allows a release there."""
        if scope != ALL and scope not in self._by_user:
            self._refuse_parts(f"release {label!r} of a part of the rows")
        return self._session.path(scope)

    def _price_one(
        self, label: str, query: Score | CellCover | Halvings | Candidates | KeyQuery, kind: type, scope: int,
        mechanism: type[Cost], change: Callable[[], float], *, added: str = "",
    ) -> tuple[Cost, Release]:  # fmt: skip
        """Admit and price a release in one part, which only one mechanism pays and whose sensitivity is `change`.

        A mechanism whose cost holds for rows that are added or removed, and for no other relation, is named in `added`.
        """
        self._admit(label, query, kind, scope)
        path = self._path(label, scope)
        if added and self.neighboring is not Neighboring.ADD_REMOVE:
            raise PermissionError(
                f"Curator: {added} is refused under {self.neighboring}: its cost is for add-remove only."
            )
        return self._price(label, "", lambda *_: {"": change()}, query.reason, path, allowed=(mechanism,))

    def _price(
        self,
        label: str,
        part: str,
        sensitivity: Callable[[float, Neighboring], Mapping[str, float]],
        reason: str,
        path: tuple[int, ...],
        allowed: tuple[type[Cost], ...] = (Gaussian, Laplace, Exact),
    ) -> tuple[Cost, Release]:
        name = f"{label}.{part}" if part else label
        occurrence = self._next.of(name, path)
        cost = self.plan.price(name, occurrence)
        if (way := self.plan.way(name)) is not None:
            if self._way not in (None, way):
                raise PermissionError(f"Curator: release {name!r} is refused: the run went another way of its plan.")
            self._way = way
        if type(cost) not in allowed:  # a subclass could draw noise that does not match its price
            raise PermissionError(
                f"Curator: release {name!r} cannot be paid with {type(cost).__name__}; "
                f"it takes {' or '.join(c.__name__ for c in allowed)}."
            )
        change = sensitivity(cost.norm, self.neighboring)[part]
        if not math.isfinite(change) or change < 0 or (change == 0 and not isinstance(cost, Exact)):
            raise ValueError(f"Curator: release {name!r} must have a finite sensitivity > 0; got {change}.")
        if isinstance(cost, Gaussian | Laplace | Threshold):
            _check_noise(name, change, cost.scale(change))
        return cost, Release(
            label=label,
            part=part,
            occurrence=occurrence,
            mechanism="Exact" if self._exact else type(cost).__name__,
            cost={} if self._exact else dict(vars(cost)),
            path=path,
            norm=cost.norm,
            sensitivity=change,
            reason=reason,
            scale=0.0 if self._exact else cost.scale(change),
            neighboring=str(self.neighboring),
            excess=self._session.excess(type(cost).__name__),
        )


def _check_noise(name: str, change: float, scale: float) -> None:
    """Refuse a sensitivity and a noise scale of which one is too small for the grid, or the scale too large for it."""
    if min(change, scale) < _NARROWEST:
        raise ValueError(
            f"Curator: release {name!r} has sensitivity {change:.3g} and noise of scale {scale:.3g}; "
            "one of them is below 32 steps of the noise's grid: the noise would cost more than the plan counts. "
            "Declare a larger radius, wider bounds or a larger rho, or ask for a smaller budget."
        )
    if scale > _WIDEST:
        raise ValueError(
            f"Curator: release {name!r} has noise of scale {scale:.3g}, and its sampler ends at 2^39: "
            "declare narrower bounds or a smaller radius, or ask for a larger budget."
        )


def _unwrap(parts: Mapping[str, Any]) -> Any:
    return parts[""] if set(parts) == {""} else dict(parts)
