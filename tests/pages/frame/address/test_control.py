"""Check that each kind of control draws its own widget, with its label, default, key and lock."""

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.params import ParamSpec
from pages._ui.frame.address.control import Control, choice, number, switch

WORDS = {"a": "first", "b": "second", "c": "third"}
LETTERS = choice("b", tuple(WORDS))
SOME = choice(("a", "c"), tuple(WORDS))
HALF = ParamSpec(None, low=0, optional=True, kind="float")
KINDS = [  # control -> its widget, the value drawn first, a value of an address, and how the widget holds that
    (Control("x", "k", "Title", switch(True)), "toggle", True, False, False),
    (Control("x", "k", "Title", switch(False), widget="checkbox"), "checkbox", False, True, True),
    (Control("x", "k", "Title", LETTERS, named=WORDS), "selectbox", "b", "c", "c"),
    (Control("x", "k", "Title", LETTERS, named=WORDS.get, widget="radio"), "radio", "b", "c", "c"),
    (Control("x", "k", "Title", LETTERS, widget="segmented_control"), "segmented_control", "b", "a", "a"),
    (Control("x", "k", "Title", LETTERS, widget="select_slider"), "select_slider", "b", "a", "a"),
    (Control("x", "k", "Title", SOME, many=True, most=2), "multiselect", ["a", "c"], ("b",), ["b"]),
    (Control("x", "k", "Title", SOME, many=True, widget="pills"), "pills", ["a", "c"], ("b",), ["b"]),
    (Control("x", "k", "Title", number(5, 1, 9)), "number_input", 5, 7, 7),
    (Control("x", "k", "Title", number(0.5, 0, 9)), "number_input", 0.5, 2.25, 2.25),
    (Control("x", "k", "Title", number(5, 1, 9), widget="slider"), "slider", 5, 7, 7),
    (Control("x", "k", "Title", ParamSpec("town"), accepts=str), "text_input", "town", "city", "city"),
    (Control("x", "k", "Title", HALF, typed=True), "text_input", "", 0.5, "0.5"),
]


def page(control, known, **now):
    import streamlit as st

    if known:
        st.session_state[control.key] = control.to_widget(known[0])
    st.write(repr(control.draw(**now)))


@pytest.mark.parametrize(("control", "kind", "first", "value", "held"), KINDS, ids=lambda one: str(one)[:20])
def test_a_control_draws_its_widget_with_its_default_and_with_the_value_of_an_address(
    control, kind, first, value, held
):
    for known, wanted in (((), first), ((value,), held)):
        app = AppTest.from_function(page, args=(control, known)).run()
        assert not app.exception and app.markdown[0].value == repr(wanted)
        widget = app.get(kind)[0]
        assert (widget.label, widget.key, widget.disabled) == ("Title", "k", False)
    assert control.from_widget(held) == value == control.parse(control.texts(value))
    app = AppTest.from_function(page, args=(control, ()))
    app.session_state["free"] = frozenset({"another"})
    assert app.run().get(kind)[0].disabled
    app.session_state["free"] = frozenset({"k"})
    assert not app.run().get(kind)[0].disabled
    app = AppTest.from_function(page, args=(control, ()), kwargs={"disabled": False})
    app.session_state["free"] = frozenset({"another"})
    assert app.run().get(kind)[0].disabled  # a page cannot lift a lock
