"""Draw the pictures of the ε slider: stored runs at each of its stops, and a curve along its track.

This module makes everything that the browser shows while the slider is dragged, including its texts. A record stays
small: at most `CLOUD` runs, `MARKS` centers per stop and 800 people per edition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.stats import binom, binomtest

from dpviz.figures.kit.layers import center, layered
from dpviz.figures.kit.mosaic import mosaic
from dpviz.figures.kit.scale_bar import as_map
from dpviz.figures.kit.view import Panel, View, thin, xy
from dpviz.figures.scenes.reruns import numbers_of_centers
from dpviz.numbers import fraction, ratio_words
from dpviz.postprocessing.bet import briefly, with_more

__all__ = [
    "CLOUD",
    "CURVE",
    "MARKS",
    "Edition",
    "Stop",
    "curve_table",
    "record",
    "share_interval",
    "text_of",
]

CLOUD = 20  # number of runs drawn
MARKS = 2_000  # maximum number of centers of reruns that are drawn at one stop
BAND = (0.1, 0.9)  # quantiles of the runs' losses that bound the band around the curve
SURE = 0.95  # confidence level of the interval for a median or a share
TOP = (1.25, 8.0)  # smallest and largest possible upper end of the curve's axis, in multiples of the reference's loss
CURVE = "curve: the runs' loss; dotted: KMeans'"  # legend of the track


class Stop(Protocol):
    """All runs at one ε; run i has the seed i.

    `centers` holds an array (k', d) per run, original units, `losses` (runs,) have the unit of the reference's loss,
    `found` (runs,) is the number of groups with a center, and an attacker wins at most `bet` of 100 bets on a person.
    """

    @property
    def epsilon(self) -> float | None:
        """Return the privacy budget."""

    @property
    def bet(self) -> int:
        """Return the largest number of 100 bets that an attacker can win."""

    @property
    def centers(self) -> tuple[np.ndarray, ...]:
        """Return the released centers of every run."""

    @property
    def losses(self) -> np.ndarray:
        """Return the loss of every run."""

    @property
    def found(self) -> np.ndarray:
        """Return, for every run, the number of groups with a center of their own."""


@dataclasses.dataclass(frozen=True, eq=False)
class Edition:
    """All runs with a given number of people, at every stop of the slider.

    Attributes
    ----------
    name : public name of the data set with this number of people
    n : number of people
    stops : the stops of the slider by ascending ε, the same in every edition
    most : for every stop, the largest number of 100 bets that an attacker can win against any method with the stop's ε
        and δ
    groups : number of groups
    best : the reference's loss
    people : ndarray (n, d), original units, or None; NOT PRIVATE
    reference : the reference's centers (k, d), original units, or None; NOT PRIVATE
    """

    name: str
    n: int
    stops: Sequence[Stop]
    most: Sequence[int]
    groups: int
    best: float
    people: np.ndarray | None = None
    reference: np.ndarray | None = None


def text_of(name: str) -> str:
    """Return the source of "track.js" or "track.css", which work on any page."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def curve_table(edition: Edition) -> pd.DataFrame:
    """Return the points of the curve along the track, one row per stop. NOT PRIVATE.

    Columns: epsilon; low, median and high, the 10, 50 and 90% quantiles of the loss divided by the reference's; again,
    the number of runs that find all groups; runs, the number of all runs; noise, true if the stop looks worse than the
    previous stop although the 95% intervals overlap. A stop looks worse if its median loss, rounded to two digits, is
    higher or if fewer of its runs find all groups.
    """
    rows: list[tuple[Any, ...]] = []
    before: tuple[np.ndarray, int] | None = None
    for stop in edition.stops:
        ratios = np.asarray(stop.losses, dtype=float) / (edition.best or 1.0)
        again = int((np.asarray(stop.found) == edition.groups).sum())
        noise = before is not None and _looks_worse(*before, ratios, again)
        low, middle, high = np.quantile(ratios, [BAND[0], 0.5, BAND[1]])
        rows.append((stop.epsilon, low, middle, high, again, len(ratios), noise))
        before = ratios, again
    return pd.DataFrame(rows, columns=["epsilon", "low", "median", "high", "again", "runs", "noise"])


def _looks_worse(ratios: np.ndarray, again: int, later: np.ndarray, later_again: int) -> bool:
    """Return whether the later stop looks worse than the earlier one, although chance could explain the difference."""
    differs = []
    if round(float(np.median(later)), 2) > round(float(np.median(ratios)), 2):
        differs.append(_median_interval(later)[0] > _median_interval(ratios)[1])
    if later_again / len(later) < again / len(ratios):
        differs.append(share_interval(later_again, len(later))[1] < share_interval(again, len(ratios))[0])
    return bool(differs) and not any(differs)


def _median_interval(values: np.ndarray) -> tuple[float, float]:
    """Return an interval for the median from order statistics; it holds for any distribution."""
    n = len(values)
    rank = max(int(binom.ppf((1 - SURE) / 2, n, 0.5)), 1)
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[n - rank])


def share_interval(some: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval for a share, given that `some` of n runs count."""
    interval = binomtest(some, n).proportion_ci(SURE, method="wilson")
    return float(interval.low), float(interval.high)


def film(view: View, edition: Edition, seed: int) -> Panel:
    """Draw a plane with one frame per stop: the centers of reruns in a pale color, and those of the run with this seed.

    `view` holds the domain and the choice of what to draw; people and reference come from the edition.
    """
    colors = view.colors
    if view.picture is not None:
        ours = [np.asarray(stop.centers[seed]) for stop in edition.stops]
        return mosaic(view, ours, f"A run at {len(ours)} values of ε: {numbers_of_centers(ours)}")
    view = dataclasses.replace(
        view,
        people=edition.people if view.hidden else None,
        reference=edition.reference if view.hidden else None,
        missed=None,
    )
    looks = {
        "cloud": {
            "mode": "markers",
            "name": "center of a rerun",
            "marker": {"color": colors.released, "size": 7, "opacity": 0.28},
        },
        "one": center(colors),
    }
    others = [run for run in range(len(edition.stops[0].centers)) if run != seed][: CLOUD - 1]
    frames = []
    for stop in edition.stops:
        cloud = np.concatenate([stop.centers[run] for run in others])
        sample = cloud[thin(len(cloud), MARKS)]
        frames.append({"cloud": xy(view.flat(sample)), "one": xy(view.flat(stop.centers[seed]))})
    alt = f"Centers of {len(others) + 1} runs at {len(frames)} values of ε, one after the other."
    every = [stop.centers[run] for stop in edition.stops for run in (seed, *others)]
    title = f"{len(others) + 1} runs at {len(frames)} values of ε: {numbers_of_centers(every)} each"
    panel = layered(view, title, looks, frames, alt)
    as_map(view, panel.figure)
    return panel


def record(view: View, editions: Sequence[Edition], seed: int, on: str) -> dict[str, Any]:
    """Return everything that a browser needs to show any stop of any edition: plain numbers, texts and JSON.

    Parameters
    ----------
    view : choice of what to draw; without hidden layers, the record holds no secret value
    editions : one edition for each number of people
    seed : seed of the run that is drawn together with the reruns
    on : what the bet is on, in the words of `postprocessing.bet`
    """
    largest = max(editions, key=lambda edition: edition.n)
    drawn = [_edition(view, one, largest, seed, on) for one in editions]
    return {"editions": drawn, "top": _top(editions), "curve": CURVE}


def _top(editions: Sequence[Edition]) -> float:
    """Return the upper end of the curves' axis, in multiples of the reference's loss, the same for all editions."""
    highest = max(float(curve_table(edition).high.max()) for edition in editions)
    return round(float(np.clip(highest, *TOP)), 3)


def _edition(view: View, edition: Edition, largest: Edition, seed: int, on: str) -> dict[str, Any]:
    curve, stops, before = curve_table(edition), [], ""
    for i, (stop, most, row) in enumerate(zip(edition.stops, edition.most, curve.itertuples(), strict=True)):
        label = fraction(float(row.epsilon))
        promise = _promise(stop, most, on, with_more(stop.bet, largest.stops[i].bet, largest.n))
        about: dict[str, Any] = {"epsilon": float(row.epsilon), "label": label, "promise": promise, "truth": []}
        if view.hidden:
            about |= {name: round(float(getattr(row, name)), 4) for name in ("low", "median", "high")}
            about["own"] = round(float(stop.losses[seed]) / (edition.best or 1.0), 4)
            about["truth"] = _truth(view, edition, row, int(stop.found[seed]), about["own"], before)
        found = f" {stop.found[seed]} of {edition.groups} groups found." * view.hidden
        about["spoken"] = f"ε {label}: {briefly(stop.bet)}.{found}"  # read at every key; the sentences stand below
        stops.append(about)
        before = label
    figure = film(view, edition, seed).figure
    return {"name": edition.name, "people": f"{edition.n:,}", "stops": stops, "figure": figure.to_json()}


def _promise(stop: Stop, most: int, on: str, more: str) -> list[str]:
    """Return the released facts as parts of a sentence; every second part is bold."""
    centers = len(stop.centers[0])
    end = f"; any method with this ε and δ: at most {most}." if most > stop.bet else "."
    released = f"Released: {centers} center{'s' * (centers != 1)}."
    return ["", released, f" A bet on {on} is right at most ", f"{stop.bet} times in 100", f"{more}{end}"]


def _truth(view: View, edition: Edition, row: Any, n_found: int, own: float, before: str) -> list[str]:
    """Return the secret facts in the format of `_promise`. NOT PRIVATE."""
    times = ratio_words(own)
    first = f"{n_found} of {edition.groups} groups, {times} × {view.against}' loss. "
    first += f"All {edition.groups} groups found again in "
    worse = f" This is worse than at ε {before}, but the difference is within the noise of {row.runs} runs."
    noise = worse * bool(row.noise)
    return [first, f"{row.again} of {row.runs}", f" runs.{noise}"]
