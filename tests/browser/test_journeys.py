"""Follow visitors through the pages in a real browser."""

import threading
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError, expect

from dpviz.figures.kit.theme import DARK, LIGHT
from tests.browser.conftest import PATIENCE
from tests.browser.phone import no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NSM = "explore?v=1&d=town&a=nsm&k=5&e=1&s=0"  # A run with four visible panels.
LOSS = 6_000  # Milliseconds without effect after which a click or key counts as lost.
STEPS = """() => [...document.querySelectorAll('.dpviz-stage')].map(root => root.panel)
  .filter(panel => panel?.frames).map(panel => panel.stage?.drawn)"""  # The step that each canvas shows.
# Return what the pictures show: the pixels of the canvases, and positions and markers in Plotly's figures.
PICTURE = """() => JSON.stringify([
  [...document.querySelectorAll('.dpviz-canvas')].map(canvas => canvas.toDataURL()),
  [...document.querySelectorAll('.js-plotly-plot')].map(g => g.data.map(t => [t.x, t.marker]))])"""
# Return a position on screen at which a click on a panel leads to a step.
PLACE = """([panel, step]) => {
  const root = document.querySelectorAll('[class*=_figures] .dpviz-stage')[panel], stage = root?.panel?.stage;
  if (!stage) return null;
  const found = [];
  root.scrollIntoView({block: "center"});
  for (let y = 0; y < stage.height; y += 3)
    for (let x = 0; x < stage.width; x += 3) if (stage.hit(x, y) === step) found.push([x, y]);
  if (!found.length) return null;
  // the innermost of them, as a click on a mark's edge may fall beside it
  const mean = [0, 1].map(i => found.reduce((sum, at) => sum + at[i], 0) / found.length);
  const off = ([x, y]) => Math.hypot(x - mean[0], y - mean[1]), edge = root.getBoundingClientRect();
  const [x, y] = found.reduce((best, at) => (off(at) < off(best) ? at : best));
  return [edge.left + x, edge.top + y];
}"""


def charts(page, count):
    expect(page.locator("[class*=_figures] .dpviz-stage")).to_have_count(count)
    page.wait_for_function(f"() => ({STEPS})().length === {count} && ({STEPS})().every(s => s >= 0)")


def picture(page):
    return page.evaluate(PICTURE)


def changed(page, before):
    """Wait until the picture has changed."""
    page.wait_for_function(f"before => ({PICTURE})() !== before", arg=before)


def jumped(page, key, step, count=4):
    """Press a key of the player until all panels show a step; return their picture.

    A key that is pressed while a finished run is being drawn may be lost.
    """
    there = f"() => ({STEPS})().length === {count} && ({STEPS})().every(s => s === {step}) && ({PICTURE})()"
    for _ in range(PATIENCE // LOSS):
        page.get_by_role("group", name="Steps of the run").focus()
        page.keyboard.press(key)
        with suppress(TimeoutError):
            return page.wait_for_function(there, timeout=LOSS).json_value()
    return page.wait_for_function(there).json_value()


def pointed(page, panel, step):
    """Click the place in a panel that leads to a step, until all panels show this step.

    A panel moves while those above it are drawn, so a click may miss the place.
    """
    there = f"() => ({STEPS})().every(s => s === {step})"
    for _ in range(PATIENCE // LOSS):
        page.mouse.click(*page.wait_for_function(PLACE, arg=[panel, step]).json_value())
        with suppress(TimeoutError):
            return page.wait_for_function(there, timeout=LOSS)
    return page.wait_for_function(there)


def said(page):
    """Return all words on a page: its text, and the words and names in its figures."""
    figures = "[...document.querySelectorAll('.dpviz-stage')].map(root => root.panel.data.figure).join()"
    return page.inner_text("body") + page.evaluate(figures)


def test_explore_runs_plays_scrubs_and_end_moves_all_panels(open_page):
    page = open_page(NSM)
    charts(page, 4)
    player = page.get_by_role("group", name="Steps of the run")
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    assert jumped(page, "Home", 0) != jumped(page, "End", last)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {last - 1})")
    page.get_by_role("slider", name="Step").fill("5")
    page.wait_for_function(f"() => ({STEPS})().every(s => s === 5)")
    expect(player.get_by_text("Noise shakes counts and sums")).to_be_visible()
    page.get_by_text("Every release and what it cost").click()
    expect(page.locator("tr[data-frame][data-lit]")).to_have_count(4)
    expect(page.locator("tr[aria-current=step] td").first).to_have_text("4")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"() => ({STEPS})().every(s => s >= 7)")
    page.get_by_role("button", name="Pause").click()
    no_exception(page)


def test_the_step_survives_a_rerun_that_redraws_the_figures(open_page):
    page = open_page(NSM)
    charts(page, 4)
    page.get_by_role("slider", name="Step").fill("7")
    page.wait_for_function(f"() => ({STEPS})().every(s => s === 7)")
    before = picture(page)
    page.get_by_text("Show what stays secret").click()
    changed(page, before)
    charts(page, 4)
    page.wait_for_function(f"() => ({STEPS})().every(s => s === 7)")
    expect(page.locator("body")).not_to_contain_text("NOT PRIVATE")
    page.wait_for_function("""() => {
        const roots = [...document.querySelectorAll(".dpviz-stage")];
        return roots.length === 4 && roots.every(r => !JSON.stringify(r.panel.data.figure).includes("NOT PRIVATE"));
    }""")
    no_exception(page)


def test_figures_of_another_algorithm_come_to_rest_at_their_own_last_step(open_page):
    page = open_page(NSM)
    charts(page, 4)
    box = page.get_by_role("combobox", name="Method", exact=True)
    box.fill("DPM")
    box.press("Enter")
    expect(page.get_by_text("DPM chose their number itself")).to_be_attached()
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    page.wait_for_function(f"() => ({STEPS})().length > 1 && ({STEPS})().every(s => s === {last})")
    page.evaluate("""() => {
        const to = CanvasRenderingContext2D.prototype, copy = to.drawImage;
        to.drawImage = function () { window.drawnAt = performance.now(); return copy.apply(this, arguments); };
        window.drawnAt = performance.now();
    }""")
    page.wait_for_function("() => performance.now() - window.drawnAt > 1500")  # no redraw follows any more
    assert page.evaluate(f"({STEPS})().every(s => s === {last})")
    no_exception(page)


def test_a_zoom_is_kept_by_a_page_change_and_the_next_run_on_the_same_data(open_page):
    page = open_page(NSM)
    charts(page, 4)
    edges = """() => {
        const {low, high} = document.querySelector('.dpviz-stage').panel.stage.axes.x;
        return [low, high].map(x => Math.round(100 * x));
    }"""
    wide = page.evaluate(edges)
    page.locator(".dpviz-canvas").first.hover()
    expect(page.locator(".dpviz-look .nsewdrag").first).to_be_visible()  # Plotly has loaded
    box = page.locator(".dpviz-look .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"], steps=5)
    page.mouse.up()
    page.wait_for_function(f"wide => JSON.stringify(({edges})()) !== JSON.stringify(wide)", arg=wide)
    zoomed = page.evaluate(edges)
    page.get_by_role("link", name="Learn").first.click()
    expect(page.get_by_role("heading", name="Why votes split")).to_be_visible()
    page.get_by_role("link", name="Explore").first.click()
    charts(page, 4)
    page.wait_for_function(f"zoomed => JSON.stringify(({edges})()) === JSON.stringify(zoomed)", arg=zoomed)
    before = picture(page)
    page.get_by_role("button", name="Details").click()
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("3")
    seed.press("Enter")
    changed(page, before)
    charts(page, 4)
    page.wait_for_function(f"zoomed => JSON.stringify(({edges})()) === JSON.stringify(zoomed)", arg=zoomed)
    no_exception(page)


def test_a_ledger_segment_jumps_to_its_release(open_page):
    page = open_page(NSM)
    charts(page, 4)
    page.get_by_text("Every release and what it cost").click()
    charts(page, 6)
    pointed(page, 5, 2)


def test_on_a_phone_panels_are_swiped_right_below_the_plane(open_page):
    page = open_page(NSM, width=390, height=844)
    charts(page, 4)
    row = page.locator(".st-key-explore_swipe")
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    plane, below = page.locator("[class*=_figures] .dpviz-stage").first.bounding_box(), row.bounding_box()
    assert -1 <= below["y"] - plane["y"] - plane["height"] <= 40
    tops, edge = row.evaluate("row => [[...row.children].map(c => c.offsetTop), row.scrollWidth - row.clientWidth]")
    assert len(tops) >= 2 and len(set(tops)) == 1 and edge > 100  # side by side
    last = row.locator(".dpviz-stage").last
    last.focus()
    page.wait_for_function("row => row.scrollLeft > 50", arg=row.element_handle())  # focus scrolls the figure into view
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_colors_follow_the_system_while_a_page_is_open(open_page):
    page = open_page("limits")
    charts(page, 1)
    ground = """() => {
        const app = document.querySelector('[data-testid=stApp]'), panel = document.querySelector('.dpviz-stage').panel;
        const token = getComputedStyle(document.documentElement).getPropertyValue('--dp-panel');
        return [token.trim(), panel.film.layout.plot_bgcolor].join() + getComputedStyle(app).backgroundColor;
    }"""
    light = page.evaluate(ground)
    for mode, colors, back in (("dark", DARK, "rgb(20, 23, 26)"), ("light", LIGHT, "rgb(251, 251, 249)")):
        page.emulate_media(color_scheme=mode)
        page.wait_for_function(f"wanted => ({ground})() === wanted", arg=f"{colors.panel},{colors.panel}{back}")
    page.wait_for_function(f"light => ({ground})() === light", arg=light)
    no_exception(page)


def test_a_connection_that_is_lost_while_a_run_plays_loses_no_step(open_page):
    page = open_page("limits")
    lines, down = [], threading.Event()

    def connect(line):
        if down.is_set():
            line.close()
            return
        lines.append(line)
        line.connect_to_server()

    page.route_web_socket("**/_stcore/stream", connect)
    page.goto(page.url.replace("limits", "explore?v=1&d=town&a=pe-means&k=5&e=1&s=0&t=0"))
    charts(page, 3)
    page.wait_for_function(f"() => ({STEPS})().every(s => s === 0)")
    page.evaluate("""() => {
        const first = () => document.querySelector('.dpviz-stage').panel;  // a late redraw may replace it
        const kind = Object.getPrototypeOf(first()), show = kind.show;
        window.steps = [];
        kind.show = function (step, how) {
            if (this === first()) window.steps.push(step);
            return show.call(this, step, how);
        };
    }""")
    slider, last = page.get_by_role("slider", name="Step"), page.get_by_role("slider", name="Step").get_attribute("max")
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => window.steps.includes(1)")
    down.set()
    lines[-1].close()
    expect(slider).to_have_value(last)
    assert list(dict.fromkeys(page.evaluate("window.steps"))) == list(range(int(last) + 1))
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {last})")
    slider.fill("3")
    page.wait_for_function(f"() => ({STEPS})().every(s => s === 3)")
    came, before = len(lines), picture(page)
    down.clear()
    expect(page.locator("[data-test-connection-state=CONNECTED]")).to_have_count(1)
    assert len(lines) > came and picture(page) == before
    expect(slider).to_have_value("3")
    no_exception(page)
