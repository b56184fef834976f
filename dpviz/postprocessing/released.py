"""What a run leaves in the hand: its centers in the data's units, with noisy sizes and noise, as table, CSV and JSON.

Everything here follows from released values: it costs nothing, and it is the same for DEMO and PRIVATE.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from dpviz.trace import Step, Trace

__all__ = ["CenterNoise", "center_noise", "centers_csv", "centers_json", "centers_table", "coreset_table", "widest"]


@dataclasses.dataclass(frozen=True)
class CenterNoise:
    """What the noise means for each released center.

    Attributes
    ----------
    sizes : ndarray of shape (k',) or None, noisy number of rows of each center; may be negative
    sd : ndarray of shape (k',) or None, standard deviation of a center per column, z units
    sizes_sd : float or None, standard deviation of one size
    """

    sizes: np.ndarray | None = None
    sd: np.ndarray | None = None
    sizes_sd: float | None = None


def center_noise(trace: Trace) -> CenterNoise:
    """Return sizes and noise per center as far as the run's last releases tell them; released values only.

    Three ways in which algorithms make centers, told by the names of what they release:
    a noisy sum over a noisy count (noise of the sum over the count), an average with its own `sd`, and k-means on
    points with noisy weights (a weighted mean moves by sd sqrt(sum |p - c|^2) / weight in all columns together,
    to first order in the weights' noise).
    """
    if not trace.claimed.private:
        return CenterNoise()
    last = next(step for step in reversed(trace.steps) if "centers" in step.released)
    centers = np.asarray(last.released["centers"])
    released = last.released
    if "noisy_counts" in released and len(released["noisy_counts"]) == len(centers):
        return _of_averages(trace, last)
    if "sd" in released and len(released["sd"]) == len(centers):
        return CenterNoise(np.asarray(released["weights"]), np.asarray(released["sd"]))
    points = _weighted_points(trace, last)
    return CenterNoise() if points is None else _of_points(centers, *points)


def _of_averages(trace: Trace, step: Step) -> CenterNoise:
    """Return the noise of sums divided by noisy counts, from the scales of the step's own releases."""
    counts = np.asarray(step.released["noisy_counts"], dtype=float)
    before = trace.steps[step.index - 1].n_releases if step.index else 0
    entries = {entry.part: entry for entry in trace.ledger[before : step.n_releases]}
    if "sums" not in entries:
        return CenterNoise(counts)
    sums = entries["sums"]
    sd = sums.scale * (np.sqrt(2) if sums.mechanism == "Laplace" else 1.0)
    own = entries["counts"].scale * (np.sqrt(2) if entries["counts"].mechanism == "Laplace" else 1.0)
    return CenterNoise(counts, sd / np.maximum(counts, 1.0), float(own))


def _weighted_points(trace: Trace, step: Step) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the points (m, d) in z units, their noisy weights and the weights' noise, behind the last centers."""
    released = step.released
    if "population" in released:
        kept = np.asarray(released["kept"], dtype=bool)
        votes = np.asarray(released["noisy_votes"])[kept]
        return np.asarray(released["population"])[kept], votes, np.full(len(votes), released["noise_sd"])
    if trace.coreset is None:
        return None
    return trace.domain.normalize(trace.coreset.points), np.asarray(trace.coreset.weights), np.asarray(trace.coreset.sd)


def _of_points(centers: np.ndarray, points: np.ndarray, weights: np.ndarray, sd: np.ndarray) -> CenterNoise:
    """Return sizes and noise of centers (k, d) that are weighted means of points (m, d)."""
    if not len(points):
        return CenterNoise()
    squares = cdist(points, centers, "sqeuclidean")
    labels = squares.argmin(axis=1)
    near = squares[np.arange(len(points)), labels]
    k, d = centers.shape
    sizes = np.bincount(labels, weights, k)
    moved = np.sqrt(np.bincount(labels, sd**2 * near, k) / d)
    spread = None if not sd.any() else moved / np.maximum(sizes, 1.0)
    own = np.sqrt(np.bincount(labels, sd**2, k))
    return CenterNoise(sizes, spread, float(own.max()) if sd.any() else None)


def centers_table(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row a released center: its number, each column in the data's units, noisy size, noise per column.

    Columns of the table: "center", the data's columns (with their unit in parentheses), "noisy size" and
    "noise in COLUMN" (one standard deviation) where they are known.
    """
    units = units or [""] * len(columns)
    names = [f"{column} ({unit})" if unit else column for column, unit in zip(columns, units, strict=True)]
    noise = center_noise(trace)
    table = pd.DataFrame(np.asarray(trace.cluster_centers), columns=names)
    table.insert(0, "center", np.arange(1, len(table) + 1))
    if noise.sizes is not None:
        table["noisy size"] = noise.sizes
    if noise.sd is not None:
        for name, width in zip(names, trace.domain.half_width, strict=True):
            table[f"noise in {name}"] = noise.sd * width
    return table


def coreset_table(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> pd.DataFrame | None:
    """Return one row a point of the released weighted point set, or None where the run releases none."""
    if trace.coreset is None:
        return None
    units = units or [""] * len(columns)
    names = [f"{column} ({unit})" if unit else column for column, unit in zip(columns, units, strict=True)]
    table = pd.DataFrame(np.asarray(trace.coreset.points), columns=names)
    return table.assign(**{"noisy weight": trace.coreset.weights, "noise of the weight": trace.coreset.sd})


def as_text(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula: a leading = + - @ or control character gets a quote."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name


def centers_csv(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> str:
    """Return the centers as CSV text: first a line that says what is promised, then the table."""
    table = centers_table(trace, [as_text(column) for column in columns], units)
    return f"# {trace.notice}; {trace.name}: {trace.claimed}\n{table.to_csv(index=False)}"


def centers_json(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> str:
    """Return the centers, the promise, what was spent, columns and versions as strict JSON."""
    noise = center_noise(trace)
    record = {
        "notice": trace.notice,
        "version": trace.version,
        "algorithm": trace.algorithm,
        "name": trace.name,
        "parameters": dict(trace.parameters),
        "columns": list(columns),
        "units": list(units),
        "claimed": _strict(trace.claimed.to_dict()),
        "spent": _strict(trace.spent.to_dict()),
        "cluster_centers": np.asarray(trace.cluster_centers).tolist(),
        "noisy_sizes": None if noise.sizes is None else np.asarray(noise.sizes).tolist(),
        "noise_sd": None if noise.sd is None else np.outer(noise.sd, trace.domain.half_width).tolist(),
    }
    return json.dumps(record, allow_nan=False)


def _strict(promise: dict) -> dict:
    """Return a promise without infinities: JSON has none, so "no bound" is null."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in promise.items()
    }


def widest(trace: Trace) -> tuple[int, int]:
    """Return the two columns along which the released centers differ most, in z units, in the columns' order."""
    spread = trace.domain.normalize(trace.cluster_centers).std(axis=0)
    first, second = sorted(np.argsort(-spread, kind="stable")[:2].tolist())
    return first, second
