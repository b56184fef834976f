"""Dim a picture that no longer matches the form, and name the differences in a ribbon."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.datasets import Dataset
from dpviz.numbers import number
from dpviz.params import label_of
from pages._ui.explore.state import Settings
from pages._ui.frame import markup
from pages._ui.frame.session import session
from pages._ui.work.results import Result

_DIMMED = (
    "<style>.st-key-explore_figures,.st-key-verdict{opacity:.45}"
    ".st-key-explore_run button{animation:dp-pulse 1.2s ease-out 1}</style>"
)


def differences(result: Result, data: Dataset, form: Settings) -> list[tuple[str, str, str]]:
    """Return (name, value in the picture, value in the form) for each difference between the shown run and the form."""
    algorithm = form.algorithm
    if algorithm is None or form.asks_for(data) == result.identity:
        return []
    if result.data.dataset_id != data.dataset_id:
        old, new = (side.title.split(",")[0] for side in (result.data, data))
        return [("Data", old, new)] if old != new else [("Declaration", "an earlier one", "the last one")]
    if result.trace.algorithm != algorithm.slug:
        return [("Method", result.trace.name, algorithm.name)]
    seen: dict[str, Any] = dict(result.trace.parameters)
    both = [(label_of(name), seen.get(name), getattr(algorithm, name)) for name in seen if hasattr(algorithm, name)]
    if not data.private:
        both.append(("Seed", result.trace.seed, form.seed))
        here, there = ("none" if off else "drawn" for off in (result.trace.noiseless, form.noiseless))
        both.append(("Noise", here, there))
    return [(name, _words(old), _words(new)) for name, old, new in both if old != new]


def _words(value: Any) -> str:
    return "auto" if value is None else number(value, 6) if isinstance(value, float) else str(value)


def ribbon(result: Result, data: Dataset, form: Settings) -> None:
    """Say that the picture does not match the form, and which run it shows."""
    differing = differences(result, data, form)
    if not differing or session.job:
        return
    old = ", ".join(f"{name} {seen}" for name, seen, _ in differing)
    new = ", ".join(f"{name} {asked}" for name, _, asked in differing)
    st.html(
        f'{_DIMMED}<p class="dp-stale" role="status">You see <b>{markup.escape(old)}</b>. The form is set to '
        f"<b>{markup.escape(new)}</b>: press Run to see {'what it would cost' if data.private else 'it'}.</p>"
    )
