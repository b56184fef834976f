"""Turn the numbers of a rerun into a verdict on a claim.

Every number is a mean over seeds with the half-width of its 95% t-interval. A claim becomes comparisons; each of them
holds, contradicts the claim, or is open:

- The chance of a comparison is that of a difference at least as large as the observed one if the true difference is at
  most the check's tolerance, by Welch's t-test; standard errors follow from half-widths and numbers of seeds. If the
  difference points the way the claim says, the comparison holds if its chance is at most 5%. If it points the other
  way, it contradicts the claim if its chance is at most 5% after Holm's correction for all comparisons of the item. One
  contradiction decides a verdict, so contradictions are corrected; half of all comparisons must hold, so these are not.
- Where both costs are at most 2% above KMeans' own, their order means nothing, and the comparison is open.
- If a curve should grow along an axis, every two neighboring points are compared. If it should be flat, its largest and
  smallest means are compared; the chance is multiplied by the number of pairs of means.
- If a method should scale better with k than another, the factors are compared by which their losses change from the
  smallest k to the largest (KMeans' loss cancels); the standard error of a logarithm is the relative standard error.
- Our number agrees with a printed one if the two differ by at most the check's tolerance, or by at most half a unit of
  the last printed digit (so that ours rounds to the printed one). KMeans' own numbers have no noise: they show that the
  sets are the same and count for no claim.
- A trend holds if its rank correlation is above .5; one below 0 contradicts it, with the chance of a permutation test.

A full run has the paper's repeats and rows. Without one, a contradicted item is not said to fail to reproduce.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import permutation_test, rankdata, spearmanr
from scipy.stats import t as student

from dpviz.numbers import number
from dpviz.papers.registry import Check, Item, PrintedNumber

__all__ = [
    "DOES_NOT", "NOT_RUN", "PART", "REPRODUCES", "RULE", "WITHIN", "PaperVerdict", "behind", "beside_printed", "judge",
]  # fmt: skip

REPRODUCES, WITHIN, DOES_NOT = "reproduces", "within noise", "does not reproduce"
PART = "contradicted in a part of the runs"
NOT_RUN = "not run here"
LEVEL = 0.05  # largest chance at which a difference counts
NEAR = 0.02  # share by which a cost may exceed KMeans' own and still count as KMeans' own
_COSTS = ("loss", "auc", "inertia", "median_cost")  # measures that KMeans minimizes, or nearly
RULE = (
    "A full run has the paper's rows and repeats on the sets that are available here. A comparison counts only if a "
    "t-test of the two means gives at most 5%. One counterexample refutes an “always best” claim, so contradictions "
    "are also corrected for their number (Holm). Where two losses are at most 2% above KMeans', their order means "
    "nothing."
)
_REFERENCE = "KMeans"
_ORDERS = math.factorial(8)  # permutations tried for a trend: all of them for up to 8 data sets


@dataclasses.dataclass(frozen=True)
class PaperVerdict:
    """The verdict of a rerun.

    Attributes
    ----------
    word : one of the four verdicts, or NOT_RUN
    yes : number of comparisons that hold
    tie : number of comparisons that noise leaves open
    no : number of comparisons that contradict the claim
    against : the contradicting comparisons as text, the clearest first
    full : whether the numbers are those of the full run
    """

    word: str
    yes: int = 0
    tie: int = 0
    no: int = 0
    against: tuple[str, ...] = ()
    full: bool = False

    @property
    def shares(self) -> str:
        """Return how many comparisons hold, are open, and contradict the claim; "" if there are none."""
        if self.word == NOT_RUN:
            return ""
        return f"{self.yes} hold, {self.tie} open, {self.no} contradicted"


def behind(item: Item, verdict: PaperVerdict) -> str:
    """Say which runs a verdict rests on, and how long the full run takes if it is known; "" if nothing was run."""
    if verdict.word == NOT_RUN:
        return ""
    if verdict.full:
        return "the full run"
    hours = f"; the full run takes about {number(item.hours, 2)} hours of one core" if item.hours else ""
    return f"a part of the runs{hours}"


@dataclasses.dataclass(frozen=True)
class _Comparison:
    """A comparison: 1 if it points the way the claim says, -1 if the other way, 0 if its order means nothing."""

    sign: int
    chance: float
    words: str


def judge(item: Item, numbers: pd.DataFrame) -> PaperVerdict:
    """Return the verdict on an item from its numbers (see `reproduce.reproduce`).

    An item that nothing contradicts reproduces if at least as many comparisons hold as are open.
    """
    if numbers.empty:
        return PaperVerdict(NOT_RUN)
    compared = [one for check in item.checks for one in _comparisons(check, item, numbers)]
    if not compared:
        return PaperVerdict(NOT_RUN)
    yes = sum(one.sign > 0 and one.chance <= LEVEL for one in compared)
    corrected = _holm([one.chance if one.sign < 0 else 1.0 for one in compared])
    found = [(chance, one.chance, one.words) for chance, one in zip(corrected, compared, strict=True)]
    against = [words for chance, _, words in sorted(found, key=lambda one: one[:2]) if chance <= LEVEL]
    no, full = len(against), bool(numbers.full.all())
    tie = len(compared) - yes - no
    word = (DOES_NOT if full else PART) if no else REPRODUCES if yes >= tie else WITHIN
    return PaperVerdict(word, yes, tie, no, tuple(against), full)


def _holm(chances: Sequence[float]) -> np.ndarray:
    """Return chances after Holm's step-down correction for their number."""
    order = np.argsort(chances)
    steps = np.maximum.accumulate(np.asarray(chances)[order] * np.arange(len(chances), 0, -1))
    corrected = np.empty(len(chances))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def _comparisons(check: Check, item: Item, numbers: pd.DataFrame) -> Iterator[_Comparison]:
    costs = _own_costs(check.metric, numbers)
    numbers = numbers[numbers.data.isin(check.data)] if check.data else numbers
    mine = numbers[numbers.metric == check.metric]
    for name, values in check.where.items():
        mine = mine[mine[name].isin(values)]
    if check.kind == "printed":
        table = beside_printed(item.printed, numbers)
        table = table[table.what == check.metric].dropna(subset="ours")
        table = table[table.label == check.better] if check.better else table[table.label != _REFERENCE]
        yield from (_beside(row, check.within) for row in table.itertuples())
    elif check.kind == "below":
        yield from _below(check, mine, costs)
    elif check.kind == "scales":
        yield from _scales(check, mine, costs)
    elif check.kind == "trend":
        yield from _trend(check, mine)
    else:
        for (data, label), line in mine[mine.label == check.better].groupby(["data", "label"], sort=False):
            line = line.dropna(subset=check.axis).sort_values(check.axis)
            if check.kind == "flat":
                yield from _flat(f"{label} on {data}", line, check.within)
                continue
            for (_, low), (_, high) in pairwise(line.iterrows()):
                both = (f"{number(one['mean'])} at {number(one[check.axis])}" for one in (low, high))
                yield _order(low, high, check.within, costs, f"{label} on {data}: {', '.join(both)}")


def _own_costs(metric: str, numbers: pd.DataFrame) -> Callable[[pd.Series], bool]:
    """Return a function that tells whether a row's cost is KMeans' own, up to NEAR; no other measure is a cost."""
    own = numbers[(numbers.label == _REFERENCE) & (numbers.metric == metric) & (metric in _COSTS)]
    costs = {(one["data"], one["point"]): one["mean"] for _, one in own.iterrows()}

    def reached(row: pd.Series) -> bool:
        cost = costs.get((row["data"], row["point"]), costs.get((row["data"], ""), -math.inf))
        return bool(row["mean"] <= (1 + NEAR) * cost)

    return reached


def _below(check: Check, table: pd.DataFrame, reached: Callable[[pd.Series], bool]) -> Iterator[_Comparison]:
    """Compare a curve with each of the others, at every point where both were run."""
    place = ["data", "point"]
    better = table[table.label.isin((check.better, *check.either))]
    better = better.loc[better.groupby(place)["mean"].idxmin()].set_index(place, drop=False)
    for other in check.worse:
        for key, row in table[table.label == other].set_index(place, drop=False).iterrows():
            if key in better.index:
                mine = better.loc[key]
                where = f"{key[0]}{', ' + key[1] if key[1] else ''}"
                words = f"{where}: {mine['label']} {number(mine['mean'])}, {other} {number(row['mean'])}"
                yield _order(mine, row, check.within, reached, words)


def _scales(check: Check, table: pd.DataFrame, reached: Callable[[pd.Series], bool]) -> Iterator[_Comparison]:
    """Compare the factors by which two curves change from the smallest k to the largest, for each number of columns."""
    own = table[table.label == _REFERENCE]
    table = table.assign(k=table.data.map(dict(zip(own.data, own.k_found, strict=True))))
    for other in check.worse:
        both = table[table.label.isin((check.better, other))].dropna(subset="k")
        for (columns, _), sets in both.groupby(["n_features", "point"], sort=False):
            ends = [sets[sets.k == k].set_index("label") for k in (sets.k.min(), sets.k.max())]
            if sets.k.nunique() < 2 or not all({check.better, other} <= set(end.index) for end in ends):
                continue
            rows = [end.loc[label] for label in (check.better, other) for end in ends]
            mine, theirs = (rows[i + 1]["mean"] / rows[i]["mean"] for i in (0, 2))
            words = (
                f"{number(columns)} columns, k {number(sets.k.min())} to {number(sets.k.max())}: {check.better} "
                f"× {number(mine)}, {other} × {number(theirs)}"
            )
            if all(map(reached, rows)):
                yield _Comparison(0, 1.0, words)
                continue
            errors = [(error / row["mean"], freedom) for row in rows for error, freedom in [_error(row)]]
            apart = math.log(theirs / mine)
            yield _Comparison(int(np.sign(apart)), _chance(apart, errors, math.log1p(check.within)), words)


def _flat(name: str, line: pd.DataFrame, within: float) -> Iterator[_Comparison]:
    """Compare the largest mean of a curve with the smallest."""
    if len(line) < 2:
        return
    low, high = line.loc[line["mean"].idxmin()], line.loc[line["mean"].idxmax()]
    apart, tolerance = high["mean"] - low["mean"], within * abs(low["mean"])
    words = f"{name} varies by {apart / abs(low['mean']):.0%}"
    if apart <= tolerance:
        yield _Comparison(1, 0.0, words)
    else:
        yield _Comparison(
            -1, min(1.0, math.comb(len(line), 2) * _chance(apart, [_error(low), _error(high)], tolerance)), words
        )


def _trend(check: Check, table: pd.DataFrame) -> Iterator[_Comparison]:
    """Check whether the best value of an axis grows with a property of the data sets."""
    mine = table[table.label == check.better].dropna(subset=check.axis)
    best = mine.loc[mine.groupby("data")["mean"].idxmin()]
    if len(best) < 3 or best[check.axis].nunique() < 2 or best[check.fact].nunique() < 2:
        yield _Comparison(0, 1.0, "")
        return
    strength = float(spearmanr(best[check.fact], best[check.axis]).statistic)
    words = f"rank correlation of the best {check.axis} with {check.fact}: {strength:.2f}"
    ranks = rankdata(best[check.axis])
    orders = permutation_test(
        (rankdata(best[check.fact]),), lambda x, axis: (x * ranks).sum(axis=axis), permutation_type="pairings",
        n_resamples=_ORDERS, vectorized=True,
    )  # fmt: skip
    yield _Comparison(1, 0.0, words) if strength > 0.5 else _Comparison(-(strength < 0), float(orders.pvalue), words)


def _order(
    low: pd.Series, high: pd.Series, within: float, reached: Callable[[pd.Series], bool], words: str
) -> _Comparison:
    """Compare a mean with one that should be higher."""
    if reached(low) and reached(high):
        return _Comparison(0, 1.0, words)
    apart = float(high["mean"] - low["mean"])
    tolerance = within * min(abs(low["mean"]), abs(high["mean"]))
    return _Comparison(int(np.sign(apart)), _chance(apart, [_error(low), _error(high)], tolerance), words)


def _error(row: Mapping[str, Any] | pd.Series) -> tuple[float, float]:
    """Return a mean's standard error and its degrees of freedom; NaN with a single seed."""
    freedom = float(row["runs"]) - 1
    return float(row["half"]) / float(student.ppf(0.975, freedom)) if freedom > 0 else math.nan, freedom


def _chance(apart: float, errors: Sequence[tuple[float, float]], tolerance: float) -> float:
    """Return the chance of a difference of at least |apart| if the true one is at most the tolerance; 1 if unknown."""
    variance = sum(error**2 for error, _ in errors)
    if math.isnan(variance):
        return 1.0
    if variance == 0:
        return float(abs(apart) <= tolerance)
    freedom = variance**2 / sum(error**4 / freedom for error, freedom in errors)
    sd = math.sqrt(variance)
    return float(sum(student.sf((abs(apart) + side * tolerance) / sd, freedom) for side in (-1, 1)))


def beside_printed(printed: tuple[PrintedNumber, ...], numbers: pd.DataFrame) -> pd.DataFrame:
    """Return each printed number with ours, its half-width and its number of runs; these are NaN without a run."""
    lines = []
    numbers = numbers if len(numbers) else pd.DataFrame(columns=["data", "label", "metric"])
    for one in printed:
        mine = numbers[(numbers.data == one.data) & (numbers.label == one.label) & (numbers.metric == one.what)]
        ours, half, runs = mine.iloc[0][["mean", "half", "runs"]] if len(mine) else (np.nan,) * 3
        lines.append([one.data, one.label, one.what, one.value, ours, half, runs, one.source, one.rounding])
    return pd.DataFrame(
        lines, columns=[*("data", "label", "what", "printed", "ours", "half", "runs", "source", "rounding")]
    )


def _beside(row: Any, within: float) -> _Comparison:
    """Compare our number with a printed one, which has no noise."""
    words = f"{row.data}, {row.label}, {row.what}: printed {number(row.printed)}, ours {number(row.ours)}"
    apart, tolerance = row.ours - row.printed, max(within * abs(row.printed), row.rounding)
    if abs(apart) <= tolerance:
        return _Comparison(1, 0.0, words)
    return _Comparison(-1, _chance(apart, [_error({"half": row.half, "runs": row.runs})], tolerance), words)
