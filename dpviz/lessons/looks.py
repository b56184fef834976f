"""Lesson: every look at the same people costs budget, and the mean of ten looks reveals what each look hid."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lesson_maps import mean_panel
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.lessons.ground import Ground, ground, odds
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import number
from dpviz.postprocessing.bet import odds_of_any
from dpviz.privacy.accounting import default_delta, epsilon_of_mu, mu_of_epsilon
from dpviz.privacy.guarantee import Guarantee
from dpviz.privacy.ledger import spent
from dpviz.runs.reruns import matched
from dpviz.trace import Trace

__all__ = ["LEGEND", "LOOKS", "TITLE", "panels", "run"]

LOOKS = 10
EPSILON = 1.0
ONCE = 5  # runs with the whole budget, whose mean error is compared
SUMMARY = "candidates"  # the town's rows do not crowd, so a first look would choose nothing else
PEOPLE = 5_000  # people in the town
_DELTA = default_delta(PEOPLE)
# squares of μ add up, so all looks together have sqrt(LOOKS) times the μ of one
TITLE = {"total": number(epsilon_of_mu(math.sqrt(LOOKS) * mu_of_epsilon(EPSILON, _DELTA), _DELTA))}
LEGEND = (
    ("disc", "a center of one look"),
    ("center", "mean of all looks so far"),
    ("square", "the same method without noise"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class LookRuns:
    """Ten runs; `target` (k, d), original units, is the limit of their mean as the noise averages out."""

    ground: Ground
    traces: tuple[Trace, ...]
    target: np.ndarray

    @property
    def centers(self) -> np.ndarray:
        """Return the centers of every look (looks, k, d), in the order of the target's matching centers."""
        return matched([trace.cluster_centers for trace in self.traces], self.target, self.ground.data.domain)

    @property
    def means(self) -> np.ndarray:
        """Return, after each look, the mean of the looks so far (looks, k, d)."""
        return np.cumsum(self.centers, axis=0) / np.arange(1, len(self.traces) + 1)[:, None, None]

    def off(self, centers: np.ndarray) -> np.ndarray:
        """Return the root-mean-square distance of centers (..., k, d) from the target, in the data's units."""
        return np.sqrt(((centers - self.target) ** 2).sum(axis=-1).mean(axis=-1))

    @property
    def spent(self) -> list[Guarantee]:
        """Return, after each look, the total cost of the looks so far, computed from their ledgers."""
        delta = self.traces[0].claimed.delta
        totals = []
        for looks in range(1, len(self.traces) + 1):
            ledger = [release for trace in self.traces[:looks] for release in trace.ledger]
            total = spent(ledger, delta)
            totals.append(
                dataclasses.replace(self.traces[0].claimed, epsilon=total.epsilon, mu=total.mu, zcdp=total.zcdp)
            )
        return totals


def run(seed: int) -> Exhibit:
    """Run NSM on the town ten times."""
    town = ground("town")
    traces = tuple(town.run("nsm", LOOKS * seed + look, epsilon=EPSILON, summary=SUMMARY) for look in range(LOOKS))
    data, method = town.data, town.algorithm("nsm", epsilon=EPSILON, summary=SUMMARY)
    target = method.run(data.X, domain=data.domain, seed=seed, noise="none").cluster_centers
    runs = LookRuns(town, traces, target)
    single, mean = runs.off(runs.centers), runs.off(runs.means)
    spent = runs.spent
    once = [
        town.run("nsm", LOOKS * seed + i, epsilon=spent[-1].epsilon, summary=SUMMARY).cluster_centers
        for i in range(ONCE)
    ]
    whole = runs.off(matched(once, target, data.domain)).mean(keepdims=True)
    titles = tuple(
        f"Look {look} · spent so far ε {number(promise.epsilon)}, a bet is right at most {odds(promise)}; "
        f"this look is off by {one}, the mean of all by {every}"
        for look, promise, one, every in zip(range(1, LOOKS + 1), spent, _words(single), _words(mean), strict=True)
    )
    facts = {
        "people": f"{len(data.X):,}", "looks": LOOKS, "epsilon": number(EPSILON), "sum": number(LOOKS * EPSILON),
        "total": number(spent[-1].epsilon), "odds": spent[0].odds, "odds_all": spent[-1].odds,
        "any": odds_of_any(spent[0]), "any_all": odds_of_any(spent[-1]),
        "single": _words(single.mean()[None])[0], "mean": _words(mean)[-1],
        "times": number(float(np.mean(single)) / float(mean[-1]), 2), "root": number(math.sqrt(LOOKS), 2),
        "whole": _words(whole)[0],
    }  # fmt: skip
    answer = {0} if spent[-1].epsilon > 1.5 * EPSILON and mean[-1] < np.mean(single) else {1}
    return Exhibit(facts, titles, frozenset(answer), first=0, hint=LOOKS - 1, runs=runs)


def _words(lengths: np.ndarray) -> list[str]:
    return [f"{1000 * float(length):.0f} m" for length in lengths]


def panels(runs: LookRuns, colors: Theme) -> list[Panel]:
    """Return two panels: the looks with their mean, and their cost so far."""
    view = runs.ground.view(runs.traces[0], colors, kmeans=True)
    which = int(np.abs(runs.centers - runs.target).max(axis=(0, 2)).argmax())  # the center farthest from its target
    plane = mean_panel(view, runs.centers[:, which], runs.means[:, which], runs.target[which])
    epsilons = [promise.epsilon for promise in runs.spent]
    cost = Values(
        f"{LOOKS} looks spend ε {number(epsilons[-1])} on the same people", "ε",
        [str(look) for look in range(1, LOOKS + 1)], epsilons, [number(epsilon) for epsilon in epsilons],
        line=(EPSILON, "one look"),
    )  # fmt: skip
    return [plane, values_panel(colors, cost)]
