"""Check that a visitor who opens a deep link reaches its page, whatever interrupts the redirect."""

import streamlit as st

from tests.pages.visitor import new_app, visit


def test_a_deep_link_is_wanted_until_its_page_is_drawn(monkeypatch):
    asked = []
    visitor = new_app()
    visitor.session_state["wanted"] = "pages/limits.py"
    with monkeypatch.context() as interrupted:
        interrupted.setattr(st, "switch_page", lambda page: (asked.append(page), st.stop()))
        visitor.run()
    assert asked == ["pages/limits.py"]
    assert visitor.session_state["wanted"] == "pages/limits.py"  # the next run of the script leads to that page
    arrived = visit("limits")
    assert arrived.title[0].value == "Limits"
    assert arrived.session_state["wanted"] == ""  # Start can now be opened
