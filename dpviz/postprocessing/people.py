"""People made up from a released coreset: a stand-in for rows that nobody may look at twice."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from dpviz.domain import Domain
from dpviz.trace import Coreset

__all__ = ["simulate"]


def simulate(coreset: Coreset, domain: Domain, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows from a released weighted point set; post-processing, so it costs nothing.

    A point is drawn in proportion to its noisy weight and moved uniformly within a ball that reaches half way to the
    nearest other point, in z units. The result lies in the public box. What the coreset has lost, this has lost too.

    Parameters
    ----------
    coreset : points of shape (m, d), original units, and weights of shape (m,)
    n_rows : int
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
        raise ValueError("simulate: the coreset must have a positive weight; its noise has covered everything.")
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
