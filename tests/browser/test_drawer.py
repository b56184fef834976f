"""The phone's drawer never covers a page, the form is one tap away, and the navigation stays where it is."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PLACES = """() => [...document.querySelectorAll('[data-testid=stTopNavLink]')]
  .map(link => Math.round(link.getBoundingClientRect().x)).join()"""


def test_on_a_phone_the_drawer_closes_by_itself_and_one_line_leads_back_to_the_form(open_page):
    page = open_page(width=390, height=844)
    drawer, form = page.get_by_test_id("stSidebar"), page.get_by_role("button", name="Change")
    expect(page.locator(".dp-strip")).to_be_visible()
    expect(form).to_be_hidden()  # Home has none
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Explore").first.click()
    expect(form).to_contain_text("PE-means, ε 1")
    expect(drawer).to_have_attribute("data-collapsed", "true")
    form.click()
    expect(drawer).to_have_attribute("data-collapsed", "false")
    expect(page.get_by_test_id("stSidebarNav")).to_be_hidden()
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_in_viewport()
    page.reload()
    expect(form).to_be_visible()
    expect(drawer).to_have_attribute("data-collapsed", "true")
    form.click()
    run.click()
    expect(drawer).to_have_attribute("data-collapsed", "true")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebarNav")).to_be_visible()
    expect(run).to_be_hidden()


def test_the_navigation_is_at_one_place_on_every_page(open_page):
    page = open_page()
    expect(page.locator(".dp-strip")).to_be_visible()  # the page's style has come
    page.evaluate("document.fonts.ready.then(() => true)")
    places = page.evaluate(PLACES)
    for name, title in (("Explore", "Explore: PE-means on Town - dpviz"), ("Learn", "Learn - dpviz")):
        page.get_by_role("link", name=name).first.click()
        expect(page).to_have_title(title)
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
        assert page.evaluate(PLACES) == places
    page.get_by_test_id("stTopNavLink").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_on_a_tablet_the_way_to_the_form_covers_no_link(open_page):
    page = open_page("explore", width=768, height=900)
    form = page.get_by_role("button", name="Change")
    expect(form).to_be_visible()
    header = page.get_by_test_id("stHeader").bounding_box()
    assert form.bounding_box()["y"] > header["y"] + header["height"]
    form.click()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_in_viewport()
