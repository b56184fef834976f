"""Summarize the rows of a sweep: means with intervals over reruns, areas, winners, the smallest sufficient budget.

Every interval here is a 95% t-interval of the MEAN over reruns on the same data: it shows how precisely the runs
determine the mean, but says nothing about the next run or about other data. For a metric relative to KMeans, the
interval is, to first order, one for the logarithm of the mean, cut off at the lowest possible value: that of KMeans, or
of the best run if it is lower. `axis` is the parameter on the x axis; a `series` is one curve, named by an algorithm's
label and the values of other axes that vary.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from dpviz.algorithms import ALGORITHMS
from dpviz.metrics import loss_auc
from dpviz.numbers import chance, number
from dpviz.runs.averages import margin_of_error, margins_of_error, standard_error
from dpviz.sweeps.measures import METRICS, REFERENCES
from dpviz.sweeps.sweep import REFERENCE

__all__ = ["AXES", "Summary", "axes_of"]

AXES = ("epsilon", "delta", "rho_distance", "n_clusters", "n_rows")  # columns of every row; see `axes_of` for others
_SHORT = {"epsilon": "ε", "delta": "δ", "rho_distance": "rho (distance)", "n_clusters": "k", "n_rows": "n"}
_PLACE = ["data", "bounds", "n_rows", "n_clusters"]  # columns that identify a KMeans reference
_NOTABLE = 0.01  # minimum change that counts, as a share of the mean
_CURVE = ["data", "bounds", "series", "label", "algorithm", "name", "notion", "neighboring"]


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
    """The summary of a sweep's rows in one metric along one axis; every table is computed once.

    Attributes
    ----------
    rows : DataFrame, as `sweeps.rowfile.table` makes it
    metric : str, a name in METRICS
    axis : str, a column or a parameter, see `axes_of`
    """

    rows: pd.DataFrame
    metric: str
    axis: str = "epsilon"

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Return the finished private rows with the columns series, value, reference and ratio.

        `reference` is KMeans' value on the same data, with the same numbers of rows and centers.
        """
        metric = self.metric
        done = self.rows[(self.rows.status == "ok") & self.rows[metric].notna()]
        medians = METRICS[metric].objective == "medians"
        best = done[(done.algorithm == REFERENCE) & ((done.label == REFERENCES["medians"]) == medians)]
        losses = best.drop_duplicates(_PLACE)[[*_PLACE, metric]]
        private = _unfolded(done[done.algorithm != REFERENCE]).assign(value=lambda table: table[metric])
        merged = private.merge(losses.rename(columns={metric: "reference"}), how="left", on=_PLACE)
        merged["ratio"] = (merged.value / merged.reference).where(merged.reference > 0)
        order = {slug: place for place, slug in enumerate(ALGORITHMS)}
        merged = merged.sort_values(
            ["algorithm", "label", "seed"],
            key=lambda c: c.map(order) if c.name == "algorithm" else c,
            ignore_index=True,
        )
        merged["series"] = merged.label.where(merged.label != merged.algorithm, self._named(merged))
        for _, one in merged.groupby(["data", "label"], sort=False):
            varied = [other for other in axes_of(merged) if other != self.axis and one[other].nunique() > 1]
            if one.groupby("n_rows").delta.nunique().max() == 1:
                varied = [other for other in varied if other != "delta"]  # delta follows from n
            for other in varied:
                sign = _SHORT.get(other, other.replace("_", " "))
                merged.loc[one.index, "series"] += [f", {sign} = {_number(other, value)}" for value in one[other]]
        return merged

    @staticmethod
    def _named(merged: pd.DataFrame) -> pd.Series:
        """Return the name of each row's method, with its number of centers, or "k" if that varies along the curve."""
        names = pd.Series(merged.name.to_numpy(), index=merged.index)
        for (slug, _, parameters), one in merged.groupby(["algorithm", "label", "parameters"], sort=False):
            numbers = merged.n_clusters[merged.label == one.label.iloc[0]].unique()
            k = int(numbers[0]) if len(numbers) == 1 else "k"
            if slug in ALGORITHMS and ALGORITHMS[slug].name == one.name.iloc[0]:
                names[one.index] = ALGORITHMS[slug].called(json.loads(parameters), k)
        return names

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Return the axes along which these runs vary; see `axes_of`."""
        return axes_of(self.runs)

    @cached_property
    def points(self) -> pd.DataFrame:
        """Return one row per curve and point: mean, low, high, runs, reference, ratio, k_found (median), mu."""
        groups = self.runs.groupby([*_CURVE, *self.axes], dropna=False, sort=False)
        table = groups.agg(
            mean=("value", "mean"),
            sd=("value", "std"),
            runs=("value", "size"),
            reference=("reference", "first"),
            k_found=("k_found", "median"),
            mu=("mu", "first"),
            least=("value", "min"),
        ).reset_index()
        half = margins_of_error(table.sd, table.runs)
        ratio = (table["mean"] / table.reference).where(table.reference > 0)
        low, high = self._around(table["mean"].to_numpy(), half, np.fmin(table.least, table.reference))
        return table.drop(columns=["sd", "least"]).assign(low=low, high=high, ratio=ratio)

    def _around(self, mean: Any, half: Any, floor: Any) -> tuple[Any, Any]:
        """Return the ends of intervals of means with margins `half`, cut off at `floor`, the lowest possible value."""
        if not METRICS[self.metric].relative:
            return mean - half, mean + half
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.exp(np.divide(half, mean))
            low, high = mean / factor, mean * factor
        return np.where(np.isnan(low), low, np.fmax(low, floor)), high

    @cached_property
    def areas(self) -> pd.DataFrame:
        """Return one row per curve: the mean `area` under it along epsilon, with low, high and runs.

        `runs` is the number of seeds that cover all ε. Loss and inertia are divided by those of KMeans, so their area
        relative to KMeans' (PE-means, equation 7) is 1 for a method as good as KMeans. Every area is divided by the
        width of the range.
        """
        table = (self if self.axis == "epsilon" else Summary(self.rows, self.metric)).runs  # curves along ε
        column = "ratio" if METRICS[self.metric].relative else "value"
        lines = []
        for curve, group in table.groupby(_CURVE, dropna=False, sort=False):
            grid = group.epsilon.nunique()
            if grid < 2:
                continue
            seeds = [one for _, one in group.groupby("seed") if one.epsilon.nunique() == grid]
            if seeds:
                area = pd.Series([loss_auc(one.epsilon, one[column]) / np.ptp(one.epsilon) for one in seeds])
                floor = min(1.0, area.min())  # areas are multiples of KMeans' area
                low, high = self._around(area.mean(), margin_of_error(area), floor)
                lines.append([*curve, area.mean(), float(low), float(high), len(area), group.k_found.median()])
        return pd.DataFrame(lines, columns=[*_CURVE, "area", "low", "high", "runs", "k_found"])

    @cached_property
    def winners(self) -> pd.DataFrame:
        """Return, per point and promise, the best curve if its interval overlaps no other interval, else "".

        Columns: data, notion, neighboring, the axes, `best`, `second`, `gap` (between the intervals, relative to the
        best). Only curves with the same promise, k and rows compete, and only if they release at most k centers,
        because more centers always lower the loss.
        """
        table = self.points[self.points.k_found <= self.points.n_clusters]
        sign = -1 if METRICS[self.metric].higher_is_better else 1
        keys = ["data", "bounds", "notion", "neighboring", *(a for a in self.axes if a != "delta")]
        lines = []
        for place, group in table.groupby(keys, dropna=False, sort=False):
            if len(group) < 2:
                continue
            ranked = group.iloc[np.argsort(sign * group["mean"].to_numpy(), kind="stable")]
            best, others = ranked.iloc[0], ranked.iloc[1:]
            mine, theirs = (best.high, others.low.min()) if sign > 0 else (-best.low, (-others.high).min())
            apart = not others.low.isna().any() and bool(mine < theirs)
            gap = (theirs - mine) / abs(best["mean"]) if apart else np.nan
            lines.append([*place, best.series if apart else "", others.iloc[0].series, gap])
        return pd.DataFrame(lines, columns=[*keys, "best", "second", "gap"])

    @cached_property
    def turns(self) -> pd.DataFrame:
        """Return one row per curve that gets worse from one value of the axis to the next larger one.

        Columns: the curve, `start` and `end` of its worst step, `change` (the relative change of the mean in that
        step), `runs`, and `sure`: whether the step is larger than chance alone would explain, by a paired t-test over
        the seeds that both ends share, at 5% over all steps of all curves (Bonferroni). Steps of less than 1% are not
        counted.
        """
        worse = -1 if METRICS[self.metric].higher_is_better else 1
        steps = []
        for curve, group in self.runs.groupby(_CURVE, dropna=False, sort=False):
            table = group.pivot_table(index="seed", columns=self.axis, values="value").sort_index(axis=1)
            for start, end in itertools.pairwise(table.columns):
                both = table[[start, end]].dropna()
                difference = worse * (both[end] - both[start])
                size = difference.mean() / abs(both[start].mean()) if len(both) else 0.0
                steps.append([*curve, start, end, size, len(both), difference.mean(), standard_error(difference)])
        changes = pd.DataFrame(steps, columns=[*_CURVE, "start", "end", "change", "runs", "rise", "error"])
        limit = student.ppf(1 - 0.05 / max(len(changes), 1), np.maximum(changes.runs - 1, 1))
        changes = changes.assign(sure=(changes.runs > 1) & (changes.rise > limit * changes.error))
        changes = changes[changes.change >= _NOTABLE].sort_values(["sure", "change"], ascending=False, kind="stable")
        return changes.drop_duplicates(_CURVE).drop(columns=["rise", "error"]).reset_index(drop=True)

    def enough(self, within: float) -> pd.DataFrame:
        """Count, per curve and point, all `runs` and the `good` ones, whose metric is close to that of KMeans.

        Parameters
        ----------
        within : float, such as .1 for "at most 10% worse"
        """
        table = self.runs
        higher = METRICS[self.metric].higher_is_better
        limit = table.reference * (1 - within if higher else 1 + within)
        table = table.assign(good=table.value >= limit if higher else table.value <= limit)
        groups = table.groupby([*_CURVE, *self.axes], dropna=False, sort=False)
        return groups.agg(good=("good", "sum"), runs=("good", "size"), k_found=("k_found", "median")).reset_index()

    def smallest(self, *, within: float, share: float) -> pd.DataFrame:
        """Return, per curve, the smallest tested value at and above which this share of the runs is good enough.

        Every larger tested value must be good enough, too, so that a single lucky point does not count.

        Returns
        -------
        DataFrame with the curve, `least` (NaN if no tested value is enough), `good` of `runs` at that value (else at
        the largest), `tested` (the largest value) and `first` (whether `least` is the smallest tested value, so that a
        smaller one may be enough)
        """
        lines = []
        for curve, group in self.enough(within).groupby(_CURVE, dropna=False, sort=False):
            ordered = group.sort_values(self.axis)
            good = (ordered.good >= share * ordered.runs - 1e-9).to_numpy()
            holds = np.logical_and.accumulate(good[::-1])[::-1]
            at = int(np.argmax(holds)) if holds.any() else -1
            row, values = ordered.iloc[at], ordered[self.axis].to_numpy()
            least = values[at] if holds.any() else np.nan
            lines.append([*curve, least, int(row.good), int(row.runs), values[-1], at == 0, row.k_found])
        return pd.DataFrame(lines, columns=[*_CURVE, "least", "good", "runs", "tested", "first", "k_found"])

    def quantile_dots(self, dots: int = 20, *, at: object = None) -> pd.DataFrame:
        """Return `dots` equally likely values per curve and point, and their number, `of`.

        There are fewer values if there are fewer runs. `at` restricts the points to one value of the axis.
        """
        lines, runs = [], self.runs if at is None else self.runs[self.runs[self.axis] == at]
        for place, group in runs.groupby([*_CURVE, *self.axes], dropna=False, sort=False):
            size = min(dots, len(group))
            values = np.quantile(group.value, (np.arange(size) + 0.5) / size, method="inverted_cdf")
            lines += [[*place, value, group.reference.iloc[0], size] for value in values]
        return pd.DataFrame(lines, columns=[*_CURVE, *self.axes, "value", "reference", "of"])


def axes_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return AXES and every other parameter that varies within a curve of these rows."""
    if rows.empty:
        return AXES
    given = [json.loads(text or "{}") for text in rows.parameters]
    names = sorted({name for one in given for name in one} - set(AXES) - {"objective"})
    table = pd.DataFrame([{name: one.get(name) for name in names} for one in given], index=rows.index, dtype=object)
    return (*AXES, *(n for n in names if table[n].astype(str).groupby(rows.label).nunique().max() > 1))


def _unfolded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with a column for every further axis; a curve without the parameter is repeated at each value."""
    for name in axes_of(rows)[len(AXES) :]:
        values = [json.loads(text or "{}").get(name) for text in rows.parameters]
        rows = rows.assign(**{name: pd.Series(values, index=rows.index, dtype=object)})
        flat = rows[rows[name].isna()]
        stops = rows[name].dropna().drop_duplicates()
        rows = pd.concat([rows[rows[name].notna()], *(flat.assign(**{name: stop}) for stop in stops)])
        if all(isinstance(stop, int | float) and not isinstance(stop, bool) for stop in stops):
            rows[name] = rows[name].astype(float)
        else:
            rows[name] = rows[name].astype(str)
    return rows


def _number(axis: str, value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    if axis == "delta":
        return chance(value)
    return f"{value:,.0f}" if axis in ("n_rows", "n_clusters") else number(value)
