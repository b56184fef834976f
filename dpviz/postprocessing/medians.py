"""Run weighted k-median on released points; this costs no privacy."""

from __future__ import annotations

import numpy as np

from dpviz.geometry import bincount

__all__ = ["OBJECTIVES", "medians_on"]

OBJECTIVES = ("means", "medians")
_ROUNDS = 20


def medians_on(points: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return centers (k, d) after twenty rounds that assign each point to its center and then take one Weiszfeld step.

    A center without points stays where it is. Distances are raised to at least 1e-9, to avoid a division by 0.
    """
    for _ in range(_ROUNDS):
        squares = ((centers**2).sum(axis=1) - 2 * points @ centers.T) + (points**2).sum(axis=1)[:, None]
        labels = squares.argmin(axis=1)
        pull = weights / np.sqrt(np.maximum(squares[np.arange(len(points)), labels], 1e-18))
        mass = bincount(labels, weights=pull, minlength=len(centers))
        sums = np.column_stack([bincount(labels, weights=pull * c, minlength=len(centers)) for c in points.T])
        centers = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centers)
    return centers
