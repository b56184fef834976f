"""Check a batch whose parts arrive while somebody looks at a page."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from pages._ui.work.batch import Gathered, follow

    state = st.session_state
    going = state.get("going", 1)  # looks until everything is there
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
    assert app.session_state["pressed"] and app.session_state["drawn"] == 2  # not drawn again for nothing
