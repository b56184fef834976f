"""Play a game against a promise: two worlds differ in one person, and a player bets on which one a picture shows.

The machine plays with the audit's likelihood: it knows both worlds and sees every release of the run. No noise is ever
used in both worlds: every round of every world has its own seed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import binom

from dpviz.algorithms import Algorithm
from dpviz.audits.audit import clopper_pearson
from dpviz.audits.witness import Neighbors, log_ratio
from dpviz.domain import Domain
from dpviz.postprocessing.bound import Bound
from dpviz.postprocessing.verdict import Groups
from dpviz.privacy.guarantee import Neighboring

__all__ = ["Question", "Round", "Tally", "attack", "luck", "moved", "people", "play", "present", "rates", "score"]

# Rounds that are only shown have seeds from twice this number on, and an attacker's trials from four times it on.
_APART = 10**9
_TRIED = 10  # number of trial runs in each world before an attacker bets against an exact method


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """Two worlds that differ in one person.

    Attributes
    ----------
    inside, outside : ndarrays of shape (n, d) and (n', d), original units; `inside` holds the person
    domain : Domain
    person : ndarray of shape (d,), original units
    elsewhere : ndarray of shape (d,), the person's place in the world outside, or None if the person is absent there
    bound : the bound on an attacker's success, which no attacker beats
    """

    inside: np.ndarray
    outside: np.ndarray
    domain: Domain
    person: np.ndarray
    elsewhere: np.ndarray | None
    bound: Bound


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
    """One picture. `speaks` is the picture's evidence for the world inside; above 0, the machine says "in"."""

    inside: bool
    centers: np.ndarray
    speaks: float


@dataclasses.dataclass(frozen=True)
class Tally:
    """The score of a player: how often they were right."""

    hits: int
    rounds: int

    @property
    def share(self) -> float:
        """Return the share of bets won, or one half before the first bet."""
        return self.hits / self.rounds if self.rounds else 0.5

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the exact limits of the chance of being right (Clopper-Pearson), or (0, 1) before round 1."""
        return clopper_pearson(self.hits, self.rounds, confidence) if self.rounds else (0.0, 1.0)


def luck(rounds: int) -> tuple[float, float]:
    """Return the limits within which a player who tosses a coin scores with a probability of 95%."""
    if not rounds:
        return 0.0, 1.0
    low, high = binom.ppf([0.025, 0.975], rounds, 0.5)
    return float(low) / rounds, float(high) / rounds


def people(X: np.ndarray, domain: Domain, groups: Groups) -> dict[str, int]:
    """Return the rows of X (n, d; original units) that are worth asking about: "typical", "outlier", "small".

    The typical person is nearest to the middle of the largest group, the outlier farthest from the nearest group's
    middle, and the person called "small" nearest to the middle of the smallest group. NOT PRIVATE.
    """
    Z = domain.normalize(X)
    distances = np.where(np.isfinite(Z).all(axis=1)[:, None], cdist(np.nan_to_num(Z), groups.means), np.nan)
    return {
        "typical": int(np.nanargmin(distances[:, groups.sizes.argmax()])),
        "outlier": int(np.nanargmax(distances.min(axis=1))),
        "small": int(np.nanargmin(distances[:, groups.sizes.argmin()])),
    }


def _fixed(domain: Domain, n_public: int) -> Domain:
    """Return the domain with a declared number of rows, the same in both worlds so that it does not tell them apart."""
    return dataclasses.replace(domain, n_public=n_public)


def _bound(algorithm: Algorithm, domain: Domain) -> Bound:
    size = domain.n_features, int(domain.n_public or 1)
    return Bound.of_plan(algorithm.plan(*size), algorithm.guarantee(*size))


def present(
    algorithm: Algorithm, X: np.ndarray, domain: Domain, n_public: int, person: np.ndarray, row: int | None = None
) -> Question:
    """Return the question "is this person in the data?".

    `row` is the index of the person's row in X (n, d), or None for a person without a row. If a relation keeps the
    number of rows, the world outside has a row at the middle of the public bounds instead; without `row`, both worlds
    then lack the last row of X.
    """
    domain = _fixed(domain, n_public)
    others = X if row is None else np.delete(X, row, axis=0)
    if algorithm.neighboring is Neighboring.ADD_REMOVE:
        return Question(np.vstack([others, person]), others, domain, person, None, _bound(algorithm, domain))
    return _exchanged(algorithm, others if row is not None else X[:-1], domain, person, domain.middle)


def moved(
    algorithm: Algorithm, X: np.ndarray, domain: Domain, n_public: int, person: np.ndarray, far: float,
    row: int | None = None,
) -> Question:  # fmt: skip
    """Return the question "is this person here, or `far` z units away toward the middle of the bounds?"."""
    domain = _fixed(domain, n_public)
    others = X[:-1] if row is None else np.delete(X, row, axis=0)
    here = domain.normalize(person[None])[0]
    length = float(np.linalg.norm(here))
    way = -here / length if length > 1e-9 else np.eye(len(here))[0]
    there = domain.inside((here + far * way)[None])[0]
    return _exchanged(algorithm, others, domain, person, there)


def _exchanged(
    algorithm: Algorithm, others: np.ndarray, domain: Domain, person: np.ndarray, elsewhere: np.ndarray
) -> Question:
    """Return the question "at which of two places is the person?", with the promise that holds for such an exchange."""
    bound = _bound(algorithm, domain)
    here, there = domain.normalize(np.stack([person, elsewhere]))
    if algorithm.neighboring is Neighboring.ADD_REMOVE:
        bound = bound.steps(2)  # one row removed, one added
    elif algorithm.neighboring is Neighboring.MOVE_RHO:
        rho = float(getattr(algorithm, "rho_distance", math.inf))
        bound = bound.steps(max(1, math.ceil(float(np.linalg.norm(here - there)) / rho - 1e-9)))
    inside, outside = (np.vstack([others, row]) for row in (person, elsewhere))
    return Question(inside, outside, domain, person, elsewhere, bound)


def play(
    question: Question, algorithm: Algorithm, first: int, count: int, seed: int,
    world: bool | None = None, on_round: Callable[[int], None] = lambda done: None,
) -> list[Round]:  # fmt: skip
    """Play rounds `first` to `first + count - 1` of the game with this seed; a coin picks the world of each.

    If a `world` is given, all rounds are in that world and have seeds that no round of the game uses.
    """
    worlds = {
        True: (question.inside, question.outside),
        False: (question.outside, question.inside),
    }
    rows = {inside: Neighbors(*pair, question.domain) for inside, pair in worlds.items()}
    exact = not algorithm.notion.private
    tried = {inside: _tried(question, algorithm, inside, seed) for inside in worlds} if exact and world is None else {}
    rounds = []
    for number in range(first, first + count):
        coin = bool(np.random.default_rng([seed, number]).integers(2)) if world is None else world
        own = 2 * (seed + number + _APART * (world is not None)) + coin
        if exact:
            centers = algorithm.run(worlds[coin][0], domain=question.domain, seed=own).cluster_centers
            speaks = _nearer(question.domain, centers, tried) if tried else 0.0
        else:
            trace = algorithm.run(rows[coin], seed=own)
            centers = trace.cluster_centers
            ratio = log_ratio(trace.ledger, rows[coin].witness.exchanges)
            speaks = 0.0 if math.isnan(ratio) else ratio if coin else -ratio
        rounds.append(Round(coin, centers, speaks))
        on_round(len(rounds))
    return rounds


def _tried(question: Question, algorithm: Algorithm, inside: bool, seed: int) -> list[np.ndarray]:
    """Return the centers that an attacker gets from trial runs of an exact method in one of the two worlds."""
    X = question.inside if inside else question.outside
    seeds = (2 * (seed + 2 * _APART + run) + inside for run in range(_TRIED))
    return [algorithm.run(X, domain=question.domain, seed=own).cluster_centers for own in seeds]


def _nearer(domain: Domain, centers: np.ndarray, tried: dict[bool, list[np.ndarray]]) -> float:
    """Return how much closer centers are to those from trials inside than to those from trials outside, in z units."""

    def gap(inside: bool) -> float:
        return min(float(np.abs(_ordered(domain, centers) - _ordered(domain, other)).sum()) for other in tried[inside])

    return gap(False) - gap(True)


def _ordered(domain: Domain, centers: np.ndarray) -> np.ndarray:
    z = domain.normalize(centers)
    return z[np.lexsort(z.T.round(6))]


def attack(rounds: Sequence[Round]) -> list[bool]:
    """Return the machine's answer in every round, True for "in": it follows `speaks`, and tosses a coin in a tie.

    At even odds against a private method, no player is right more often, even one who knows the noise distribution.
    """
    rounds = tuple(rounds)  # a copy, because rounds may be added to the list meanwhile
    coins = np.random.default_rng(len(rounds)).integers(2, size=len(rounds))
    return [one.speaks > 0 if one.speaks else bool(coin) for one, coin in zip(rounds, coins, strict=True)]


def score(rounds: Sequence[Round], bets: Sequence[bool]) -> Tally:
    """Return the score of a player's bets on the first rounds, one bet per round."""
    hits = sum(one.inside == bet for one, bet in zip(rounds, bets, strict=False))
    return Tally(hits, min(len(rounds), len(bets)))


def rates(rounds: Sequence[Round], bets: Sequence[bool]) -> tuple[Tally, Tally]:
    """Return (false alarms in the rounds outside, misses in the rounds inside)."""
    pairs = list(zip(rounds, bets, strict=False))
    outside = [bet for one, bet in pairs if not one.inside]
    inside = [not bet for one, bet in pairs if one.inside]
    return Tally(sum(outside), len(outside)), Tally(sum(inside), len(inside))
