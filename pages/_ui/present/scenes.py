"""From a slide's address to the work that makes its picture. Read in the page's script; the work needs no session."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.sweeps.sweep import Sweep
from dpviz.version import __version__
from pages._ui import catalog, controls, runs
from pages._ui.attacker.setup import SLOWEST, question_of
from pages._ui.compare.sides import asked_by
from pages._ui.data.address import FILE
from pages._ui.forms import STOPS
from pages._ui.pieces import Piece
from pages._ui.present import pictures
from pages._ui.present.deck import Slide, split
from pages._ui.scene import Scene, Vocabulary, read
from pages._ui.sweep.form import sweep_of

__all__ = ["STAGED", "Staged", "staged"]

MOST_RUNS = 400  # of a sweep on a slide
Work = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclasses.dataclass(frozen=True, eq=False)
class Staged:
    """A slide that can be shown: its work, where the player starts (None: the last step) and whether it plays.

    `sentence` says what of its address could not be followed.
    """

    piece: Piece
    step: int | None
    play: bool
    sentence: str = ""


def staged(slide: Slide, mode: str) -> Staged:
    """Return what a slide needs, in the colors of a mode.

    Raises
    ------
    ValueError
        One sentence that says why it cannot be shown.
    """
    page, query = split(slide.scene)
    if page not in STAGED:
        raise ValueError(f"A scene of the page “{page[:40]}” cannot be a slide; these pages can: {', '.join(STAGED)}.")
    vocabulary, plan = STAGED[page]
    if "sweep=" in query:
        raise ValueError(
            "A finished sweep is on this server only; use the link that Trade-off shares before it starts."
        )
    scene, sentence = read(page, query, vocabulary)
    names = scene.values.get("d", ())
    if any(name.startswith(FILE) for name in ((names,) if isinstance(names, str) else names)):
        raise ValueError("It needs somebody's file: a deck shows samples and made-up data only.")
    if slide.show == "label" and page not in ("explore", "home"):
        raise ValueError("Only a run of Explore has a privacy label.")
    try:
        function, args = plan(scene, slide, mode)
    except (TypeError, LookupError) as problem:
        raise ValueError(str(problem)) from None
    name = json.dumps(
        ["slide", page, sorted(map(repr, scene.values.items())), scene.hide, slide.show, mode, __version__]
    )
    return Staged(Piece(name, function, args), scene.step, scene.play, sentence)


def _explore(scene: Scene, slide: Slide, mode: str) -> Work:
    if scene.values.get("exact"):
        raise ValueError("A run without noise has no slide; switch its noise on.")
    data, side = catalog.sample(scene.values["d"]), asked_by(scene, controls.explore)
    if side.algorithm.n_clusters > data.n_public:
        raise ValueError(f"It asks for more centers than the {data.n_public:,} people there are.")
    runs.check_time(data, side.algorithm)
    hidden = scene.values["layers"] and "kmeans" not in scene.hide
    chosen = scene.values.get("axes") or ()
    axes = (chosen[0], chosen[1]) if len(chosen) == 2 else data.view if len(data.columns) > 1 else None
    if not (scene.values["again"] and slide.show == "picture" and hasattr(side.algorithm, "epsilon")):
        return pictures.run, (data, side.algorithm, side.seed, mode, axes, hidden, slide.show)
    stops = sorted({*STOPS, side.algorithm.epsilon})
    if pictures.AGAIN * len(stops) * runs.seconds(data, side.algorithm) > runs.MOST_SECONDS / 2:
        raise ValueError("Its reruns would take too long; choose a faster algorithm or smaller data.")
    every = {f"ε {stop:g}": dataclasses.replace(side.algorithm, epsilon=stop) for stop in stops}
    return pictures.clouds, (data, every, side.seed, mode, axes, hidden)


def _home(scene: Scene, slide: Slide, mode: str) -> Work:
    data = catalog.sample("town")
    algorithm = ALGORITHMS["pe-means"](n_clusters=data.n_clusters, epsilon=scene.values["e"])
    return pictures.run, (data, algorithm, 0, mode, data.view, "kmeans" not in scene.hide, slide.show)


def _limits(scene: Scene, slide: Slide, mode: str) -> Work:
    return pictures.read_off, (catalog.sample(scene.values["d"]), scene.values["noise"], mode)


def _attacker(scene: Scene, slide: Slide, mode: str) -> Work:
    values, data = scene.values, catalog.sample(scene.values["d"])
    cls = ALGORITHMS[values["a"]]
    names = {"n_clusters": data.n_clusters, "epsilon": values["e"], "rho_distance": values.get("rho")}
    algorithm = cls(**{name: value for name, value in names.items() if value and name in params.specs(cls)})
    if runs.seconds(data, algorithm) > SLOWEST / 3:
        raise ValueError("One round of its game would take too long; choose smaller data or a faster algorithm.")
    pin = None
    if values["who"] == "pin":
        pin = np.array(data.domain.middle, dtype=float)
        for word, column in zip(("x", "y"), data.view, strict=False):
            pin[column] = values[word]
    setup = question_of(data, algorithm, values["who"], values["ask"], values.get("far", 0.0), pin)
    return pictures.game, (setup, mode)


def _tradeoff(scene: Scene, slide: Slide, mode: str) -> Work:
    asked: Sweep = sweep_of(scene.values)
    if len(asked.data) > 1:
        raise ValueError("A slide shows the curves of one data set.")
    if sum(1 for _, _ in zip(asked.runs(), range(MOST_RUNS + 1), strict=False)) > MOST_RUNS:
        raise ValueError(f"A slide's sweep has at most {MOST_RUNS} runs; this one has more.")
    title = catalog.sample(scene.values["d"][0]).title
    return pictures.sweep, (asked, title, mode, scene.values["scale"] == "log", scene.values["single"])


STAGED: dict[str, tuple[Vocabulary, Callable[[Scene, Slide, str], Work]]] = {
    "explore": (controls.explore, _explore),
    "home": (controls.home, _home),
    "limits": (controls.limits, _limits),
    "attacker": (controls.attacker, _attacker),
    "tradeoff": (controls.tradeoff, _tradeoff),
}
