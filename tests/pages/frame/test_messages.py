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


def test_a_sentence_stays_if_its_page_is_drawn_again_at_once():
    def page():
        import streamlit as st

        from pages._ui.frame import messages

        drawn = st.session_state.get("drawn", 0)
        if drawn == 0:
            messages.say("note", "Another method was chosen.")
        messages.show()
        st.session_state["drawn"] = drawn + 1
        if drawn == 0:
            st.rerun()

    app = AppTest.from_function(page).run()
    assert [box.value for box in app.info] == ["Another method was chosen."] and app.session_state["drawn"] == 2
    assert not app.run().info
