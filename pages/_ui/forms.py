"""Parameter forms from `ParamSpec`: what validates, draws."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.params import ParamSpec

LABELS = {
    "n_clusters": "Centers k",
    "epsilon": "Privacy budget epsilon",
    "delta": "Delta",
    "rho_distance": "rho (distance)",
}
STOPS = (0.25, 0.5, 1.0, 2.0, 4.0)


def parameters(cls: type[Algorithm], defaults: dict[str, Any]) -> dict[str, Any]:
    """Show one widget per parameter, the advanced ones folded; return name -> value."""
    specs = params.specs(cls)
    values = {n: _widget(cls, n, s, defaults.get(n, s.default)) for n, s in specs.items() if not s.advanced}
    folded = {n: s for n, s in specs.items() if s.advanced}
    if folded:
        with st.expander("More"):
            values |= {n: _widget(cls, n, s, defaults.get(n, s.default)) for n, s in folded.items()}
    return values


def _widget(cls: type[Algorithm], name: str, spec: ParamSpec, default: Any) -> Any:
    label = LABELS.get(name, name.replace("_", " ").capitalize())
    key = f"param_{cls.slug}_{name}"
    if spec.kind == "bool":
        return st.toggle(label, default, key=key, help=spec.help)
    if spec.kind == "choice":
        choices = list(spec.choices or ())
        return st.selectbox(label, choices, choices.index(default), key=key, help=spec.help)
    if spec.optional:
        text = st.text_input(
            label, "" if default is None else str(default), key=key, help=spec.help, placeholder="auto"
        )
        try:
            return params.parse(spec, text.strip())
        except ValueError:
            raise ValueError(f"{cls.name}: {name} must be a number or empty; got {text!r}.") from None
    if spec.kind == "int":
        return st.number_input(label, value=int(default), step=1, key=key, help=spec.help)
    return st.number_input(label, value=float(default), step=None, format="%g", key=key, help=spec.help)
