"""A click that comes in the middle of a piece of a script, as a second press of a button does."""

from pathlib import Path

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest

from dpviz.privacy.accounts import Accounts
from tests.pages.test_data import csv, declare, drop, facts, finish, press

ROOT = Path(__file__).parents[3]


def click():
    """A click comes: Streamlit ends the script at its next look into the session, and begins it anew."""
    get_script_run_ctx().script_requests.request_rerun(RerunData())


@pytest.mark.parametrize("safe", [True, False])
def test_a_click_ends_a_piece_only_before_or_after_it(safe):
    def page(safe):
        from contextlib import nullcontext

        import streamlit as st

        from pages._ui.work.uninterrupted import whole
        from tests.pages.work.test_uninterrupted import click

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


def test_what_was_paid_for_is_run_although_the_button_was_pressed_twice(monkeypatch):
    monkeypatch.chdir(ROOT)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240).run()
    app.switch_page("pages/data.py").run()
    declare(drop(app, "mine.csv", csv(), "No, it is private"), facts("a", "b", n_public=300))
    app.switch_page("pages/explore.py").run()
    reserve, booked = Accounts.reserve, []

    def and_again(self, *args):
        reserve(self, *args)
        booked.append(args)
        click()

    monkeypatch.setattr(Accounts, "reserve", and_again)
    finish(press(app, "Run and spend"))
    assert not app.exception and len(booked) == 1
    assert len(app.session_state["history"]) == 1
