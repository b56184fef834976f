"""Use one's own file in a real browser: drop, declare, explore; no other visitor sees it, and PRIVATE asks first."""

import json
import re

import pytest
from playwright.sync_api import TimeoutError, expect

from dpviz.privacy.accounts import Accounts
from tests.browser.conftest import LOOKS, PATIENCE, run_seed
from tests.browser.phone import fits_a_phone, no_exception
from tests.browser.test_journeys import LOSS, changed, picture, said

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

CSV = "east,north,name\n" + "".join(f"{i % 97},{i * 7 % 89},person {i}\n" for i in range(800))
FACTS = {
    "columns": [{"name": name, "unit": "km", "low": 0, "high": 100} for name in ("east", "north")],
    "n_public": 800,
}


def drop(page, answer, name="mine.csv", content=CSV):
    page.get_by_text("Your file", exact=True).click()
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.get_by_role("button", name=answer).click()
    if "private" in answer:
        page.get_by_role("button", name="Yes, names").click()
    page.wait_for_url("**/bounds")
    expect(page.get_by_role("heading", name="Bounds")).to_be_visible()


def declare(page, facts=FACTS):
    page.get_by_role("button", name="Data dictionary").first.click()
    page.locator("[data-testid=stPopoverBody] input[type=file]").set_input_files(
        {"name": "facts.json", "mimeType": "application/json", "buffer": json.dumps(facts).encode()}
    )
    onward = page.get_by_role("button", name="Rehearse it").or_(page.get_by_role("button", name="Explore it"))
    expect(onward).to_be_enabled()
    page.keyboard.press("Escape")
    onward.click()
    page.wait_for_url(re.compile("/(plan|explore)"))


def type_cell(page, column, text, row=0):
    """Type into a cell of the table of bounds, by keyboard from the row's first cell, because the table is a canvas.

    A table that is redrawn meanwhile loses its selection; the cell is then selected again, as a visitor would do.
    """
    for _ in range(PATIENCE // LOSS):
        grid = page.locator("[data-testid=stDataFrame]").last
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 20, box["y"] + 55 + 35 * row)
        for _ in range(column):
            page.keyboard.press("ArrowRight")
        if not comes(grid.locator(f"#glide-cell-{column}-{row}[aria-selected=true]")):
            continue
        page.keyboard.press("Enter")
        if comes(page.locator("#portal input")):
            break
    page.locator("#portal input").fill(text)
    page.locator("#portal input").press("Enter")


def comes(locator):
    """Return whether an element appears before the action counts as lost."""
    try:
        locator.wait_for(state="attached", timeout=LOSS)
    except TimeoutError:
        return False
    return True


def test_a_public_file_is_typed_in_explored_and_found_again(open_page):
    page = open_page("data")
    drop(page, "Yes, it is public", content="east\n" + "".join(f"{i * 37 % 97 / 10}\n" for i in range(500)))
    expect(page.get_by_text("2 bounds are missing: each column needs a low and a high bound.")).to_be_visible()
    type_cell(page, 2, "50")
    expect(page.get_by_text("column 'east' needs an upper bound")).to_be_visible()
    type_cell(page, 3, "10")
    expect(page.get_by_text("must have low < high; got 50 and 10")).to_be_visible()
    type_cell(page, 3, "90")
    expect(page.get_by_text("What your bounds do to 500 rows")).to_be_visible()
    page.get_by_role("button", name="Explore it").click()
    page.wait_for_url("**/explore*")
    expect(page.get_by_role("combobox", name="Data").first).to_have_value("mine")
    page.wait_for_function("() => document.querySelectorAll('.dpviz-canvas').length > 2")
    expect(page.get_by_text("Only you see this, because these data are public")).to_be_visible()
    before = picture(page)
    run_seed(page, "3")
    changed(page, before)
    page.get_by_role("link", name="Your data", exact=True).click()
    page.get_by_role("link", name="Bounds", exact=True).click()
    expect(page.get_by_text("What your bounds do to 500 rows")).to_be_visible()  # the typed bounds are still there
    page.go_back()
    page.go_back()
    expect(page).to_have_url(re.compile("explore.*d=file:east"))
    address = page.url
    page.reload()
    again = page.get_by_role("button", name="Open mine.csv again")
    expect(again).to_be_visible()
    expect(page.get_by_role("combobox", name="Data").first).to_have_value("Town")
    assert page.url == address  # the address stays as it is
    page.get_by_role("link", name="Cost", exact=True).click()
    again.click()
    page.wait_for_url("**/data*")
    expect(page.locator("input[type=file]").first).to_be_attached()
    expect(again).to_be_hidden()
    no_exception(page)


def test_a_private_file_asks_spends_and_shows_released_values_only(open_page):
    page, other = open_page("data"), open_page("explore")
    drop(page, "No, it is private")
    expect(page.get_by_text("PRIVATE", exact=True)).to_be_visible()
    expect(page.locator(".js-plotly-plot, .dpviz-stage")).to_have_count(0)
    expect(page.get_by_text("mine", exact=True)).not_to_have_count(0)
    assert "kB" not in page.inner_text("body") and "KB" not in page.inner_text("body")  # the size stays secret, too
    declare(page)
    expect(page.get_by_text("No file was read and nothing was spent.")).to_be_visible()
    page.get_by_role("button", name="Continue to Spend").click()
    expect(page.get_by_text("Claimed on this file so far")).to_be_visible()
    page.get_by_role("button", name="Run and spend").click()
    page.wait_for_function("() => document.querySelectorAll('.dpviz-canvas').length > 2")
    shown = said(page)
    assert "NOT PRIVATE" not in shown and "Show people" not in shown and "Seed" not in shown and "800 rows" not in shown
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("You already have this release")).to_be_visible()
    other.get_by_role("combobox", name="Data").first.click()
    expect(other.get_by_role("option", name="Iris")).to_be_visible()
    expect(other.get_by_role("option", name="mine")).to_have_count(0)
    no_exception(page)
    no_exception(other)


# With window.deaf, a page receives no answer; with window.down, it has no connection and cannot make one.
LINES = """(() => {
    const lines = [], Native = window.WebSocket;
    window.WebSocket = class extends Native {
        constructor(...how) {
            super(...how);
            lines.push(this);
            this.addEventListener('message', event => window.deaf && event.stopImmediatePropagation());
            if (window.down) this.close();
        }
    };
    window.cut = () => { window.down = true; lines.forEach(line => line.close()); };
})()"""


def test_a_connection_that_is_lost_between_a_claim_and_its_result_loses_neither(open_page, home, tmp_path, monkeypatch):
    monkeypatch.setenv("DPVIZ_HOME", str(home))
    content = CSV.replace("person", "client")
    (tmp_path / "mine.csv").write_text(content)
    accounts = Accounts.open()
    key = accounts.key_of(tmp_path / "mine.csv")
    page = open_page("limits")
    page.add_init_script(LINES)
    page.goto(page.url.replace("limits", "data"))
    drop(page, "No, it is private", content=content)
    declare(page)
    page.get_by_role("button", name="Continue to Spend").click()
    expect(page.get_by_text("Claimed on this file so far, for one row added or removed: nothing.")).to_be_visible()
    assert accounts.of(key).claims == ()
    page.evaluate("window.deaf = true")
    page.get_by_role("button", name="Run and spend").click()
    for _ in range(PATIENCE // LOOKS):
        if accounts.of(key).claims:
            break
        page.wait_for_timeout(LOOKS)
    page.evaluate("window.cut()")
    expect(page.locator("[data-test-connection-state=CONNECTED]")).to_have_count(0)
    expect(page.get_by_text("Claimed on this file so far")).to_be_visible()  # no part of the answer has arrived
    page.evaluate("window.deaf = window.down = false")
    expect(page.locator("[data-test-connection-state=CONNECTED]")).to_have_count(1)
    result, plane = page.get_by_role("link", name="See the result on Watch"), page.locator(".dpviz-canvas")
    expect(result.or_(plane).first).to_be_visible()
    if result.is_visible():
        result.click()
    page.wait_for_function("() => document.querySelectorAll('.dpviz-canvas').length > 2")
    page.get_by_role("link", name="Your data", exact=True).click()
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("region", name="Claims").get_by_role("row")).to_have_count(2)  # a header and one claim
    expect(page.get_by_role("heading", name="Released during this visit")).to_be_visible()
    assert len(accounts.of(key).claims) == 1
    no_exception(page)


@pytest.mark.parametrize(("way", "mode"), [("Samples", "dark"), ("Make blobs", "light"), ("Your file", "dark")])
def test_a_page_fits_a_phone(open_page, way, mode):
    page = open_page("data", width=390, height=844, mode=mode)
    page.get_by_text(way, exact=True).click()
    if way == "Your file":
        drop(page, "Yes, it is public", content=CSV.replace("person", "guest"))  # other tests declare CSV private
        page.get_by_role("button", name="Fill from the data").click()
        expect(page.get_by_text("What your bounds do to 800 rows")).to_be_visible()
    else:
        expect(page.get_by_role("heading", name="What is public about")).to_be_visible()
        if way == "Make blobs":
            expect(page.get_by_text("Twenty columns")).to_have_count(0)  # the samples' gallery has faded
    fits_a_phone(page)
