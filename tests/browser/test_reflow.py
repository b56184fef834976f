"""Check pages at 400 % zoom, on paper and by keyboard: nothing is cut, covered, dead, or focused without a sign."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.phone import is_accessible

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = {
    "watch": "explore?v=1&d=town&a=pe-means&k=5&e=1&s=0",
    "compare": "compare",
    "lesson": "learn?v=1&lesson=votes&part=run",
    "limits": "limits",
}
# heights of all parts that stick to the window and are wider than half of it, counted once where they overlap
COVERED = """() => {
    const rows = new Set();
    for (const part of document.querySelectorAll("*")) {
        const { position, visibility, pointerEvents } = getComputedStyle(part);
        if (!/sticky|fixed/.test(position) || visibility === "hidden" || pointerEvents === "none") continue;
        const { top, bottom, width, height } = part.getBoundingClientRect();
        if (width <= innerWidth / 2 || !height) continue;
        for (let row = Math.max(0, Math.floor(top)); row < Math.min(innerHeight, bottom); row++) rows.add(row);
    }
    return rows.size;
}"""
PLAYER = """() => {
    const found = [];
    const walk = (root) => root.querySelectorAll("*").forEach((part) => {
        if (part.shadowRoot) walk(part.shadowRoot);
        if (/BUTTON|SELECT|INPUT/.test(part.tagName) && part.closest(".dpviz-transport")) found.push(part);
    });
    walk(document);
    const boxes = found.map((part) => part.getBoundingClientRect()).filter((box) => box.width);
    return boxes.map((box) => [box.left, box.right]);
}"""


@pytest.mark.parametrize("name", PAGES)
def test_at_400_percent_nothing_is_cut_and_bars_take_a_quarter_at_most(open_page, name):
    page = open_page(PAGES[name], width=320, height=256)
    canvas = page.locator("canvas:visible").first
    expect(canvas).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    for _ in range(2):
        page.wait_for_function(
            "() => [document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".every(part => part.scrollWidth <= part.clientWidth)"
        )
        page.wait_for_function(f"() => ({COVERED})() <= 64")
        canvas.evaluate("element => element.scrollIntoView()")
    boxes = page.evaluate(PLAYER)
    assert (len(boxes) >= 5 or name == "limits") and all(left >= 0 and right <= 320 for left, right in boxes)
    is_accessible(page)


def test_tab_shows_its_first_stops_and_there_is_one_link_to_skip(open_page):
    page = open_page("limits")
    expect(page.locator(".dp-strip")).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    words = []
    for _ in range(3):
        page.keyboard.press("Tab")
        style = "() => { let one = document.activeElement; while (one.shadowRoot?.activeElement)"
        style += " one = one.shadowRoot.activeElement; const { outlineStyle, outlineWidth } = getComputedStyle(one);"
        style += " return [one.matches('a') ? one.textContent : one.tagName, outlineStyle, outlineWidth]; }"
        word, look, wide = page.evaluate(style)
        assert look == "solid" and wide == "2px", word
        words.append(word)
    assert [word for word in words if word.startswith("Skip")] == ["Skip to the page"] and words[-1] == "Start"


def test_centers_can_be_read_where_the_picture_is(open_page):
    spots = re.compile(r"Centers at \(east in km, north in km\): (\(-?[\d.]+, -?[\d.]+\)(, )?){5}\.")
    for path in (PAGES["watch"], PAGES["lesson"]):
        page = open_page(path)
        expect(page.get_by_role("img", name=spots).first).to_be_visible()
    page.goto(page.url.partition("learn")[0] + "compare")
    expect(page.get_by_role("img", name=re.compile(r"Centers at \(")).nth(1)).to_be_visible()


def test_a_slider_says_a_few_words_at_each_press(open_page):
    page = open_page(PAGES["watch"])
    budget = page.get_by_role("slider", name=re.compile("Privacy budget"))
    expect(budget).to_be_visible()
    for _ in range(3):
        words = re.compile(r"^ε \S+: bet ≤ \d+ of 100\. \d of 5 groups found\.$")
        expect(budget).to_have_attribute("aria-valuetext", words)
        budget.press("ArrowRight")


def test_start_on_paper_has_a_map_at_full_width_its_last_number_and_no_controls(open_page):
    page = open_page(width=800, height=1100)
    page.emulate_media(reduced_motion="no-preference")
    page.reload()
    big = page.locator(".dp-story section").first.locator(".big")
    expect(big).to_contain_text("rows")
    last = page.evaluate("() => document.querySelector('.dp-story').story.record.given.big").replace("**", "")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    ring = "() => { const { ring, record } = document.querySelector('.dp-story').story;"
    assert page.evaluate(f"{ring} return ring === record.given.steps.length - 1; }}")
    expect(big).to_have_text(last)
    map_, whole = (page.locator(part).bounding_box() for part in (".dp-story canvas", ".dp-story"))
    assert map_["width"] == pytest.approx(whole["width"], abs=2) and map_["width"] > 700
    controls = page.locator(".dp-story").locator("button, input, a, select")
    assert controls.count() > 8 and not any(one.is_visible() for one in controls.all())
