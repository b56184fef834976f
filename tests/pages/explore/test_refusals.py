"""Check that a run that cannot be counted or paid for is refused in one sentence on Watch and Spend, at no cost."""

import pytest

from dpviz.privacy.accounts import FileBudget
from dpviz.privacy.guarantee import Neighboring
from pages._ui.work import private
from tests.pages.visitor import content, new_app, press, private_file


@pytest.fixture
def app():
    return private_file(new_app().run(), content())


def watch(app, method):
    app.session_state["private_algorithm"] = method
    return app.switch_page("pages/explore.py").run()


def booked(app):
    (key,) = app.session_state["fingerprints"].values()
    with private.accounts() as store:
        return store.of(key).claims


@pytest.mark.slow
def test_a_million_bins_are_refused_at_the_form(app):
    app.session_state["form_more"] = True
    watch(app, "mst-kmeans").text_input(key="param_mst-kmeans_bins").set_value("1000000").run()
    (error,) = app.error
    assert error.value.startswith("Bins must be at most 724 with 2 columns; got 1,000,000")
    assert error.value.endswith("Nothing was spent.") and not booked(app)
    assert next(button for button in app.button if button.label == "Run").disabled


@pytest.mark.slow
def test_a_private_choice_above_the_total_is_refused_before_it_can_be_confirmed(app):
    (key,) = app.session_state["fingerprints"].values()
    with private.accounts() as store:
        store.set_budget(key, Neighboring.ADD_REMOVE, FileBudget(0.5, 1e-4))
    press(watch(app, "choose-k"), "Run")
    (refusal,) = [box.value for box in app.info if "Your total does not allow" in box.value]
    assert "Choose-k would bring this file to ε = 1 " in refusal and "Nothing was spent." in refusal
    assert next(button for button in app.button if button.label == "Run and spend").disabled and not booked(app)
