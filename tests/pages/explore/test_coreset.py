"""Check a released coreset on Explore: it gives centers for any k, and nothing more is spent."""

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.pictures import pictures

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_the_page_answers_for_any_k_spends_nothing_and_keeps_the_answer_in_its_address(monkeypatch):
    monkeypatch.chdir(ROOT)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
    app.session_state["address"] = ("explore", "v=1&d=town&a=stemmer-kaplan&k=5&e=1&s=0&any=1&anyk=9")
    app.session_state["wanted"] = "pages/explore.py"
    app.run()
    until = time.monotonic() + 240
    while "job" in app.session_state and time.monotonic() < until:
        time.sleep(0.2)
        app.run()

    def words():
        return next(block.proto.body for block in app.get("html") if "weighted points" in block.proto.body)

    before = words()
    assert "17 releases" in before and "9 centers of" in " ".join(pictures(app))
    slider = next(slider for slider in app.slider if slider.label == "Centers, from the released points")
    slider.set_value(7).run()
    app.segmented_control(key="explore_coreset_cost_k-means").set_value("k-median").run()
    assert not app.exception and words() == before.replace("k-means", "k-median")
    assert "7 centers of" in " ".join(pictures(app))
    assert app.session_state["kept"][1].endswith("&any=1&anyk=7&cost=k-median")
