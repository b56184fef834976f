"""Simulate people from a released coreset, as stand-ins for rows that must not be read again."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from dpviz.domain import Domain
from dpviz.postprocessing.released import center_noise, weighted_points
from dpviz.trace import Coreset, Trace

__all__ = ["simulate", "stand_ins"]


def simulate(coreset: Coreset, domain: Domain, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw people from a released weighted point set; as post-processing, this costs nothing.

    Points are drawn with probabilities proportional to their noisy weights, and each person is placed uniformly in a
    ball around the drawn point; the ball reaches halfway to the nearest other point, in z units. All people lie in the
    public box. Groups that the coreset has lost are also missing here.

    Parameters
    ----------
    coreset : released points of shape (m, d), original units, with weights of shape (m,)
    n_rows : int, number of people to draw
    rng : numpy Generator

    Returns
    -------
    ndarray of shape (n_rows, d), original units

    Raises
    ------
    ValueError
        If no weight is positive.
    """
    weights = np.maximum(coreset.weights, 0.0)
    if not weights.sum() > 0:
        raise ValueError("simulate: the coreset must have a positive weight; here noise left none.")
    Z = domain.normalize(coreset.points)
    chosen = rng.choice(len(Z), n_rows, p=weights / weights.sum())
    if len(Z) > 1:
        reach = cKDTree(Z).query(Z, k=2)[0][:, 1] / 2
    else:
        reach = np.full(1, domain.radius / 2)
    steps = rng.normal(size=(n_rows, Z.shape[1]))
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    steps *= (reach[chosen] * rng.random(n_rows) ** (1 / Z.shape[1]))[:, None]
    return domain.denormalize(np.clip(Z[chosen] + steps, -domain.box_z, domain.box_z))


def stand_ins(trace: Trace, n_rows: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw several populations that could have produced a release; the noise of the weights is drawn anew for each.

    Each population starts from the released weighted points (a coreset, survivors with votes, or centers with sizes)
    and adds noise to every weight once more, so that a group about as small as the noise is sometimes lost and
    sometimes larger. Then n_rows people are distributed among the points in proportion to these weights, uniformly in a
    ball that reaches halfway to the nearest other point. Positions within the balls are the same in all populations, so
    that populations differ by the noise alone, and not by the draw of people.

    Parameters
    ----------
    n_rows : int, the declared number of people; never the true one
    count : int, number of populations

    Returns
    -------
    list of ndarrays of shape (n_rows, d), original units

    Raises
    ------
    ValueError
        If the run released neither points nor sizes.
    """
    points, weights, sd = _source(trace)
    places = int(rng.integers(2**32))
    people = []
    for _ in range(count):
        drawn = np.maximum(weights + sd * rng.normal(size=len(weights)), 0.0)
        drawn = drawn if drawn.sum() > 0 else np.ones(len(drawn))
        ends = np.floor(np.cumsum(drawn) / drawn.sum() * n_rows + 0.5).astype(int)
        people.append(trace.domain.denormalize(_around(points, np.diff(ends, prepend=0), trace.domain, places)))
    return people


def _source(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (m, d), z units, their noisy weights (m,), and the standard deviations of these weights (m,)."""
    if not trace.claimed.private:
        raise ValueError(f"{trace.name}: this run released no sizes, so no people can be simulated from it.")
    last = next(step for step in reversed(trace.steps) if "centers" in step.released)
    points = weighted_points(trace, last)
    if points is not None and len(points[0]):
        return np.asarray(points[0]), np.asarray(points[1], dtype=float), np.asarray(points[2], dtype=float)
    noise = center_noise(trace)
    if noise.sizes is None or len(noise.sizes) != len(trace.cluster_centers):
        raise ValueError(f"{trace.name}: this run released no sizes, so no people can be simulated from it.")
    sd = np.full(len(noise.sizes), noise.sizes_sd or 0.0)
    return trace.domain.normalize(trace.cluster_centers), np.asarray(noise.sizes, dtype=float), sd


def _around(points: np.ndarray, counts: np.ndarray, domain: Domain, places: int) -> np.ndarray:
    """Return counts[j] people around each point j (m, d), always at the same positions; z units."""
    on = counts > 0
    reach = np.full(len(points), domain.radius / 2)
    if on.sum() > 1:
        reach[on] = cKDTree(points[on]).query(points[on], k=2)[0][:, 1] / 2
    parts = []
    for j in np.flatnonzero(on):
        own = np.random.default_rng([places, int(j)])
        steps = own.normal(size=(counts[j], points.shape[1]))
        steps *= (own.random(counts[j]) ** (1 / points.shape[1]) / np.linalg.norm(steps, axis=1))[:, None]
        parts.append(points[j] + reach[j] * steps)
    return np.clip(np.concatenate(parts), -domain.box_z, domain.box_z)
