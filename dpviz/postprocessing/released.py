"""Write a run's released result as a table and JSON: centers in the data's units, with noisy sizes and noise.

Everything here is computed from released values, so it costs nothing and is the same in DEMO and PRIVATE.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from dpviz.escape import cell, line
from dpviz.geometry import bincount
from dpviz.numbers import at, number, round_to, unlogged
from dpviz.postprocessing.at_bound import DIGITS, bounds_words
from dpviz.postprocessing.center_sd import UNKNOWN, members, stated
from dpviz.privacy.ledger import Release
from dpviz.trace import Step, Trace

__all__ = [
    "AT_BOUNDS",
    "CenterNoise",
    "center_noise",
    "centers_json",
    "centers_table",
    "centers_text",
    "coreset_csv",
    "coreset_table",
    "coreset_text",
    "csv_text",
    "noise_text",
    "resolution",
    "sizes_resolution",
    "weighted_points",
    "written",
]

AT_BOUNDS = "at a bound"  # heading of the column that says where a center lies at a declared bound


@dataclasses.dataclass(frozen=True)
class CenterNoise:
    """The noise of each released center.

    Attributes
    ----------
    sizes : ndarray of shape (k',) or None, the noisy number of rows of each center, which may be negative
    sd : ndarray of shape (k', d) or None, the standard deviations of each center's columns, z units; None if no formula
        is known
    sizes_sd : float or None, the standard deviation of the sizes, or the largest if they differ
    meaning : str, the kind of noise that `sd` measures
    """

    sizes: np.ndarray | None = None
    sd: np.ndarray | None = None
    sizes_sd: float | None = None
    meaning: str = ""


def center_noise(trace: Trace) -> CenterNoise:
    """Return the size and the noise of each center from released values; they predict reruns with other noise.

    The noise is what the family declares with its centers (`center_sd` of the step, see `center_sd.py`). If groups are
    well separated, predicted noise is 0.9 to 1.1 times the noise measured over reruns, averaged over the centers (a
    test checks this). Sizes are the noisy counts by which sums are divided, the weights of averages, or the total
    weights of the points nearest to each center.
    """
    if not trace.claimed.private:
        return CenterNoise()
    last = next(step for step in reversed(trace.steps) if "centers" in step.released)
    sizes, sizes_sd = _sizes(trace, last)
    return CenterNoise(sizes, stated(trace), sizes_sd, str(last.released.get("center_noise", UNKNOWN)))


def _sizes(trace: Trace, step: Step) -> tuple[np.ndarray | None, float | None]:
    """Return the noisy number of rows of each center and, if known, the largest standard deviation of these numbers."""
    released, k = step.released, len(step.released["centers"])
    if "noisy_counts" in released:
        counts = np.asarray(released["noisy_counts"], dtype=float)
        counts = counts[np.asarray(released["kept"], dtype=bool)] if len(counts) > k else counts
        before = trace.steps[step.index - 1].n_releases if step.index else 0
        entry = next((e for e in trace.ledger[before : step.n_releases] if e.part == "counts"), None)
        return counts, None if entry is None else _sd(entry)
    if "sd" in released and len(released["sd"]) == k:
        return np.asarray(released["weights"]), None
    points = weighted_points(trace, step)
    if points is None or not len(points[0]):
        return None, None
    labels = members(points[0], np.asarray(released["centers"]))
    own = np.sqrt(bincount(labels, points[2] ** 2, k))
    return bincount(labels, points[1], k), float(own.max()) if own.any() else None


def _sd(entry: Release) -> float:
    """Return the standard deviation of a release's noise."""
    return float(entry.scale * math.sqrt(entry.excess * (2 if entry.mechanism == "Laplace" else 1)))


def weighted_points(trace: Trace, step: Step) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the weighted points behind the last centers: points (m, d), z units, noisy weights, and their noise."""
    released = step.released
    if "population" in released:
        mask = np.asarray(released["kept"], dtype=bool)
        votes = np.asarray(released["noisy_votes"])[mask]
        return np.asarray(released["population"])[mask], votes, np.full(len(votes), released["noise_sd"])
    if trace.coreset is None:
        return None
    return trace.domain.normalize(trace.coreset.points), np.asarray(trace.coreset.weights), np.asarray(trace.coreset.sd)


def centers_table(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per released center: number, columns in the data's units, noisy size, and noise per column.

    Columns of the table: "center", the data's columns (with their unit in parentheses), and, if known, "noisy size"
    and "noise in COLUMN" (one standard deviation). A column of logarithms holds typical values, and its noise is a
    factor.
    """
    units = units or [""] * len(columns)
    names = _heads(columns, units)
    noise = center_noise(trace)
    logs = [unlogged(unit) is not None for unit in units]
    centers = np.array(trace.cluster_centers)
    centers[:, logs] = np.expm1(centers[:, logs])
    table = pd.DataFrame(centers, columns=names)
    table.insert(0, "center", np.arange(1, len(table) + 1))
    if noise.sizes is not None:
        table["noisy size"] = noise.sizes
    if noise.sd is not None:
        for name, column, log in zip(names, (noise.sd * trace.domain.half_width).T, logs, strict=True):
            table[f"factor of noise in {name}" if log else f"noise in {name}"] = np.exp(column) if log else column
    return table


def _heads(columns: Sequence[str], units: Sequence[str]) -> list[str]:
    """Return the headings of the data's columns, with their units."""
    heads = []
    for column, unit in zip(columns, units, strict=True):
        plain = unlogged(unit)
        named, unit = (column, unit) if plain is None else (f"typical {column}", plain)
        heads.append(f"{named} ({unit})" if unit else named)
    return heads


def coreset_table(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> pd.DataFrame | None:
    """Return one row per point of the released weighted point set, or None if the run releases no such set."""
    if trace.coreset is None:
        return None
    units = units or [""] * len(columns)
    names = [f"{column} ({unit})" if unit else column for column, unit in zip(columns, units, strict=True)]
    table = pd.DataFrame(np.asarray(trace.coreset.points), columns=names)
    return table.assign(**{"noisy weight": trace.coreset.weights, "noise of the weight": trace.coreset.sd})


def csv_text(trace: Trace, table: pd.DataFrame) -> str:
    """Return a table of a run as CSV; the first line states the promise, and no name can act as a formula."""
    first = line(f"# {trace.notice}; {trace.name}: {trace.claimed}")
    return f"{first}\n{table.rename(columns=cell).to_csv(index=False)}"


def centers_text(
    trace: Trace,
    columns: Sequence[str],
    units: Sequence[str] = (),
    *,
    scatter: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the table of centers as text, with every number rounded to a tenth of its noise.

    If a center lies at a declared bound, a column `AT_BOUNDS` says so, see `at_bound.py`.

    Parameters
    ----------
    scatter : ndarray of shape (k,) or None, z units, how far each center scatters over reruns, used if no formula gives
        the noise; NaN if unknown. If neither is known, coordinates are rounded to a ten-thousandth of the width of
        their bounds.
    """
    table = centers_table(trace, columns, units)
    noise, steps = center_noise(trace), resolution(trace, scatter)
    cells = [[str(i) for i in table.iloc[:, 0]]]
    units = units or [""] * len(columns)
    centers = np.asarray(trace.cluster_centers)
    cells += [[written(value, units[j], steps[j]) for value in centers[:, j]] for j in range(len(columns))]
    if noise.sizes is not None:
        cells.append(_sizes_text(noise.sizes, noise.sizes_sd, True))
    for j, unit in zip(range(len(cells), table.shape[1]), units, strict=False):  # no such columns if noise is unknown
        written_sd = noise_text if unlogged(unit) is None else lambda times: f"×÷{number(times, 3)}"
        cells.append([written_sd(sd) for sd in table.iloc[:, j]])
    text = pd.DataFrame(list(zip(*cells, strict=True)), columns=table.columns)
    if any(words := bounds_words(trace, columns, units)):
        text.insert(1, AT_BOUNDS, words)
    return text


def resolution(trace: Trace, scatter: np.ndarray | None = None) -> np.ndarray:
    """Return the rounding unit (d,) of each column, data units: a tenth of the least noise, or a share of its width.

    `scatter` (k,), z units, stands in for the noise if no formula gives it.
    """
    domain, sd = trace.domain, center_noise(trace).sd
    if sd is None and scatter is not None:
        sd = np.broadcast_to(np.asarray(scatter, dtype=float)[:, None], (len(scatter), domain.n_features))
    return _resolution(None if sd is None else sd * domain.half_width, domain.high - domain.low)


def sizes_resolution(sd: float | None) -> float:
    """Return the rounding unit of noisy numbers of rows: a tenth of their noise, but not less than a tenth of a row."""
    return max(0.1, sd / 10) if sd else 0.1


def _resolution(sd: np.ndarray | None, width: np.ndarray) -> np.ndarray:
    """Return the rounding unit of each column, shape (d,): a tenth of its smallest noise, or a share of its width."""
    if sd is None:
        return DIGITS * width
    sd = np.where(np.isfinite(sd) & (sd > 0), sd, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isfinite(sd), sd / 10, DIGITS * width)


def written(value: float, unit: str, step: float, *, commas: bool = True) -> str:
    """Return a coordinate as text, rounded to `step`; a logarithm as the value that it is of, to this share of it."""
    if unlogged(unit) is not None:
        value, step = math.expm1(value), math.exp(value) * step
    return (at if commas else round_to)(float(value), float(step))


def _written(values: Iterable[float], resolution: float, commas: bool) -> list[str]:
    return [(at if commas else round_to)(float(value), float(resolution)) for value in values]


def _sizes_text(sizes: np.ndarray, sd: float | None, commas: bool) -> list[str]:
    return _written(sizes, sizes_resolution(sd), commas)


def noise_text(sd: float, *, commas: bool = True) -> str:
    """Write a standard deviation with two significant digits."""
    if commas:
        return number(sd, 2)
    return round_to(float(sd), float(sd) / 10) if 0 < sd < math.inf else str(sd)


def coreset_text(
    trace: Trace, columns: Sequence[str], units: Sequence[str] = (), *, commas: bool = True
) -> pd.DataFrame | None:
    """Return the weighted point set as text, its weights rounded to a tenth of their noise; None if there is none."""
    table = coreset_table(trace, columns, units)
    if table is None:
        return None
    steps = _resolution(None, trace.domain.high - trace.domain.low)
    cells = [_written(table.iloc[:, j], step, commas) for j, step in enumerate(steps)]
    weights = zip(table.iloc[:, -2], table.iloc[:, -1], strict=True)
    cells.append([_sizes_text(np.array([weight]), float(sd), commas)[0] for weight, sd in weights])
    cells.append([noise_text(sd, commas=commas) for sd in table.iloc[:, -1]])
    return pd.DataFrame(list(zip(*cells, strict=True)), columns=table.columns)


def coreset_csv(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> str:
    """Return the weighted points as CSV with rounded numbers.

    Raises
    ------
    ValueError
        If the run releases no weighted points.
    """
    table = coreset_text(trace, columns, units, commas=False)
    if table is None:
        raise ValueError(f"coreset_csv: {trace.name} releases no weighted points.")
    return csv_text(trace, table)


def centers_json(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> str:
    """Return the centers with their noise, the promise, the spent budget and the version, as strict JSON."""
    noise = center_noise(trace)
    record = {
        "notice": trace.notice,
        "version": trace.version,
        "algorithm": trace.algorithm,
        "name": trace.name,
        "parameters": dict(trace.parameters),
        "columns": list(columns),
        "units": list(units),
        "domain": trace.domain.to_dict(),
        "claimed": _strict(trace.claimed.to_dict()),
        "spent": _strict(trace.spent.to_dict()),
        "cluster_centers": np.asarray(trace.cluster_centers).tolist(),
        "noisy_sizes": None if noise.sizes is None else np.asarray(noise.sizes).tolist(),
        "noise_sd": None if noise.sd is None else (noise.sd * trace.domain.half_width).tolist(),
        "noise_is": noise.meaning,
        "at_bounds": bounds_words(trace, columns, units),
    }
    return json.dumps(record, allow_nan=False)


def _strict(promise: dict) -> dict:
    """Return a promise without infinities, which JSON cannot express: "no bound" becomes null."""
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in promise.items()
    }
