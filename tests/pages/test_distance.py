"""Check a run that hides moves on Watch: its promise at every rho, and its loss, which is compared only on request."""

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.privacy.guarantee import Notion
from tests.pages.pictures import pictures
from tests.pages.visitor import visit, wait_for_run, words


@pytest.fixture
def page():
    return wait_for_run(visit("explore", "v=1&d=town&a=dist-dp-region-means&rho=0.0084"))


def field(app, slug="dist-dp-region-means"):
    """Return the field for rho, in meters, on the sample "town"."""
    return app.number_input(key=f"param_{slug}_rho_distance_in_units_of_sample:town")


def at(app, rho, slug="dist-dp-region-means"):
    wait_for_run(field(app, slug).set_value(12_000 * rho).run())


def test_the_promise_and_what_it_leaves_open_are_said_at_once(page):
    assert not page.exception
    assert "one row moved by at most 101 m" in words(page)
    assert "<b>No promise.</b>" in words(page) and "weaker promise than differential privacy" in words(page)
    assert "dist-DP region means (ours): 5.8 rho = " in words(page)


def test_rho_is_typed_in_meters_and_the_address_keeps_half_widths(page):
    assert field(page).label == "rho (distance), m" and field(page).value == 100.8
    assert "&rho=0.0084&" in page.session_state["kept"][1] + "&"
    at(page, 0.005)
    assert not page.exception and "one row moved by at most 60 m" in words(page)
    assert "&rho=0.005&" in page.session_state["kept"][1] + "&"
    page.selectbox(key="explore_data").set_value("iris").run()
    there = page.number_input(key="param_dist-dp-region-means_rho_distance_in_units_of_sample:iris")
    assert there.label == "rho (distance), cm" and there.value == 0.025  # rho remains the same share of the box
    there.set_value(-1.0).run()
    assert [error.value for error in page.error] == ["rho (distance), cm must be above 0; got -1. Nothing was spent."]


@pytest.mark.slow
def test_rho_from_smallest_to_the_diameter(page):
    at(page, 1e-4)
    assert not page.exception and "Was Alex here, or 1.2 m away?" in words(page) and not page.warning
    at(page, 2.5)
    assert not page.exception and "Or " not in words(page).split("No promise")[0].split("Alex")[-2]
    assert "<b>NSM (ours)</b>" in words(page) and "one row changed to any value" in words(page)
    assert "hides moves of up to" not in words(page).split("dp-strip")[1].split("</div>")[0]
    assert "At 30 km, hiding the whole person is cheaper" in words(page) and "No promise" not in words(page)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["dist-dp", "dist-dp-random-points"])
def test_the_other_methods_promise_the_same(page, slug):
    page.selectbox(key="explore_algorithm").set_value(slug).run()
    at(page, 2.5, slug)
    assert not page.exception and "one row moved by at most 30 km" in words(page)


@pytest.mark.slow
def test_what_is_promised_takes_the_method_that_promises_it_and_says_so(page):
    page.selectbox(key="explore_promised").set_value("person").run()
    chosen = ALGORITHMS[page.session_state["explore_algorithm"]]
    assert chosen.notion is Notion.CENTRAL and f"{chosen.name} replaces dist-DP" in page.info[0].value
    for trust, notion in (("nobody", Notion.LOCAL), ("mixer", Notion.SHUFFLE), ("clients", Notion.CENTRAL)):
        page.selectbox(key="explore_trust").set_value(trust).run()
        assert not page.exception and page.selectbox(key="explore_trust").value == trust
        assert ALGORITHMS[page.session_state["explore_algorithm"]].notion is notion
    page.selectbox(key="explore_promised").set_value("move").run()
    assert ALGORITHMS[page.session_state["explore_algorithm"]].notion is Notion.RHO
    assert page.selectbox(key="explore_trust").value == "curator"


@pytest.mark.slow
def test_losses_wait_for_the_reader_and_carry_their_promises(page):
    before = len(pictures(page))
    page.checkbox(key="rho_seen").check().run()
    assert not page.exception and len(pictures(page)) == before + 1
    drawn = pictures(page)[-1]
    assert all(
        part in drawn for part in ("full DP: one row changed to any value", "moves of up to 101 m", "NOT PRIVATE")
    )
    page.toggle(key="explore_hidden").set_value(False).run()
    assert not page.exception
