"""The sidebar of Attacker: data, algorithm, whom to ask about, and what to ask."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.audits.game import Question, moved, people, present
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.postprocessing.verdict import Groups, groups_of
from dpviz.privacy.guarantee import Neighboring
from dpviz.runs.single import reference
from pages._ui.distance import methods
from pages._ui.form.forms import ShownAtField, in_words, parameters
from pages._ui.form.picker import pick_algorithm
from pages._ui.frame import catalog, keys
from pages._ui.frame.prepared import kept
from pages._ui.work import runs
from pages._ui.work.workers import workers

WHO = {"typical": "Typical", "outlier": "Outlier", "small": "Small group", "pin": "A pin"}
ASK = {"in": "In the data?", "moved": "Here or away?"}
SLOWEST = 3.0  # seconds of one run: a game needs hundreds


@dataclasses.dataclass(frozen=True, eq=False)
class Setup:
    """The question of a game: `words` in full, `yes` and `no` are the answers, `key` is its name."""

    question: Question
    algorithm: Algorithm
    data: Dataset
    who: str
    words: str
    yes: str
    no: str
    key: str


def one_scale(data: Dataset) -> bool:
    """Return whether a distance is one number in all columns."""
    return not np.ptp(data.domain.half_width)


def stops_of(name: str) -> list[float]:
    """Return the distances (z units) that are offered on a data set; none where columns have scales of their own."""
    data = catalog.sample(name)
    return methods.stops(data) if one_scale(data) else []


def pin_keys(name: str) -> tuple[str, str]:
    """Return the keys of the pin's two fields."""
    return keys.ATTACKER_X(name), keys.ATTACKER_Y(name)


def corner(low: float, high: float) -> float:
    """Return where a pin is before it is moved: near the end of a column's bounds."""
    return float(f"{low + 0.9 * (high - low):.4g}")


def setup(name: str, data: Dataset) -> Setup | None:
    """Show the form; return what it says, or None after a sentence that says what does not fit."""
    cls = pick_algorithm(data)
    try:
        values = parameters(cls, name, data, {"n_clusters": data.n_clusters})
    except ShownAtField:
        return None
    stops = stops_of(name)
    who = st.segmented_control(
        "Alex is", WHO, default="typical", required=True, **kept(keys.ATTACKER_WHO), format_func=WHO.get,
        width="stretch",
        help="In the middle of the largest group; farthest from every group; in the middle of the smallest group; or "
        "wherever you put the pin.",
    )  # fmt: skip
    ask, far = "in", 0.0
    if stops:
        ask = st.segmented_control(
            "Ask", ASK, default="in", required=True, **kept(keys.ATTACKER_ASK), format_func=ASK.get, width="stretch",
            help="Whether Alex is in the data, or where: rho says something about the second only.",
        )  # fmt: skip
        if ask == "moved":
            far = st.select_slider(
                "How far away", stops, stops[14], format_func=lambda z: plain(data.domain.length(z)),
                **kept(keys.ATTACKER_FAR(name)),
            )  # fmt: skip
    pin = _pin(name, data) if who == "pin" else None
    try:
        algorithm = cls(**values)
        if algorithm.n_clusters > data.n_public:
            raise ValueError(f"n_clusters must be <= {data.n_public:,}, the number of rows.")
        seconds = runs.seconds(data, algorithm)
        if seconds > SLOWEST:
            raise ValueError(f"One round would take {seconds:.0f} seconds here; choose smaller data or fewer centers.")
        return question_of(data, algorithm, who, ask, far, pin)
    except ValueError as problem:
        st.error(plain(in_words(problem, cls)))
        return None


def question_of(
    data: Dataset, algorithm: Algorithm, who: str, ask: str, far: float, pin: np.ndarray | None = None
) -> Setup:
    """Return what is played; `who` and `ask` are of `WHO` and `ASK`, `far` in z units, a pin in original units."""
    row = None if pin is not None else _people(data)[who]
    person = data.X[row] if pin is None else pin
    size = data.X, data.domain, data.n_public, person
    question = moved(algorithm, *size, far, row) if ask == "moved" else present(algorithm, *size, row)
    key = json.dumps([data.dataset_id, repr(algorithm), who, ask, far, np.asarray(person).tolist()])
    return Setup(question, algorithm, data, who, *_words(data, algorithm, ask, far), key)


def _pin(name: str, data: Dataset) -> np.ndarray:
    """Show two fields for the pin, which can be dragged in the picture too; the other columns stay in the middle."""
    place = np.array(data.domain.middle, dtype=float)
    axes = data.view if len(data.columns) > 1 else (0,)
    with st.container(horizontal=True):
        for column, key in zip(axes, pin_keys(name), strict=False):
            low, high = float(data.domain.low[column]), float(data.domain.high[column])
            unit = f" ({data.units[column]})" if data.units[column] else ""
            st.session_state.setdefault(key, corner(low, high))
            place[column] = st.number_input(
                plain(f"{data.columns[column]}{unit}"), low, high, **kept(key), step=None, format="%.4g"
            )
    return place


def _words(data: Dataset, algorithm: Algorithm, ask: str, far: float) -> tuple[str, str, str]:
    if ask == "moved":
        return f"Is Alex here, or {data.domain.length(far)} away?", "Here", "Away"
    if algorithm.neighboring is Neighboring.ADD_REMOVE:
        return "Is Alex in the data?", "In", "Out"
    return "Is Alex in the data, or somebody in the middle?", "In", "Out"


def _people(data: Dataset) -> dict[str, int]:
    """Return the rows to ask about, found once."""
    return (_shared if catalog.is_public(data) else _mine)(data.dataset_id, data)


def _found(dataset_id: str, _data: Dataset) -> dict[str, int]:
    return people(_data.X, _data.domain, _groups(_data))


def _groups(data: Dataset) -> Groups:
    centers = workers().call(reference, data, data.n_clusters, 0).trace.cluster_centers
    return groups_of(data.X, data.domain, centers, data.groups)


_shared = st.cache_resource(max_entries=32, show_spinner=False)(_found)
_mine = st.cache_resource(max_entries=8, show_spinner=False, scope="session")(_found)
