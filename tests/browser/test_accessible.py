"""Check that no page, wide in dark mode and light on a phone, scrolls sideways or has a violation that Axe finds."""

import pytest
from playwright.sync_api import expect

from dpviz.figures.kit.theme import theme
from pages._ui.frame.places import PAGES
from tests.browser.conftest import PATIENCE
from tests.browser.phone import fits_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ADDRESS = {
    "home": "", "data": "data?v=1&way=Paint",  # test_data checks the other sources of data
    "clients": "explore?v=1&a=fastlloyd&trust=clients",
    "moves": "explore?v=1&d=city&a=dist-dp-region-means&rho=0.0089",
}  # fmt: skip
PICTURED = ("explore", "clients", "moves")


GROUND = {"dark": "rgb(20, 23, 26)", "light": "rgb(251, 251, 249)"}
TOKEN = "bg => getComputedStyle(document.documentElement).getPropertyValue('--dp-bg') === bg"
FADING = "() => document.getAnimations().some(one => one instanceof CSSTransition)"


@pytest.mark.parametrize("name", [*PAGES, "clients", "moves"])
def test_a_page_is_accessible_dark_and_light_wide_and_narrow(open_page, name):
    """Open a page in dark mode, which few other tests do, and check that on a phone it follows the system to light."""
    page = open_page(ADDRESS.get(name, name), mode="dark")
    page.wait_for_selector(".dp-strip")
    page.locator("[data-testid=stSkeleton]").first.wait_for(state="detached")
    if name in PICTURED:
        expect(page.locator(".js-plotly-plot, .dpviz-canvas").first).to_be_visible()
    if name == "present":  # otherwise, its pictures are still computed during the next test
        expect(page.get_by_text("9 of 9 scenes ready.")).to_be_visible(timeout=2 * PATIENCE)
    for (mode, ground), (width, height) in zip(GROUND.items(), ((1280, 800), (390, 844)), strict=True):
        page.emulate_media(color_scheme=mode)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", ground)
        page.wait_for_function(TOKEN, arg=theme(mode).tokens()["bg"])  # the server's theme follows the browser's mode
        page.wait_for_function(f"() => !({FADING})()")
        page.set_viewport_size({"width": width, "height": height})
        fits_a_phone(page)
