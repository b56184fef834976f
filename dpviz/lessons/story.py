"""Start's story: one data set, one Alex, six screens. The screens' pictures and words are computed here from runs.

Every part is a pure function of public names and can be made in another process, within seconds unless its docstring
says otherwise. `record` joins the finished parts for a browser.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.averages import CLUSTERS, EPSILON, Bets, Given, nearest
from dpviz.atlas.cells import PEOPLE, STOPS, STORY, Cell, Chapter, opened, row, yardstick
from dpviz.atlas.files import Chart
from dpviz.atlas.noised import Noised
from dpviz.audits.game import Round
from dpviz.audits.locate import blind
from dpviz.figures.scenes.drag import share_interval
from dpviz.numbers import fraction, length, number, ratio_words
from dpviz.postprocessing.bet import bet_of, odds_of_any, with_more
from dpviz.privacy.guarantee import Guarantee

__all__ = ["EDITIONS", "METHOD", "SAMPLE", "StoryRuns", "of_chart", "record", "reruns", "text_of"]

SAMPLE, METHOD = STORY
EDITIONS = (None, *sorted(PEOPLE[SAMPLE], reverse=True))  # numbers of people, None for all
BETS = 3  # number of bets that a visitor makes against each method
CLOUD = 20  # number of reruns that are drawn
FEWER = 20  # number of reruns made at each stop if none are stored
LITTLE = 75  # a promise that allows more bets than this, out of 100, promises little: nearer to 100 than to a coin
_METER = 1000  # coordinates are sent in meters; those of the sample are in kilometers


@dataclasses.dataclass(frozen=True, eq=False)
class StoryRuns:
    """Runs of the story's method with a given number of people, at every stop of ε.

    Attributes
    ----------
    people : number of people, None for all
    groups : number of groups
    promises : the promise at each stop
    centers : ndarray of shape (stops, CLOUD, k, 2), original units, in the same order in every run
    found : number of groups that the first run finds at each stop
    again : number of runs that find all groups at each stop
    runs : number of runs at each stop
    """

    people: int | None
    groups: int
    promises: tuple[Guarantee, ...]
    centers: np.ndarray
    found: tuple[int, ...]
    again: tuple[int, ...]
    runs: int


def _method(epsilon: float) -> Algorithm:
    values = {"epsilon": epsilon}
    return ALGORITHMS[METHOD](n_clusters=opened(SAMPLE, None).data.n_clusters, **values)


def of_chart(chart: Chart) -> StoryRuns:
    """Return stored runs in the form that the story draws."""
    clouds = [stop.centers[:CLOUD] for stop in chart.stops]
    return _reruns(chart.people, chart.groups, clouds, [stop.found for stop in chart.stops])


def reruns(people: int | None, on_step: Callable[[int, int], None] = lambda done, all: None) -> StoryRuns:
    """Make the first `FEWER` runs of every stop, the same as in the atlas; with all people this takes half a minute."""
    domain, groups = opened(SAMPLE, people).data.domain, len(yardstick(SAMPLE, people).groups.means)
    runs = []
    for i, stop in enumerate(STOPS):
        runs.append([row(Cell(Chapter(SAMPLE, METHOD), people, stop, seed)) for seed in range(FEWER)])
        on_step(i + 1, len(STOPS))
    clouds = [[domain.denormalize(np.reshape(one["centers"], (-1, 2))) for one in stop[:CLOUD]] for stop in runs]
    return _reruns(people, groups, clouds, [np.array([one["found"] for one in stop]) for stop in runs])


def _reruns(
    people: int | None, groups: int, clouds: Sequence[Sequence[np.ndarray]], hits: Sequence[np.ndarray]
) -> StoryRuns:
    promises = tuple(_promise(people, stop) for stop in STOPS)
    order = np.array(sorted(clouds[-1][0].tolist()))
    centers = np.array([[_ordered(one, order) for one in cloud] for cloud in clouds])
    first, again = (tuple(int(one[0]) for one in hits), tuple(int((one == groups).sum()) for one in hits))
    return StoryRuns(people, groups, promises, centers, first, again, len(hits[0]))


def _ordered(centers: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return centers (k, 2) in the order of the matching ones in `order` (k, 2), so that each can be followed."""
    return centers[linear_sum_assignment(cdist(order, centers))[1]]


def record(
    given: Given | None = None,
    bets: Bets | None = None,
    reruns: Sequence[StoryRuns] = (),
    noised: Sequence[Noised] = (),
) -> dict[str, Any]:
    """Return the browser's record: positions in whole meters, texts with their numbers; a missing part is None.

    The record describes made-up people, some of them individually: NOT PRIVATE.
    """
    data = opened(SAMPLE, None).data
    words = _words()
    about = {
        "people": f"{len(data.X):,}",
        "epsilon": fraction(EPSILON),
        "method": ALGORITHMS[METHOD].name,
        "groups": data.n_clusters,
        "first": CLUSTERS[0],
        "last": CLUSTERS[-1],
        "bets": BETS,
    }
    whole = next((one for one in reruns if one.people is None), None)
    return {
        "low": _meters(data.domain.low),
        "high": _meters(data.domain.high),
        "people": _packed(data.X),
        "titles": [screen["title"] for screen in words.values()],
        "texts": [screen["text"].format(**about) for screen in words.values()],
        "given": None if given is None else _given(given, about),
        "noise": None if given is None or not noised else _noise(given, noised, whole, about),
        "bets": None if given is None or bets is None else _bets(given, bets, about),
        "stops": [fraction(stop) for stop in STOPS],
        "start": STOPS.index(EPSILON),
        "editions": [_edition(one, given, about) for one in reruns],
        "reruns": CLOUD - 1,
        "turn": words["turn"]["say"],
    }


def text_of(name: str) -> str:
    """Return "story.js" or "story.css", the story's script and style, which work on any page."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "story.toml").read_text(encoding="utf-8"))


def _meters(places: np.ndarray) -> list[Any]:
    return np.rint(np.asarray(places) * _METER).astype(int).tolist()


def _packed(places: np.ndarray) -> str:
    """Return positions in whole meters, as little-endian 16-bit integers in base 64."""
    return base64.b64encode(np.rint(places * _METER).astype("<i2").tobytes()).decode()


def _filled(name: str, keys: Sequence[str], **facts: Any) -> dict[str, str]:
    return {key: _words()[name][key].format(**facts) for key in keys}


def _given(given: Given, about: dict[str, Any]) -> dict[str, Any]:
    data = opened(SAMPLE, None).data
    steps = [
        {"k": k, "rows": _meters(data.X[list(rows)]), "wrong": _meters(wrong), "centers": _meters(centers)}
        for k, rows, wrong, centers in zip(CLUSTERS, given.rows, given.wrong, given.centers, strict=True)
    ]
    words = _filled("given", ("big", "note", "say"), count=given.count, candidates=given.candidates, **about)
    return {"alex": _meters(data.X[given.alex]), "kmeans": _meters(given.kmeans), "steps": steps, **words}


def _noise(given: Given, noised: Sequence[Noised], whole: StoryRuns | None, about: dict[str, Any]) -> dict[str, Any]:
    """Return the averages at every strength of the noise, and the story's method as the smarter publication."""
    data, words, stops = opened(SAMPLE, None).data, _words()["noise"], []
    row = data.domain.normalize(data.X[given.alex][None])[0]
    unit = float(np.ptp(data.domain.denormalize(np.eye(2))[:, 0]))
    for one in noised:
        name = words["none"] if one.epsilon is None else number(one.epsilon)
        facts = {
            **about, "off": length(float(one.off[one.shown]), "km", 2), "odds": math.floor(one.odds + 0.5),
            "blind": length(unit * blind(data.domain).off(row), "km", 2), "found": int(one.found[one.shown]),
            "ratio": ratio_words(float(one.ratio[one.shown])),
            "strength": "Without noise" if one.epsilon is None else f"At ε\N{NO-BREAK SPACE}{name}",
        }  # fmt: skip
        big = words["exact" if one.epsilon is None else "big"].format(**facts)
        stops.append(
            {
                "name": name,
                "exact": one.epsilon is None,
                "big": big,
                "places": _packed(np.vstack([one.centers, one.cloud])),
                **_filled("noise", ("note", "say"), **facts),
            }
        )
    smart = None
    if whole is not None:
        at = STOPS.index(EPSILON)
        facts = {**about, "again": whole.again[at], "runs": whole.runs, "found": whole.found[at]}
        smart = _filled("noise", ("smarter", "why", "told"), **facts)
    return {"stops": stops, "smart": smart, **_filled("noise", ("slider", "button"))}


def _promise(people: int | None, epsilon: float) -> Guarantee:
    return _method(epsilon).guarantee(2, people or opened(SAMPLE, None).data.n_public)


def _bets(given: Given, bets: Bets, about: dict[str, Any]) -> dict[str, Any]:
    alex, promise = opened(SAMPLE, None).data.X[given.alex], _promise(None, EPSILON)
    marks = np.vstack([bets.inside, bets.outside])
    middle = marks.mean(axis=0)
    near = {id(one): nearest(one.centers, alex) for one in (*bets.exact, *bets.private)}
    moved = float(np.median([np.linalg.norm(near[id(one)] - middle) for one in bets.private]))
    reach = 1.9 * float(np.linalg.norm(marks - middle, axis=1).max())  # wide enough for all marks
    shift = float(cdist(bets.inside, bets.outside).min())
    facts = {
        "shift": length(shift, "km", 2), "moved": length(moved, "km", 2),
        "odds": promise.odds, "any": odds_of_any(promise), "on": bet_of(promise, who="Alex").on, **about,
    }  # fmt: skip
    right = range(BETS + 1)

    def sent(rounds: Sequence[Round]) -> list[dict[str, Any]]:
        return [
            {
                "inside": one.inside,
                "centers": _meters(one.centers),
                "near": _tenths(near[id(one)] - middle),
                "far": length(float(np.linalg.norm(near[id(one)] - middle)), "km", 2),
            }
            for one in rounds
        ]

    return {
        "middle": _meters(middle),
        "reach": round(_METER * reach, 1),
        "wide": _words()["bets"]["wide"].format(wide=length(2 * reach, "km", 2)),
        "inside": _tenths(bets.inside - middle),
        "outside": _tenths(bets.outside - middle),
        "exact": sent(bets.exact),
        "noisy": sent(bets.private),
        "prompts": [
            *(_filled("bets", ("exact",), number=i + 1, **facts)["exact"] for i in range(BETS)),
            *(_filled("bets", ("noisy",), number=i + 1, **facts)["noisy"] for i in range(BETS)),
        ],
        "after": [_words()["bets"]["won" if n == BETS else "lost"].format(right=n, **facts) for n in right],
        "coin": [_filled("bets", ("coin",), right=n, **facts)["coin"] for n in right],
        **_filled("bets", ("say",), **facts),
    }


def _tenths(places: np.ndarray) -> list[Any]:
    """Return positions in meters, rounded to a tenth, as a lens shows them."""
    return np.round(np.asarray(places) * _METER, 1).tolist()


def _edition(one: StoryRuns, given: Given | None, about: dict[str, Any]) -> dict[str, Any]:
    whole, data, stops = opened(SAMPLE, None).data, opened(SAMPLE, one.people).data, []
    alex = None if given is None else whole.X[given.alex]
    for i, (stop, promise, again) in enumerate(zip(STOPS, one.promises, one.again, strict=True)):
        bet = bet_of(promise, who="Alex")
        facts = {
            **about, "groups": one.groups, "epsilon": fraction(stop), "people": f"{len(data.X):,}", "odds": bet.odds,
            "any": odds_of_any(promise), "on": bet.on, "again": again, "runs": one.runs,
            "find": "finds" if again == 1 else "find",
            "before": fraction(STOPS[i - 1]), "more": with_more(bet.odds, _promise(None, stop).odds, len(whole.X)),
        }  # fmt: skip
        facts["holds"] = _words()["people"]["weak" if bet.odds > LITTLE else "holds"].format(**facts)
        sentences = {name: _filled(name, ("big", "say"), **facts) for name in ("epsilon", "people")}
        if i and again < one.again[i - 1]:
            known = share_interval(again, one.runs)[1] < share_interval(one.again[i - 1], one.runs)[0]
            sentences["epsilon"]["big"] += _words()["epsilon"]["fewer" if known else "noise"].format(**facts)
        stops.append(sentences | {"weak": bet.odds > LITTLE})
    return {
        "name": f"{len(data.X):,}",
        "alex": alex is not None and bool((data.X == alex).all(axis=1).any()),
        "people": None if one.people is None else _packed(data.X),
        "stops": stops,
        "cloud": _packed(one.centers),
    }
