"""Pages through Streamlit's own test driver: no exception, bad input gets a sentence, results survive."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.caching.cache_resource_api import clear_session_cache
from streamlit.testing.v1 import AppTest

from pages._ui.caches import per_run
from pages._ui.explore import quality

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app(monkeypatch):
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()


def open_page(app, page):
    return app.switch_page(page).run()


def wait_for_run(app, seconds=60):
    until = time.monotonic() + seconds
    while "job" in app.session_state and time.monotonic() < until:
        time.sleep(0.2)
        app.run()
    assert "job" not in app.session_state
    return app


def test_home_is_alive_at_once(app):
    assert not app.exception
    assert app.title[0].value == "Find the neighborhoods, not the neighbors."
    assert len(app.get("plotly_chart")) == 1


def test_home_odds_follow_epsilon(app):
    def words():
        return " ".join(block.proto.body for block in app.get("html"))

    assert "57 times in 100" in words()
    app.segmented_control(key="home_epsilon").set_value(4.0).run()
    assert not app.exception and "57 times in 100" not in words() and "times in 100" in words()


def test_explore_runs_and_keeps_the_result(app):
    open_page(app, "pages/explore.py")
    assert not app.exception and len(app.get("plotly_chart")) == 8
    app.selectbox(key="explore_data").set_value("iris").run()
    assert any("7 releases, less than a second" in caption.value for caption in app.caption)
    app.button[0].click().run()
    wait_for_run(app)
    assert not app.exception and not app.error
    identity = app.session_state["shown"]
    assert identity.startswith('["sample:iris", "nsm"')
    open_page(app, "pages/home.py")
    open_page(app, "pages/explore.py")
    assert app.session_state["shown"] == identity and not app.exception


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("param_nsm_epsilon", 0.0, "NSM (ours): epsilon must be > 0; got 0.0. Nothing was spent."),
        ("param_nsm_epsilon", -1.0, "NSM (ours): epsilon must be > 0; got -1.0."),
        ("param_nsm_n_clusters_town", 0, "NSM (ours): n_clusters must be >= 1; got 0."),
    ],
)
def test_a_bad_parameter_is_one_sentence_and_nothing_is_lost(app, key, value, words):
    open_page(app, "pages/explore.py")
    app.number_input(key=key).set_value(value).run()
    assert not app.exception
    assert any(words in error.value for error in app.error)
    assert app.button[0].disabled and len(app.get("plotly_chart")) == 8


def test_bad_delta_is_one_sentence(app):
    open_page(app, "pages/explore.py")
    for text, words in [("2", "delta must be <= 0.5"), ("much", "delta must be a number or empty")]:
        app.text_input(key="param_nsm_delta").set_value(text).run()
        assert not app.exception and any(words in error.value for error in app.error)
    app.text_input(key="param_nsm_delta").set_value("0.1").run()
    assert any("is above 1/n" in warning.value for warning in app.warning)


def test_too_many_centers_fail_in_the_run_with_a_sentence(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_data").set_value("tiny").run()
    app.number_input(key="param_nsm_n_clusters_tiny").set_value(100).run()
    app.button[0].click().run()
    wait_for_run(app)
    assert not app.exception
    assert any("n_clusters must be <= n = 40; got 100" in error.value for error in app.error)


def test_hidden_layers_can_be_switched_off(app):
    open_page(app, "pages/explore.py")
    app.toggle[0].set_value(False).run()
    assert not app.exception
    specs = " ".join(chart.proto.spec for chart in app.get("plotly_chart"))
    assert "NOT PRIVATE" not in specs and "true votes" not in specs


def test_a_lesson_keeps_its_answer_until_a_guess_is_made(app):
    open_page(app, "pages/learn.py")
    assert not app.exception and len(app.get("plotly_chart")) == 3 and not app.info
    app.radio(key="lesson_guess").set_value("noise").run()
    assert not app.exception and app.info[0].value.startswith("Not the noise") and "split" in app.info[0].value
    app.segmented_control(key="lesson_epsilon").set_value(1.0).run()
    assert not app.exception and app.info[0].value.startswith("Not the noise")


def test_an_empty_explore_offers_the_first_run_where_the_picture_will_be(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_data").set_value("iris").run()
    app.session_state["shown"] = ""
    app.run()
    assert not app.exception and app.header[0].value == "Nothing run yet"
    app.button(key="explore_first").click().run()
    wait_for_run(app)
    assert not app.exception and len(app.get("plotly_chart")) == 8


def test_the_comparison_with_kmeans_is_computed_when_somebody_opens_it(app, monkeypatch):
    asked = []
    here = SimpleNamespace(call=lambda function, *args: asked.append(args) or function(*args))
    monkeypatch.setattr(quality, "workers", lambda: here)
    st.cache_resource.clear()
    open_page(app, "pages/explore.py")
    assert not app.exception and not asked
    app.session_state["quality"] = True
    app.run()
    assert not app.exception and len(asked) == 2
    assert any("Silhouette" in block.proto.body for block in app.get("html"))


def test_what_is_made_from_public_data_is_made_once_and_from_a_file_once_a_session():
    made = []

    @per_run(shared=4, own=4)
    def look(identity: str, mode: str, _result):
        made.append((identity, mode))
        return identity, mode

    def script(look, run):
        look(run, "light")

    public, own = (
        SimpleNamespace(identity=name, data=SimpleNamespace(dataset_id=name)) for name in ("sample:x", "f00")
    )
    for run in (public, public, own, own):
        visitor = AppTest.from_function(script, args=(look, run))
        visitor.run().run()
        clear_session_cache("test session id")  # this visitor leaves
        assert not visitor.exception
    assert made == [("sample:x", "light"), ("f00", "light"), ("f00", "light")]
