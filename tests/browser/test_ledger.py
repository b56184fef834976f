"""Check the Ledger and Limits pages in a real browser."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_a_release_opens_and_says_why(open_page):
    page = open_page("ledger")
    lines = page.locator(".dp-rel details")
    lines.nth(1).wait_for()  # a cold server computes the replay first
    expect(lines.nth(1).locator("p")).to_be_hidden()
    lines.nth(1).locator("summary").click()
    expect(lines.nth(1).locator("p")).to_contain_text("one row added or removed changes the value by at most")
    lines.nth(1).locator("summary").press("Enter")
    expect(lines.nth(1).locator("p")).to_be_hidden()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    record = json.loads(download.value.path().read_text())
    assert download.value.suggested_filename == f"dpviz-{record['algorithm']}-0-ledger.json"
    assert (
        len(record["ledger"]) == lines.count()
        and "nothing here is private" in record["notice"]
        and "steps" not in record
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_an_open_release_fits_a_phone(open_page, mode):
    page = open_page("ledger", width=390, height=844, mode=mode)
    page.locator(".dp-rel summary").first.click()
    fits_a_phone(page)
