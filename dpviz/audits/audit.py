"""Audit an algorithm: bound from below what it reveals on the worst neighbors that we can write, and check its claim.

The audit of a pair of neighbors gives two numbers. `realized` is the cost of the true changes in the recorded queries,
at the recorded noise scales. Whatever noise was drawn, this cost may never exceed the claim, and no change may exceed
its declared sensitivity. `lower_bound` trusts no record: an adversary bets on the data set behind many runs, and
Clopper-Pearson limits of its hit rate bound mu (or epsilon) from below. The adversary chooses its statistic and its
threshold on separate runs. `ceiling` is the largest bound that as many runs can show; an audit that could not have
refuted its claim does not confirm it either, so algorithms are audited at an epsilon for which the runs suffice.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta, chi2, kstest

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.audits.facts import facts, scores
from dpviz.audits.witness import Exchange, Neighbors, change, log_ratio, realized, residuals
from dpviz.domain import Domain
from dpviz.geometry import GRID
from dpviz.privacy.guarantee import Guarantee, Neighboring
from dpviz.privacy.ledger import Release
from dpviz.privacy.rows import Rows
from dpviz.trace import Trace

__all__ = [
    "Draws",
    "Finding",
    "Pair",
    "audit",
    "ceiling",
    "clopper_pearson",
    "distinguish",
    "draws",
    "instance",
    "lower_bound",
    "pairs",
    "statistics",
    "sufficient",
]

RUNS = 300  # runs of a whole audit on each of the two neighbors
_MARGIN = 1.1  # the ceiling of an audit is at least this multiple of the claim


def instance(cls: type[Algorithm], *, runs: int | None = None, confidence: float = 0.95, **values: Any) -> Algorithm:
    """Return an algorithm with parameters that make leaks easy to see; `values` override them.

    The algorithm has two centers. A plan of Gaussian releases gets a mu near 1.2 from epsilon = 1 and a large delta,
    because a larger epsilon would give some algorithms more rounds; any other plan gets epsilon = 4, at which every
    stage shows its noise, and delta = .001. With `runs`, epsilon is the largest of 1, .5 and .25 at which so many runs
    can refute the claim. A promise about moves gets rho = .25.
    """

    def build(**settings: Any) -> Algorithm:
        asked = {"n_clusters": 2, "rho_distance": 0.25, **settings, **values}
        return cls(**{name: value for name, value in asked.items() if name in params.specs(cls)})

    def built(epsilon: float) -> Algorithm:
        gaussian = build(epsilon=min(epsilon, 1.0), delta=0.2)
        return gaussian if gaussian.guarantee(2, 12).mu is not None else build(epsilon=epsilon, delta=1e-3)

    if runs is None:
        return built(4.0)
    return sufficient(map(built, (1.0, 0.5, 0.25)), 2, 12, runs, confidence)


def sufficient(
    made: Iterable[Algorithm], n_features: int, n_public: int, runs: int, confidence: float = 0.95
) -> Algorithm:
    """Return the first of several algorithms whose claim lies clearly below the `ceiling`, or the last of them."""
    for one in made:
        notion, claimed, delta = _claim(one.guarantee(n_features, n_public))
        if ceiling(runs, confidence, delta=delta) >= _MARGIN * claimed:
            break
    return one


def _claim(promise: Guarantee) -> tuple[str, float, float | None]:
    """Return a promise's notion, its size in this notion, and the delta at which epsilon is bounded."""
    return ("epsilon", promise.epsilon, promise.delta) if promise.mu is None else ("mu", promise.mu, None)


class Pair(NamedTuple):
    """Two neighboring data sets in z units; `row` is the row of `first` in which they differ."""

    name: str
    first: np.ndarray
    second: np.ndarray
    row: np.ndarray


def pairs(relation: Neighboring, *, n: int = 12, n_features: int = 2, rho_distance: float = 0.25) -> tuple[Pair, ...]:
    """Return pairs of adversarial neighbors, chosen to break real implementations rather than to look like data.

    Under add/remove `first` has a row that `second` lacks; otherwise the row is replaced, or moved by rho.
    """
    d = n_features
    one, spread = np.ones(d), np.zeros((n - 1, d))
    signs = 1.0 - 2.0 * ((np.arange(n - 1)[:, None] >> np.arange(d)) & 1)
    cases = {
        "empty cluster": (spread - 0.75, 0.75 * one, -0.75 * one),
        "all rows equal": (spread + 0.5, 0.5 * one, -0.5 * one),
        "outlier in the corner": (spread, one, -one),
        "n = k": (-0.5 * one[None], 0.5 * one, -0.5 * one),
        "ties": (0.5 * signs, 0 * one, one),
    }
    neighbors = []
    for name, (base, row, other) in cases.items():
        first = np.vstack([base, row])
        if relation is Neighboring.ADD_REMOVE:
            second = base
        elif relation is Neighboring.REPLACE:
            second = np.vstack([base, other])
        else:
            step = (other - row) / np.linalg.norm(other - row)
            second = np.vstack([base, row + rho_distance * step])
        neighbors.append(Pair(name, first, second, row))
    return tuple(neighbors)


def clopper_pearson(hits: int, runs: int, confidence: float) -> tuple[float, float]:
    """Return exact two-sided confidence limits for a probability (Clopper-Pearson)."""
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, runs - hits + 1))
    high = 1.0 if hits == runs else float(beta.ppf(1 - tail, hits + 1, runs - hits))
    return low, high


def lower_bound(
    hits: int, runs: int, false_hits: int, false_runs: int, confidence: float, *, delta: float | None = None
) -> float:
    """Return a lower bound on mu, or on epsilon at `delta`, from how often an event happened on each data set.

    mu: Phi^-1(P first) - Phi^-1(P second). epsilon: ln((P first - delta) / P second), or the same for the event's
    complement, with the data sets exchanged. Each probability is replaced by the Clopper-Pearson limit that favors the
    algorithm.
    """
    low, _ = clopper_pearson(hits, runs, confidence)
    _, high = clopper_pearson(false_hits, false_runs, confidence)
    if delta is None:
        return max(0.0, float(ndtri(low) - ndtri(high)))
    ratios = ((low - delta) / high, (1 - high - delta) / (1 - low))
    return max(0.0, math.log(max(*ratios, 1.0)))


def ceiling(runs: int, confidence: float, *, delta: float | None = None) -> float:
    """Return the largest lower bound that `runs` on each data set can show, for a method that publishes its rows."""
    counted = runs - runs // 3  # the others are for training
    return lower_bound(counted, counted, 0, counted, confidence, delta=delta)


class Event(NamedTuple):
    """The event that `sign` * statistic >= `line`."""

    statistic: str
    sign: int
    line: float


Sample = Mapping[str, np.ndarray]


def _best_event(first: Sample, second: Sample, delta: float | None) -> Event:
    """Return the event with the largest lower bound on the training runs.

    The confidence is 80%, because a higher confidence would need more runs. A few thresholds are tried per statistic:
    halfway between the means, at the smallest value of the first data set, above all values of the second, and, if
    there are many runs, at quantiles. A later threshold must be clearly better than the best so far. More thresholds
    would overfit the training runs.
    """
    n = len(next(iter(first.values())))
    best, event = -1.0, Event(next(iter(first)), 1, 0.0)
    for name in first:
        for sign in (1, -1):
            a, b = sign * first[name], sign * second[name]
            quantiles = np.quantile(np.concatenate([a, b]), np.linspace(0.01, 0.99, min(40, n // 50)))
            for line in (0.5 * (a.mean() + b.mean()), a.min(), np.nextafter(b.max(), np.inf), *quantiles):
                hits, false_hits = int((a >= line).sum()), int((b >= line).sum())
                bound = lower_bound(hits, n, false_hits, n, 0.8, delta=delta)
                if best < 0 or bound > best + 0.1 * (1 + best) * math.sqrt(30 / n):
                    best, event = bound, Event(name, sign, float(line))
    return event


def distinguish(first: Sample, second: Sample, confidence: float, *, delta: float | None = None) -> tuple[float, str]:
    """Return (lower bound, statistic used) for samples of statistics on each data set; a third is for training."""
    cut = len(next(iter(first.values()))) // 3
    training = [{name: values[:cut] for name, values in sample.items()} for sample in (first, second)]
    event = _best_event(training[0], training[1], delta)
    happened = [event.sign * s[event.statistic][cut:] >= event.line for s in (first, second)]
    counts = (int(happened[0].sum()), len(happened[0]), int(happened[1].sum()), len(happened[1]))
    return lower_bound(*counts, confidence, delta=delta), event.statistic


def coincidences(noise: Sequence[tuple[Release, np.ndarray]]) -> int:
    """Return how many standardized noise values of a run are 0 or repeat another, to within the grid.

    There are almost none if every draw is independent, and many if one draw serves a whole vector or two releases.
    """
    if not noise:
        return 0
    tolerance = 2 * GRID / min(entry.scale for entry, _ in noise)
    values = np.sort(np.abs(np.concatenate([values for _, values in noise])))
    return int((values < tolerance).sum() + (np.diff(values) < tolerance).sum())


def statistics(trace: Trace, seen: Rows, pair: Pair, *, swapped: bool) -> dict[str, float]:
    """Return the statistics that the adversary computes from one run; larger values favor `pair.first`.

    likelihood: log likelihood ratio of everything released. coincidence: how many more zeros and repeats the noise has
    if the rows are `pair.first` than if they are `pair.second`. standing: minus the number of released centers that
    repeat an earlier one bit for bit. distance: minus the distance of the differing row to the nearest center. `audit`
    adds "trace", the evidence in all released fields together.
    """
    exchanges, sign = _exchanges(seen), -1 if swapped else 1
    noise = residuals(trace.ledger, exchanges) if exchanges else []
    mine = coincidences([(entry, values) for entry, values, _ in noise])
    theirs = coincidences([(entry, values) for entry, _, values in noise])
    centers = trace.domain.normalize(trace.cluster_centers)
    before = {
        row.tobytes()
        for step in trace.steps[:-1]
        for row in np.atleast_2d(step.released.get("centers", np.empty((0, 0))))
    }
    final = trace.steps[-1].released["centers"]
    return {
        "likelihood": sign * log_ratio(trace.ledger, exchanges) if exchanges else 0.0,
        "coincidence": float(sign * (mine - theirs)),
        "standing": -float(sum(row.tobytes() in before for row in final)),
        "distance": -float(np.linalg.norm(centers - pair.row, axis=1).min()),
    }


def _exchanges(rows: Rows) -> list[Exchange]:
    """Return the exchanges that a witness recorded, or no exchanges if there was no witness."""
    return rows.witness.exchanges if isinstance(rows, Neighbors) else []


NOTHING = {"likelihood": 0.0, "coincidence": 0.0, "standing": 0.0, "distance": 0.0}  # statistics of a failed run


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result for one pair of neighbors.

    Attributes
    ----------
    notion : "mu" or "epsilon", in which claimed, realized and lower_bound are given
    reach : largest change of a release between the neighbors, as a share of its declared sensitivity
    ceiling : the largest lower bound that as many runs could have shown
    statistic : name of the statistic that the adversary read
    """

    algorithm: str
    pair: str
    notion: str
    claimed: float
    realized: float
    reach: float
    lower_bound: float
    ceiling: float
    statistic: str
    runs: int
    seconds: float

    @property
    def refuted(self) -> bool:
        """Return whether `realized` or `lower_bound` is above the claim, or `reach` above 1."""
        return max(self.realized, self.lower_bound) > self.claimed * (1 + 1e-9) or self.reach > 1 + 1e-9

    @property
    def refutable(self) -> bool:
        """Return whether there were enough runs for `lower_bound` to exceed the claim."""
        return self.ceiling >= _MARGIN * self.claimed

    @property
    def holds(self) -> bool:
        """Return whether the claim was not refuted, although the runs could have refuted it."""
        return self.refutable and not self.refuted


def audit(
    algorithm: Algorithm,
    pair: Pair,
    *,
    runs: int = RUNS,
    confidence: float = 0.95,
    seed: int = 0,
    n_public: int | None = None,
    noise: str = "seeded",
    make_rows: Callable[[np.ndarray, np.ndarray, Domain], Rows] = Neighbors,
    on_run: Callable[[int], None] | None = None,
) -> Finding:
    """Run an algorithm `runs` times on each of two neighbors and bound from below what it reveals.

    The bound is on mu for plans of Gaussian releases, and on epsilon at the claim's delta for all others. Every run has
    its own seed, or no seed if `noise` is "secure". A run that raises an error is an outcome like any other. `n_public`
    is the declared number of rows, or None to declare the true number. `make_rows` makes Rows from (rows, neighboring
    rows, domain); if they have no witness, `realized` and `reach` are 0. `on_run` receives the number of finished runs
    and may raise an error to stop.
    """
    began = time.perf_counter()
    n = n_public or max(len(pair.first), 2)
    domain = Domain.box(-1, 1, pair.first.shape[1], scale="common", n_public=n)
    samples: list[dict[str, np.ndarray]] = []
    observations: list[list[Mapping[str, Hashable]]] = []
    worst, reach, trace = 0.0, 0.0, None
    for swapped, rows in enumerate((pair[1:3], pair[2:0:-1])):
        data = make_rows(*rows, domain)
        bounds: list[dict[str, float]] = []
        observed: list[Mapping[str, Hashable]] = []
        for run in range(runs):
            own_seed = seed + 2 * run + swapped if noise == "seeded" else None
            try:
                ran = algorithm.run(data, seed=own_seed, noise=noise)
            except (ValueError, ArithmeticError, LookupError, PermissionError) as problem:
                bounds.append(NOTHING)
                observed.append({"raised": repr(problem)})
            else:
                trace, exchanges = ran, _exchanges(data)
                if exchanges:
                    cost = realized(ran.ledger, exchanges, ran.claimed.delta)
                    worst = max(worst, cost.epsilon if ran.claimed.mu is None else cost.mu or 0.0)
                    for entry, seen in zip(ran.ledger, exchanges, strict=True):
                        reach = max(reach, change(entry, seen) / (entry.sensitivity or 1.0))
                bounds.append(statistics(ran, data, pair, swapped=bool(swapped)))
                observed.append({**facts(ran), "raised": ""})
            if on_run is not None:
                on_run(swapped * runs + run + 1)
        samples.append({name: np.array([item[name] for item in bounds]) for name in bounds[0]})
        observations.append(observed)
    if trace is None:
        raise ValueError(f"audit: {algorithm.name} raised in every run: {observations[0][0]['raised']}.")
    for sample, speaks in zip(samples, scores(observations[0], observations[1], runs // 3), strict=True):
        sample["trace"] = speaks
    notion, claimed, delta = _claim(trace.claimed)
    bound, statistic = distinguish(samples[0], samples[1], confidence, delta=delta)
    top, seconds = ceiling(runs, confidence, delta=delta), time.perf_counter() - began
    return Finding(algorithm.slug, pair.name, notion, claimed, worst, reach, bound, top, statistic, runs, seconds)


@dataclasses.dataclass(frozen=True)
class Draws:
    """Result of a comparison between the noise of many runs and the ledger.

    Attributes
    ----------
    entries : number of noise values checked
    p_value : smallest Kolmogorov-Smirnov p-value over plan entries, times their number; counts of keys, which are
        rounded, are tested for their variance
    correlation : largest |r| sqrt(m) between adjacent entries of a vector, parts of one release, or successive releases
    repeats : number of noise values, over all runs, that are 0 or repeat another value of the same run
    selections : |z| of the number of times that the likeliest candidate was chosen; 0 if no release is a selection
    """

    entries: int
    p_value: float
    correlation: float
    repeats: int
    selections: float


def draws(algorithm: Algorithm, X: np.ndarray, *, runs: int = 30, seed: int = 0) -> Draws:
    """Check scale, shape and independence of every draw of an algorithm on rows X in [-1, 1]^d, z units."""
    domain = Domain.box(-1, 1, X.shape[1], scale="common", n_public=len(X))
    data = Neighbors(X, X, domain)
    pooled: dict[tuple[str, str], list[np.ndarray]] = {}
    rounded: dict[str, list[np.ndarray]] = {}
    lags: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    repeats, score, variance = 0, 0.0, 0.0
    for run in range(runs):
        trace = algorithm.run(data, seed=seed + run)
        exchanges = data.witness.exchanges
        noise = [(entry, mine) for entry, mine, _ in residuals(trace.ledger, exchanges)]
        for entry, values in noise:
            pooled.setdefault((entry.name, entry.mechanism), []).append(values)
            lags.setdefault(f"{entry.name} next", []).append((values[:-1], values[1:]))
        for (entry, values), (follower, following) in zip(noise, noise[1:], strict=False):
            m = min(len(values), len(following))
            lags.setdefault(f"{entry.name} {follower.name}", []).append((values[:m], following[:m]))
        repeats += coincidences(noise)
        for entry, seen in zip(trace.ledger, exchanges, strict=True):
            if entry.mechanism == "Threshold":
                has_key = seen.true > 0
                rounded.setdefault(entry.name, []).append(
                    (seen.released[0] - seen.true)[has_key] / math.sqrt(entry.scale**2 + 1 / 12)
                )
            if entry.mechanism == "Exponential":
                probability = np.exp((seen.true - seen.true.max()) / entry.scale)
                probability /= probability.sum()
                top = int(probability.argmax())
                score += float(seen.released == top) - probability[top]
                variance += float(probability[top] * (1 - probability[top]))
    scale = {"Gaussian": "norm", "Laplace": "laplace"}
    # the noise of the best of several candidates has no law of its own: a small cost is one that noise made smaller
    tests = [kstest(np.concatenate(v), scale[kind]).pvalue for (_, kind), v in pooled.items() if kind in scale]
    squares = [(float((np.concatenate(v) ** 2).sum()), sum(map(len, v))) for v in rounded.values()]
    tests += [2 * min(chi2.cdf(total, m), chi2.sf(total, m)) for total, m in squares if m]
    return Draws(
        entries=sum(len(v) for values in (*pooled.values(), *rounded.values()) for v in values),
        p_value=min([1.0, *(len(tests) * p for p in tests)]),
        correlation=max([0.0, *map(_correlation, lags.values())]),
        repeats=repeats,
        selections=abs(score) / math.sqrt(variance) if variance > 0 else 0.0,
    )


def _correlation(values: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return |r| sqrt(m) for m pairs of values, clipped to [-4, 4] so that heavy tails do not count, or 0 if m < 20."""
    a, b = (np.clip(np.concatenate(side), -4, 4) for side in zip(*values, strict=True))
    if len(a) < 20:
        return 0.0
    return abs(float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))) * math.sqrt(len(a))
