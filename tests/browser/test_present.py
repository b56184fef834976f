"""Check a slide show: keys, a clicker, notes in a second window, the black screen, a reload, and a lost network."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from tests.browser.phone import fits_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def ready(page, also=""):
    """Wait until the show can begin; `also` says what must be true of the runs that its keys open."""
    expect(page.get_by_text(f"9 of 9 scenes ready. {also}")).to_be_visible(timeout=2 * PATIENCE)
    return page.get_by_role("button", name="Present", exact=True)


def test_a_show_goes_on_without_a_network(open_page):
    page = open_page("present?v=1&slide=2")
    begin = ready(page, "From now on the show needs no network.")
    page.context.set_offline(True)
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Notes in a second window").click()
    notes = popup.value
    expect(notes.locator("h1")).to_have_text("The same task, with noise where it counts")
    begin.click()
    dialog = page.get_by_role("dialog", name="Presentation")
    expect(dialog).to_be_visible()
    expect(dialog.locator("h2")).to_have_text("The same task, with noise where it counts")
    ink = """() => { const c = document.querySelector('.dpviz-show').shadowRoot.querySelector('canvas');
        return new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size; }"""
    page.wait_for_function(f"() => ({ink})() > 20")
    page.keyboard.press("5")  # the same run at ε 4, made before the network was cut
    expect(dialog.locator(".promise")).to_contain_text("ε 4,")
    page.wait_for_function(f"() => ({ink})() > 20")
    page.keyboard.press("r")
    expect(dialog.locator(".promise")).to_contain_text("ε 1, δ 1 in 600,000 · another draw of the noise: 1")
    page.keyboard.press("PageDown")
    expect(dialog.locator("h2")).to_have_text("Is Alex in the data? Two worlds")
    expect(notes.locator(".count")).to_have_text("3 of 9")
    page.keyboard.press("1")
    expect(dialog.locator(".say")).to_have_text(re.compile("does not show a single run"))
    expect(notes.locator(".next")).to_have_text("Next: What privacy costs, and from where on it is free")
    notes.keyboard.press("ArrowDown")  # the keys work in either window
    expect(dialog.locator("h2")).to_have_text("What privacy costs, and from where on it is free")
    expect(page).to_have_url(re.compile("slide=4"))
    page.keyboard.press("b")
    black = dialog.locator(".black")
    expect(black).to_be_visible()
    page.keyboard.press(" ")
    expect(black).to_be_hidden()
    expect(dialog.locator(".count")).to_have_text("4 / 9")  # the Space key only ended the black screen
    page.keyboard.press(" ")
    expect(dialog.get_by_text("PRIVACY LABEL")).to_be_visible()
    for width, height in ((1024, 768), (1920, 1080), (1280, 800)):  # the whole label is seen, in letters that are read
        page.set_viewport_size({"width": width, "height": height})
        cut, letters = dialog.locator(".paper .label").evaluate(
            "(label) => [label.scrollHeight - label.clientHeight, parseFloat(getComputedStyle(label).fontSize)]"
        )
        assert cut == 0 and letters >= 16
        assert dialog.locator(".paper .centers").evaluate("(list) => list.scrollHeight - list.clientHeight") == 0
    page.keyboard.press("ArrowLeft")
    expect(dialog.locator(".count")).to_have_text("4 / 9")
    page.keyboard.press("Home")
    expect(dialog.locator(".say")).to_contain_text("Round 15 of 15 7 rows computed, 7 of them people's")
    dialog.get_by_role("button", name="End the show").click()
    expect(dialog).to_be_hidden()
    notes.close()
    page.context.set_offline(False)


def test_an_epsilon_is_typed_in_the_show_and_escape_leads_into_its_scene(open_page):
    page = open_page("present?v=1&slide=2")
    ready(page).click()
    dialog = page.get_by_role("dialog", name="Presentation")
    page.keyboard.press("0")
    page.keyboard.type("0.1")
    page.keyboard.press("Enter")
    expect(dialog.locator(".promise")).to_contain_text("ε 0.1,")
    page.keyboard.press("0")
    page.keyboard.press("Escape")  # the first Esc leaves the field
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    if dialog.is_visible():  # the second Esc may only have left full screen
        page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/explore\?.*a=nsm.*e=0\.1"))


def test_a_show_and_its_page_fit_a_phone(open_page):
    page = open_page("present", width=390, height=844, mode="dark")
    begin = ready(page)
    fits_a_phone(page)
    begin.click()
    expect(page.get_by_role("dialog", name="Presentation")).to_be_visible()
    fits_a_phone(page)


def test_a_dark_page_is_light_on_paper_with_its_light_slides(open_page):
    page = open_page("present?v=1&look=light", mode="dark")
    ready(page)
    minis = page.locator(".mini:has(canvas)")
    expect(minis.first).to_be_visible()
    assert {box.evaluate("box => getComputedStyle(box).filter") for box in minis.all()} == {"none"}
    page.emulate_media(media="print", color_scheme="dark")
    assert all("invert(1)" in box.evaluate("box => getComputedStyle(box).filter") for box in minis.all())
    assert page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_deck_of_ones_own_survives_a_reload_and_is_saved_as_a_page(open_page):
    page = open_page("notes?v=1")
    page.get_by_role("button", name="Make the deck").click()
    expect(page.get_by_text("5 of 5 scenes ready.")).to_be_visible(timeout=2 * PATIENCE)
    page.reload()
    expect(page.get_by_text("5 of 5 scenes ready.")).to_be_visible(timeout=2 * PATIENCE)
    expect(page.get_by_role("textbox", name="Deck")).to_have_value("Lessons: 1, 2, 3")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a page").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert "One town, one Alex" in text and "connect-src" not in text
    page.get_by_role("button", name="The default deck").click()
    ready(page)
    page.reload()
    ready(page)
