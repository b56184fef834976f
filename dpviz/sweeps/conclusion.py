"""The conclusion of a figure: one sentence computed from its curves, used as its title."""

from __future__ import annotations

import math

import pandas as pd

from dpviz.figures.scenes.tradeoff import short
from dpviz.numbers import listed, number, percent, ratio_words
from dpviz.sweeps.measures import METRICS

__all__ = ["WITHIN", "area_words", "conclusion", "dots_words", "heat_words", "steadiness"]

WITHIN = 0.1  # relative difference from KMeans that counts as near
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def conclusion(points: pd.DataFrame, metric: str, axis: str) -> str:
    """Summarize the curves of one data set and promise in a sentence without a final period; "" if they show nothing.

    Parameters
    ----------
    points : rows of `Summary.points`, along ε or the number of people; curves with more than k centers are left out,
        because more centers always lower the loss
    """
    points = points[points.k_found <= points.n_clusters]
    if points.empty or axis not in ("epsilon", "n_rows"):
        return ""
    measure = METRICS[metric]
    stops = sorted(points[axis].dropna().unique())
    if not stops:  # methods without an ε have no curve along ε
        return ""
    at = min(stops, key=lambda stop: abs(math.log(stop))) if axis == "epsilon" else stops[-1]
    here = points[points[axis] == at]
    if not measure.relative or here.ratio.isna().any():
        best = here.loc[here["mean"].idxmax() if measure.higher_is_better else here["mean"].idxmin()]
        name = measure.title.partition(" (")[0]
        most = "highest" if measure.higher_is_better else "lowest"
        return f"{_place(axis, at)} {best.series} has the {most} {name}, {number(best['mean'])}"
    near = points.assign(near=points.ratio <= 1 + WITHIN)
    good, count = int(near[near[axis] == at].near.sum()), len(here)
    if count == 1:
        ratio = here.ratio.iloc[0]
        words = (
            f"within {percent(WITHIN)} of {measure.against}"
            if good
            else f"at {ratio_words(ratio)} times {measure.against}' loss"
        )
        return f"{_place(axis, at)} {here.series.iloc[0]} is {words}"
    what = "methods" if here.algorithm.nunique() == count else "curves"
    if good == count:
        least = at
        for stop in reversed([stop for stop in stops if stop <= at]):
            if len(some := near[near[axis] == stop]) < count or not some.near.all():
                break
            least = stop
        later = near[near[axis] >= least]
        if least < at and later.near.all():
            return f"{_place(axis, least, onward=True)} {_all(count)} {what} are {_within(measure.against)}"
    who = _all(count) if good == count else f"{_number(good)} of {_number(count)}"
    return f"{_place(axis, at)} {who} {what} {'is' if good < 2 else 'are'} {_within(measure.against)}"


def area_words(areas: pd.DataFrame, metric: str) -> str:
    """Name the curve with the best mean over all ε; `areas` are those of `Summary.areas` on one data set."""
    means = areas.set_index("series").area
    best = _best(means, metric)
    return f"{best} has {'the best' if len(means) > 1 else 'a'} mean, {_amount(float(means[best]), metric)}"


def dots_words(dots: pd.DataFrame, metric: str) -> str:
    """Name the curve with the best median; `dots` are those of `Summary.quantile_dots` at one value of the axis."""
    medians = dots.groupby("series", sort=False).value.median()
    best = _best(medians, metric)
    return f"{best} has {'the best' if len(medians) > 1 else 'a'} median, {number(float(medians[best]))}"


def heat_words(points: pd.DataFrame, metric: str) -> str:
    """Return as text the range of one series over two axes; `points` are those of `Summary.points`."""
    values = points.ratio if METRICS[metric].relative else points["mean"]
    low, high = (_amount(float(end), metric) for end in (values.min(), values.max()))
    return high if low == high else f"{low.partition(' ×')[0]} to {high}"


def _best(values: pd.Series, metric: str) -> str:
    return str(values.idxmax() if METRICS[metric].higher_is_better else values.idxmin())


def _amount(value: float, metric: str) -> str:
    return f"{ratio_words(value)} × {METRICS[metric].against}" if METRICS[metric].relative else number(value)


def steadiness(turns: pd.DataFrame, axis: str) -> list[str]:
    """Return sentences that name the curves that get worse along the axis, and say whether chance could explain this.

    Parameters
    ----------
    turns : rows of `Summary.turns` on one data set and promise
    """
    sentences = [
        f"{one.series} gets worse from {_value(axis, one.start)} to {_value(axis, one.end)}, by "
        f"{percent(one.change)}: more than the noise of {one.runs} runs."
        for one in turns[turns.sure].itertuples()
    ]
    unsure = turns[~turns.sure]
    for runs, group in unsure.groupby("runs"):
        names = list(dict.fromkeys(group.series))
        who = listed(names)
        verb = (
            "get worse somewhere along the way"
            if names[1:]
            else (f"gets worse from {_value(axis, group.start.iloc[0])} to {_value(axis, group.end.iloc[0])}")
        )
        sentences.append(f"{who} {verb}: within the noise of {runs} runs.")
    return sentences


def _within(against: str) -> str:
    return f"within {percent(WITHIN)} of {against}"


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {_number(count)}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _place(axis: str, value: float, *, onward: bool = False) -> str:
    if axis == "epsilon":
        return f"From {_value(axis, value)} upward" if onward else f"At {_value(axis, value)}"
    return f"From {_value(axis, value)} upward" if onward else f"With {_value(axis, value)}"


def _value(axis: str, value: float | str) -> str:
    words = value if isinstance(value, str) else short(axis, value)
    return {"epsilon": f"ε {words}", "n_rows": f"{words} people"}.get(axis, words)
