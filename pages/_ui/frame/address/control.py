"""Define a control: one question on a page, declared once, with its word in an address and the widget that asks it.

A page declares its controls and draws each where it belongs with `Control.draw`; an address is read and written from
the declarations alone, so that decks and links need no widget.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpviz import params
from dpviz.params import ParamSpec
from pages._ui.frame.prepared import locked

__all__ = ["MOST_WHOLE", "NOTHING", "Control", "Vocabulary", "as_whole", "choice", "number", "switch", "text_of"]

MOST_WHOLE = 2**53 - 1  # Maximum whole number that a browser's number field can hold.
NOTHING = (["none"], [""])  # An empty choice in an address, as it is written and as earlier versions wrote it.
_MANY = 60


@dataclasses.dataclass(frozen=True)
class Control:
    """One question on a page.

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
    look : whether the control changes how a run is shown, but not the run
    widget : name of Streamlit's widget, "" for the usual one of the value's kind
    help : text of the widget's tooltip
    named : name of each choice on the screen, as a mapping or a function; None for the choice itself
    placeholder : words in a field that holds nothing
    """

    word: str
    key: str
    title: str
    spec: ParamSpec
    many: bool = False
    always: bool = False
    accepts: Callable[[str], Any] | None = None
    typed: bool = False
    most: int = _MANY
    look: bool = False
    widget: str = ""
    help: str = ""
    named: Mapping[Any, str] | Callable[[Any], str] | None = None
    placeholder: str | None = None

    @property
    def held(self) -> Any:
        """Return the value that the session holds for the widget, or the default before it has been drawn."""
        return st.session_state.get(self.key, self.spec.default)

    def draw(self, place: Any = st, **now: Any) -> Any:
        """Draw the widget in a container and return its value; the session keeps it, and a lock disables it.

        `now` holds arguments of Streamlit's widget that only the page knows, such as the options on its data; `default`
        replaces the declared default. A number field returns the typed number, which the caller must check.
        """
        kind = self.widget or self._usual()
        default, options = now.pop("default", self.spec.default), now.pop("options", self.spec.choices or ())
        given: dict[str, Any] = {"label": self.title, "help": self.help or None, "key": self.key}
        given |= {"persist_state": "session", "disabled": now.pop("disabled", False) or locked(self.key)}
        if kind in ("selectbox", "multiselect", "pills", "segmented_control", "select_slider", "radio"):
            given["options"] = options = list(options)
            if self.named is not None:
                given["format_func"] = self.named.__getitem__ if isinstance(self.named, Mapping) else self.named
        if kind == "selectbox":
            given |= {"index": options.index(default) if default in options else None, "placeholder": self.placeholder}
        elif kind == "radio":
            given["index"] = options.index(default)
        elif kind == "multiselect":
            most = None if self.most == _MANY else self.most
            given |= {"default": list(default or ()), "max_selections": most, "placeholder": self.placeholder}
        elif kind == "pills":
            given |= {"default": list(default or ()), "selection_mode": "multi"}
        elif kind == "segmented_control":
            given |= {"default": default, "required": True}
        elif kind == "text_input":
            given |= {"value": "" if default is None else text_of(default), "placeholder": self.placeholder}
        elif kind == "slider":
            given |= {"min_value": self.spec.low, "max_value": self.spec.high, "value": default}
        elif kind == "number_input":
            low, high = (None if edge is None else float(edge) for edge in self._edges())
            step = 1.0 if self.spec.kind == "int" else None
            given |= {"min_value": low, "max_value": high, "value": float(default), "step": step, "format": "%g"}
        else:
            given["value"] = default
        value = getattr(place, kind)(**given | now)
        return as_whole(value) if self.spec.kind == "int" and kind == "number_input" else value

    def _edges(self) -> tuple[float | None, float | None]:
        """Return the least and the largest number that the widget accepts, None for no limit."""
        if self.spec.kind != "int":
            return self.spec.low, self.spec.high
        low, high = self.spec.low, self.spec.high
        return -MOST_WHOLE if low is None else low, MOST_WHOLE if high is None else high

    def _usual(self) -> str:
        """Return the name of the usual widget for the value's kind."""
        if self.spec.kind == "choice":
            return "multiselect" if self.many else "selectbox"
        if self.typed or isinstance(self.spec.default, str):
            return "text_input"
        return "toggle" if self.spec.kind == "bool" else "number_input"

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
            return {text_of(choice): choice for choice in self.spec.choices or ()}[text]
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
            return [text_of(part) for part in value] or NOTHING[0]
        return [text_of(value)]

    def to_widget(self, value: Any) -> Any:
        """Return a value in the form that the widget stores."""
        if self.typed:
            return "" if value is None else text_of(value)
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


def choice(default: Any, choices: Sequence[Any]) -> ParamSpec:
    """Return the spec of a choice; the default of a control with several values is a tuple."""
    return ParamSpec(default, choices=tuple(choices), kind="choice")


def switch(default: bool) -> ParamSpec:
    """Return the spec of a switch."""
    return ParamSpec(default, kind="bool")


def number(default: float, low: float | None = None, high: float | None = None) -> ParamSpec:
    """Return the spec of a number field, which holds whole numbers if the default is an int."""
    return ParamSpec(default, low=low, high=high, kind="int" if isinstance(default, int) else "float")


def as_whole(value: Any) -> Any:
    """Return the value of a number field as an int if it is whole, else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def text_of(value: Any) -> str:
    """Return the text that stands for a value in an address or in a text field."""
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return str(int(value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
