"""The pages' uses of Streamlit's private names. A test for each fails if a name disappears."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit import delta_generator, net_util
from streamlit.components.v2.bidi_component import main
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState
from streamlit.typing import UploadedFile

__all__ = ["forget", "redraw", "show_as_kept", "start_at_once", "stay_offline", "whole"]


def stay_offline() -> None:
    """Keep Streamlit offline: it looks up its own address on the network if a page of another origin calls.

    Foreign origins are then refused without a look-up; `browser.serverAddress` names the server behind a proxy.
    """
    net_util.get_internal_ip = net_util.get_external_ip = lambda: None


def show_as_kept() -> None:
    """Skip Streamlit's per-read view of component state.

    That view makes a class and an object for every component whenever any field is drawn, which took an eighth of a
    page's processor time. It only adds triggers, which the dashboard reads where it makes a component.
    """
    main.make_bidi_component_presenter = lambda *_: None  # type: ignore[assignment]


def start_at_once() -> None:
    """Skip the look whether this is a Python prompt: it walks all modules while the first visitor waits."""
    delta_generator._use_warning_has_been_displayed = True


@contextmanager
def whole() -> Iterator[None]:
    """Let a script end before or after the block, but not at a session read within it. Draw nothing in the block.

    When a click arrives, Streamlit ends the running script at its next session read. A click must not separate a claim
    on a file's account from the run that it pays for.
    """
    context = get_script_run_ctx(suppress_warning=True)
    state = context.session_state if context is not None else None
    if state is None:
        yield
        return
    before = state._yield_callback
    object.__setattr__(state, "_yield_callback", lambda: None)  # its own `__setattr__` writes into the session
    try:
        yield
    finally:
        object.__setattr__(state, "_yield_callback", before)


def forget(file: UploadedFile) -> None:
    """Remove an uploaded file's bytes from the server's store; the widget keeps name and size until the next turn."""
    context = get_script_run_ctx()
    if context is not None:
        manager: Any = context.uploaded_file_mgr  # its protocol does not name the method
        manager.remove_file(session_id=context.session_id, file_id=file.file_id)


def redraw(key: str) -> None:
    """Leave this fragment and run the one with a key, not the page; Streamlit lets callbacks alone ask for that.

    A run of the whole page goes on: it draws that fragment itself.
    """
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        with ThreadState.scoped(run_location=RunLocation.CALLBACK):
            st.rerun(key)
