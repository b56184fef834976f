"""Check the highlighted pseudo-code: it follows the steps, coins show prices, phones fold it, and replays have it."""

import pytest
from playwright.sync_api import expect

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures import printed
from dpviz.figures.code import lit
from dpviz.takeaway import replay
from dpviz.takeaway.page import view_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LIGHT = "() => [...document.querySelectorAll('.dp-now li')].flatMap((line, i) => line.matches('[data-lit]') ? [i] : [])"


@pytest.fixture(scope="module")
def trace():
    data = load("town")
    return ALGORITHMS["pe-means"](n_clusters=5).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)


def lit_of(trace):
    """Return the lines that run in each event of each frame of the town's film."""
    (plane,) = printed(view_of(trace), compact=True)
    return lit(trace, ALGORITHMS["pe-means"].CODE, plane.figure.kinds)


def lights(page, numbers):
    page.wait_for_function(f"() => JSON.stringify(({LIGHT})()) === '{str(numbers).replace(' ', '')}'")


def test_stepping_moves_the_light_and_a_coin_tells_its_price(open_page, trace):
    page = open_page("explore?v=1&d=town&a=pe-means&k=5&e=1&s=0&t=0")
    frames = lit_of(trace)
    lights(page, frames[0][-1])
    for frame in frames[1:4]:
        page.get_by_role("button", name="Step forward").click()
        lights(page, frame[-1])
    page.get_by_role("group", name="Steps of the run").focus()
    for now in (now for frame in frames[4:6] for now in frame):
        page.keyboard.press("ArrowRight")
        lights(page, now)
    page.keyboard.press("End")
    lights(page, frames[-1][-1])
    expect(page.locator(".dp-now [aria-current=step]")).to_have_count(1)
    coin = page.locator(".dp-now .coin").first
    words = coin.locator("span")
    expect(coin).to_have_accessible_name("Reads rows, at most 6 times; alone, this would cost ε 1 of 1")
    expect(words).to_be_hidden()
    coin.focus()
    expect(words).to_be_visible()


def test_a_phone_folds_the_list_under_the_plane(open_page):
    page = open_page("explore", width=390, height=844)
    box = page.locator(".dp-now")
    expect(box).to_have_attribute("data-folded", "true")
    expect(box.locator("li").first).to_be_hidden()
    plane = page.locator("[class*=_figures] .dpviz-stage").first
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    assert plane.bounding_box()["y"] < box.bounding_box()["y"]
    box.get_by_text("What it does now").click()
    expect(box.locator("li[data-lit]").first).to_be_visible()


def test_a_replay_has_the_list_too(browser, trace):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_content(replay(trace))
    frames = lit_of(trace)
    lights(page, frames[-1][-1])
    page.keyboard.press("Home")
    lights(page, frames[0][-1])
    for now in (now for frame in frames[1:3] for now in frame):
        page.keyboard.press("ArrowRight")
        lights(page, now)
    context.close()
