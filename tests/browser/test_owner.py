"""Check a visitor's key in a real browser: it outlives visits, is hidden from scripts, and can move in a file."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_data import CSV, drop
from tests.serving import running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

KEY = re.compile("key:[0-9a-f]{32}")


@pytest.fixture(scope="module")
def shared(browser):
    """Start a server that treats no visitor as this machine's user, like a server that others can reach."""
    with running(DPVIZ_WORKERS="0", DPVIZ_OWNER="visitor") as (url, _):
        yield url


def name(page):
    """Return the owner's name that the Data page shows."""
    page.get_by_text("Your file", exact=True).click()
    page.get_by_text("Your key: spending on your private files").click()
    words = page.get_by_text(KEY)
    expect(words).to_be_visible()
    return KEY.search(words.inner_text())[0]


def test_a_key_is_kept_by_the_browser_and_brought_to_another_one(open_page, shared, tmp_path):
    first, second = open_page("data", base=shared), open_page("data", base=shared)
    mine, other = name(first), name(second)
    assert mine != other and first.evaluate("document.cookie").find("dpviz-key") < 0
    first.reload()
    assert name(first) == mine
    with first.expect_download() as coming:
        first.get_by_role("button", name="Download your key").click()
    coming.value.save_as(tmp_path / "dpviz-key.txt")
    with second.expect_response(re.compile("/_dpviz/key/")) as answer:
        second.locator("input[type=file]").last.set_input_files(tmp_path / "dpviz-key.txt")
    assert answer.value.status == 204
    expect(second.get_by_text("Your key is now in use")).to_be_visible()
    second.reload()
    assert name(second) == mine
    drop(first, "No, it is private")
    second.locator("input[type=file]").first.set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": CSV.encode()}
    )
    expect(second.get_by_text("You already declared this file private")).to_be_visible()
    expect(second.get_by_role("button", name="Yes, it is public")).to_be_disabled()
