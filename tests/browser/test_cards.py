"""Check the cards of a private file in a real browser, with next month's: no violation that Axe finds, in any look."""

import pytest
from playwright.sync_api import expect

from dpviz.figures.kit.theme import theme
from tests.browser.phone import fits_a_phone, no_exception
from tests.browser.test_accessible import FADING, TOKEN
from tests.browser.test_data import CSV, declare, drop

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LOOKS = [(390, 844, "dark"), (1280, 800, "light")]  # the last is wide, so that the form can be used again


def accessible(page, look=LOOKS):
    for width, height, mode in look:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=mode)
        page.wait_for_function(TOKEN, arg=theme(mode).tokens()["bg"])  # the server's theme follows the browser's mode
        page.wait_for_function(f"() => !({FADING})()")
        fits_a_phone(page)


def spend(page):
    page.get_by_role("link", name="Explore").first.click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Run and spend").click()
    expect(page.locator(".dp-cards article").first).to_be_visible()


def test_cards_of_two_months_and_what_changed_have_no_violation(open_page, tmp_path):
    page = open_page("data")
    drop(page, "No, it is private", "may.csv")
    declare(page)
    spend(page)
    accessible(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Released values as JSON").click()
    saved.value.save_as(tmp_path / "may.json")

    page.get_by_role("link", name="Your data").first.click()
    page.get_by_role("link", name="Account").first.click()
    page.locator(".st-key-account_new_0 input[type=file]").set_input_files(
        {"name": "june.csv", "mimeType": "text/csv", "buffer": CSV.replace("person 7\n", "person seven\n").encode()}
    )
    page.get_by_role("button", name="Take over the declaration").click()
    expect(page.get_by_text("june.csv: no run yet")).to_be_visible()
    accessible(page)

    spend(page)
    page.get_by_text("What changed since an earlier run").click()
    page.locator(".st-key-explore_since_file input[type=file]").set_input_files(tmp_path / "may.json")
    expect(page.locator(".dp-changes img").first).to_be_visible()
    expect(page.get_by_text("95% over all").first).to_be_visible()
    accessible(page)
    no_exception(page)
