"""Check that Streamlit's private parts exist and work as the pages expect."""

import copy
import dataclasses
import inspect
from types import SimpleNamespace

import pytest
from streamlit import config, delta_generator, error_util, net_util
from streamlit.components.v2.bidi_component import main
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server import server_util

from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.privacy.accounts import Accounts
from pages._ui.frame.inside import patches
from tests.pages.visitor import csv, finish, own_file, press

KEPT = []  # whether the last stopped page keeps the fragments of its former and of its new layout


def click():
    """Simulate a click: Streamlit ends the script at its next session read and starts it again."""
    get_script_run_ctx().script_requests.request_rerun(RerunData())


def test_a_foreign_origin_is_refused_without_a_look_at_another_machine(monkeypatch):
    def asked():
        raise AssertionError("the server asked for its own address")

    for name in ("get_internal_ip", "get_external_ip"):
        monkeypatch.setattr(net_util, name, asked)
    with pytest.raises(AssertionError, match="asked for"):
        server_util.is_url_from_allowed_origins("http://elsewhere.example")
    patches.stay_offline()
    assert not server_util.is_url_from_allowed_origins("http://elsewhere.example")


def test_a_visitor_gets_the_colors_of_the_figures(monkeypatch):
    monkeypatch.setattr(config, "_config_options", copy.deepcopy(config.get_config_options()))
    patches.draw_in_our_colors()
    for mode, colors in (("light", LIGHT), ("dark", DARK)):
        sent = NewSession().custom_theme
        app_session._populate_theme_msg(sent, f"theme.{mode}")
        assert (sent.primary_color, sent.link_color) == (colors.released, colors.released)
        assert (sent.background_color, sent.text_color, sent.border_color) == (colors.bg, colors.ink, colors.line)


def test_components_have_no_view_that_is_made_at_every_look(monkeypatch):
    monkeypatch.setattr(main, "make_bidi_component_presenter", main.make_bidi_component_presenter)
    assert "presenter = make_bidi_component_presenter(" in inspect.getsource(main)
    patches.show_as_kept()
    assert main.make_bidi_component_presenter(None, "") is None


def test_the_first_element_does_not_look_for_a_prompt(monkeypatch):
    looks = []
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    monkeypatch.setattr(delta_generator.env_util, "is_repl", lambda: looks.append(1))
    delta_generator._maybe_print_use_warning()
    assert looks
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    patches.start_at_once()
    delta_generator._maybe_print_use_warning()
    assert looks == [1]


def test_an_upload_is_forgotten_by_the_server(monkeypatch):
    class Context:
        session_id, uploaded_file_mgr = "session", MemoryUploadedFileManager("/upload")

    manager = Context.uploaded_file_mgr
    manager.add_file("session", UploadedFileRec("file", "a.csv", "text/csv", b"1,2"))
    (record,) = manager.get_files("session", ["file"])
    monkeypatch.setattr(patches, "get_script_run_ctx", Context)
    patches.forget(UploadedFile(record, FileURLs()))
    assert manager.get_files("session", ["file"]) == []


@pytest.mark.parametrize("safe", [True, False])
def test_a_click_ends_a_piece_only_before_or_after_it(safe):
    def page(safe):
        from contextlib import nullcontext

        import streamlit as st

        from pages._ui.frame.inside.patches import whole
        from tests.pages.frame.inside.test_patches import click

        if st.session_state.setdefault("begun", 0) == 0:
            with whole() if safe else nullcontext():
                st.session_state.begun = 1
                click()
                st.session_state.done = 1
            st.session_state.after = 1
        st.write("drawn")

    app = AppTest.from_function(page, args=(safe,), default_timeout=240).run()
    assert not app.exception and app.markdown[0].value == "drawn"
    assert ("done" in app.session_state) == safe and "after" not in app.session_state


@pytest.mark.slow
def test_what_was_paid_for_is_run_although_the_button_was_pressed_twice(monkeypatch):
    app = own_file(csv(), "No, it is private", n_public=300)
    press(app.switch_page("pages/explore.py").run(), "Run")
    reserve, booked = Accounts.reserve, []

    def and_again(self, *args):
        reserve(self, *args)
        booked.append(args)
        click()

    monkeypatch.setattr(Accounts, "reserve", and_again)
    finish(press(app, "Run and spend"))
    assert not app.exception and len(booked) == 1
    assert len(app.session_state["history"]) == 1


def test_a_fragment_draws_another_one_and_not_the_page():
    def page():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

        from pages._ui.frame.inside.patches import redraw

        runs = st.session_state.setdefault("runs", [])
        runs.append("page")
        st.fragment(lambda: runs.append("shown"), key="shown")()

        @st.fragment(key="watch")
        def watch():
            runs.append("watch")
            redraw("shown")
            runs.append("whole")

        watch()
        context = get_script_run_ctx()
        if runs.count("page") == 1:
            context.script_requests.request_rerun(
                RerunData(fragment_id_queue=context.fragment_storage.resolve_target("watch"))
            )

    app = AppTest.from_function(page, default_timeout=240).run()
    assert not app.exception
    assert app.session_state["runs"] == ["page", "shown", "watch", "whole", "watch", "shown"]


@pytest.mark.parametrize("ours", [True, False])
def test_a_page_that_is_stopped_forgets_the_fragments_of_its_former_layout(ours):
    """Streamlit's own `st.stop` keeps them, so that a late request of one of them is still answered."""

    def page(ours):
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from pages._ui.frame.inside.patches import stop
        from tests.pages.frame.inside.test_patches import KEPT

        storage = get_script_run_ctx().fragment_storage
        if "former" not in st.session_state:
            st.fragment(lambda: None, key="former")()
            st.session_state.former = storage.resolve_target("former")[0]
            st.rerun()
        former = st.session_state.former
        st.write("a line above, which gives the fragment another place")
        st.fragment(lambda: None, key="new")()
        try:
            (stop if ours else st.stop)()
        finally:
            new = storage.resolve_target("new")[0]
            KEPT[:] = [name in storage._fragments for name in (former, new)]

    app = AppTest.from_function(page, args=(ours,), default_timeout=240).run()
    assert not app.exception and KEPT == [not ours, True]


def test_a_visit_that_comes_back_is_drawn_anew_and_another_one_is_not(monkeypatch):
    came = []

    def resume(self, name, client, user):
        return name if name == "known" else None

    monkeypatch.setattr(WebsocketSessionManager, "_resume_stored_session", resume)
    patches.draw_on_return()
    manager = object.__new__(WebsocketSessionManager)
    visit = SimpleNamespace(request_rerun=came.append, _client_state="page and query")
    manager._active_session_info_by_id = {"known": SimpleNamespace(session=visit)}
    assert manager._resume_stored_session("strange", None, {}) is None and came == []
    assert manager._resume_stored_session("known", None, {}) == "known" and came == ["page and query"]


def test_what_a_script_and_the_server_are_asked_for_is_there(monkeypatch):
    fields = {field.name for field in dataclasses.fields(ScriptRunContext)}
    assert {"session_id", "query_string", "is_history_navigation"} <= fields
    assert patches.session_id() is None and patches.query() == "" and not patches.came_back()
    here = SimpleNamespace(session_id="ann", query_string="v=1", is_history_navigation=True)
    monkeypatch.setattr(patches, "get_script_run_ctx", lambda **_: here)
    assert (patches.session_id(), patches.query(), patches.came_back()) == ("ann", "v=1", True)
    assert 'error("Uncaught app execution"' in inspect.getsource(error_util).replace("_LOGGER.", "")


def test_the_server_says_who_is_connected_and_what_it_holds(monkeypatch):
    assert patches.connected([]) and patches.held() == {}  # without a server, nobody can leave
    store = MemoryUploadedFileManager("/files")
    store.add_file("ann", UploadedFileRec("one", "a.csv", "text/csv", b"1,2"))
    assert hasattr(Runtime, "is_active_session")
    it = SimpleNamespace(uploaded_file_mgr=store, is_active_session=lambda name: name == "ann")
    monkeypatch.setattr(patches, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: it))
    assert patches.connected(["bob", "ann"]) and not patches.connected(["bob"]) and not patches.connected([])
    assert patches.held() == {"ann": {"one": b"1,2"}}
    patches.drop("ann", "one")
    assert patches.held()["ann"] == {}
