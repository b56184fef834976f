"""Check the error page in a real browser: it has the bar, one sentence, one link, and the number of the log entry."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone
from tests.serving import ROOT, running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def failing(browser, tmp_path_factory):
    """Serve a checkout in which two pages fail after they are drawn; return its address and its server's log."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("pages", ".streamlit"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "app.py", root)
    for name in ("dpviz", "sample_data"):
        (root / name).symlink_to(ROOT / name)
    for name in ("explore", "attacker"):
        with (root / "pages" / f"{name}.py").open("a") as page:
            page.write('\nraise KeyError("Alice Sentinel 123456789012")\n')
    log = root / "log"
    with log.open("w") as lines, running(root, lines, DPVIZ_WORKERS="0") as (url, _):
        yield url, log


@pytest.mark.parametrize(
    ("name", "before", "width", "height"),
    [
        ("explore", ".st-key-form_top", 1280, 800),
        ("attacker", "h2:has-text('Your turn')", 390, 844),
    ],
)
def test_a_page_that_failed_says_what_is_safe_and_leads_on(open_page, failing, name, before, width, height):
    url, log = failing
    page = open_page(name, width=width, height=height, base=url)
    expect(page.get_by_role("heading", name="This page has failed")).to_be_in_viewport()
    expect(page.get_by_text("Your file and its account are safe")).to_be_visible()
    number = re.search(r"error ([0-9A-F]{6})", page.inner_text("body"))[1]
    [line] = [line for line in log.read_text().splitlines() if number in line]
    assert "KeyError at" in line and f"pages/{name}.py" in line and "Sentinel" not in log.read_text()
    drawn = page.locator(before)
    expect(drawn).to_have_count(1)
    expect(drawn).not_to_be_visible()
    fits_a_phone(page)
    page.get_by_role("link", name="Back to Start").click()
    expect(page.get_by_role("heading", name="Find the neighborhoods, not the neighbors.")).to_be_visible()
