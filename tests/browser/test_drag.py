"""Drag ε and People by mouse, keys and touch, and check that nothing is sent before the knob is released."""

import json
import re

import pytest
from playwright.sync_api import expect

from dpviz.atlas.cells import STOPS
from tests.browser.conftest import AT_REST, LOOKS, PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

READY = "() => document.querySelector('.dpviz-drag')?.drag?.Stage && document.querySelector('.dpviz-canvas')"
FILM = "() => [...document.querySelectorAll('.dpviz-film > :not([hidden]) canvas')].map(one => one.toDataURL()).join()"
DRAWN = """() => document.querySelector('.dpviz-drag')?.drag?.data.epsilon === %s
    && !document.querySelector('.dpviz-film')"""
NEWS = """() => {
    const {drag} = document.querySelector('.dpviz-drag'), {data, send} = drag;
    for (const busy of [!data.busy, data.busy]) drag.take({...data, busy}, send);
}"""
INSET = 20


@pytest.fixture
def explore(browser, server):
    """Return a function that opens Explore and records the page's messages to the server."""
    contexts = []

    def opened(**more):
        context = browser.new_context(reduced_motion="reduce", **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        told = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: told.append(frame)))
        page.goto(f"{server}/explore")
        page.wait_for_function(READY, polling=LOOKS)
        at_rest(page)
        return page, told

    yield opened
    for context in contexts:
        context.close()


def at_rest(page):
    page.wait_for_function(AT_REST, polling=LOOKS)


def settled(page, selector):
    """Wait until an element has neither moved nor grown for a second; return its box."""
    box, looks = None, 0
    while looks < 10:
        page.wait_for_timeout(100)
        before, box = box, page.locator(selector).first.bounding_box()
        looks = looks + 1 if box == before else 0
    return box


def place(slider, stop):
    box = slider.bounding_box()
    return box["x"] + INSET + (box["width"] - 2 * INSET) * stop / (len(STOPS) - 1), box["y"] + box["height"] / 3


def query(page):
    return dict(part.split("=") for part in page.evaluate("location.search.slice(1)").split("&"))


def let_go(page, epsilon, data):
    """Wait until the drag has ended and the page itself shows the run of a stop."""
    page.wait_for_function(DRAWN % epsilon, polling=LOOKS)
    page.wait_for_function(f"() => location.search.includes('d={data}&') && location.search.includes('e={epsilon}&')")
    at_rest(page)
    step = page.get_by_role("slider", name="Step")
    expect(step).to_have_value(step.get_attribute("max"))


def test_a_mouse_drags_epsilon_over_the_stored_runs_and_the_page_runs_where_it_lets_go(explore):
    page, told = explore(viewport={"width": 1280, "height": 800})
    slider = page.get_by_role("slider", name="Privacy budget ε", exact=True)
    assert slider.get_attribute("aria-valuenow") == str(STOPS.index(1.0))
    page.mouse.move(*place(slider, 4))
    page.mouse.down()
    before, seen, words = len(told), set(), set()
    for stop in (3, 2, 1, 0, 1):
        page.mouse.move(*place(slider, stop))
        seen.add(page.evaluate(FILM))
        words.add(page.locator(".dpviz-said .promise").inner_text())
        assert slider.get_attribute("aria-valuenow") == str(stop)
        odds = re.search(r"(\d+) times in 100", page.locator(".dpviz-said .promise").inner_text())[1]
        assert f"bet ≤ {odds} of 100." in slider.get_attribute("aria-valuetext")
    assert len(seen) == len(words) == 4 and told[before:] == []
    page.mouse.up()
    let_go(page, 0.25, "town")
    assert len(told) > before and query(page)["a"] == "pe-means"
    page.go_back()
    page.wait_for_function(DRAWN % 1, polling=LOOKS)  # each run has its entry in the history


def test_keys_move_the_control_in_focus_and_nothing_else(explore):
    page, told = explore(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    epsilon, people = (page.get_by_role("slider", name=name, exact=True) for name in ("Privacy budget ε", "People"))
    step = page.get_by_role("slider", name="Step")
    before, at = len(told), step.input_value()
    epsilon.focus()
    for key, stop in (("Home", 0), ("ArrowRight", 1), ("PageUp", 3), ("ArrowLeft", 2), ("End", 8), ("PageDown", 6)):
        page.keyboard.down(key)  # a key that stays down does not release the knob
        assert epsilon.get_attribute("aria-valuenow") == str(stop)
    page.evaluate(NEWS)
    assert epsilon.get_attribute("aria-valuenow") == "6"
    assert told[before:] == [] and step.input_value() == at and page.locator(".dpviz-film").count() == 1
    page.keyboard.press("Escape")
    expect(epsilon).to_have_attribute("aria-valuenow", "4")
    assert page.locator(".dpviz-film").count() == 0 and told[before:] == []
    people.focus()
    page.keyboard.down("Home")
    assert people.get_attribute("aria-valuetext").startswith("300 people.") and told[before:] == []
    page.keyboard.press("Enter")
    let_go(page, 1, "town:300")
    assert query(page)["d"] == "town:300" and people.evaluate("node => node === document.activeElement")


def test_a_finger_drags_sideways_and_scrolls_up_and_down(explore):
    page, told = explore(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    slider = page.get_by_role("slider", name="Privacy budget ε", exact=True)
    slider.scroll_into_view_if_needed()
    touch = page.context.new_cdp_session(page)

    def finger(kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = len(told)
    finger("touchStart", place(slider, 4))
    for stop in (4.5, 5, 6, 7):
        finger("touchMove", place(slider, stop))
    expect(slider).to_have_attribute("aria-valuenow", "7")
    assert told[before:] == [] and page.locator(".dpviz-film").count() == 1
    film, window = page.locator(".dpviz-film canvas").first.bounding_box(), page.viewport_size
    assert film["y"] + film["height"] <= window["height"] and film["x"] + film["width"] <= window["width"]
    finger("touchEnd")
    let_go(page, 4, "town")
    x, y = place(slider, 2)
    finger("touchStart", (x, y))
    expect(slider).to_have_attribute("aria-valuenow", "2")
    for down in range(10, 200, 10):
        finger("touchMove", (x, y - down))
    expect(slider).to_have_attribute("aria-valuenow", "7")  # the touch became a scroll, so its drag was undone
    finger("touchEnd")
    at_rest(page)
    assert page.locator(".dpviz-film").count() == 0 and query(page)["e"] == "4"


def test_the_film_stands_where_the_plane_stood_and_leaves_with_the_run(explore):
    page, _ = explore(viewport={"width": 1280, "height": 1400})
    plane = settled(page, ".dpviz-stage .dpviz-canvas")
    slider = page.get_by_role("slider", name="Privacy budget ε", exact=True)
    page.mouse.move(*place(slider, 4))
    page.mouse.down()
    page.mouse.move(*place(slider, 1))
    assert page.locator(".dpviz-stage > .dpviz-film canvas").first.bounding_box() == plane
    dragged, stood = page.evaluate("""() => {
        const [{ stage }] = document.querySelector(".dpviz-drag").drag.films.values();
        const plane = [...document.querySelectorAll(".dpviz-stage")].find((one) => one.panel.data.name === "plane");
        const seen = ({ axes: { x, y } }) => [x.p(0), x.p(5), y.p(0), y.p(5)].map(Math.round);
        return [[seen(stage), stage.layout.meta.film ?? null], [seen(plane.panel.stage), null]];
    }""")
    assert dragged == stood  # the same scale, and no caption of the run's film
    record = json.loads(page.evaluate("document.querySelector('.dpviz-drag').drag.data.record"))
    assert [one["people"] for one in record["editions"]] == ["300", "1,000", "5,000"]
    page.mouse.move(*place(slider, 4))
    page.mouse.up()  # the knob is back at the current run, so nothing is requested
    assert page.locator(".dpviz-film").count() == 0


@pytest.mark.parametrize("path", ["again", "attacker"])
def test_the_drag_stands_on_the_other_views_of_a_run_and_its_stop_goes_along(explore, server, path):
    page, _ = explore()
    page.goto(f"{server}/{path}")
    page.wait_for_function(READY, polling=LOOKS)
    at_rest(page)
    page.wait_for_function("() => document.querySelector('[class*=_figures] .dpviz-stage')?.panel", polling=LOOKS)
    slider = page.get_by_role("slider", name="Privacy budget ε").first
    page.mouse.move(*place(slider, STOPS.index(1.0)))
    page.mouse.down()
    page.mouse.move(*place(slider, STOPS.index(0.25)))
    page.wait_for_function(f"() => ({FILM})().length > 0", polling=LOOKS)
    page.mouse.up()
    page.wait_for_function(DRAWN % 0.25, polling=LOOKS)
    page.wait_for_function(f"() => location.pathname.endsWith('{path}') && location.search.includes('e=0.25&')")
    at_rest(page)
    page.get_by_role("link", name="Cost", exact=True).click()
    page.wait_for_function("() => location.pathname.endsWith('ledger') && location.search.includes('e=0.25&')")
    expect(page.locator(".dp-strip")).to_contain_text("ε 0.25")
    at_rest(page)
    slider.focus()
    page.keyboard.press("End")  # Cost has no plane to draw on, so dragging only chooses the stop
    page.wait_for_function("() => location.search.includes('e=8&')")
    expect(page.locator(".dp-strip")).to_contain_text("ε 8")
