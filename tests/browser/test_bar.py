"""Check the bar: the keyboard skips it, a phone's has five words, a frame has none (`test_headers.py` walks by it)."""

import pytest
from playwright.sync_api import expect

from pages._ui.frame.places import PAGES, PLACES, QUIET, place_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def marked(page, name):
    """Wait until the bar and the tabs mark the page of this name."""
    place = place_of(name)
    words = ([place.word] if place else []) + ([PAGES[name].title] if name in QUIET else [])
    expect(page.locator("nav.bar [aria-current]")).to_have_text(words)
    several = place is not None and len(place.pages) > 1
    expect(page.locator("nav.tabs [aria-current=page]")).to_have_text([PAGES[name].title] if several else [])


def test_the_keyboard_skips_the_bar_and_share_is_not_covered(open_page):
    page = open_page("limits")
    expect(page.locator(".dp-strip")).to_be_visible()
    skip = page.get_by_role("link", name="Skip to the page")
    skip.focus()
    page.keyboard.press("Tab")
    first = page.get_by_role("link", name="Start", exact=True)
    expect(first).to_be_focused()
    assert first.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    skip.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-strip")).to_be_focused()
    page.get_by_role("button", name="Share").click(timeout=20_000)  # fails if the bar covers the button
    expect(page.get_by_role("dialog")).to_be_visible()


def test_on_a_phone_five_words_stand_at_the_bottom_and_the_quiet_ones_at_the_foot(open_page):
    page = open_page("limits", width=390, height=844)
    marked(page, "limits")
    for place in PLACES:
        box = page.locator("nav.bar").get_by_role("link", name=place.word, exact=True).bounding_box()
        assert box["y"] > 780 and box["height"] >= 44 and 0 <= box["x"] and box["x"] + box["width"] <= 390
    quiet = page.get_by_role("link", name="Papers", exact=True)
    quiet.click()
    marked(page, "papers")
    expect(page.locator("h1")).to_be_visible()
    quiet.scroll_into_view_if_needed()
    box = quiet.bounding_box()
    assert page.locator("h1").bounding_box()["y"] < box["y"] < 844 - 52 - box["height"]  # the link stands above the bar


@pytest.mark.parametrize("query", ["v=1&hide=navigation", "embed=true"])
def test_a_prepared_scene_and_a_frame_have_no_bar(open_page, query):
    page = open_page(f"limits?{query}")
    expect(page.locator("nav.bar")).to_have_count(1)
    expect(page.locator("nav.bar")).to_be_hidden()
    expect(page.locator("nav.tabs")).to_be_hidden()


def test_a_page_that_does_not_exist_leads_to_start_which_says_so(open_page):
    page = open_page("no-such-page?v=1&d=town")
    expect(page.get_by_text("the page, which does not exist")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_text("Find the neighborhoods, not the neighbors.")).to_be_visible()
