"""The Distance page: what is promised is said at every rho, and losses are compared only after the notion was seen."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.pictures import pictures

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.chdir(ROOT)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240).run()
    return app.switch_page("pages/distance.py").run()


def words(app):
    return " ".join(block.proto.body for block in app.get("html"))


def test_the_promise_and_what_it_leaves_open_are_said_at_once(page):
    assert not page.exception and page.title[0].value == "Distance"
    assert "one row moved by at most 101 m" in words(page)
    assert "<b>No promise.</b>" in words(page) and "weaker promise than differential privacy" in words(page)
    assert "dist-DP region means (ours): 4.6 rho = " in words(page)
    assert len(pictures(page)) == 5


@pytest.mark.slow
def test_rho_from_smallest_to_the_diameter(page):
    slider = page.select_slider[0]
    assert slider.options[0] == "1.2 m" and slider.options[-1] == "30 km"
    page.select_slider[0].set_value(1e-4).run()
    assert not page.exception and "Was Alex here, or 1.2 m away?" in words(page) and not page.warning
    page.select_slider[0].set_value(2.5).run()
    assert not page.exception and "Or " not in words(page).split("No promise")[0].split("Alex")[-2]
    assert not page.warning and "rho_distance" not in words(page)
    assert "<b>NSM (ours)</b>" in words(page) and "one row changed to any value" in words(page)
    assert "hides moves up to" not in words(page).split("dp-strip")[1].split("</div>")[0]
    assert "At 30 km hiding the whole person is cheaper" in words(page) and "No promise" not in words(page)
    for slug in ("dist-dp", "dist-dp-random-points"):
        page.radio(key="rho_method").set_value(slug).run()
        assert not page.exception and "one row moved by at most 30 km" in words(page)


@pytest.mark.slow
def test_losses_wait_for_the_reader_and_carry_their_promises(page):
    before = len(pictures(page))
    page.checkbox(key="rho_seen").check().run()
    assert not page.exception and len(pictures(page)) == before + 1
    drawn = pictures(page)[-1]
    assert all(part in drawn for part in ("full DP: one row changed to any value", "moves up to 101 m", "NOT PRIVATE"))
    page.toggle(key="rho_hidden").set_value(False).run()
    assert not page.exception
