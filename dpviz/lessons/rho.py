"""Lesson: what rho leaves open. A city's noisy points hide short moves, but not long moves or districts."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lesson_maps import moved_panel
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.geometry import bincount
from dpviz.lessons.ground import Ground, ground, odds
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import number, ratio_words
from dpviz.postprocessing.bet import odds_of_any
from dpviz.privacy.guarantee import Guarantee
from dpviz.trace import Trace

__all__ = ["LEGEND", "MOVES", "WINS", "panels", "run"]

MOVES = (1, 2, 5, 10, 20)  # lengths of Alex's move, in multiples of rho
WINS = 80  # bets of 100 that the task asks about
LEGEND = (
    ("dot", "noisy point: published, one for each person"),
    ("hoop", "how far Alex may have moved"),
    ("dotted", "from Alex to Alex's noisy point"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class MoveRun:
    """A run, and the index of Alex's row."""

    ground: Ground
    trace: Trace
    alex: int

    @property
    def promises(self) -> list[Guarantee]:
        """Return the promise about a move of each length: a move by m rho counts as m rows."""
        return [dataclasses.replace(self.trace.claimed, rows_per_person=moves) for moves in MOVES]

    @property
    def odds(self) -> list[int]:
        """Return the largest number of times in 100 that an attacker can be right about a move of each length."""
        return [promise.person.odds for promise in self.promises]

    @property
    def noisy(self) -> np.ndarray:
        """Return every row's published point (n, d), original units."""
        return self.trace.domain.denormalize(np.asarray(self.trace.steps[0].released["noisy_points"]))


def run(seed: int) -> Exhibit:
    """Run dist-DP with random points on the city."""
    city = ground("city")
    trace = city.run("dist-dp-random-points", seed, epsilon=1.0)
    domain, means = trace.domain, city.groups.means
    runs = MoveRun(city, trace, _typical(city))
    promises, rho = runs.promises, float(trace.claimed.rho_distance or 0.0)
    true, noisy = domain.normalize(city.data.X), np.asarray(trace.steps[0].released["noisy_points"])
    same = np.mean(_nearest(true, means) == _nearest(noisy, means))
    largest = float(bincount(_nearest(true, means)).max() / len(true))
    thrown = float(np.sqrt(((noisy - true) ** 2).sum(axis=1).mean()))
    words = [domain.length(moves * rho) for moves in MOVES]
    titles = tuple(
        f"A move of {moves} rho · Alex may be anywhere within {far}: a bet on whether Alex is here or there is right "
        f"at most {odds(promise)}"
        for moves, far, promise in zip(MOVES, words, promises, strict=True)
    )
    full = city.run("nsm", seed, epsilon=trace.claimed.epsilon / 2)  # changing a row costs twice as much as removing it
    facts = {
        "loss": ratio_words(city.ratio(trace.cluster_centers)), "full": ratio_words(city.ratio(full.cluster_centers)),
        "people": f"{len(true):,}", "rho": words[0], "thrown": domain.length(thrown), "districts": len(means),
        "same": f"{100 * same:.0f}", "largest": f"{100 * largest:.0f}", "near": runs.odds[0], "far": runs.odds[-1],
        "near_any": odds_of_any(promises[0]), "far_any": odds_of_any(promises[-1]),
        "wins": WINS, "far_epsilon": number(promises[-1].person.epsilon), "far_move": words[-1],
        "moves": MOVES[-1], "hinted": words[3], "hinted_odds": runs.odds[3],
    }  # fmt: skip
    rough = same > 2 * largest and thrown > rho
    return Exhibit(facts, titles, frozenset({1 if rough else 0}), first=0, hint=3, runs=runs)


def _typical(city: Ground) -> int:
    """Return the index of the row nearest to the middle of the first group."""
    return int(((city.data.domain.normalize(city.data.X) - city.groups.means[0]) ** 2).sum(axis=1).argmin())


def _nearest(Z: np.ndarray, means: np.ndarray) -> np.ndarray:
    return ((Z[:, None] - means[None]) ** 2).sum(axis=2).argmin(axis=1)


def panels(runs: MoveRun, colors: Theme) -> list[Panel]:
    """Return two panels: the city with all noisy points and Alex, and an attacker's odds for each length of a move."""
    city, trace = runs.ground, runs.trace
    view, rho = city.view(trace, colors), float(trace.claimed.rho_distance or 0.0)
    plane = moved_panel(
        view, f"{len(runs.noisy):,} noisy points, one for each person", runs.noisy, city.data.X[runs.alex],
        runs.noisy[runs.alex], [moves * rho for moves in MOVES],
    )  # fmt: skip
    bets = Values(
        f"Here or there? At most {runs.odds[0]} to {runs.odds[-1]} of 100 bets are right", "of 100",
        [f"{moves} rho" for moves in MOVES], runs.odds, [f"{right} of 100" for right in runs.odds],
        line=(50.0, "coin"),
    )  # fmt: skip
    return [plane, values_panel(colors, bets)]
