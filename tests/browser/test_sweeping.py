"""Check the Trade-off page in a browser: sweeps fill in, survive a change of page and a reload."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.phone import no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LONG = 120_000  # time limit in milliseconds: worker processes start slowly on a busy machine


def test_a_sweep_fills_in_survives_a_page_change_and_is_found_after_a_reload(open_page):
    page = open_page("tradeoff")
    expect(page.get_by_text("How much ε do I need?")).to_be_visible()  # the page opens with all runs stored
    expect(page.get_by_role("button", name=re.compile("^Start"))).to_have_count(0)
    box = page.get_by_role("spinbutton", name="Runs per point")
    box.fill("2")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"\bruns=2\b"))  # a click before the page is drawn again would be lost
    page.get_by_role("button", name="⅛", exact=True).click()  # an ε without stored runs
    page.get_by_role("button", name=f"Start {8 * 2} missing runs").click()  # of eight methods
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.get_by_role("link", name="Explore").first.click()
    expect(page.get_by_role("button", name="Details")).to_be_visible()
    page.get_by_role("link", name="Trade-off").first.click()
    expect(page.get_by_role("tab", name="Who wins where")).to_be_visible(timeout=LONG)
    expect(page.get_by_text("How much ε do I need?")).to_be_visible()
    page.get_by_role("tab", name="Who wins where").click()
    expect(page.get_by_text("is named the winner only if")).to_be_visible()
    page.reload()  # a new session: the address carries the sweep
    expect(page.get_by_text("How much ε do I need?")).to_be_visible()
    plot = page.locator(".st-key-sweep_ends .dpviz-stage")
    expect(plot).to_have_count(1)
    plot.hover()
    expect(plot.locator(".dpviz-look")).to_contain_text("KMeans")
    with page.expect_download() as download:
        page.get_by_role("tab", name="Take it with you").click()
        page.get_by_role("button", name="Rows (CSV)").click()
    assert download.value.suggested_filename == "dpviz-sweep.csv"
    assert open(download.value.path()).readline().startswith("key,data,bounds")
    key = page.locator(".st-key-sweep_key")
    expect(key).to_be_hidden()
    # on a phone, a key names the curves, and the picture is as wide as the screen
    page.set_viewport_size({"width": 390, "height": 844})
    expect(key).to_contain_text("HDPE-means")
    page.wait_for_function(
        """() => {
            const wide = document.querySelector('.st-key-sweep_ends .dpviz-stage').panel?.stage?.axes?.x.length;
            return 270 < wide && wide <= 390 && document.documentElement.scrollWidth <= 390;
        }"""
    )
    no_exception(page)
