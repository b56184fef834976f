"""The runs shown side by side: their requests in the session and in an address."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset
from dpviz.params import ParamSpec
from pages._ui.explore.compare.state import Side, compare_state
from pages._ui.explore.form import picker
from pages._ui.explore.form.forms import Parameter
from pages._ui.frame import catalog
from pages._ui.frame.address import links
from pages._ui.frame.address.control import NOTHING, Control, Vocabulary
from pages._ui.frame.address.scene import Scene, controls, read, write
from pages._ui.frame.catalog import is_public
from pages._ui.frame.session import session

__all__ = ["MOST", "RunsControl", "arrive", "asked_by", "depart", "first", "get", "open_with", "put", "text_of"]

MOST = 4
_KEY = "compare_runs"


def get() -> list[Side]:
    """Return the session's runs, [] before any are chosen; a new list object means that the form did not set them."""
    return st.session_state.get(_KEY, [])


def put(sides: Sequence[Side]) -> None:
    """Show these runs."""
    st.session_state[_KEY] = list(sides)


def open_with(data_name: str, sides: Sequence[Side]) -> None:
    """Go to Compare with these runs on a data set."""
    compare_state.compare_next = (data_name, list(sides))
    st.switch_page("pages/compare.py")


def arrive(current: Scene, vocabulary: Vocabulary) -> None:
    """Adopt runs sent by another page, or the other views' run as run A; call this before any widget is made."""
    data_name, sides = compare_state.compare_next
    if sides:
        st.session_state[catalog.CHOSEN] = compare_state.compare_on = data_name
        put(sides)
        return
    try:
        mine = asked_by(current, vocabulary)
    except ValueError:  # a field is invalid, which the run's own form reports
        return
    if mine == compare_state.compare_mine or session.opened_now:
        return
    compare_state.compare_mine, compare_state.compare_on = mine, st.session_state[catalog.CHOSEN]
    put([mine, *(get()[1:] or [_twin(mine)])])


def depart(mine: Side, current: Scene, vocabulary: Vocabulary) -> None:
    """Pass run A on to the other views if it was changed here."""
    if mine == compare_state.compare_mine:
        return
    compare_state.compare_mine = mine
    known = {"d": current.values["d"], "a": mine.algorithm.slug}
    names = _names(type(mine.algorithm), {control.word: control for control in controls(known, vocabulary)})
    values = {word: getattr(mine.algorithm, name) for word, name in names.items()}
    links.fill({**known, **values, "s": mine.seed}, vocabulary, but="d")
    session.asked = ""  # forgets the last request, so that Watch starts the run


def first(data: Dataset) -> list[Side]:
    """Return the default runs: the first method of the other views, and KMeans."""
    one = Side(ALGORITHMS[picker.first(own=not is_public(data))](n_clusters=data.n_clusters))
    return [one, _twin(one)]


def _twin(side: Side) -> Side:
    """Return KMeans with as many centers, without privacy; next to KMeans itself, another seed."""
    if type(side.algorithm) is KMeans:
        return dataclasses.replace(side, seed=side.seed + 1)
    return dataclasses.replace(side, algorithm=KMeans(n_clusters=side.algorithm.n_clusters))


def text_of(side: Side, data_word: str, vocabulary: Vocabulary) -> str:
    """Return a run as text for an address: its parameters in Explore's words, but not its data."""
    known = {"d": data_word, "a": side.algorithm.slug}
    words = {control.word: control for control in controls(known, vocabulary)}
    values = {word: getattr(side.algorithm, name) for word, name in _names(type(side.algorithm), words).items()}
    return write(Scene("explore", {**known, **values, "s": side.seed}), vocabulary).split("&", 2)[2]


def side_of(text: str, data_word: str, vocabulary: Vocabulary) -> Side:
    """Return the run that a text in an address describes.

    Raises
    ------
    ValueError
        If a part of the text is not valid.
    """
    scene, wrong = read("explore", f"{urlencode({'d': data_word})}&{text}", vocabulary)
    if wrong or "d=" in text.split("&") or scene.step is not None or scene.prepared:
        raise ValueError("no such run")
    return asked_by(scene, vocabulary)


def asked_by(scene: Scene, vocabulary: Vocabulary) -> Side:
    """Return the run that a scene of Explore requests.

    Raises
    ------
    ValueError
        If its parameters do not fit together.
    """
    cls = ALGORITHMS[scene.values["a"]]
    words = {control.word: control for control in controls(scene.values, vocabulary)}
    return Side(cls(**{name: scene.values[word] for word, name in _names(cls, words).items()}), int(scene.values["s"]))


def _names(cls: type[Algorithm], words: dict[str, Control]) -> dict[str, str]:
    """Return an algorithm's parameters, keyed by Explore's words for them."""
    return {word: one.name for word, one in words.items() if isinstance(one, Parameter)}


@dataclasses.dataclass(frozen=True)
class RunsControl(Control):
    """The control for the runs of a comparison; each run is a small address within the address.

    Attributes
    ----------
    data_word : the word that stands for the data in an address
    vocabulary : Explore's vocabulary, which names the parameters
    """

    data_word: str = ""
    vocabulary: Vocabulary = lambda known: ()

    @staticmethod
    def of(data_word: str, vocabulary: Vocabulary) -> RunsControl:
        """Return the control of the runs on a data set."""
        spec = ParamSpec(())
        return RunsControl(
            "run", _KEY, "Runs", spec, many=True, always=True, data_word=data_word, vocabulary=vocabulary
        )

    def parse(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the texts of two to four runs, rewritten by `text_of`."""
        if list(texts) in NOTHING:
            return ()
        if not 2 <= len(texts) <= MOST or "" in texts:
            raise ValueError("not two to four runs")
        return tuple(self._one(text) for text in texts)

    def _one(self, text: str) -> str:
        return text_of(side_of(text, self.data_word, self.vocabulary), self.data_word, self.vocabulary)

    def to_widget(self, value: Sequence[str]) -> list[Side]:
        """Return the runs."""
        return [side_of(text, self.data_word, self.vocabulary) for text in value]

    def from_widget(self, value: Sequence[Side]) -> tuple[str, ...]:
        """Return the runs' texts."""
        return tuple(text_of(side, self.data_word, self.vocabulary) for side in value)
