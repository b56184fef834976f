"""Count the clicks that a new visitor needs for a run on their own CSV and a file of its centers."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
MOST = 12  # maximum number of clicks before a private run; a typed field counts as one click
MIXED = (
    "customer_id,age,income_eur,visits,satisfaction,tenure_years,basket_eur,newsletter,country,signup_date,rating,"
    "comment"
)


@pytest.mark.parametrize("private", [False, True], ids=["demo", "private"])
def test_clicks_to_the_centers_of_a_file(open_page, private):
    page, clicks = open_page(""), []

    def click(locator):
        expect(locator).to_be_enabled()
        locator.click()
        clicks.append(locator)

    rows = "".join(
        f"C{i},{20 + i * 37 % 60},{20_000 + i * 31 % 900 * 50},{i * 7 % 40},{1 + i % 5},{i % 9},{i % 77}.5,"
        f"{'yes' if i % 2 else 'no'},{'DE' if i % 3 else 'FR'},2020-0{1 + i % 9}-11,{1 + i % 4},row {i + private}\n"
        for i in range(600)
    )
    click(page.get_by_role("link", name="Your data", exact=True))
    with page.expect_file_chooser() as chooser:
        click(page.get_by_test_id("stFileUploaderDropzone").locator("button"))
    chooser.value.set_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": f"{MIXED}\n{rows}".encode()})
    click(page.get_by_role("button", name="No, it is private" if private else "Yes, it is public"))
    if private:
        click(page.get_by_role("button", name="Yes, names"))
        click(page.get_by_role("button", name=re.compile("Confirm the suggested bounds")))
        field = page.get_by_role("spinbutton", name="Rows", exact=True)
        click(field)
        field.fill("600")
        field.press("Enter")
        click(page.get_by_role("button", name="Rehearse it"))
        click(page.get_by_role("button", name="Continue to Spend"))
        click(page.get_by_role("button", name="Run and spend"))
    else:
        click(page.get_by_role("button", name="Fill from the data"))
        click(page.get_by_role("button", name="Explore it"))
    expect(page.locator(".dp-cards article")).to_have_count(3)
    assert len(clicks) == (9 if private else 5) <= MOST
    tabs, form = (page.locator(place).bounding_box() for place in (".st-key-tabs .dp-nav", ".st-key-form_fields"))
    assert form["y"] >= tabs["y"] + tabs["height"] - 1  # the form's fields lie below the row of tabs
    page.get_by_role("button", name=re.compile("Save$")).first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Centers as CSV").click()
    saved = [line for line in download.value.path().read_text().splitlines() if not line.startswith("#")]
    table = list(csv.DictReader(io.StringIO("\n".join(saved))))
    ages = [float(row["value"]) for row in table if row["column"] == "age"]
    assert len(ages) == 3 and all(0 <= age <= 120 for age in ages), saved
    expect(page.get_by_test_id("stException")).to_have_count(0)
