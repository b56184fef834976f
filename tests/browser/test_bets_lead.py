"""Follow the bets of Start and of Watch to the picture of what a bet means; Start's screen stays one screen high."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FITS = """() => { const section = document.querySelectorAll('.dp-story section')[2];
    return [...section.querySelectorAll('a, button, p')].filter(part => part.getClientRects().length).every(part =>
        part.getBoundingClientRect().bottom - section.getBoundingClientRect().top <= section.clientHeight); }"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (1920, 1080)])
def test_starts_bets_lead_to_their_picture(open_page, size):
    page = open_page("?v=1&screen=3", width=size[0], height=size[1])
    for _ in range(6):
        page.get_by_role("button", name="In", exact=True).click()
    expect(page.get_by_role("button", name="Again", exact=True)).to_be_visible()
    page.wait_for_function(FITS)
    page.get_by_role("link", name="What a bet means, as a picture").click()
    expect(page).to_have_url(re.compile("learn.*part=definition"))
    expect(page.locator(".dpviz-definition canvas").first).to_be_visible()


def test_watchs_sentence_leads_to_the_picture_of_a_bet(open_page):
    page = open_page("explore?v=1&d=town&a=pe-means&k=5&e=1&s=0")
    link = page.locator(".st-key-verdict").get_by_role("link", name="bet", exact=True)
    expect(link).to_be_visible()
    with page.context.expect_page() as opened:
        link.click()
    expect(opened.value.locator(".dpviz-definition canvas").first).to_be_visible()
    opened.value.close()
