"""A field for a whole number never cuts what was typed without a word."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from pages._ui.numbers import whole_number

    st.text(repr(whole_number("Seed", 0, 100, 7, key="seed")))


def test_a_fraction_is_told_and_its_whole_part_is_used():
    app = AppTest.from_function(page).run()
    assert app.text[0].value == "7" and not app.caption
    app.number_input[0].set_value(2.5).run()
    assert app.text[0].value == "2"
    assert [note.value for note in app.caption] == ["Seed: whole numbers only. 2 is used in place of 2.5."]
    app.number_input[0].set_value(3).run()
    assert app.text[0].value == "3" and not app.caption
