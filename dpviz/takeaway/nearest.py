"""Assign rows to clusters: as a file for public data, as code to run where private data are stored."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from dpviz.datasets import Dataset
from dpviz.trace import Trace

__all__ = ["nearest_code", "nearest_csv"]


def nearest_csv(released: np.ndarray, data: Dataset) -> str:
    """Return the nearest of `released` centers (k, d), original units, for each row as CSV text. NOT PRIVATE.

    Rows and centers are numbered from 1. The distance is in the data's units where all columns share one scale, else in
    half-widths of the bounds; a row with a missing cell has neither center nor distance.

    Raises
    ------
    ValueError
        If the data are private.
    """
    if data.private:
        raise ValueError(
            "takeaway: the nearest center of a private row is that row's secret; compute it where the rows are stored."
        )
    domain, nearest = data.domain, np.zeros(len(data.X), dtype=int)
    distance, finite = np.full(len(data.X), np.nan), np.isfinite(data.X).all(axis=1)
    Z, centers = domain.normalize(data.X[finite]), domain.normalize(np.asarray(released))
    place, far = pairwise_distances_argmin_min(Z, centers)
    common = domain.one_scale
    nearest[finite], distance[finite] = place + 1, far * (domain.half_width[0] if common else 1.0)
    unit = (data.units[0] or "units of the data") if common else "half-widths of the bounds"
    unit += ", weighted" * bool(domain.weights)
    lines = [f"# NOT PRIVATE: made from the rows themselves. Distances in {unit}.", "row,center,distance"]
    for row, (center, length) in enumerate(zip(nearest.tolist(), distance.tolist(), strict=True), 1):
        lines.append(f"{row},{center},{_digits(length)}" if center else f"{row},,")
    return "\n".join(lines) + "\n"


def _digits(length: float) -> str:
    return np.format_float_positional(length, precision=6, fractional=False, trim="-")


def nearest_code(trace: Trace) -> str:
    """Return a few lines of Python that find the nearest center of each row of `X`, to run where the rows are stored.

    Centers are numbered from 1, and a row with a missing value gets 0. `X` is an array (n, d) with the declared columns
    in their order; the centers are those of the run's JSON file.
    """
    domain = trace.domain
    half = ", ".join(repr(float(width)) for width in domain.half_width)
    logs, rows, taken = np.flatnonzero(domain.logs).tolist(), "np.asarray(X)", ""
    if logs:  # as `Domain.with_logs` takes them
        lows, rows = np.expm1(domain.low[logs]).tolist(), "rows"
        taken = (
            f"rows, logs = np.array(X, dtype=float), {logs}; raised = np.maximum(rows[:, logs], {lows})\n"
            "rows[:, logs] = np.log1p(raised) - (raised - rows[:, logs])\n"
        )
    return (
        'import json, numpy as np; centers = np.array(json.load(open("centers.json"))["cluster_centers"])\n'
        f"{taken}scaled = ({rows}[:, None, :] - centers) / np.array([{half}])\n"
        "nearest = (np.square(scaled).sum(axis=2).argmin(axis=1) + 1) * np.isfinite(scaled).all(axis=(1, 2))\n"
    )
