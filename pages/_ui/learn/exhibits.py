"""Make the exhibits and pictures of lessons once per server, in a separate process, and before they are needed."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import streamlit as st

from dpviz import lessons
from dpviz.figures import Panel
from dpviz.lessons import Exhibit
from pages._ui.frame import shell
from pages._ui.frame.shared import once
from pages._ui.work.workers import workers

__all__ = ["ahead", "panels", "exhibit"]


@once
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, "lessons")  # these threads only wait for the processes


@st.cache_resource(max_entries=40, show_spinner=False)
def _asked(name: str, seed: int) -> Future[Exhibit]:
    return _threads().submit(workers().call, lessons.exhibit, name, seed)


def ahead(name: str, seed: int) -> None:
    """Have an exhibit made that will be needed soon, without waiting for it."""
    _asked(name, seed)


def exhibit(name: str, seed: int) -> Exhibit:
    """Return a lesson's exhibit for one draw of the noise."""
    asked = _asked(name, seed)
    try:
        if asked.done():
            return asked.result()
        with st.spinner("Running the lesson"):
            return asked.result()
    except BaseException:
        _asked.clear(name, seed)  # forgets the failure, so that the next visitor tries again
        raise


@st.cache_resource(max_entries=80, show_spinner=False)
def _panels(name: str, seed: int, mode: str) -> list[Panel]:
    return workers().call(lessons.panels, name, exhibit(name, seed), shell.colors())


def panels(name: str, seed: int) -> list[Panel]:
    """Return a lesson's pictures in the visitor's colors."""
    return _panels(name, seed, st.context.theme.type or "light")
