"""Use Streamlit's private names, each with a test that fails if the name disappears."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import streamlit as st
from streamlit import config, delta_generator, net_util, runtime
from streamlit.components.v2.bidi_component import main
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState
from streamlit.runtime.state.session_state import Serialized, Value, WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.typing import UploadedFile
from streamlit.web.server.starlette import starlette_websocket

from dpviz.figures.kit.theme import theme

__all__ = [
    "came_back",
    "connected",
    "draw_in_our_colors",
    "draw_on_return",
    "drop",
    "file_fields",
    "forget",
    "forget_values",
    "held",
    "is_set",
    "query",
    "read_through",
    "redraw",
    "refuse_messages",
    "session_id",
    "set_option",
    "show_as_kept",
    "start_at_once",
    "stay_offline",
    "stay_silent",
    "stop",
    "whole",
]

_read = WStates.__getitem__
_handle = AppSession.handle_backmsg
_OPERATION = "backend_operation_request"
MESSAGES = {  # every kind of message that a browser may send (an operation has its own) -> whether to handle it
    "rerun_script": True,  # draws the sender's page with the sender's values
    "stop_script": True,  # ends the drawing of the sender's page
    "app_heartbeat": True,  # is answered
    "file_urls_request": True,  # gets addresses for the sender's uploads, which `server.uploads` limits
    f"{_OPERATION}.deferred_file": True,  # makes the file of a download button, under an id that only its page knows
    f"{_OPERATION}.dataframe_chunk": True,  # gets rows of a table of the sender's page; Streamlit checks whose it is
    f"{_OPERATION}.install_skills": False,  # would write files for a programming assistant into the checkout
    f"{_OPERATION}.dismiss_skills_nudge": False,  # would write a mark into the operator's home folder
    "clear_cache": False,  # would empty the caches of all visitors
    "set_run_on_save": False,  # would have the server watch its source files
    "load_git_info": False,  # would tell the repository and the branch of the server
    "debug_disconnect_websocket": False,  # for developers of Streamlit, as the next
    "debug_shutdown_runtime": False,
}


def stay_offline() -> None:
    """Keep Streamlit offline; otherwise it asks the network for its own address when a page of another origin calls.

    Pages of other origins are then refused without a look-up; `browser.serverAddress` names the server behind a proxy.
    """
    net_util.get_internal_ip = net_util.get_external_ip = lambda: None


def draw_in_our_colors() -> None:
    """Give Streamlit the theme's colors, so that its configuration file needs no copy of them."""
    for mode in ("light", "dark"):
        tokens = theme(mode)
        for option, color in {
            "primaryColor": tokens.released,
            "linkColor": tokens.released,
            "backgroundColor": tokens.bg,
            "textColor": tokens.ink,
            "borderColor": tokens.line,
        }.items():
            config.set_option(f"theme.{mode}.{option}", color)


def show_as_kept() -> None:
    """Skip the view of a component's state that Streamlit makes at every read.

    That view makes a class and an object for every component whenever any field is drawn, which took an eighth of a
    page's processor time. It only adds triggers, which the dashboard reads where it makes a component.
    """
    main.make_bidi_component_presenter = lambda *_: None  # type: ignore[assignment]


def refuse_messages() -> None:
    """Drop the messages of a browser that `MESSAGES` does not allow, and those of a kind that it does not know."""

    def handled(self: AppSession, message: BackMsg) -> None:
        kind: str | None = message.WhichOneof("type")
        if kind == _OPERATION:
            kind = f"{kind}.{message.backend_operation_request.WhichOneof('payload')}"
        if MESSAGES.get(kind or "", False):
            _handle(self, message)

    AppSession.handle_backmsg = handled  # type: ignore[assignment, method-assign]
    AppSession._handle_clear_cache_request = lambda self: None  # type: ignore[method-assign]


def draw_on_return() -> None:
    """Redraw the page when a lost connection returns; otherwise it is blank, as messages sent meanwhile are lost."""
    resume = WebsocketSessionManager._resume_stored_session

    def resumed(self: WebsocketSessionManager, *args: Any) -> str | None:
        name = resume(self, *args)
        if name is not None:
            session = self._active_session_info_by_id[name].session
            # requests the same page and query, but repeats no widget value or click
            session.request_rerun(session._client_state)
        return name

    WebsocketSessionManager._resume_stored_session = resumed  # type: ignore[assignment, method-assign]


def start_at_once() -> None:
    """Import the modules that Streamlit imports with the first page, and skip its check for a Python prompt.

    That check goes through all modules while the first visitor waits.
    """
    from streamlit import emojis, material_icon_names  # noqa: F401

    delta_generator._use_warning_has_been_displayed = True


@contextmanager
def whole() -> Iterator[None]:
    """Keep a click from ending the script within this block, which must draw nothing.

    When a click arrives, Streamlit ends the running script at its next session read. A click must not separate a claim
    on a file's account from the run that it pays for.
    """
    context = get_script_run_ctx(suppress_warning=True)
    state = context.session_state if context is not None else None
    if state is None:
        yield
        return
    before = state._yield_callback
    # the state's own `__setattr__` would write into the session
    object.__setattr__(state, "_yield_callback", lambda: None)
    try:
        yield
    finally:
        object.__setattr__(state, "_yield_callback", before)


def stop() -> NoReturn:
    """End the page here, and forget the fragments of its former layout, as Streamlit does after a script's last line.

    A fragment that refreshes itself may ask once more just as the layout changes. Were it known, its output would land
    in the new layout and, where that has no place for it, leave the browser an empty page.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = None if context is None else context.script_requests
    if context is not None and requests is not None and not context.fragment_ids_this_run:
        if requests._state != ScriptRequestType.STOP:  # else another script draws the page already
            context.fragment_storage.clear(new_fragment_ids=context.shared.new_fragment_ids.snapshot())
    st.stop()


def forget(file: UploadedFile) -> None:
    """Remove an uploaded file's bytes from the server; the widget shows name and size until the script's next run."""
    context = get_script_run_ctx()
    if context is not None:
        manager: Any = context.uploaded_file_mgr  # Streamlit's protocol class does not declare the method used below
        manager.remove_file(session_id=context.session_id, file_id=file.file_id)


def redraw(key: str) -> None:
    """Stop this fragment and rerun only the fragment with a key, which Streamlit allows only in callbacks.

    If the whole page is being run, the run continues, because it draws that fragment anyway.
    """
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        with ThreadState.scoped(run_location=RunLocation.CALLBACK):
            st.rerun(key)


def read_through(check: Callable[[Any, Any, Callable[[], Any]], Any]) -> None:
    """Read every value from a browser through `check`.

    Parameters
    ----------
    check : function that returns the value; it receives the message, the widget's metadata, and a function that reads
        the value as Streamlit would and may raise an error
    """

    def checked(states: WStates, name: str) -> Any:
        sent, about = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(sent, Serialized) or about is None:
            return _read(states, name)
        value = check(sent.value, about, lambda: _read(states, name))
        states.states[name] = Value(value)
        return value

    WStates.__getitem__ = checked  # type: ignore[method-assign]


def forget_values() -> None:
    """Reset the widgets whose values the browser sent for the running script to their initial values."""
    context = get_script_run_ctx(suppress_warning=True)
    values = getattr(getattr(context, "session_state", None), "_state", None)
    if values is None:
        return
    sent = values._new_widget_state
    for name in list(sent.states):
        if (about := sent.widget_metadata.get(name)) is not None:
            sent.states[name] = Value(about.deserializer(None))
            values._old_state.pop(name, None)


def file_fields(session: str) -> Iterator[set[str]]:
    """Yield the files in each file field on a session's page; nothing if there is no such session."""
    known: Any = runtime.get_instance()._session_mgr.get_session_info(session) if runtime.exists() else None
    if known is None:
        return
    values = known.session.session_state
    sent = values._new_widget_state
    for name, about in list(sent.widget_metadata.items()):
        if about.value_type == "file_uploader_state_value":
            if isinstance(now := sent.states.get(name), Serialized):
                yield {file.file_id for file in now.value.file_uploader_state_value.uploaded_file_info}
            elif now is not None or name in values._old_state:
                content = now.value if now is not None else values._old_state[name]
                files = content if isinstance(content, list) else [content]
                yield {file.file_id for file in files if hasattr(file, "file_id")}


def stay_silent(write: Callable[[logging.LogRecord], bool]) -> None:
    """Keep Streamlit from logging a page's errors with their messages; `write` decides on each line about a frame."""
    logging.getLogger("streamlit.error_util").addFilter(lambda record: record.msg != "Uncaught app execution")
    logging.getLogger(starlette_websocket.__name__).addFilter(write)


def is_set(option: str) -> bool:
    """Return whether the operator has set an option of Streamlit."""
    return config.is_manually_set(option)


def set_option(option: str, value: Any) -> None:
    """Set an option of the server, which `st.set_option` refuses while it runs."""
    config.set_option(option, value)


def session_id() -> str | None:
    """Return the session of the running script, or None outside a script."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else context.session_id


def query() -> str:
    """Return the query of the address for which the script runs, as the browser sent it."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.query_string


def came_back() -> bool:
    """Return whether the script runs because the visitor went back or forward in the browser's history."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def connected(sessions: Iterable[str]) -> bool:
    """Return whether one of the sessions has a browser; True without a server, where no visitor can leave."""
    return not runtime.exists() or any(map(runtime.get_instance().is_active_session, sessions))


def held() -> dict[str, dict[str, bytes]]:
    """Return the uploaded files that the server holds: session -> file -> content."""
    manager: Any = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    stored = getattr(manager, "file_storage", {})
    return {session: {name: file.data for name, file in list(files.items())} for session, files in list(stored.items())}


def drop(session: str, file: str) -> None:
    """Remove an uploaded file's bytes from the server."""
    manager: Any = runtime.get_instance().uploaded_file_mgr
    manager.remove_file(session, file)
