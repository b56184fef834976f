"""Check Compare and the game in a real browser: one clock, linked zoom and pointer, swipes, keys, and clicks."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone, no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LINK = "compare?v=1&d=town&run=a%3Dpe-means%26e%3D1&run=a%3Ddpm%26s%3D3&by=spent"
PANELS = "[...document.querySelectorAll('.st-key-compare_row .dpviz-stage')].map(root => root.panel)"
DRAWN = f"() => ({PANELS}).length === 2 && ({PANELS}).every(panel => panel?.stage?.drawn >= 0)"


def test_one_player_moves_both_by_what_they_have_spent(open_page):
    page = open_page(LINK)
    page.wait_for_function(DRAWN)
    slider = page.get_by_role("slider", name="Step")
    last = int(slider.get_attribute("max"))
    ticks = f"[...Array({last + 1}).keys()]"
    at = page.evaluate(f"() => ({PANELS}).map(panel => {ticks}.map(tick => panel.frame(tick)))")
    for tick in (0, last // 2, last):
        slider.fill(str(tick))
        want = [max(frames[tick], 0) for frames in at]
        page.wait_for_function(f"want => ({PANELS}).every((panel, i) => panel.stage.drawn === want[i])", arg=want)
        spent = page.locator("tr:has-text('ε spent so far') td")
        assert all(float(text) <= 1.001 for text in spent.all_inner_texts())
    page.wait_for_function("() => !location.search.includes('t=')")  # an address without t shows the last step
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => location.search.includes('t={last - 1}')")
    assert "by=spent" in page.url and page.url.count("run=") == 2
    no_exception(page)


def test_zoom_and_pointer_are_linked(open_page):
    page = open_page(LINK)
    page.wait_for_function(DRAWN)
    first = page.locator(".st-key-compare_row .dpviz-stage").first
    first.scroll_into_view_if_needed()
    box = first.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.move(box["x"] + 210, box["y"] + 160)
    expect(page.locator(".st-key-compare_row .dpviz-cross:visible")).to_have_count(2)
    page.evaluate(f"() => ({PANELS})[0].follow({{xaxis: [-5, 5], yaxis: [-4, 4]}})")
    page.evaluate(f"() => {{ const [one] = {PANELS}; one.others.forEach(other => other.follow(one.zoomed)); }}")
    page.wait_for_function(f"() => ({PANELS}).every(panel => Math.abs(panel.stage.axes.x.low + 5) < 2)")
    page.evaluate(f"() => ({PANELS})[0].unzoom()")
    page.wait_for_function(f"() => ({PANELS}).every(panel => panel.ranges === null)")
    no_exception(page)


def test_a_phone_swipes_under_a_sticky_player(open_page):
    page = open_page(LINK, width=390, height=844)
    page.wait_for_function(DRAWN)
    fits_a_phone(page)
    page.wait_for_function("""() => {
        const row = document.querySelector(".st-key-compare_row [data-testid=stHorizontalBlock]");
        return row.scrollWidth > 1.5 * row.clientWidth; }""")
    row = page.locator(".st-key-compare_row [data-testid=stHorizontalBlock]").first
    row.scroll_into_view_if_needed()
    row.evaluate("row => row.scrollTo(row.scrollWidth, 0)")
    expect(page.locator(".st-key-compare_row .dpviz-canvas").nth(1)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Play")).to_be_in_viewport()


PLACED = "attacker?v=1&d=iris&a=sulloyd&axes=2&axes=3&who=at:9,3.6"
WORLDS = "() => document.querySelector('.dpviz-stage')?.panel?.stage?.drawn >= 0"


def test_the_game_is_played_by_keys_and_a_click_on_an_empty_place_asks_about_somebody_there(open_page):
    page = open_page(PLACED)
    page.wait_for_function(WORLDS)
    called = page.get_by_role("combobox", name="Alex is")
    expect(called).to_have_value("a new flower at 9, 3.6")
    expect(page.locator(".st-key-attacker_in_0 button")).to_be_enabled()
    page.keyboard.press("i")
    expect(page.get_by_text("Round 1: you said In")).to_be_visible()
    expect(page.locator(".st-key-attacker_out_1 button")).to_be_enabled()
    page.keyboard.press("o")
    expect(page.get_by_text("Round 2: you said Out")).to_be_visible()
    page.get_by_role("button", name="Let the machine play 2,000 rounds").click()
    expect(page.get_by_text(re.compile(r"The machine plays: ([1-9]\d\d|1,\d+) of 2,000"))).to_be_visible()  # by itself
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Let the machine play 2,000 rounds")).to_be_enabled()

    page.locator(".dpviz-canvas").first.click(position=_pixel(page, (7.0, 0.5)))
    page.wait_for_function("() => new URLSearchParams(location.search).get('who') !== 'at:9,3.6'")
    where = parse_qs(urlsplit(page.url).query)["who"][0]
    *_, length, width = map(float, where.removeprefix("at:").split(","))  # the drawn columns are the last two
    assert abs(length - 7.0) < 0.05 and abs(width - 0.5) < 0.05, where
    expect(called).to_have_value(f"a new flower at {where.removeprefix('at:').replace(',', ', ')}")
    expect(page.get_by_text("Round 1 is against KMeans.")).to_be_visible()  # another question starts another game
    page.reload()
    expect(called).to_have_value(f"a new flower at {where.removeprefix('at:').replace(',', ', ')}")
    assert parse_qs(urlsplit(page.url).query)["who"] == [where]
    no_exception(page)


def _pixel(page, place):
    """Return the pixel of the first canvas at which a place in the data is drawn."""
    x, y = page.evaluate(
        "place => { const { x, y } = document.querySelector('.dpviz-stage').panel.stage.axes;"
        " return [x.p0(place[0]), y.p0(place[1])]; }",
        list(place),
    )
    return {"x": x, "y": y}
