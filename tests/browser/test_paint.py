"""Paint people by mouse, finger and keyboard; check that every page can use the painting and that addresses hold it."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
PAINTED = "() => new URLSearchParams(location.search).get('paint') ?? ''"


def canvas(page):
    found = page.locator(".dpviz-paint canvas")
    expect(found).to_be_visible()
    return found


def tool(page, name):
    page.locator(".dpviz-paint button", has_text=re.compile(f"^{name}$")).click()


def says(page, words):
    expect(page.locator(".dpviz-paint output")).to_have_text(re.compile(words))


def stroke(page, x, y, dx=0.0, dy=0.0):
    """Press at the given shares of the canvas's width and height, drag, and release."""
    box = canvas(page).bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.mouse.down()
    for part in (0.5, 1):
        page.mouse.move(box["x"] + (x + part * dx) * box["width"], box["y"] + (y + part * dy) * box["height"])
    page.mouse.up()


def test_a_painting_is_data_and_an_address(open_page):
    page = open_page("data?v=1&way=Paint")
    use = page.get_by_role("button", name="Use these people")
    expect(use).to_be_disabled()
    stroke(page, 0.25, 0.25, 0.2)
    says(page, r"^14 of 300 people in 1 group \(14\)\.$")
    stroke(page, 0.7, 0.6, 0.0, 0.2)
    tool(page, "Minority")
    stroke(page, 0.25, 0.85)
    tool(page, "Outlier")
    stroke(page, 0.93, 0.07)
    says(page, r"^32 of 300 people in 3 groups \(14, 14, 3\), 1 outlier\.$")
    tool(page, "Erase")
    stroke(page, 0.93, 0.07)
    says(page, r"^31 of 300 .*\(14, 14, 3\)\.$")
    tool(page, "Undo")
    tool(page, "Move one")
    page.wait_for_function(f"() => ({PAINTED})().includes('~')")
    before = page.evaluate(PAINTED)
    stroke(page, 0.93, 0.07, -0.4, 0.1)
    page.wait_for_function(f"(was) => ({PAINTED})() !== was", arg=before)
    after = page.evaluate(PAINTED)
    assert after.partition("~")[0] == before.partition("~")[0]  # no other person has moved
    page.reload()
    says(page, r"^32 of 300 people in 3 groups \(14, 14, 3\), 1 outlier\.$")
    assert page.evaluate(PAINTED) == after
    use.click()
    expect(page.get_by_role("button", name="In use")).to_be_disabled()
    page.get_by_role("button", name="Explore it").click()
    expect(page.get_by_role("combobox", name="Data").first).to_have_value("Painted")
    page.wait_for_function("() => document.querySelectorAll('.dpviz-canvas').length > 2")
    page.wait_for_function("() => location.search.includes('d=painted:')")
    page.reload()  # the link alone restores the people
    expect(page.get_by_role("combobox", name="Data").first).to_have_value("Painted")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_painting_is_made_by_keyboard_and_holds_no_more_than_fit(open_page):
    page = open_page("data?v=1&way=Paint")
    canvas(page).focus()
    for key in ("ArrowRight", "Enter", *["ArrowUp"] * 12, "Enter"):
        page.keyboard.press(key)
    says(page, r"^16 of 300 people in 2 groups \(8, 8\)")
    page.keyboard.press("Control+z")
    says(page, r"^8 of 300 people in 1 group \(8\)\. At least 10 people are needed\.")
    tool(page, "Outlier")
    canvas(page).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => ({PAINTED})().includes('~')")
    before = page.evaluate(PAINTED)
    tool(page, "Move one")
    canvas(page).focus()
    for key in ("Enter", *["ArrowDown"] * 4, "Enter"):
        page.keyboard.press(key)
    page.wait_for_function(f"(was) => ({PAINTED})() !== was", arg=before)
    tool(page, "Clear")
    says(page, r"^0 of 300 people\. At least 10 people are needed\.$")
    tool(page, "Group")
    canvas(page).focus()
    for _ in range(39):
        page.keyboard.press("Enter")
    says(page, r"^300 of 300 people in 1 group \(300\)\. The painting is full: erase some people first\.$")


def test_a_finger_paints_and_the_page_stays_where_it_is(open_page):
    page = open_page("data?v=1&way=Paint", width=390, height=844)
    says(page, "^0 of 300 people")
    page.wait_for_load_state("networkidle")
    box = canvas(page).bounding_box()
    touch = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.8
    at = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in range(1, 6):
        place = {"x": x, "y": y - part * box["height"] * 0.12}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [place]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    says(page, r"^23 of 300 people in 1 group \(23\)\.$")
    assert page.evaluate(at) == 0
    expect(page.get_by_role("heading", name="What is public about")).to_be_visible()
    fits_a_phone(page)
