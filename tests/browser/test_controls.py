"""Check that a change in Explore's form draws the page once: picture, ribbon and form arrive together."""

import pytest
from playwright.sync_api import expect

from lab.benchmarks.visitor import Visitor
from tests.serving import awaited

pytestmark = [pytest.mark.browser, pytest.mark.slow]


async def walk(port):
    async with Visitor(port, "explore") as visitor:
        await visitor.ask()
        for epsilon in (2.0, 1.0):  # make both runs beforehand, so that this machine's speed does not matter
            await visitor.change("param_pe-means_epsilon", epsilon)
            while visitor.polls:
                await visitor.poll()
        visitor.scripts.clear()
        for epsilon in (0.0, 2.0):  # the first ε is refused with a sentence, and the second starts a run by itself
            await visitor.change("param_pe-means_epsilon", epsilon)
        return visitor.scripts.copy(), visitor.faults


def test_a_control_draws_the_page_once(server):
    assert awaited(walk(int(server.rsplit(":", 1)[1]))) == (["", ""], [])


def test_a_picture_that_waits_for_run_is_dimmed(open_page):
    """DP-EM is forecast to take 2 seconds with 64 columns and 200 centers, so a change of k does not start the run."""
    page = open_page("explore?v=1&d=digits&a=dp-em&k=2&e=1&s=0")
    figures, ribbon = page.locator(".st-key-explore_figures"), page.locator(".dp-stale")
    expect(page.locator(".dp-strip")).to_contain_text("DP-EM")
    expect(figures.locator(".dpviz-canvas").first).to_be_visible()
    centers = page.get_by_role("spinbutton", name="Centers k")
    for k, shown, opacity in (("200", 1, "0.45"), ("2", 0, "1")):
        centers.fill(k)
        centers.press("Enter")
        expect(ribbon).to_have_count(shown)
        expect(figures).to_have_css("opacity", opacity)


def test_tab_leads_into_an_open_menu_and_escape_back_to_its_button(open_page):
    """Streamlit draws the menu at the end of the page, which the Tab key would reach only after everything else.

    The server sends the menu's content after the menu has opened, and a quick Tab does not wait for the content.
    """
    page = open_page("explore")
    button, menu = page.get_by_role("button", name="Save"), page.get_by_test_id("stPopoverBody")
    for leave in ("Escape", "Shift+Tab"):
        button.focus()
        page.keyboard.press("Enter")
        expect(menu).to_be_visible()
        page.keyboard.press("Tab")
        expect(menu.get_by_role("button").first).to_be_focused()
        page.keyboard.press(leave)
        expect(button).to_be_focused()


def test_a_number_that_is_sent_as_its_page_is_left_does_not_lead_back(open_page):
    """It reaches the server after the request for the next page; Streamlit then draws the old page once more."""
    page = open_page("explore")
    centers = page.get_by_role("spinbutton", name="Centers k")
    centers.fill("6")
    page.evaluate("""() => {
        [...document.querySelectorAll('.dp-nav a')].find((link) => link.innerText === 'Your data').click();
        document.activeElement.blur();
    }""")
    page.wait_for_timeout(3000)  # long enough for the old page's address to come back
    expect(page.get_by_role("heading", level=1)).to_have_text("File")
    assert page.url.endswith("/data")
