"""Show the data picker, and a widget for each parameter, made from its `ParamSpec`, which also validates it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.params import ParamSpec, in_labels, label_of
from dpviz.privacy.delta import check_delta
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.form import budget, distance
from pages._ui.frame.address.control import MOST_WHOLE, Control, as_whole, choice
from pages._ui.frame.address.data import DATA
from pages._ui.frame.catalog import names, sample, short
from pages._ui.frame.words import on_screen

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_PARAM = "param_{}_{}".format
_help = cache(on_screen)  # the texts of the declarations, which are asked for at every drawing

STOPS = (0.25, 0.5, 1.0, 2.0, 4.0)
SHORT = {"n_clusters": "k", "epsilon": "e", "delta": "delta", "rho_distance": "rho"}  # words in an address


def pick_data() -> tuple[str, Dataset]:
    """Show the picker of samples and of this session's own data; return the name and the data set."""
    titles = short({name: sample(name).title for name in names()})
    name = DATA.draw(options=titles, format_func=titles.__getitem__)
    return name, sample(name)


class ShownAtField(ValueError):
    """Raised when a parameter is wrong and a sentence below its field says so."""


def parameters(
    cls: type[Algorithm],
    data_name: str,
    data: Dataset,
    defaults: dict[str, Any],
    *,
    places: Mapping[str, DeltaGenerator] | None = None,
    problems: DeltaGenerator | None = None,
) -> dict[str, Any]:
    """Show one widget per parameter, the advanced ones folded; return name -> value.

    A preset and the `defaults` of the data set change the initial values. `places` maps parameters to containers for
    fields that stand apart, and `problems` is the container for errors.

    Raises
    ------
    ShownAtField
        If a value is wrong.
    """
    specs = params.specs(cls)
    fields = fields_of(cls, data_name, defaults, preset(cls).held)
    simple = {n: s for n, s in specs.items() if not s.advanced}
    folded = {n: s for n, s in specs.items() if s.advanced}
    values, wrong = {}, []
    places = places or {}

    def show(name: str, spec: ParamSpec, *, seen: bool = True) -> None:
        try:
            place = places.get(name)
            values[name] = _one(cls, data, name, fields, place) if seen else fields[name].value
            if name == "delta":
                check_delta(cls.name, values[name], data.n_public, private=data.private)
            params.check_one(cls.name, name, spec, values[name])
        except (ValueError, TypeError) as problem:
            (problems or st).error(plain(f"{in_words(problem, cls)} Nothing was spent."))
            wrong.append(name)
        else:
            if note := meaning(name, values[name], data):
                st.caption(plain(note))

    for name, spec in simple.items():
        show(name, spec)
    if folded:
        box = st.expander("More", key="form_more", on_change="rerun")
        with box:
            if cls.PRESETS and box.open:
                preset(cls).draw(options=cls.PRESETS)
        with box if box.open else st.container():  # an error in a folded field is shown, too
            for name, spec in folded.items():
                show(name, spec, seen=bool(box.open))
        changed = [f"{label_of(n)} {values[n]}" for n, s in folded.items() if n in values and values[n] != s.default]
        if changed:
            st.caption(f"Changed from the defaults: {', '.join(changed)}.")
    if wrong:
        raise ShownAtField
    return values


def _one(
    cls: type[Algorithm], data: Dataset, name: str, fields: Mapping[str, Parameter], place: DeltaGenerator | None
) -> Any:
    """Show the widget of one parameter of an algorithm; that of ε also offers μ and ρ."""
    parameter = fields[name]
    if name == "epsilon" and "delta" in fields:
        return budget.field(cls, data, parameter, _delta(cls, data, fields), place)
    with place or nullcontext():
        if name == distance.NAME:
            return distance.field(parameter, data)
        if not parameter.spec.needs:
            return parameter.ask()
        needed = fields[parameter.spec.needs]
        idle = not needed.held
        label = f"{parameter.title} (only with {needed.title.lower()})" if idle and place is None else parameter.title
        return parameter.ask(label=label, disabled=idle)


@dataclasses.dataclass(frozen=True)
class Parameter(Control):
    """The control of an algorithm's parameter, whose field takes any number, so that the form can say what is wrong.

    Attributes
    ----------
    owner, name : the algorithm's name, and the name of the parameter
    """

    owner: str = ""
    name: str = ""

    @classmethod
    def of(
        cls, owner: str, name: str, spec: ParamSpec, key: str, word: str = "", title: str = "", *, always: bool = False
    ) -> Parameter:
        """Return the control of a parameter; its word in an address is `p.NAME` if none is given."""
        typed = spec.optional and spec.kind in ("int", "float")
        return cls(
            word or f"p.{name}", key, title or label_of(name), spec, always=always, typed=typed, help=_help(spec.help),
            placeholder="auto" if typed else None, owner=owner, name=name,
        )  # fmt: skip

    def ask(self, **now: Any) -> Any:
        """Draw the widget; return the parameter's value.

        Raises
        ------
        ValueError
            If the text of an optional parameter is not a number.
        """
        return self._value(self.draw(**now))

    @property
    def value(self) -> Any:
        """Return the parameter's value, whether its widget exists or not.

        Raises
        ------
        ValueError
            If the text of an optional parameter is not a number.
        """
        return self._value(self.held)

    def _value(self, held: Any) -> Any:
        if self.spec.optional and isinstance(held, str):
            return _parsed(self.owner, self.name, self.spec, held)
        return as_whole(held) if self.spec.kind == "int" else held

    def _edges(self) -> tuple[float | None, float | None]:
        return (-MOST_WHOLE, MOST_WHOLE) if self.spec.kind == "int" else (None, None)


def _parsed(owner: str, name: str, spec: ParamSpec, text: str) -> Any:
    try:
        return params.parse(spec, text.strip())
    except ValueError:
        kind = "a whole number" if spec.kind == "int" else "a number"
        raise ValueError(f"{owner}: {name} must be {kind} or empty; got {text!r}.") from None


def _delta(cls: type[Algorithm], data: Dataset, fields: Mapping[str, Parameter]) -> float:
    """Return the form's δ, whose field comes after the budget's."""
    values = {}
    for name in ("delta", "delta_rule"):
        if name in fields:
            try:
                values[name] = fields[name].value
                params.check_one(cls.name, name, fields[name].spec, values[name])
            except ValueError:  # the field of δ reports the error
                values.pop(name, None)
    return cls(**values).resolved_delta(data.n_public)


def may_be_noiseless(cls: type[Algorithm]) -> bool:
    """Return whether an algorithm can be shown without noise; a report without randomization is the row itself."""
    return cls.notion.private and cls.notion not in (Notion.LOCAL, Notion.SHUFFLE)


def meaning(name: str, value: Any, data: Dataset) -> str:
    """Return a note that explains the number, such as its meaning in the data's units, or "" if it needs none."""
    if name == "projected_features":
        d = data.domain.n_features
        return f"These data have {d} columns; a projection cannot have more." if value > d else ""
    if name != distance.NAME:
        return ""
    if data.domain.one_scale:
        far = data.domain.length(value)
        return f"This rho hides moves of up to {far}, {number(value)} times the half-width of the bounds."
    what = "weight" if data.domain.weights else "scale"
    return f"rho is a single distance, so this method needs one {what} for all columns; here each column has its own."


def preset(cls: type[Algorithm]) -> Control:
    """Return the control of an algorithm's preset."""
    return Control(
        "preset", f"preset_{cls.slug}", "Preset", choice(None, (None, *cls.PRESETS)), placeholder="none",
        help="Fills in the values of a paper or of its published code.",
    )  # fmt: skip


def fields_of(
    cls: type[Algorithm], data_name: str, defaults: dict[str, Any], preset: str | None
) -> dict[str, Parameter]:
    """Return the control of each parameter; initial values and keys depend on data and preset."""
    defaults = {**defaults, **cls.PRESETS.get(preset or "", {})}
    start = "_".join(filter(None, [data_name, preset]))
    fields = {}
    for name, spec in params.specs(cls).items():
        own = dataclasses.replace(spec, default=defaults[name]) if name in defaults else spec
        key = _PARAM(cls.slug, name) + (f"_{start}" if name in defaults else "")
        always = name in ("n_clusters", "epsilon")
        fields[name] = Parameter.of(cls.name, name, own, key, SHORT.get(name, ""), always=always)
    return fields


def hand_on(old_name: str, new_name: str) -> None:
    """Copy the values of a file's fields from the old declaration to the new one."""
    state = st.session_state
    for key in [key for key in map(str, state) if key.startswith("param_") and old_name in key]:
        state[key.replace(old_name, new_name)] = state[key]


def in_words(problem: Exception, cls: type[Algorithm]) -> str:
    """Return an error about a parameter in the words of the form."""
    return in_labels(str(problem).removeprefix(f"{cls.name}: "), params.specs(cls))
