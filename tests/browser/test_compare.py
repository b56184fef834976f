"""Two runs side by side and the game, in a real browser: one clock, linked zoom and pointer, swipe, keys, a pin."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone
from tests.browser.test_journeys import no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LINK = "compare?v=1&d=town&run=a%3Dpe-means%26e%3D1&run=a%3Ddpm%26s%3D3&by=spent"
PANELS = "[...document.querySelectorAll('.st-key-compare_row .dpviz-stage')].map(root => root.panel)"
DRAWN = f"() => ({PANELS}).length === 2 && ({PANELS}).every(panel => panel?.stage?.drawn >= 0)"


def test_one_player_moves_both_by_what_they_have_spent(open_page):
    page = open_page(LINK)
    page.wait_for_function(DRAWN)
    slider = page.get_by_role("slider", name="Step")
    last = int(slider.get_attribute("max"))
    at = page.evaluate(f"() => ({PANELS}).map(panel => panel.data.at)")
    for tick in (0, last // 2, last):
        slider.fill(str(tick))
        want = [max(frames[tick], 0) for frames in at]
        page.wait_for_function(f"want => ({PANELS}).every((panel, i) => panel.stage.drawn === want[i])", arg=want)
        spent = page.locator("tr:has-text('ε spent so far') td")
        assert all(float(text) <= 1.001 for text in spent.all_inner_texts())
    page.wait_for_function("() => !location.search.includes('t=')")  # the last step needs no word
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
    row = page.locator(".st-key-compare_row [data-testid=stHorizontalBlock]").first
    assert row.evaluate("row => row.scrollWidth > 1.5 * row.clientWidth")
    row.scroll_into_view_if_needed()
    row.evaluate("row => row.scrollTo(row.scrollWidth, 0)")
    expect(page.locator(".st-key-compare_row .dpviz-canvas").nth(1)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Play")).to_be_in_viewport()


def test_the_game_is_played_by_keys(open_page):
    page = open_page("attacker?v=1&d=iris&a=sulloyd&who=pin")
    page.wait_for_function(
        "() => document.querySelector('.dpviz-pin') && document.querySelector('.dpviz-stage').panel.stage.drawn >= 0",
    )
    expect(page.locator(".st-key-attacker_in_0 button")).to_be_enabled()
    page.keyboard.press("i")
    expect(page.get_by_text("Round 1: you said In")).to_be_visible()
    expect(page.locator(".st-key-attacker_out_1 button")).to_be_enabled()
    page.keyboard.press("o")
    expect(page.get_by_text("Round 2: you said Out")).to_be_visible()
    expect(page.get_by_text("of 100 after 2 (")).to_be_visible()
    made = re.compile(r"of 100 after 6[0-2] \(")  # 60 ahead of whoever answers: two more if both answers came early
    expect(page.get_by_text(made)).to_be_visible()
    page.get_by_role("button", name="Let the machine play 2,000").click()
    expect(page.get_by_text(re.compile(r"The machine plays: ([1-9]\d\d|1,\d+) of 2,000"))).to_be_visible()  # by itself
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Let the machine play 2,000")).to_be_enabled()
    no_exception(page)


def test_a_dropped_pin_is_another_question(open_page):
    page = open_page("attacker?v=1&d=iris&a=sulloyd&who=pin")
    page.wait_for_function(
        "() => document.querySelector('.dpviz-pin') && document.querySelector('.dpviz-stage').panel.stage.drawn >= 0",
    )
    fields = page.locator("[class*=st-key-attacker_x] input, [class*=st-key-attacker_y] input")
    pin = page.locator(".dpviz-pin")
    before = fields.evaluate_all("fields => fields.map(field => Number(field.value))")
    pin.scroll_into_view_if_needed()
    at = pin.bounding_box()
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 80, y + 30, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "before => { const pins = '[class*=st-key-attacker_x] input, [class*=st-key-attacker_y] input';"
        " const now = [...document.querySelectorAll(pins)].map(field => +field.value);"
        " return now.length === before.length && now[0] < before[0] && now[1] < before[1]; }",
        arg=before,
    )
    no_exception(page)
