"""Check pages through Streamlit's test driver: no exceptions, a sentence about bad input, and results that survive."""

import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import streamlit as st
from streamlit.runtime.caching.cache_resource_api import clear_session_cache
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from pages._ui.explore import centers, quality
from pages._ui.work import runs
from pages._ui.work.caches import per_run
from tests.pages.pictures import pictures
from tests.pages.visitor import open_page, wait_for_run

ROOT = Path(__file__).parents[2]


def test_explore_runs_and_keeps_the_result(app):
    open_page(app, "pages/explore.py")
    assert not app.exception and len(pictures(app)) == 3
    app.selectbox(key="explore_data").set_value("iris").run()
    data = load("iris")
    n = ALGORITHMS["pe-means"](n_clusters=3).releases(data.domain.n_features, data.n_public)
    assert any(f"{n} releases, less than a second" in caption.value for caption in app.caption)
    wait_for_run(app)  # the run starts by itself
    assert not app.exception and not app.error
    identity = app.session_state["shown"]
    assert identity.startswith('["sample:iris", "pe-means"')
    open_page(app, "pages/home.py")
    open_page(app, "pages/explore.py")
    assert app.session_state["shown"] == identity and not app.exception


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("param_pe-means_epsilon", 0.0, "Privacy budget ε must be above 0; got 0.0. Nothing was spent."),
        ("param_pe-means_n_clusters_town", 0, "Centers k must be at least 1; got 0."),
        ("param_pe-means_n_clusters_town", 2.5, "Centers k must be a whole number; got 2.5."),
    ],
)
def test_a_bad_parameter_is_one_sentence_and_nothing_is_lost(app, key, value, words):
    open_page(app, "pages/explore.py")
    app.number_input(key=key).set_value(value).run()
    assert not app.exception
    assert any(words in error.value for error in app.error)
    assert app.button(key="explore_run").disabled and len(pictures(app)) == 3


def test_bad_delta_is_one_sentence_folded_or_not(app):
    app.session_state["form_more"] = True
    open_page(app, "pages/explore.py")
    for text, words in [
        ("2", "Delta δ must be at most 0.5"),
        ("0", "leave Delta δ empty for 1/(100 n), here 1 in 500,000"),
        ("much", "Delta δ must be a number or empty"),
    ]:
        app.text_input(key="param_pe-means_delta").set_value(text).run()
        assert not app.exception and any(words in error.value for error in app.error)
    app.session_state["form_more"] = False
    app.run()
    assert any(words in error.value for error in app.error) and app.button(key="explore_run").disabled
    app.session_state["form_more"] = True
    app.run()
    app.text_input(key="param_pe-means_delta").set_value("0.1").run()
    assert any(
        "is at least 1/n for n = 5,000: a method that publishes each row" in warning.value for warning in app.warning
    )


@pytest.mark.slow
def test_a_runs_warnings_share_one_box(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_data").set_value("tiny").run()
    app.selectbox(key="explore_algorithm").set_value("stemmer-kaplan").run()
    wait_for_run(app)
    [told] = [box.value for box in app.warning if "Every bucket is below" in box.value]
    assert "a single center may do as well" in told and told.count("  \n") == 1


def test_too_many_centers_are_one_sentence_before_anything_runs(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_data").set_value("tiny").run()
    wait_for_run(app)
    app.number_input(key="param_pe-means_n_clusters_tiny").set_value(100).run()
    assert not app.exception and app.button(key="explore_run").disabled
    assert any("Centers k must be at most 40, the number of rows; got 100" in error.value for error in app.error)


def test_a_changed_control_runs_at_once_and_the_picture_follows(app):
    open_page(app, "pages/explore.py")
    before = app.session_state["asked"]
    app.number_input(key="param_pe-means_epsilon").set_value(0.25).run()
    wait_for_run(app)
    assert not app.exception and '"epsilon": 0.25' in app.session_state["shown"]
    assert app.session_state["shown"] == app.session_state["asked"] != before
    assert not any("You see" in block.proto.body for block in app.get("html"))


@pytest.mark.parametrize("paid", [True, False])
def test_a_run_that_was_paid_for_is_not_dropped_for_a_public_one(app, paid):
    open_page(app, "pages/explore.py")
    begun, gate = threading.Event(), threading.Event()
    job = runs.jobs().submit("On a private file", lambda job: begun.set() or gate.wait(240), "somebody")
    assert begun.wait(60)  # a job that had not begun would end at once when dropped
    try:
        app.session_state["job"], app.session_state["paid"], app.session_state["inbox"] = job, paid, []
        app.number_input(key="param_pe-means_epsilon").set_value(0.25).run()
        going = "job" in app.session_state and app.session_state["job"] is job
        assert not app.exception and going == paid and job.active
    finally:
        job.cancel()
        gate.set()


@pytest.mark.slow
def test_a_slow_run_waits_for_the_button_and_the_old_picture_says_what_differs(app, monkeypatch):
    open_page(app, "pages/explore.py")
    app.number_input(key="param_pe-means_epsilon").set_value(0.5).run()
    wait_for_run(app)
    monkeypatch.setattr("pages._ui.explore.settings.LIVE", 0.0)
    app.number_input(key="param_pe-means_epsilon").set_value(2.0).run()
    assert '"epsilon": 0.5' in app.session_state["shown"]
    [ribbon] = [block.proto.body for block in app.get("html") if "You see" in block.proto.body]
    assert "You see <b>Privacy budget ε 0.5</b>. The form is set to <b>Privacy budget ε 2</b>" in ribbon
    app.button(key="explore_run").click().run()
    wait_for_run(app)
    assert '"epsilon": 2.0' in app.session_state["shown"]


def test_the_verdict_and_the_centers_are_there_after_every_run(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_algorithm").set_value("nsm").run()  # NSM states the noise of each center
    wait_for_run(app)
    words = " ".join(block.proto.body for block in app.get("html"))
    assert "<b>5 of 5 groups found</b>" in words and "× KMeans" in words and "55 times in 100" in words
    assert words.count('class="promise"') == words.count('class="truth"') == 1
    [table] = re.findall('aria-label="Centers".*?</table>', words)
    assert table.count("<tr data-lit>") == 5 and "noise in east (km)" in table
    app.session_state["explore_take"] = True  # as if the visitor had opened the menu
    app.toggle(key="explore_hidden").set_value(False).run()
    words = " ".join(block.proto.body for block in app.get("html"))
    assert "<b>Released: 5 centers, noise of each center at most ±" in words
    assert "groups found" not in words and 'class="truth"' not in words
    assert not re.search("NOT PRIVATE|true votes", " ".join(pictures(app)))
    offered = {button.label for button in app.get("download_button")}
    assert offered >= {"Centers as CSV", "Centers as JSON", "Privacy label", "One page", "Replay", "Notebook"}
    app.session_state["ledger_take"] = True
    open_page(app, "pages/ledger.py")
    assert not app.exception
    assert {button.label for button in app.get("download_button")} >= {"Centers as CSV", "Privacy label"}


def test_a_column_s_name_is_text_in_the_table_of_centers():
    drawn = centers._drawn(pd.DataFrame({"center": ["1", "2"], "<img src=x>": ["0.1235", "-2,000"]}))
    assert "<img" not in drawn and "&lt;img src=x&gt;" in drawn
    assert "<td>0.1235</td>" in drawn and "<td>-2,000</td>" in drawn


def test_an_empty_explore_offers_the_first_run_where_the_picture_will_be(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_data").set_value("iris").run()
    app.session_state["shown"] = ""
    app.run()
    assert not app.exception and app.header[0].value == "No run yet"
    app.button(key="explore_first").click().run()
    wait_for_run(app)
    assert not app.exception and len(pictures(app)) == 3


@pytest.mark.slow
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
