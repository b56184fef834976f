"""What every page must pass on a narrow screen, light and dark."""

import json

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from dpviz.figures.kit.theme import DARK, LIGHT

# Our own colors and Streamlit's are those of a mode, and none is on its way to another.
COLORED = """([panel, ground]) =>
  getComputedStyle(document.documentElement).getPropertyValue('--dp-panel').trim() === panel
  && getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === ground
  && !document.getAnimations().some(one => one instanceof CSSTransition && one.playState === 'running')"""


def fits_a_phone(page):
    """No sideways scroll, no violation that Axe finds, no exception; looked at once the page is at rest."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    width = page.viewport_size["width"]
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    found = Axe().run(page).response["violations"]
    assert found == [], json.dumps([(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found])
    expect(page.get_by_test_id("stException")).to_have_count(0)


def fits_a_phone_in_both_modes(page):
    """The same light and dark: an open page follows what the system prefers."""
    for mode, colors, ground in (("light", LIGHT, "rgb(251, 251, 249)"), ("dark", DARK, "rgb(20, 23, 26)")):
        page.emulate_media(color_scheme=mode)
        page.wait_for_function(COLORED, arg=[colors.panel, ground])
        fits_a_phone(page)
