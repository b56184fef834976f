"""Ask who Alex is, and whether the bet is on Alex's presence in the data or on Alex's position."""

from __future__ import annotations

import dataclasses
import json
from functools import partial

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.audits.game import Question, moved, present
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.figures.scenes.alex import PRESENT
from dpviz.params import ParamSpec
from dpviz.privacy.guarantee import Neighboring
from dpviz.runs.alex import Alex
from pages._ui.explore.attacker.who import FIRST, USUAL, accepts, called, person, usual
from pages._ui.explore.distance import methods
from pages._ui.frame.address.control import Control, choice
from pages._ui.work import runs
from pages._ui.work.results import Result

ATTACKER_WHO_NEXT = "attacker_who_next"

WHO = Control("who", "attacker_who", "Alex is", ParamSpec(FIRST), accepts=accepts, look=True, widget="selectbox")
_ASK = {"in": "In the data?", "moved": "Here or away?"}
ASK = Control(
    "ask", "attacker_ask", "Ask", choice("in", tuple(_ASK)), look=True, widget="segmented_control", named=_ASK,
    help="Is Alex in the data, or where is Alex? rho limits only the answer to the second question.",
)  # fmt: skip
LONGEST = 400  # Width in pixels, enough for the longest name of Alex.
_FAR = 14  # Number of the distance offered first.
SLOWEST = 3.0  # Maximum duration of one run, in seconds, because a game needs hundreds of runs.


@dataclasses.dataclass(frozen=True, eq=False)
class Setup:
    """The question of a game.

    Attributes
    ----------
    ask, far : the choice of `ASK`, and the distance in z units if Alex may be away
    words : the question in full
    yes, no : the answers
    worlds : the names of both worlds, as in "20 runs with Alex"
    key : the question's name
    """

    question: Question
    algorithm: Algorithm
    data: Dataset
    alex: Alex
    who: str
    ask: str
    far: float
    words: str
    yes: str
    no: str
    worlds: tuple[str, str]
    key: str


def one_scale(data: Dataset) -> bool:
    """Return whether all columns share one scale, so that a distance is a single number."""
    return not np.ptp(data.domain.half_width)


def stops_of(data: Dataset) -> list[float]:
    """Return the distances (z units) offered for a data set; none if its columns differ in scale."""
    return methods.stops(data) if one_scale(data) else []


def controls(data: Dataset) -> list[Control]:
    """Return the controls of a game on these data: who Alex is, the question, and the distance if there is one."""
    stops = stops_of(data)
    return [WHO, ASK, *([_far(data, stops)] if stops else [])]


def _far(data: Dataset, stops: list[float]) -> Control:
    """Return the control of the distance."""
    return Control(
        "far", f"attacker_far_{data.dataset_id.removeprefix('sample:')}", "How far away", choice(stops[_FAR], stops),
        look=True, widget="select_slider", named=lambda z: plain(data.domain.length(z)),
    )  # fmt: skip


def setup(result: Result) -> Setup | None:
    """Show the controls; return the question about a run, or say why there is none and return None."""
    data = result.data
    algorithm = method_of(result)
    far, stops = 0.0, stops_of(data)
    ask: str | None = "in"
    with st.container(horizontal=True, vertical_alignment="bottom", key="form_alex"):
        who = _who(data.noun)
        if stops:
            ask = ASK.draw()
        if ask == "moved":
            far = _far(data, stops).draw()
    alex = person(who, data)
    if alex is None:
        st.info(
            f"This data set has no such {data.noun}, so Alex is {called(FIRST, data.noun)}; choose another {data.noun}."
        )
        who, alex = FIRST, usual(FIRST, data)
    seconds = runs.seconds(data, algorithm)
    if seconds > SLOWEST:
        st.info(f"One round would take {seconds:.0f} seconds here; choose smaller data or fewer centers.")
        return None
    return question_of(data, algorithm, alex, who, ask or "in", far)


def _who(noun: str) -> str:
    state = st.session_state
    # if a click has chosen a person, set the value before Streamlit makes the widget
    if taken := state.pop(ATTACKER_WHO_NEXT, None):
        state[WHO.key] = taken
    now = WHO.held
    return WHO.draw(
        options=[*USUAL, *([now] if now not in USUAL else [])], format_func=partial(called, noun=noun),
        width=LONGEST, help=f"Or click another {noun}, or an empty place, in the picture.",
    )  # fmt: skip


def question_of(data: Dataset, algorithm: Algorithm, alex: Alex, who: str, ask: str, far: float) -> Setup:
    """Return the question of a game; `who` names Alex, `ask` is a choice of `ASK`, `far` is a distance in z units."""
    size = data.X, data.domain, data.n_public, alex.place
    question = moved(algorithm, *size, far, alex.row) if ask == "moved" else present(algorithm, *size, alex.row)
    key = json.dumps([data.dataset_id, repr(algorithm), who, ask, far, alex.place.tolist()])
    away = f"with Alex {data.domain.length(far)} away"
    words, answers = _words(data, algorithm, ask, far), ("Here", "Away") if ask == "moved" else ("In", "Out")
    worlds = ("with Alex here", away) if ask == "moved" else PRESENT
    return Setup(question, algorithm, data, alex, who, ask, far, words, *answers, worlds, key)


def asked(data: Dataset, algorithm: Algorithm) -> str:
    """Return the question in full, as the controls hold it; they may come later on the page."""
    stops = stops_of(data)
    far = _far(data, stops).held if stops else 0.0
    return _words(data, algorithm, ASK.held if stops else "in", far)


def _words(data: Dataset, algorithm: Algorithm, ask: str, far: float) -> str:
    if ask == "moved":
        return f"Is Alex here, or {data.domain.length(far)} away?"
    if algorithm.neighboring is Neighboring.ADD_REMOVE:
        return "Is Alex in the data?"
    return f"Is Alex in the data, or instead another {data.noun} in the middle?"


def method_of(result: Result) -> Algorithm:
    """Return the method of a run, with the run's parameters."""
    return ALGORITHMS[result.trace.algorithm](**result.trace.parameters)
