"""Define a scene (everything that determines a picture), and encode it in the query of an address.

A page declares its controls once, as a `Vocabulary`. Words in an address are short, and the version comes first.
Unknown or invalid values fall back to the default, and one sentence says so. No row of data is ever part of a scene.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dpviz import params
from dpviz.params import ParamSpec

__all__ = [
    "HIDEABLE",
    "LOCK",
    "LOST",
    "MOST",
    "MOST_WHOLE",
    "NOTHING",
    "VERSION",
    "Control",
    "Scene",
    "Vocabulary",
    "as_whole",
    "controls",
    "number",
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
MOST_WHOLE = 2**53 - 1  # Maximum whole number that a browser's number field can hold.
NOTHING = (["none"], [""])  # An empty choice in an address, as it is written and as earlier versions wrote it.
LOST = "lost"  # the word with which the address of a page that does not exist leads to Start
_EMBED = ("embed", "embed_options")  # Words that Streamlit itself uses in an address.


@dataclasses.dataclass(frozen=True)
class Control:
    """One widget of a page.

    Attributes
    ----------
    word : word that stands for the control in an address
    key : key of the widget in the session's state
    title : label of the control on the screen, which sentences also use
    spec : kind, range, choices and default of the value
    many : whether the control holds several values; its default is then a tuple
    always : whether to write the value even if it is the default
    accepts : function used instead of the choices: it returns the value of a valid text, and raises ValueError for
        other texts
    typed : whether the widget is a text field, which holds a number as text, and None as ""
    most : maximum number of values
    """

    word: str
    key: str
    title: str
    spec: ParamSpec
    many: bool = False
    always: bool = False
    accepts: Callable[[str], Any] | None = None
    typed: bool = False
    most: int = 60

    def parse(self, texts: Sequence[str]) -> Any:
        """Return the control's value, parsed from its texts in an address.

        Raises
        ------
        ValueError, LookupError
            If the value is not valid.
        """
        if self.many:
            values = [] if list(texts) in NOTHING else [self._one(text) for text in texts]
            if len(set(values)) != len(values) or len(values) > self.most:
                raise ValueError("too many values, or a repeated value")
            return tuple(values)
        if len(texts) != 1:
            raise ValueError("more than one value")
        return self._one(texts[0])

    def _one(self, text: str) -> Any:
        if self.accepts is not None:
            return self.accepts(text)
        if self.spec.kind == "choice":
            return {_text(choice): choice for choice in self.spec.choices or ()}[text]
        value = params.parse(self.spec, text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = -MOST_WHOLE if self.spec.low is None else self.spec.low
            high = MOST_WHOLE if self.spec.high is None else self.spec.high
            if not (math.isfinite(value) and low <= value <= high):
                raise ValueError("out of range")
        return value

    def texts(self, value: Any) -> list[str]:
        """Return the texts that stand for a value in an address."""
        if self.many:
            return [_text(part) for part in value] or NOTHING[0]
        return [_text(value)]

    def to_widget(self, value: Any) -> Any:
        """Return a value in the form that the widget stores."""
        if self.typed:
            return "" if value is None else _text(value)
        return list(value) if self.many and value is not None else value

    def from_widget(self, value: Any) -> Any:
        """Return a widget's value in the form that a scene stores, or the default if a typed value is not valid."""
        if self.many:
            return None if value is None else tuple(value)
        if self.typed:
            try:
                return self._one(value.strip())
            except (LookupError, ValueError):
                return self.spec.default
        # the number field truncates, too
        return int(value) if self.spec.kind == "int" and isinstance(value, float) else value


Vocabulary = Callable[[Mapping[str, Any]], Sequence[Control]]  # values known so far -> the controls that follow


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


def number(default: float, low: float | None = None, high: float | None = None) -> ParamSpec:
    """Return the spec of a number field, which holds whole numbers if the default is an int."""
    return ParamSpec(default, low=low, high=high, kind="int" if isinstance(default, int) else "float")


def as_whole(value: Any) -> Any:
    """Return the value of a number field as an int if it is whole, else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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


def _text(value: Any) -> str:
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return str(int(value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    words = " ".join(text.split())
    if len(words) > MOST_TASK or not words.isprintable():
        raise ValueError("not a short line of text")
    return words
