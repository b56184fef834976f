"""Offer the plane's film as a video, which the visitor's browser makes and saves; the server makes nothing."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpviz.numbers import chance
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.verdict import reach
from dpviz.takeaway.label import badge, headline
from pages._ui.explore.player import stage, verdict
from pages._ui.frame.inside.client import PAGE
from pages._ui.work.results import Result

_CLIP = "{}_clip".format
_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_clip",
    html='<div class="dpviz-clip"></div>',
    css=(_HERE / "clip.css").read_text(),
    js=PAGE + (_HERE / "clip.js").read_text(),
)


def clip(key: str, scope: str, result: Result, *, hidden: bool) -> None:
    """Offer a video of 10 to 20 seconds of the film in the container `scope`, with what it shows written on it."""
    trace, data = result.trace, result.data
    promise = trace.claimed
    facts = "no privacy: every number is exact"
    if promise.private and not trace.noiseless:
        bet = bet_of(promise, far=reach(trace), noun=data.noun)
        facts = f"δ {chance(promise.delta)}; a bet on {bet.on} is right at most {bet.odds} times in 100"
    foot = f"Orange and gray are never released; {verdict.whose(data)}" if hidden else "Released values only"
    _component(
        key=_CLIP(key),
        data={
            "scope": f".st-key-{scope}",
            "stage": stage.NAME,
            "title": headline(trace),
            "facts": facts,
            "foot": f"{badge(trace)} · {foot} · dpviz",
            "name": f"dpviz-{trace.algorithm}-clip",
        },
        height="content",
    )
