"""Define a scene (everything that determines a picture), and encode it in the query of an address.

A page declares its controls once, as a `Vocabulary`. Words in an address are short, and the version comes first.
Unknown or invalid values fall back to the default, and one sentence says so. No row of data is ever part of a scene.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dpviz.params import ParamSpec
from pages._ui.frame.address.control import Control, Vocabulary

__all__ = [
    "HIDEABLE",
    "LOCK",
    "LOST",
    "MOST",
    "VERSION",
    "Scene",
    "controls",
    "read",
    "write",
]

VERSION = 1
MOST = 8_000  # maximum number of characters in an address; browsers and mail programs cut longer ones off
MOST_FIELDS = 200
MOST_TASK = 300  # maximum number of characters in a task
HIDEABLE = ("form", "kmeans", "verdict", "panels", "navigation")
# lock -> the address word of the only control that it leaves free
LOCK = {"epsilon": "e", "k": "k", "seed": "s", "all": ""}
LOST = "lost"  # the word with which the address of a page that does not exist leads to Start
_EMBED = ("embed", "embed_options")  # Words that Streamlit itself uses in an address.


@dataclasses.dataclass(frozen=True)
class Scene:
    """Everything that determines a picture.

    Attributes
    ----------
    page : name of the page, as in its address
    values : word -> value of every control of the page
    step : step of the player, None for the last step
    play : whether the player starts from the first step when the scene is opened
    hide : the parts of the page that are hidden, from `HIDEABLE`
    lock : what may still change, one of `LOCK` ("all" leaves nothing free, and "" locks nothing)
    task : instruction to the person who opens the scene
    version : version of the address format
    """

    page: str
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    step: int | None = None
    play: bool = False
    hide: tuple[str, ...] = ()
    lock: str = ""
    task: str = ""
    version: int = VERSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    @property
    def prepared(self) -> bool:
        """Return whether the scene was prepared for somebody: parts are hidden or locked, or there is a task."""
        return bool(self.hide or self.lock or self.task)


_ABOUT = (  # words that the addresses of all pages have
    Control("t", "", "step", ParamSpec(None, low=0, high=100_000, optional=True, kind="int")),
    Control("play", "", "play", ParamSpec(False, kind="bool")),
    Control("hide", "", "hidden parts", ParamSpec((), choices=HIDEABLE, kind="choice"), many=True),
    Control("lock", "", "lock", ParamSpec("", choices=("", *LOCK), kind="choice")),
    Control("task", "", "task", ParamSpec(""), accepts=lambda text: _short(text)),
)
_FIELDS = {"t": "step"}  # word -> field of the scene, where the names differ


def write(scene: Scene, vocabulary: Vocabulary) -> str:
    """Return a scene as the query of an address."""
    pairs = [("v", str(VERSION))]
    for control in controls(scene.values, vocabulary):
        value = scene.values.get(control.word, control.spec.default)
        if value != control.spec.default or (control.always and value != ()):
            pairs += [(control.word, text) for text in control.texts(value)]
    for control in _ABOUT:
        value = getattr(scene, _FIELDS.get(control.word, control.word))
        if value != control.spec.default:
            texts = [",".join(control.texts(value))] if control.many else control.texts(value)
            pairs += [(control.word, text) for text in texts]
    return urlencode(pairs, safe=":,=")


def read(page: str, query: str, vocabulary: Vocabulary) -> tuple[Scene, str]:
    """Return the scene of an address, and one sentence if parts of it were ignored, else "".

    Any text can be read: defaults replace its invalid parts.
    """
    given, too_long = _given(query)
    wrong: list[str] = []

    def take(control: Control) -> Any:
        texts = given.pop(control.word, None)
        if texts is None:
            return control.spec.default
        if control.word == "hide":
            texts = texts[0].split(",") if len(texts) == 1 else texts
        try:
            return control.parse(texts)
        except (LookupError, ValueError, OverflowError):
            wrong.append(control.title)
            return control.spec.default

    version = take(Control("v", "", "version", ParamSpec(VERSION, low=0, high=10_000, kind="int")))
    values: dict[str, Any] = {}
    while fresh := [control for control in vocabulary(values) if control.word not in values]:
        values |= {control.word: take(control) for control in fresh}
    about = {_FIELDS.get(control.word, control.word): take(control) for control in _ABOUT}
    scene = Scene(page, values, version=version, **about)
    return scene, _sentence(version, wrong, [*given], too_long)


def controls(values: Mapping[str, Any], vocabulary: Vocabulary) -> list[Control]:
    """Return a page's controls in order, given the values of its words."""
    known: dict[str, Any] = {}
    by_word: dict[str, Control] = {}
    while fresh := [control for control in vocabulary(known) if control.word not in known]:
        known |= {control.word: values.get(control.word, control.spec.default) for control in fresh}
        by_word |= {control.word: control for control in fresh}
    return list(by_word.values())


def _given(query: str) -> tuple[dict[str, list[str]], bool]:
    """Return the texts of each word, except Streamlit's own words, and whether the address was too long to read."""
    if len(query) > MOST:
        return {}, True
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}, True
    texts: dict[str, list[str]] = {}
    for word, text in pairs:
        if word not in _EMBED:
            texts.setdefault(word, []).append(text)
    return texts, False


def _sentence(version: int, wrong: list[str], left: list[str], too_long: bool) -> str:
    if too_long:
        return "This link is too long to read; the page opens with its defaults."
    parts = list(dict.fromkeys([*wrong, *["the page, which does not exist"] * (LOST in left)]))
    if unknown := sum(word != LOST for word in left):
        parts.append(f"{unknown} unknown parameter{'s' * (unknown > 1)}")
    what = f"defaults replace the parts that do not fit: {', '.join(parts)}" if parts else ""
    if version != VERSION:
        age = "an older" if version < VERSION else "a newer"
        return f"This link was made with {age} version of dpviz; results may differ{'; ' * bool(what)}{what}."
    return f"This link opens, but {what}." if what else ""


def _short(text: str) -> str:
    words = " ".join(text.split())
    if len(words) > MOST_TASK or not words.isprintable():
        raise ValueError("not a short line of text")
    return words
