"""Check that Watch fits one screen for methods used in teaching: form, plane, side panels, player, verdict and Save."""

import io
import itertools
import re
import time

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from tests.browser.test_journeys import STEPS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

K = {"town": 5, "iris": 3, "digits": 10}
METHODS = ("pe-means", "dpm", "nsm", "fastlloyd", "hdpe-means", "stemmer-kaplan", "dist-dp-region-means")
PLANE, PLAYER = ".st-key-explore_planecol .dpviz-canvas", ".st-key-explore_transport"
PARTS = (
    ".st-key-tabs",
    ".st-key-form_top",
    PLANE,
    ".st-key-explore_sidecol",
    PLAYER,
    ".st-key-verdict",
    ".st-key-ends",
)


def opened(open_page, data, method, **size):
    page = open_page(f"explore?v=1&d={data}&a={method}&k={K[data]}&e=1&s=0", **size)
    expect(page.locator(".dp-verdict")).to_be_visible()
    page.wait_for_function(f"() => ({STEPS})().length > 1 && ({STEPS})().every(s => s >= 0)")
    return page


def within(page, place, wide=0):
    """Wait until a part of the page lies within the window, at least `wide` pixels wide; return its box."""
    return page.wait_for_function(
        """([place, wide]) => { const box = document.querySelector(place).getBoundingClientRect();
        const within = box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.width >= wide;
        return within && box.toJSON(); }""",
        arg=[place, wide],
    ).json_value()


@pytest.mark.parametrize(
    ("data", "method"), [*(("town", one) for one in METHODS), *itertools.product(("iris", "digits"), ("dpm", "nsm"))]
)
def test_watch_stands_in_one_screen(open_page, data, method):
    page = opened(open_page, data, method)
    for place in PARTS:
        within(page, place)
    expect(page.locator(".dpviz-transport")).to_have_count(1)
    expect(page.locator(".dp-verdict:visible")).to_have_count(1)
    expect(page.get_by_role("button", name="Save")).to_be_in_viewport()
    page.wait_for_function("""() => { const side = document.querySelector(".st-key-explore_sidecol");
        return side.scrollWidth - side.clientWidth <= 1; }""")  # no panel next to the plane is cut off


@pytest.mark.parametrize(("data", "width"), [("town", 1000), ("digits", 700)])
def test_a_large_window_gives_the_plane_its_room(open_page, data, width):
    page = opened(open_page, data, "pe-means", width=1920, height=1080)
    within(page, PLANE, width)


def test_the_slider_is_a_strip_of_small_pictures_of_which_each_leads_to_its_round(open_page):
    page = opened(open_page, "town", "pe-means")
    strip = page.locator(".dpviz-transport .film")
    ink = """strip => {
        const canvas = strip.querySelector("canvas") ?? new OffscreenCanvas(6, 1), {width, height} = canvas;
        return [...Array(6).keys()].map(i => {
            const c = canvas.getContext("2d"), seen = new Set();
            const part = c.getImageData(i * width / 6, 0, width / 6, height).data;
            for (let k = 0; k < part.length; k += 4) seen.add(part.slice(k, k + 3).join());
            return seen.size;
        }); }"""
    deadline = time.monotonic() + PATIENCE / 1000
    while min(strip.evaluate(ink)) <= 20:  # a picture is drawn whenever the browser is idle
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)
    box = strip.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 2.6 / 6, box["y"] + 20)
    expect(strip.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("Round 3 of 6"))


def test_a_film_plays_again_and_again_until_it_is_stopped_and_keeps_its_speed(open_page):
    page = opened(open_page, "town", "eugkm", width=1280, height=800)
    page.get_by_label("Speed").select_option("4")
    loop, slider = page.get_by_role("button", name="Loop"), page.get_by_role("slider", name="Step")
    loop.click()
    expect(loop).to_have_attribute("aria-pressed", "true")
    at, low, high = slider.element_handle(), slider.get_attribute("min"), slider.get_attribute("max")
    for place in (f"< {low} + 0.5", f">= {high}", f"< {low} + 0.5"):  # its end is followed by its beginning
        page.wait_for_function(f"slider => Number(slider.value) {place}", arg=at)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(2_500)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.get_by_role("spinbutton", name="Centers k").fill("4")
    page.keyboard.press("Enter")
    expect(page.get_by_text("4 centers").first).to_be_attached()
    expect(page.get_by_label("Speed")).to_have_count(1)  # the player of the run before has gone
    expect(page.get_by_label("Speed")).to_have_value("4")


def test_on_a_phone_plane_and_player_are_in_the_first_screen(open_page):
    page = opened(open_page, "town", "pe-means", width=390, height=844)
    plane, player = within(page, PLANE), within(page, PLAYER)
    assert plane["y"] + plane["height"] <= player["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_paper_has_light_pictures_apart_and_no_controls_in_dark_mode_too(open_page):
    page = opened(open_page, "town", "pe-means", width=794, height=1100, mode="dark")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".dp-verdict .promise")).to_be_visible()
    buttons, fields = ".dpviz-transport button", ".dpviz-transport :is(input, select)"
    for gone in (".st-key-form_top", buttons, fields, "[data-testid=stCheckbox]", "[data-testid=stExpander]"):
        expect(page.locator(gone).locator("visible=true")).to_have_count(0)
    expect(page.locator(".dpviz-transport canvas")).to_be_visible()  # drawn a moment after the plane
    facts, plane, film = (page.locator(one).bounding_box() for one in (".dp-strip", PLANE, ".dpviz-transport canvas"))
    assert facts["y"] + facts["height"] <= plane["y"] and plane["y"] + plane["height"] <= film["y"]
    for box in (plane, film):
        corner = {"x": box["x"] + 1, "y": box["y"] + box["height"] - 2, "width": 1, "height": 1}
        pixel = Image.open(io.BytesIO(page.screenshot(clip=corner, full_page=True))).convert("RGB").getpixel((0, 0))
        assert min(pixel) > 220  # the canvas was drawn in dark mode


@pytest.mark.parametrize("size", [(1280, 1000), (1280, 1200), (1920, 1400)])
def test_a_key_below_a_low_plane_covers_no_part_of_it(open_page, size):
    page = open_page("explore", width=size[0], height=size[1])
    page.wait_for_selector(".dp-low .dp-key")
    gap = """() => document.querySelector('.dp-low .dp-key').getBoundingClientRect().top
        - document.querySelector('[class*=_planecol] .dpviz-stage').getBoundingClientRect().bottom"""
    page.wait_for_function(f"() => ({gap})() >= 0")


@pytest.mark.parametrize("data", ["iris", "digits"])
def test_a_long_list_of_steps_scrolls_to_its_step_and_leaves_the_key_its_room(open_page, data):
    page = opened(open_page, data, "nsm")
    page.wait_for_function("""() => { const box = place => document.querySelector(place).getBoundingClientRect(),
        side = box('[class*=_sidecol]'), key = box('[class*=_scene] .dp-key'), line = box('.dp-now [aria-current]');
        return key.bottom <= innerHeight - 1 && (key.left < side.left || key.bottom <= side.bottom + 1)
            && line.top >= side.top && line.bottom <= side.bottom; }""")


NOTED = """async (slider) => {
    const film = document.querySelector(".st-key-explore_planecol .dpviz-stage").panel.film, found = [];
    const events = film.events(1), all = events.reduce((sum, { ms }) => sum + ms, 0);
    const seek = async (at) => {
        slider.value = at;
        slider.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done, 400)); // the list of code is looked at four times a second
    };
    const tell = (list) => list.forEach(({ type, target }) => found.push(`${type} ${target.className}`));
    await seek(0.01);
    const seen = new MutationObserver(tell);
    seen.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
    for (const past of [0.02 * all, events[0].ms + 0.02 * all, events[0].ms + 0.04 * all]) await seek(past / all);
    tell(seen.takeRecords());
    return [events.length, found];
}"""


def test_no_frame_of_a_film_has_the_browser_compute_the_style_of_the_whole_page(open_page):
    """Rules such as `:has([class*=_scene])` make any class, and any new or removed element, a matter of the page."""
    page = opened(open_page, "town", "pe-means")
    events, changed = page.get_by_role("slider", name="Step").evaluate(NOTED)
    assert events > 1 and page.locator(".dp-now li[data-lit]").count() > 0
    assert changed == []
