"""Check the player on its pages: it loads Plotly only for “Look closely”, plays, and works without the server."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from tests.browser.phone import no_exception
from tests.browser.test_journeys import NSM, STEPS, charts, picture
from tests.serving import running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_no_page_with_a_player_asks_for_plotly_before_somebody_looks_closely(open_page):
    page = open_page(NSM)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    charts(page, 4)
    page.get_by_role("link", name="Compare").first.click()
    expect(page.locator("h1")).to_be_visible()
    page.wait_for_function(f"() => ({STEPS})().length && ({STEPS})().every(s => s >= 0)")
    assert not [url for url in asked if "PlotlyChart" in url]
    page.get_by_role("button", name="Zoom and hover").click()
    expect(page.locator(".dpviz-look .main-svg").first).to_be_visible()
    assert [url for url in asked if "PlotlyChart" in url]


def test_the_button_shows_all_panels_in_plotly_at_the_step_and_a_step_brings_the_canvas_back(open_page):
    page = open_page(NSM)
    charts(page, 4)
    button = page.get_by_role("button", name="Zoom and hover")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    looked = "() => [...document.querySelectorAll('[class*=_figures] .dpviz-stage')].map(root => root.panel.looked)"
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    page.wait_for_function(f"() => ({looked})().filter(s => s === {last}).length >= 4")
    page.get_by_role("button", name="Step back").click()
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {last - 1})")
    page.wait_for_function(f"() => ({looked})().filter(s => s === {last - 1}).length >= 4")
    button.click()
    expect(page.locator(".dpviz-look:visible")).to_have_count(0)
    no_exception(page)


def test_a_deep_link_to_a_fresh_server_gets_the_whole_shell_and_a_run_that_plays_on_when_it_is_gone(browser):
    with running(DPVIZ_WORKERS="0") as (url, _):
        page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="no-preference")
        page.set_default_timeout(PATIENCE)
        page.goto(f"{url}/{NSM}")
        expect(page.get_by_text("DEMO", exact=True).first).to_be_visible()
        expect(page.get_by_text("Privacy budget ε")).to_be_visible()
        expect(page).to_have_title("Watch: NSM (ours) on Town - dpviz")
        expect(page.get_by_role("link", name="Explore", exact=True)).to_have_attribute("aria-current", "page")
        expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
        charts(page, 4)
        no_exception(page)
        page.get_by_role("button", name="First step").click()
        page.get_by_label("Speed").select_option("4")
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(f"() => ({STEPS})().every(s => s >= 1)")
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    seen = picture(page)
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {last})")  # no step is skipped and no panel goes blank
    expect(page.locator(".dpviz-canvas:visible").first).to_be_visible()
    assert picture(page) != seen
    page.close()
