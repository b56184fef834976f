"""Check that the drawer on a phone never covers a page, and that the form is one tap away."""

import pytest
from playwright.sync_api import expect

from dpviz.algorithms import ALGORITHMS
from tests.browser.phone import is_accessible

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_on_a_phone_the_drawer_closes_by_itself_and_one_line_leads_back_to_the_form(open_page):
    page = open_page(width=390, height=844)
    drawer, form = page.locator(".st-key-form_fields"), page.locator(".dp-form")
    expect(page.locator(".dp-strip")).to_be_visible()
    expect(form).to_be_hidden()  # Home has none
    page.get_by_role("link", name="Explore", exact=True).click()
    expect(form).to_contain_text("PE-means, ε 1")
    expect(drawer).to_be_hidden()
    form.click()
    expect(page.get_by_role("combobox", name="Method", exact=True)).to_be_in_viewport()
    page.reload()
    expect(form).to_be_visible()
    expect(drawer).to_be_hidden()
    form.click()
    expect(drawer).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_the_list_of_methods_plays_their_films_and_leads_to_one_of_them(open_page):
    page = open_page("explore?d=town&a=pe-means", width=390, height=844)
    page.get_by_role("button", name="Change").click()
    page.get_by_role("button", name=f"All {len(ALGORITHMS)} methods").click()
    films = page.locator(".dp-film")
    expect(films).to_have_count(len(ALGORITHMS))
    page.wait_for_function("""async () => {
        const pictures = [...document.querySelectorAll(".dp-film")].map((film) => {
            const picture = new Image();
            picture.src = getComputedStyle(film).backgroundImage.slice(5, -2);
            return picture.decode().then(() => picture.naturalWidth);
        });
        return (await Promise.all(pictures)).every((width) => width === 14 * 176);
    }""")
    is_accessible(page)
    search = page.get_by_role("textbox", name="Search")
    search.fill("move rho")
    search.press("Enter")
    expect(films).to_have_count(3)
    page.get_by_role("button", name="Choose dist-DP", exact=True).click()
    expect(page.get_by_role("combobox", name="Method", exact=True)).to_have_value("Weaker · dist-DP")


def test_on_a_tablet_the_way_to_the_form_covers_no_link(open_page):
    page = open_page("explore", width=768, height=900)
    form = page.get_by_role("button", name="Change")
    expect(form).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    box = form.bounding_box()
    for link in page.get_by_role("link").all():
        if other := link.bounding_box():
            apart = [
                one[side] + one[size] <= two[side]
                for side, size in (("x", "width"), ("y", "height"))
                for one, two in ((box, other), (other, box))
            ]
            assert any(apart), (link.inner_text(), other, box)
    form.click()
    expect(page.get_by_role("combobox", name="Method", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize(
    "address",
    ["explore?d=iris&a=stemmer-kaplan-swap", "explore?d=digits&a=dpm", "tradeoff"],
)
def test_on_a_phone_the_strip_is_one_line_with_the_other_facts_at_its_end(open_page, address):
    page = open_page(address, width=390, height=844)
    badge, more = page.locator(".dp-badge"), page.get_by_label("All facts")
    data, method = page.locator(".dp-strip b").first, page.locator(".dp-strip b").nth(1)
    short = data if "digits" not in address else method
    expect(badge).to_be_visible()
    expect(more).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    assert short.evaluate("name => name.scrollWidth <= name.clientWidth")  # a short name is shown in full
    first, last = badge.bounding_box(), more.bounding_box()
    share = page.get_by_role("button", name="Share").bounding_box()
    assert abs(first["y"] + first["height"] / 2 - last["y"] - last["height"] / 2) < 6
    assert first["x"] + first["width"] < last["x"] and last["x"] + last["width"] <= share["x"]


OTHERS = [
    ("explore?d=digits&a=dist-dp&rho=0.0032", "WEAKER: hides moves of up to "),
    ("explore?d=digits&a=stemmer-kaplan-shuffle", "SHUFFLED: trusts the mixer"),
    ("explore?d=town&a=stemmer-kaplan-local", "LOCAL: trusts nobody"),
]


@pytest.mark.parametrize(("address", "badge"), OTHERS)
def test_on_a_phone_a_strip_with_a_second_badge_has_two_lines(open_page, address, badge):
    page = open_page(address, width=390, height=844)
    other, more = page.locator(".dp-badge.other"), page.get_by_label("All facts")
    expect(other).to_contain_text(badge)
    expect(more).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    first, second, last = page.locator(".dp-badge").first.bounding_box(), other.bounding_box(), more.bounding_box()
    assert abs(first["y"] - second["y"]) < 6 and first["y"] + first["height"] <= last["y"] + last["height"] / 2
    assert page.locator(".dp-strip").bounding_box()["height"] < 70
    share = page.get_by_role("button", name="Share").bounding_box()
    assert max(second["x"] + second["width"], last["x"] + last["width"]) <= share["x"]


def test_on_a_phone_the_last_tab_stands_clear_of_the_way_to_the_form(open_page):
    page = open_page("ledger", width=390, height=844)
    form, tab = page.get_by_role("button", name="Change"), page.get_by_role("link", name="Cost", exact=True)
    expect(form).to_be_visible()
    expect(tab).to_be_in_viewport(ratio=0.97)  # a tab scrolls by whole pixels, so its edge may be cut
    page.wait_for_function(  # the form's button may be drawn before its style sheet
        """() => {
            const [form, tab] = [".dp-form", ".dp-nav.tabs [aria-current]"].map((one) =>
                document.querySelector(one)?.getBoundingClientRect());
            return form && tab && (tab.right <= form.left || tab.top >= form.bottom);
        }"""
    )


def test_on_a_phone_the_way_to_the_form_covers_no_tab_and_no_scrolled_picture(open_page):
    page = open_page("explore", width=390, height=844)
    form, tabs = page.get_by_role("button", name="Change"), page.locator(".dp-nav.tabs")
    expect(form).to_be_visible()
    expect(page.locator(".dp-verdict").first).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    for scroll in (0, 400):
        page.get_by_test_id("stMain").evaluate("(main, y) => main.scrollTo(0, y)", scroll)
        box, links, row = (one.bounding_box() for one in (form, tabs, page.locator(".st-key-tabs")))
        assert links["x"] + links["width"] <= box["x"]
        assert row["y"] <= box["y"] and box["y"] + box["height"] <= row["y"] + row["height"]
        assert (
            page.locator(".st-key-tabs").evaluate("row => getComputedStyle(row).backgroundColor") != "rgba(0, 0, 0, 0)"
        )
