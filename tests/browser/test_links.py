"""Check addresses in a real browser: back, the step, and a page's own controls."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import details, run_seed

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_picture_survives_another_page_and_back(open_page):
    page = open_page("explore?v=1&d=iris&a=kmeans&k=4&s=7&t=1")
    expect(details(page)).to_have_value("7")
    page.keyboard.press("Escape")
    step = page.get_by_role("slider", name="Step", exact=True)
    expect(step).to_have_value("1")
    expect(page).to_have_url(re.compile(r"d=iris.*a=kmeans.*k=4.*s=7.*t=1"))
    page.get_by_label("Step forward").click()
    expect(page).not_to_have_url(re.compile(r"[?&]t=1(&|$)"))

    run_seed(page, "8")
    expect(page).to_have_url(re.compile(r"s=8"))
    expect(page.get_by_text("Find the neighborhoods")).to_have_count(0)
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Learn").first.click()
    expect(page).to_have_url(re.compile(r"/learn\?v=1"))
    page.get_by_role("button", name="Start").first.click()
    expect(page).to_have_url(re.compile(r"/learn\?v=1&lesson=exact&part=predict"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/learn\?v=1$"))
    page.go_back()
    expect(details(page)).to_have_value("8")


def test_a_step_beyond_the_last_one_is_said_until_the_player_moves(open_page):
    page = open_page("explore?v=1&d=iris&a=kmeans&k=4&s=7&t=999")
    said = page.get_by_text("This link names step 999, but the last one is")
    expect(said).to_be_visible()
    page.get_by_label("Step back").click()
    expect(said).to_have_count(0)
