"""A released coreset on Explore: centers for any k, and nothing more is spent."""

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.pictures import pictures

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_page_answers_for_any_k_and_spends_nothing(monkeypatch):
    monkeypatch.chdir(ROOT)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240).run()
    app.session_state["explore_any_k"] = True
    app.switch_page("pages/explore.py").run()
    app.selectbox(key="explore_algorithm").set_value("stemmer-kaplan").run()
    until = time.monotonic() + 240
    while "job" in app.session_state and time.monotonic() < until:
        time.sleep(0.2)
        app.run()

    def words():
        return next(block.proto.body for block in app.get("html") if "weighted points" in block.proto.body)

    before = words()
    assert "17 releases" in before
    slider = next(slider for slider in app.slider if slider.label == "Centers, from the released points")
    slider.set_value(9).run()
    app.segmented_control(key="explore_coreset_cost").set_value("k-median").run()
    assert not app.exception and words() == before.replace("k-means", "k-median")
    specs = " ".join(pictures(app))
    assert "9 centers of" in specs
