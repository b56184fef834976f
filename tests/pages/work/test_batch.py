"""Check a batch of results that arrive one by one while somebody looks at a page."""

from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

from pages._ui.work import batch
from pages._ui.work.jobs import Job
from pages._ui.work.recent import Recent


def page():
    import streamlit as st

    from pages._ui.work.batch import Gathered, follow

    state = st.session_state
    going = state.get("going", 1)  # 0 once everything is ready
    state.drawn = state.get("drawn", 0) + 1

    def gathered():
        return Gathered({}, None, active=going > 0)

    follow(gathered, lambda now: st.text("making" if now.active else "ready"), 60.0)
    if st.button("Press", key="press"):
        state.pressed = True


def test_what_is_pressed_when_a_batch_has_ended_is_not_lost():
    app = AppTest.from_function(page).run()
    assert [text.value for text in app.text] == ["making"]
    app.session_state["going"] = 0
    app.button(key="press").click().run()
    assert [text.value for text in app.text] == ["ready"]
    assert app.session_state["pressed"] and app.session_state["drawn"] == 2  # the page is not drawn again without need


def test_a_piece_that_another_visitors_batch_has_made_meanwhile_is_not_made_again(monkeypatch):
    shelf, made = Recent(9), []
    call = lambda function, *args, look: made.append(args) or function(*args)  # noqa: E731
    monkeypatch.setattr(batch, "workers", lambda: SimpleNamespace(run=call))
    pieces = [batch.Piece(name, str.upper, (name,)) for name in "ab"]
    batch._make(Job("", "first"), pieces[:1], shelf)
    batch._make(Job("", "second"), pieces, shelf)
    assert made == [("a",), ("b",)] and [shelf.get(name) for name in "ab"] == ["A", "B"]
