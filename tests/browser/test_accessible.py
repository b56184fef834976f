"""Check that no page, light or dark, wide or on a phone, has a violation that Axe finds or scrolls sideways."""

import pytest
from playwright.sync_api import expect

from pages._ui.frame.places import PAGES
from tests.browser.conftest import PATIENCE
from tests.browser.phone import fits_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ADDRESS = {"home": "", "data": "data?v=1&way=Paint"}  # test_data checks the other sources of Data
PICTURED = ("explore", "federated", "distance")


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, "federated", "distance"])
def test_a_page_is_accessible_in_every_look(open_page, name, mode):
    page = open_page(ADDRESS.get(name, name), mode=mode)
    page.wait_for_selector(".dp-strip")
    page.locator("[data-testid=stSkeleton]").first.wait_for(state="detached")
    if name in PICTURED:
        expect(page.locator(".js-plotly-plot, .dpviz-canvas").first).to_be_visible()
    if name == "present":  # the page's pictures would still be computed during the next test
        expect(page.get_by_text("5 of 5 scenes ready.")).to_be_visible(timeout=2 * PATIENCE)
    fits_a_phone(page)
    page.set_viewport_size({"width": 390, "height": 844})
    fits_a_phone(page)
