"""Choose the plane that shows data with many columns: two directions or two columns, from released centers alone.

Both choices are post-processing: they read no rows and cost nothing. The same centers give the same plane, bit for bit,
whatever the rows are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpviz.domain import Domain
from dpviz.trace import Trace

__all__ = ["Axes", "Span", "shared", "span_of", "widest"]

# margin around the centers, as a share of the width that they span, and smallest margin in z units
_MARGIN, _LEAST = 0.35, 0.2
_SAME = 1e-9  # centers closer to each other than this, in z units, count as one
_MOSTLY = 0.5  # a column makes up most of a direction if its square is at least this share of the sum of all squares


@dataclasses.dataclass(frozen=True)
class Span:
    """Two directions in the space of the columns, and the part of their plane that is drawn; hashable.

    If all columns share a scale, the plane is drawn in units of the data, so that lengths are true; otherwise it is
    drawn in z units.

    Attributes
    ----------
    middle : d numbers, the point in z units that is drawn at (0, 0)
    directions : 2 x d numbers, orthogonal vectors of equal length
    low, high : 2 numbers each, the drawn range
    of : description of the centers that define the plane
    """

    middle: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    of: str

    def flat(self, Z: np.ndarray) -> np.ndarray:
        """Map points (..., d) in z units to the plane (..., 2)."""
        return (Z - np.array(self.middle)) @ np.array(self.directions).T

    def lift(self, place: np.ndarray) -> np.ndarray:
        """Return the point (d,), z units, nearest to `middle` of all points that are drawn at the position (2,)."""
        directions = np.array(self.directions)
        return np.array(self.middle) + np.linalg.pinv(directions) @ place

    def leading(self, i: int) -> tuple[int, bool]:
        """Return the main column of direction `i`, and whether this column makes up most of the direction."""
        parts = np.square(self.directions[i])
        first = int(parts.argmax())
        return first, bool(parts[first] >= _MOSTLY * parts.sum())


Axes = tuple[int, int] | Span | None  # two columns, two directions, or None for the run's own directions


def span_of(domain: Domain, cluster_centers: np.ndarray, of: str = "the released centers") -> Span:
    """Return the first two principal directions of released centers (k, d), original units, with a range to draw.

    If the centers span fewer than two directions, the columns farthest from the spanned directions complete them. If
    all centers coincide, or if there are none, the range is that of the declared bounds.
    """
    d = domain.n_features
    centers = (np.asarray(cluster_centers, dtype=float).reshape(-1, d) - domain.middle) / domain.half_width
    middle = centers.mean(axis=0) if len(centers) else np.zeros(d)
    _, lengths, principal = np.linalg.svd(centers - middle, full_matrices=False)
    directions = np.empty((0, d))
    for vector in principal[lengths > _SAME][:2]:
        directions = np.vstack([directions, vector * np.sign(vector[np.abs(vector).argmax()])])
    while len(directions) < 2:
        rest = np.eye(d) - directions.T @ directions
        column = rest[int(np.linalg.norm(rest, axis=1).argmax())]
        directions = np.vstack([directions, column / np.linalg.norm(column)])
    box, reach = -directions @ middle, np.abs(directions) @ domain.box_z
    low, high = box - reach, box + reach
    if lengths.max(initial=0.0) > _SAME:
        places = (centers - middle) @ directions.T
        margin = max(_MARGIN * float(np.ptp(places, axis=0).max()), _LEAST)
        low, high = np.maximum(low, places.min(axis=0) - margin), np.minimum(high, places.max(axis=0) + margin)
    unit = float(domain.half_width.max()) if domain.one_scale else 1.0
    rows = (tuple(row) for row in (unit * directions).tolist())
    return Span(tuple(middle.tolist()), tuple(rows), tuple((unit * low).tolist()), tuple((unit * high).tolist()), of)


def shared(traces: Sequence[Trace]) -> Span:
    """Return the directions that the centers of several runs with the same bounds span together."""
    centers = np.concatenate([np.asarray(trace.cluster_centers) for trace in traces])
    return span_of(traces[0].domain, centers, "all runs' centers")


def widest(trace: Trace) -> tuple[int, int]:
    """Return the two columns in which the released centers differ most in z units, the lower number first."""
    spread = trace.domain.normalize(trace.cluster_centers).std(axis=0)
    first, second = sorted(np.argsort(-spread, kind="stable")[:2].tolist())
    return first, second
