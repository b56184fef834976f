"""Check that a message appears once, at the top of the next page."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from pages._ui.frame import messages

    messages.show()
    if st.button("fail"):
        messages.say("problem", "It failed.")
        messages.say("note", "Nothing was spent.")
        st.rerun()


def test_a_sentence_outlives_one_rerun_and_is_shown_once():
    app = AppTest.from_function(page).run()
    assert not app.error and not app.info
    app.button[0].click().run()
    assert [box.value for box in (*app.error, *app.info)] == ["It failed.", "Nothing was spent."]
    app.run()
    assert not app.error and not app.info
