"""Turn a slide's address into the work that makes its picture; the work itself needs no session."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.lessons import LESSONS
from dpviz.numbers import number
from dpviz.runs.public import started
from dpviz.sweeps.sweep import Sweep
from dpviz.version import __version__
from pages._ui.explore.attacker.setup import SLOWEST, question_of
from pages._ui.explore.attacker.who import person
from pages._ui.explore.compare.sides import Side, asked_by
from pages._ui.explore.form.forms import STOPS
from pages._ui.explore.stored import runs_of
from pages._ui.explore.tradeoff import sweeps
from pages._ui.explore.tradeoff.form import sweep_of
from pages._ui.explore.workspace.explore import explore
from pages._ui.explore.workspace.tradeoff import tradeoff
from pages._ui.frame import catalog
from pages._ui.frame.address.control import Vocabulary
from pages._ui.frame.address.data import FILE
from pages._ui.frame.address.deck import DEFAULT, WORDS, Slide, split
from pages._ui.frame.address.scene import Scene, read, write
from pages._ui.frame.places import PAGES
from pages._ui.learn.controls import vocabulary
from pages._ui.learn.limits.controls import limits
from pages._ui.teach.present import pictures
from pages._ui.work import atlas, runs
from pages._ui.work.batch import Piece

__all__ = ["IN_SHORT", "MOST_VARIED", "STAGED", "Staged", "called", "staged"]

MOST_RUNS = 400  # Maximum number of runs of a sweep on a slide.
# Maximum number of slides that also have their run at other values of ε; each sends up to several megabytes more.
MOST_VARIED = 6
SEEDS = 3  # number of other draws of a slide's noise
Work = tuple[Callable[..., Any], tuple[Any, ...]]
Plan = Callable[[Scene, Slide], Work]


@dataclasses.dataclass(frozen=True, eq=False)
class Staged:
    """A slide that can be shown: its picture's work, the player's first step (None for the last), and whether it plays.

    Attributes
    ----------
    address : page and query of the scene that its picture shows
    sentence : a sentence on the ignored parts of the slide's address
    others : key pressed in the show -> the same run at another ε ("1" to "5", or "e0.1" if typed) or seed
        ("r1", "r2", ...)
    into : key pressed in the show -> page and query of the scene with that run
    refusal : the reason why there are no other runs
    """

    piece: Piece
    step: int | None
    play: bool
    address: str = ""
    sentence: str = ""
    others: Mapping[str, Piece] = dataclasses.field(default_factory=dict)
    into: Mapping[str, str] = dataclasses.field(default_factory=dict)
    refusal: str = ""


def called(slide: Slide) -> str:
    """Return the name of a scene: its page, its data, its methods and budgets, as it opens; or the address's start."""
    address = slide.scene
    page, query = split(address)
    if slide.show == "page" and page in IN_SHORT:
        return PAGES[page].title
    if page not in STAGED:
        return address[:40]
    values = read(page, query, STAGED[page][0])[0].values
    names, slugs, budgets = (_all(values.get(word)) for word in ("d", "a", "e"))
    data = " and ".join("a file" if name.startswith(FILE) else catalog.sample(name).title for name in names)
    methods = " and ".join(ALGORITHMS[slug].name for slug in slugs) if len(slugs) < 3 else f"{len(slugs)} methods"
    ends = dict.fromkeys(number(end) for end in (min(budgets), max(budgets))) if budgets else ()
    return " · ".join(filter(None, (PAGES[page].title, data, methods, f"ε {' to '.join(ends)}" if ends else "")))


def _all(value: Any) -> tuple[Any, ...]:
    return () if value is None else value if isinstance(value, tuple) else (value,)


def staged(slide: Slide, *, varied: bool = True, typed: Sequence[float] = ()) -> Staged:
    """Prepare a slide; `varied` says whether its runs at other ε and seeds are made, too.

    `typed` lists values of ε typed in the show.

    Raises
    ------
    ValueError
        If the slide cannot be shown; the message is one sentence with the reason.
    """
    if slide in DEFAULT.slides and not typed:
        return _of_default(slide, varied)
    return _staged(slide, varied, typed)


@functools.cache
def _of_default(slide: Slide, varied: bool) -> Staged:
    """Prepare a slide of the default deck once for all visitors, because nothing that a visitor does changes it."""
    return _staged(slide, varied, ())


def _staged(slide: Slide, varied: bool, typed: Sequence[float]) -> Staged:
    page, query = split(slide.scene)
    if slide.show == "page":
        if page not in IN_SHORT:
            raise ValueError("Only Start, Class and Limits can be shown in short.")
        name = json.dumps(["slide", page, slide.show, __version__])
        refusal = "This slide shows no run, so there is no ε and no seed to change."
        return Staged(Piece(name, IN_SHORT[page], ()), 0, False, page, refusal=refusal)
    if page not in STAGED:
        raise ValueError(f"The page “{page[:40]}” cannot be a slide; these pages can: {', '.join(STAGED)}.")
    vocabulary, plan = STAGED[page]
    if "sweep=" in query:
        raise ValueError(
            "A finished sweep exists on this server only; use the link that Trade-off shares before the sweep starts."
        )
    scene, sentence = read(page, query, vocabulary)
    names = scene.values.get("d", ())
    if any(name.startswith(FILE) for name in ((names,) if isinstance(names, str) else names)):
        raise ValueError("This slide needs a file; a deck shows only samples and made-up data.")
    if slide.show == "label" and page != "explore":
        raise ValueError("Only a run on Watch has a privacy label.")
    if slide.show in WORDS and page != "explore":
        raise ValueError("Only a run on Watch has a promise to put into words.")
    piece = _piece(plan, scene, slide)
    tasks: dict[str, Piece] = {}
    others: dict[str, Scene] = {}
    refusal = f"Only the first {MOST_VARIED} slides of a deck that show one run can be shown at other values of ε."
    if varied:
        try:
            others, refusal = _others(scene, slide, piece, typed)
            tasks = {key: _piece(plan, other, slide) for key, other in others.items()}
        except ValueError as problem:
            tasks, others, refusal = {}, {}, str(problem)
    into = {key: f"{page}?{write(other, vocabulary)}" for key, other in others.items()}
    address = f"{page}?{write(scene, vocabulary)}"
    return Staged(piece, scene.step, scene.play, address, sentence, tasks, into, refusal)


def _piece(plan: Plan, scene: Scene, slide: Slide) -> Piece:
    try:
        function, args = plan(scene, slide)
    except (TypeError, LookupError) as problem:
        raise ValueError(str(problem)) from None
    values = sorted(map(repr, scene.values.items()))
    name = json.dumps(["slide", scene.page, values, scene.hide, slide.show, __version__])
    return Piece(name, function, args)


def _others(scene: Scene, slide: Slide, piece: Piece, typed: Sequence[float]) -> tuple[dict[str, Scene], str]:
    """Return the scenes that keys open in the show, as key -> scene, or the reason why there are none."""
    if piece.function is not pictures.run:
        return {}, "This slide does not show a single run, so its ε and seed cannot change."
    data, algorithm, seed, *_ = piece.args
    if not hasattr(algorithm, "epsilon"):
        return {}, "This run promises nothing, so it has no ε."
    label = slide.show == "label"  # the label is the same for every draw of the noise
    if (len(STOPS) + SEEDS) * runs.seconds(data, algorithm) > runs.MOST_SECONDS / 2:
        return {}, "This run takes too long to repeat at other values of ε before the show."

    def with_(**values: Any) -> Scene:
        return dataclasses.replace(scene, values={**scene.values, **values})

    others = {str(i): with_(e=stop) for i, stop in enumerate(STOPS, 1)}
    others |= {f"e{number(epsilon, 6)}": with_(e=epsilon) for epsilon in typed}
    return others | {f"r{i}": with_(s=seed + i) for i in range(1, SEEDS + 1) if not label}, ""


def _asked(scene: Scene) -> tuple[Dataset, Side]:
    """Return the data and the run that a scene requests; public rows start it unless they are switched off."""
    data, side = catalog.sample(scene.values["d"]), asked_by(scene, explore)
    if scene.values.get("open"):
        side = dataclasses.replace(side, algorithm=started(side.algorithm, data))
    return data, side


def _run(scene: Scene, slide: Slide) -> Work:
    if scene.values.get("exact"):
        raise ValueError("A slide cannot show a run without noise; switch the noise on.")
    data, side = _asked(scene)
    runs.check(data, side.algorithm)
    if slide.show in WORDS:
        return pictures.words, (data, side.algorithm, side.seed, slide.show, _priced(data, side.algorithm, slide.show))
    hidden = scene.values["layers"] and "kmeans" not in scene.hide
    chosen: Sequence[int] = scene.values.get("axes") or ()
    axes = (chosen[0], chosen[1]) if len(chosen) == 2 else None
    if not (scene.page == "again" and slide.show == "picture" and hasattr(side.algorithm, "epsilon")):
        return pictures.run, (data, side.algorithm, side.seed, axes, hidden, slide.show)
    every = {f"ε {number(stop, 6)}": _at(side.algorithm, stop) for stop in sorted({*STOPS, side.algorithm.epsilon})}
    stored = {one: stop.centers for one, algorithm in every.items() if (stop := runs_of(data, algorithm)) is not None}
    if pictures.AGAIN * (len(every) - len(stored)) * runs.seconds(data, side.algorithm) > runs.MOST_SECONDS / 2:
        raise ValueError("The reruns would take too long; choose a faster algorithm or smaller data.")
    return pictures.clouds, (data, every, stored, side.seed, axes, hidden)


def _priced(data: Dataset, algorithm: Algorithm, show: str) -> tuple[tuple[Algorithm, tuple[int, ...]], ...]:
    """Return the algorithm at the stops of ε and its own, each with the groups found by every stored run."""
    if show != "why":
        return ()
    if not hasattr(algorithm, "epsilon"):
        raise ValueError("This run promises nothing, so it has no ε to give reasons for.")
    every = [_at(algorithm, stop) for stop in sorted({*STOPS, algorithm.epsilon})]
    stored = [(one, runs_of(data, one)) for one in every]
    return tuple((one, () if stop is None else tuple(stop.found.tolist())) for one, stop in stored)


def _at(algorithm: Algorithm, epsilon: float) -> Algorithm:
    values: dict[str, Any] = {"epsilon": epsilon}
    return dataclasses.replace(algorithm, **values)


def _limits(scene: Scene, slide: Slide) -> Work:
    return pictures.read_off, (catalog.sample(scene.values["d"]), scene.values["noise"])


def _attacker(scene: Scene, slide: Slide) -> Work:
    values, (data, side) = scene.values, _asked(scene)
    algorithm, alex = side.algorithm, person(values["who"], data)
    if alex is None:
        raise ValueError("There is no such person in these data; choose another person.")
    setup = question_of(data, algorithm, alex, values["who"], values["ask"], values.get("far", 0.0))
    asked = data, algorithm, setup.question.person
    stored = tuple(atlas.played(*asked, world) if values["ask"] == "in" else () for world in (None, True, False))
    if not all(stored) and runs.seconds(data, algorithm) > SLOWEST / 3:
        raise ValueError("One round of this game would take too long; choose smaller data or a faster algorithm.")
    return pictures.game, (setup, stored)


def _tradeoff(scene: Scene, slide: Slide) -> Work:
    asked: Sweep = sweep_of(scene.values)
    if len(asked.data) > 1:
        raise ValueError("A slide shows the curves of a single data set.")
    if sweeps.size(asked) > MOST_RUNS:
        raise ValueError(f"A slide's sweep has at most {MOST_RUNS} runs; this one has more.")
    data = catalog.sample(scene.values["d"][0])
    stored = tuple(sweeps.stored(asked).values())
    return pictures.sweep, (asked, data, scene.values["scale"] == "log", scene.values["single"], stored)


def _learn(scene: Scene, slide: Slide) -> Work:
    name = scene.values["lesson"]
    if name not in LESSONS:
        raise ValueError("This slide needs a lesson, such as learn?v=1&lesson=exact.")
    return pictures.lesson, (name, scene.values.get("s", 0))


STAGED: dict[str, tuple[Vocabulary, Plan]] = {
    "explore": (explore, _run),
    "again": (explore, _run),
    "limits": (limits, _limits),
    "attacker": (explore, _attacker),
    "tradeoff": (tradeoff, _tradeoff),
    "learn": (vocabulary, _learn),
}
# Pages that a slide shows in short, with the work that makes the slide.
IN_SHORT: dict[str, Callable[..., Any]] = {"home": pictures.start, "class": pictures.play, "limits": pictures.uncovered}
