"""Lesson: what one person moves. A step of Alex moves a sum as far, a count not at all, a center across the town."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import View
from dpviz.figures.scenes.lesson_maps import joined_panel
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import length, number
from dpviz.runs.reruns import matched
from dpviz.trace import Trace

__all__ = ["ANGLES", "LEGEND", "TIMES", "panels", "run"]

HALF, CORNER, WALK = 12.0, 6.0, 9.0  # half-width of the bounds, of the square of neighborhoods, Alex's distance; km
EACH, TIMES = 10, 10  # people of a neighborhood; the larger town has so many times as many
ANGLES = (0, 20, 40, 44, 46, 50, 70, 90)  # Alex's directions, degrees from the east
AFTER = ANGLES.index(46)  # this step of Alex passes the diagonal
FAR = (1, 2, 10)  # Alex's last distances to the north, in half-widths of the bounds
NAMES, UNITS = ("east", "north"), ("km", "km")
LEGEND = (
    ("diamond", "KMeans' center with Alex"),
    ("square", "exact center one place before"),
    ("marked_ring", "Alex"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class PersonRun:
    """KMeans with Alex at every place, and without.

    Attributes
    ----------
    X : ndarray of shape (n, 2), everybody but Alex, km
    places : ndarray of shape (places, 2), where Alex is, km; the last ones lie outside the bounds
    without : the run without Alex
    centers : ndarray of shape (1 + places, 2, 2), KMeans' centers without Alex, and at every place
    """

    X: np.ndarray
    places: np.ndarray
    without: Trace
    centers: np.ndarray

    @property
    def counted(self) -> np.ndarray:
        """Return where Alex counts at every place (places, 2): at the nearest edge of the bounds if outside."""
        return np.clip(self.places, -HALF, HALF)

    @property
    def means(self) -> np.ndarray:
        """Return the mean of everybody, without Alex and at every place (1 + places, 2)."""
        return np.vstack([self.X.mean(axis=0), (self.X.sum(axis=0) + self.counted) / (len(self.X) + 1)])

    @property
    def sums(self) -> np.ndarray:
        """Return the sum of everybody, without Alex and at every place (1 + places, 2)."""
        return self.X.sum(axis=0) + np.vstack([np.zeros(2), self.counted])


def steps(values: np.ndarray) -> np.ndarray:
    """Return how far values (1 + places, ..., 2) move at every step of Alex, the farthest of them (places,)."""
    far = np.linalg.norm(np.diff(values, axis=0), axis=-1)
    return far if far.ndim == 1 else far.max(axis=1)


def town(seed: int, times: int = 1) -> np.ndarray:
    """Return people (4 EACH times, 2), km: the same neighborhood at every corner of a square, turned by 90 degrees.

    Half of it is the mirror image of the other half, so that two centers serve east and west as well as the rest.
    """
    one = np.random.default_rng(seed).normal(CORNER, 0.8, (EACH // 2, 2))
    one = np.concatenate([one, one[:, ::-1]])
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    return np.repeat(np.concatenate([one @ np.linalg.matrix_power(turn, i) for i in range(4)]), times, axis=0)


@cache
def walk() -> np.ndarray:
    """Return Alex's places (places, 2), km: a quarter of a circle, then north across the bounds."""
    angles = np.radians(ANGLES)
    around = WALK * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([around, [[0.0, HALF * far] for far in FAR]])


def kmeans(X: np.ndarray) -> Trace:
    """Run KMeans with two centers on people (n, 2), km."""
    domain = Domain.box(-HALF, HALF, 2, columns=NAMES, units=UNITS, n_public=len(X))
    return ALGORITHMS["kmeans"](n_clusters=2).run(X, domain=domain, seed=0)


def walked(seed: int, times: int = 1) -> PersonRun:
    """Return KMeans on a draw of the town, with Alex at every place."""
    X, places = town(seed, times), walk()
    without = kmeans(X)
    runs = PersonRun(X, places, without, np.empty(0))
    centers = [without.cluster_centers]
    for place in runs.counted:  # each center follows the nearest one before
        centers += list(matched([kmeans(np.vstack([X, place])).cluster_centers], centers[-1], without.domain))
    return dataclasses.replace(runs, centers=np.array(centers))


def run(seed: int) -> Exhibit:
    """Let Alex walk in a town of 40 people, and in one of ten times as many."""
    runs, larger = walked(seed), walked(seed, TIMES)
    n, walks = len(runs.X), np.linalg.norm(np.diff(np.vstack([np.zeros(2), runs.places]), axis=0), axis=1)
    moved = zip(steps(runs.sums), steps(runs.means), steps(runs.centers), strict=True)
    titles = tuple(
        f"Alex is {number(round(east, 2))} km east, {number(round(north, 2))} km north · {_step(i, walked, *moves)}"
        for i, ((east, north), walked, moves) in enumerate(zip(runs.places, walks, moved, strict=True))
    )
    step, mean, jump = (float(steps(values)[AFTER]) for values in (runs.sums, runs.means, runs.centers))
    facts = {
        "people": n, "more": n * TIMES, "step": _km(step), "mean": _km(mean), "jump": _km(jump),
        "again": _km(steps(larger.centers)[AFTER]), "mean_again": _km(steps(larger.means)[AFTER]),
        "edge": _km(HALF * np.sqrt(2)), "far": _km(HALF * FAR[-1]), "times": number(jump / step, 2),
    }  # fmt: skip
    return Exhibit(facts, titles, frozenset({3 if jump > 5 * step else 0}), first=AFTER - 1, hint=AFTER, runs=runs)


def _km(value: float) -> str:
    return length(float(value), "km", 2 if value >= 1 else 3)


def _step(i: int, walked: float, added: float, mean: float, center: float) -> str:
    """Return what a step of Alex moves, and how far."""
    if not added:
        return f"a step of {_km(walked)} outside the bounds moves nothing: Alex counts at their edge"
    others = f"the mean by {_km(mean)}, a center by {_km(center)}"
    if not i:
        return f"Alex joins, adds {_km(added)} to the sum and 1 to the count, and moves {others}"
    return f"a step of {_km(walked)} moves the sum by {_km(added)}, {others}"


def panels(runs: PersonRun, colors: Theme) -> list[Panel]:
    """Return two panels: the town with Alex and the centers, and how far each step moves a center."""
    view = View(runs.without, colors, (0, 1), NAMES, UNITS, runs.X, None, hidden=True)
    title = f"Two centers for 4 neighborhoods of {len(runs.X)} people, and Alex"
    moved = steps(runs.centers).tolist()
    values = Values(
        f"A step moves a center by up to {_km(max(moved[1:]))}", "km",
        [*(f"{angle}°" for angle in ANGLES), "edge", *(f"{far}×" for far in FAR[1:])], moved, list(map(_km, moved)),
        private=True,
    )  # fmt: skip
    return [joined_panel(view, title, runs.centers, runs.counted), values_panel(colors, values)]
