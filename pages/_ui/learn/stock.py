"""Stages and pictures of lessons: made once per server, in a process of its own."""

from __future__ import annotations

import streamlit as st

from dpviz import lessons
from dpviz.figures import Panel
from dpviz.lessons import Stage
from pages._ui import shell
from pages._ui.workers import workers

__all__ = ["panels", "stage"]


@st.cache_resource(max_entries=128, show_spinner="Running the lesson")
def stage(name: str, seed: int) -> Stage:
    """Return what a lesson shows for one draw of the noise."""
    return workers().call(lessons.stage, name, seed)


@st.cache_resource(max_entries=128, show_spinner=False)
def _panels(name: str, seed: int, mode: str) -> list[Panel]:
    return workers().call(lessons.panels, name, stage(name, seed), shell.colors())


def panels(name: str, seed: int) -> list[Panel]:
    """Return a lesson's pictures in the visitor's colors."""
    return _panels(name, seed, st.context.theme.type or "light")
