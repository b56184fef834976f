"""Check that a field for a whole number never silently truncates a typed number."""

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import ALGORITHMS
from tests.pages.visitor import new_app
from tests.tiers import tiers


def page():
    import streamlit as st

    from pages._ui.explore.form.numbers import whole_number

    st.text(repr(whole_number("Seed", 0, 100, 7, key="seed")))


def test_a_fraction_is_told_and_its_whole_part_is_used():
    app = AppTest.from_function(page).run()
    assert app.text[0].value == "7" and not app.caption
    app.number_input[0].set_value(2.5).run()
    assert app.text[0].value == "2"
    assert [note.value for note in app.caption] == ["Seed must be a whole number: 2 is used instead of 2.5."]
    app.number_input[0].set_value(3).run()
    assert app.text[0].value == "3" and not app.caption


def form():
    import streamlit as st

    from dpviz.algorithms import ALGORITHMS
    from dpviz.datasets import load_sample
    from pages._ui.explore.form import forms
    from pages._ui.work import runs

    data, cls = load_sample("tiny"), ALGORITHMS[st.session_state.slug]
    st.text(runs.run_id(data, cls(**forms.parameters(cls, "sample:tiny", data, {"n_clusters": 3})), 0))


@pytest.mark.parametrize("slug", tiers(ALGORITHMS, ["pe-means", "dist-dp"]))
def test_a_run_is_the_same_whether_its_parameters_are_folded_or_not(slug):
    app = AppTest.from_function(form)
    app.session_state["slug"] = slug
    folded = app.run().text[0].value
    app.session_state["form_more"] = True
    assert app.run().text[0].value == folded
    app.session_state["form_more"] = False
    assert app.run().text[0].value == folded and not app.exception


def test_an_address_says_the_whole_part_that_is_used():
    app = new_app().switch_page("pages/explore.py").run()
    app.number_input(key="explore_seed").set_value(2.5).run()
    assert not app.exception and "s=2" in app.session_state["kept"][1].split("&")
