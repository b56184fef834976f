"""The bar: every page marks its place, links and the browser's arrows stay in the session, five words on a phone."""

import pytest
from playwright.sync_api import expect

from pages._ui.frame.places import PAGES, PLACES, QUIET, place_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
REST = "[data-testid=stApp][data-test-script-state=notRunning]"


def press(page, name):
    page.get_by_role("link", name=name, exact=True).first.click()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_marks_its_place_and_its_tab(open_page, name):
    page = open_page("" if name == "home" else name)
    places, place = page.get_by_role("navigation", name="Places"), place_of(name)
    expect(places.get_by_role("link")).to_have_text(
        ["Skip to the page", *(place.word for place in PLACES), *(PAGES[one].title for one in QUIET)]
    )
    marked = ([place.word] if place else []) + ([PAGES[name].title] if name in QUIET else [])
    expect(places.locator("[aria-current]")).to_have_text(marked)
    tabs = page.get_by_role("navigation", name=f"Pages of {place.word}" if place else "Pages")
    several = place is not None and len(place.pages) > 1
    expect(tabs.locator("[aria-current=page]")).to_have_text([PAGES[name].title] if several else [])


def test_the_bar_and_the_arrows_stay_in_the_session(open_page):
    page = open_page("explore?v=1&d=iris&a=kmeans&k=4&s=7")
    page.evaluate("window.same = true")  # gone with a new session
    for name, path in (("Alex", "attacker"), ("Your data", "data"), ("Rehearse", "plan"), ("Start", "")):
        press(page, name)
        page.wait_for_function("path => location.pathname === `/${path}` && location.search", arg=path)
        expect(page.locator(REST)).to_be_visible()
    for path in ("plan", "data", "attacker", "explore"):
        page.go_back()
        page.wait_for_function("path => location.pathname === `/${path}` && location.search", arg=path)
        expect(page.locator(REST)).to_be_visible()
    expect(page.get_by_label("Seed", exact=True)).to_have_value("7")
    page.go_forward()
    page.wait_for_function("location.pathname === '/attacker'")
    assert page.evaluate("window.same")


def test_the_keyboard_skips_the_bar_and_every_link_of_it_is_outlined(open_page):
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


def test_on_a_phone_five_words_stand_at_the_bottom_and_the_quiet_ones_at_the_foot(open_page):
    page = open_page("plan", width=390, height=844)
    expect(page.locator(".dp-strip")).to_be_visible()
    expect(page.locator(REST)).to_be_visible()
    for place in PLACES:
        box = page.get_by_role("link", name=place.word, exact=True).bounding_box()
        assert box["y"] > 780 and box["height"] >= 44 and 0 <= box["x"] and box["x"] + box["width"] <= 390
    quiet = page.get_by_role("link", name="Papers", exact=True)
    quiet.scroll_into_view_if_needed()
    assert quiet.bounding_box()["y"] > page.locator("h1").bounding_box()["y"]
    assert quiet.bounding_box()["y"] + quiet.bounding_box()["height"] < 844 - 48  # above the five words
