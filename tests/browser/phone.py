"""Check whether a page fits a narrow screen, and whether Axe finds a violation."""

import json

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def fits_a_phone(page):
    """Check that a page at rest does not scroll sideways, shows no exception, and has no violation that Axe finds."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    width = page.viewport_size["width"]
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    is_accessible(page)
    no_exception(page)


def no_exception(page):
    expect(page.get_by_test_id("stException")).to_have_count(0)


def is_accessible(page):
    """Check that Axe finds no violation on a page."""
    found = Axe().run(page, options={"resultTypes": ["violations"], "reporter": "no-passes"}).response["violations"]
    assert found == [], json.dumps([(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found])
