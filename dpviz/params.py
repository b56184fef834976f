"""Describe parameters. Validation, widgets, sweeps and links all read the same `ParamSpec`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from dpviz import validate

__all__ = ["LABELS", "ParamSpec", "check", "check_one", "in_labels", "label_of", "param", "parse", "specs"]

LABELS = {
    "n_rows": "Rows",
    "n_public": "Rows",
    "rows_per_person": "Rows of one person",
    "n_features": "Columns",
    "n_clusters": "Centers k",
    "k_min": "Smallest k",
    "k_max": "Largest k",
    "epsilon": "Privacy budget ε",
    "delta": "Delta δ",
    "rho_distance": "rho (distance)",
}


@dataclasses.dataclass(frozen=True)
class ParamSpec:
    """Description of one public parameter.

    Attributes
    ----------
    default : int, float, str, bool or None
    low, high : bounds, both inclusive, or None
    log : True for a logarithmic slider
    help : text shown beside the widget
    choices : allowed values of a discrete parameter
    advanced : True if the parameter is shown under further settings
    optional : True if None is a valid value
    kind : "int", "float", "bool" or "choice"
    needs : name of the switch that must be on for the parameter to matter, "" if there is none
    """

    default: Any
    low: float | None = None
    high: float | None = None
    log: bool = False
    help: str = ""
    choices: tuple[Any, ...] | None = None
    advanced: bool = False
    optional: bool = False
    kind: str = "float"
    needs: str = ""


def param(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    help: str = "",
    choices: tuple[Any, ...] | None = None,
    advanced: bool = False,
    optional: bool = False,
    kind: str | None = None,
    needs: str = "",
) -> Any:
    """Return a dataclass field that carries a `ParamSpec`. `kind` is needed only when the default is None."""
    if kind is None:
        if choices is not None:
            kind = "choice"
        elif isinstance(default, bool):
            kind = "bool"
        else:
            kind = "int" if isinstance(default, int) else "float"
    spec = ParamSpec(default, low, high, log, help, choices, advanced, optional or default is None, kind, needs)
    return dataclasses.field(default=default, metadata={"spec": spec})


def specs(cls: type) -> dict[str, ParamSpec]:
    """Return a mapping from the name of each parameter of a dataclass to its `ParamSpec`, in declaration order."""
    return {f.name: f.metadata["spec"] for f in dataclasses.fields(cls) if "spec" in f.metadata}


def check(owner: str, instance: object) -> None:
    """Check every parameter of a dataclass instance against its `ParamSpec`."""
    for name, spec in specs(type(instance)).items():
        check_one(owner, name, spec, getattr(instance, name))


def check_one(owner: str, name: str, spec: ParamSpec, value: Any) -> None:
    """Check one value against its `ParamSpec`."""
    if value is None and spec.optional:
        return
    if spec.kind == "choice":
        validate.one_of(owner, spec.choices or (), **{name: value})
    elif spec.kind == "bool":
        validate.one_of(owner, (True, False), **{name: value})
    elif spec.kind == "int":
        validate.integer(owner, None if spec.low is None else int(spec.low), None, **{name: value})
        validate.in_range(owner, None, spec.high, **{name: value})
    else:
        if spec.low is not None and spec.low >= 0:
            validate.positive(owner, **{name: value}) if spec.low > 0 else None
        validate.in_range(owner, spec.low, spec.high, **{name: value})


def parse(spec: ParamSpec, text: str) -> Any:
    """Turn the text of a command line or a link into a value of the parameter's kind.

    Raises
    ------
    ValueError
        If the text is not a value of that kind.
    """
    if spec.optional and text.lower() in {"", "none", "auto"}:
        return None
    if spec.kind == "int":
        return int(text)
    if spec.kind == "float":
        return float(text)
    if spec.kind == "bool":
        if text.lower() not in {"true", "false", "1", "0", "yes", "no"}:
            raise ValueError(f"must be true or false; got {text!r}")
        return text.lower() in {"true", "1", "yes"}
    matches = [choice for choice in spec.choices or () if str(choice) == text]
    if not matches:
        raise ValueError(f"must be one of {', '.join(map(str, spec.choices or ()))}; got {text!r}")
    return matches[0]


def label_of(name: str) -> str:
    """Return the on-screen name of a parameter."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


def in_labels(text: str, names: Iterable[str] = LABELS) -> str:
    """Return a sentence in the words of a form: fields by their labels, "at least" for >=."""
    for name in names:
        text = re.sub(rf"\b{name}\b", label_of(name), text)
    for code, words in (
        ("must be >= ", "must be at least "),
        ("must be <= ", "must be at most "),
        ("must be > ", "must be above "),
    ):
        text = text.replace(code, words)
    return text
