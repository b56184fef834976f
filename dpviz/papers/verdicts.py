"""Turn the numbers of a rerun into a verdict: reproduces, within noise, does not reproduce.

Every number is a mean over seeds with the half-width of its 95% t-interval. Two numbers count as different if their
difference exceeds both the root of the sum of the squared half-widths and the check's tolerance; a point where they are
not different counts for neither side. If a curve should grow along an axis, every two neighboring points are compared.

Our number agrees with a printed one if the two differ by at most the check's tolerance, or by at most half a unit of
the last printed digit (so that ours rounds to the printed one). If only the interval of our number contains the printed
one, the noise leaves the question open. KMeans' own numbers have no noise: they show that the sets are the same and
count for no claim.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from dpviz.numbers import number
from dpviz.papers.registry import Check, Item, PrintedNumber

__all__ = ["DOES_NOT", "NOT_RUN", "REPRODUCES", "WITHIN", "PaperVerdict", "beside_printed", "judge"]

REPRODUCES, WITHIN, DOES_NOT = "reproduces", "within noise", "does not reproduce"
NOT_RUN = "not run here"


@dataclasses.dataclass(frozen=True)
class PaperVerdict:
    """The verdict of a rerun.

    Attributes
    ----------
    word : one of the three verdicts, or NOT_RUN
    yes : number of comparisons that support the claim
    tie : number of comparisons that noise leaves open
    no : number of comparisons that contradict the claim
    against : the contradicting comparisons as text, the clearest first
    """

    word: str
    yes: int = 0
    tie: int = 0
    no: int = 0
    against: tuple[str, ...] = ()


def judge(item: Item, numbers: pd.DataFrame) -> PaperVerdict:
    """Return the verdict on an item from its numbers (see `reproduce.numbers_of`)."""
    if numbers.empty or not item.checks:
        return PaperVerdict(NOT_RUN)
    outcomes = [outcome for check in item.checks for outcome in _outcomes(check, item, numbers)]
    yes, no = (sum(sign == wanted for sign, _ in outcomes) for wanted in (1, -1))
    tie = len(outcomes) - yes - no
    if not outcomes:
        return PaperVerdict(NOT_RUN)
    word = DOES_NOT if no else REPRODUCES if yes >= tie else WITHIN
    return PaperVerdict(word, yes, tie, no, tuple(words for sign, words in outcomes if sign == -1))


def _outcomes(check: Check, item: Item, numbers: pd.DataFrame) -> list[tuple[int, str]]:
    numbers = numbers[numbers.data.isin(check.data)] if check.data else numbers
    mine = numbers[numbers.metric == check.metric]
    if check.kind == "printed":
        table = beside_printed(item.printed, numbers)
        table = table[table.what == check.metric].dropna(subset="ours")
        table = table[table.label == check.better] if check.better else table[table.label != "KMeans"]
        return [(_agrees(row, check.within), _printed_words(row)) for row in table.itertuples()]
    if check.kind == "below":
        return _below(check, mine)
    if check.kind == "trend":
        return _trend(check, mine)
    outcomes = []
    for (data, label), line in mine[mine.label == check.better].groupby(["data", "label"], sort=False):
        line = line.dropna(subset=check.axis).sort_values(check.axis)
        if check.kind == "flat":
            spread = line["mean"].max() / line["mean"].min() - 1
            outcomes.append((1 if spread <= check.within else -1, f"{label} on {data} varies by {spread:.0%}"))
            continue
        for (_, low), (_, high) in pairwise(line.iterrows()):
            both = (f"{number(one['mean'])} at {number(one[check.axis])}" for one in (low, high))
            outcomes.append((_apart(low, high, check.within), f"{label} on {data}: {', '.join(both)}"))
    return outcomes


def _below(check: Check, table: pd.DataFrame) -> list[tuple[int, str]]:
    """Compare a curve with each of the others, at every point where both were run."""
    outcomes = []
    place = ["data", "point"]
    better = table[table.label.isin((check.better, *check.either))]
    better = better.loc[better.groupby(place)["mean"].idxmin()].set_index(place)
    for other in check.worse:
        for key, row in table[table.label == other].set_index(place).iterrows():
            if key in better.index:
                mine = better.loc[key]
                where = f"{key[0]}{', ' + key[1] if key[1] else ''}"
                words = f"{where}: {mine['label']} {number(mine['mean'])}, {other} {number(row['mean'])}"
                outcomes.append((_apart(mine, row, check.within), words))
    return outcomes


def _trend(check: Check, table: pd.DataFrame) -> list[tuple[int, str]]:
    """Check whether the best value of an axis grows with a property of the data sets."""
    mine = table[table.label == check.better].dropna(subset=check.axis)
    best = mine.loc[mine.groupby("data")["mean"].idxmin()]
    if len(best) < 3 or best[check.axis].nunique() < 2 or best[check.fact].nunique() < 2:
        return [(0, "")]
    strength = float(spearmanr(best[check.fact], best[check.axis]).statistic)
    words = f"rank correlation of the best {check.axis} with {check.fact}: {strength:.2f}"
    return [(1 if strength > 0.5 else -1 if strength < 0 else 0, words)]


def _apart(low: pd.Series, high: pd.Series, within: float) -> int:
    """Return 1 if `low` is below `high` by more than both limits in the module's docstring, -1 if above, else 0."""
    half = float(np.hypot(low["half"], high["half"]))
    difference = float(high["mean"] - low["mean"])
    least = np.maximum(half, within * min(abs(low["mean"]), abs(high["mean"])))  # NaN with a single seed
    return 0 if np.isnan(least) or abs(difference) <= least else int(np.sign(difference))


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


def _agrees(row: Any, within: float) -> int:
    """Return 1 if our number agrees with the printed one, 0 if only our interval contains the printed one, else -1."""
    away = abs(row.ours - row.printed)
    return 1 if away <= max(within * abs(row.printed), row.rounding) else 0 if away <= np.nan_to_num(row.half) else -1


def _printed_words(row: Any) -> str:
    return f"{row.data}, {row.label}, {row.what}: printed {number(row.printed)}, ours {number(row.ours)}"
