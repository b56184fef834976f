"""Check that a visitor gives public rows on Spend for a private file, and that the page fits and has no violation."""

import pytest
from playwright.sync_api import expect

from tests.browser.phone import no_exception
from tests.browser.test_cards import accessible
from tests.browser.test_data import CSV, declare, drop

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def give(page, content):
    page.locator(".st-key-spend_public_rows input[type=file]").set_input_files(
        {"name": "open.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )


def test_public_rows_are_given_on_spend_and_a_file_that_does_not_fit_is_refused(open_page):
    page = open_page("data")
    drop(page, "No, it is private")
    declare(page)
    page.get_by_role("link", name="Explore").first.click()
    method = page.get_by_role("combobox", name="Method", exact=True)
    method.click()
    method.fill("Public start")
    page.get_by_role("option", name="Public start").click()
    page.get_by_role("button", name="Run", exact=True).click()
    give(page, CSV)
    expect(page.get_by_text("you declared this file private, so its rows are not public")).to_be_visible()
    expect(page.get_by_role("button", name="Run and spend")).to_have_count(0)
    page.get_by_role("button", name="Remove open.csv").click()
    give(page, "north,east\n" + "".join(f"{i * 5 % 89},{i % 97}\n" for i in range(60)))
    expect(page.get_by_text("60 rows of open.csv give the first 3 centers")).to_be_visible()
    accessible(page)
    page.get_by_role("button", name="Run and spend").click()
    expect(page.locator(".dp-verdict").first).to_be_visible()
    expect(page.get_by_text("rows that were declared public").first).to_be_visible()
    no_exception(page)
