"""Selecting a region in the tree or on the plane moves both, without asking the server."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_journeys import STEPS, no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def all_at(page, step):
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {step})")


def drawn(page, count):
    page.wait_for_function(
        f"() => {{ const s = ({STEPS})(); return s.length === {count} && s.every(v => v !== undefined); }}"
    )


def run_dpm(page):
    page.get_by_role("combobox", name="Algorithm").click()
    page.get_by_role("option", name="DPM", exact=True).click()
    expect(page.get_by_text("Cuts the box where it is empty")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    drawn(page, 4)
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot')[0].layout.meta?.regions")


def test_tree_and_plane_follow_each_other(open_page):
    page = open_page("explore", height=1100)
    page.set_default_timeout(60_000)
    page.wait_for_function(f"() => ({STEPS})().some(v => v !== undefined)")
    run_dpm(page)
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    all_at(page, last)  # the run before had fewer steps: its step must not stay

    bar = page.locator(".js-plotly-plot").nth(1).locator(".bars .point path").nth(3)
    place = bar.bounding_box()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    all_at(page, 3)
    expect(page.get_by_role("group", name="Steps of the run").get_by_text("Region 4 of")).to_be_visible()

    target = page.evaluate("""() => {
        const g = document.querySelectorAll('.js-plotly-plot')[0], {xaxis, yaxis} = g._fullLayout;
        const [x0, y0, x1, y1, frame] = g.layout.meta.regions[0].at(-1), edge = g.getBoundingClientRect();
        const x = xaxis._offset + xaxis.d2p((x0 + x1) / 2), y = yaxis._offset + yaxis.d2p((y0 + y1) / 2);
        return [edge.left + x, edge.top + y, frame];
    }""")
    assert target[2] != 3
    page.mouse.click(target[0], target[1])
    all_at(page, target[2])
    page.wait_for_function(f"""() => {{
        const bars = document.querySelectorAll('.js-plotly-plot')[1]._fullData, drawn = bars[1];
        return Math.abs(bars.at(-1).x[0] - drawn.x[drawn.customdata.indexOf({target[2]})]) < 1;
    }}""")  # the arrow of the tree stands above the node of the region that was clicked


def test_the_tree_is_whole_at_the_end_whatever_was_shown_before(open_page):
    page = open_page("explore", height=1100)
    page.set_default_timeout(60_000)
    page.wait_for_function(f"() => ({STEPS})().some(v => v !== undefined)")
    run_dpm(page)
    player = page.get_by_role("group", name="Steps of the run")
    player.focus()
    for key in ("Home", "ArrowRight", "End", "Home", "ArrowRight", "ArrowRight", "End"):  # faster than figures redraw
        page.keyboard.press(key)
    page.wait_for_function("""() => {
        const bars = [...document.querySelectorAll('.js-plotly-plot')[1].querySelectorAll('.bars .point path')];
        const fills = bars.map(b => getComputedStyle(b).fill), ghost = fills.filter(f => /236, 236, 230/.test(f));
        return bars.length > 3 && ghost.length === 0;
    }""")
    no_exception(page)
