"""Check that a click on a region, in the tree or in the plane, moves both to its step without a call to the server."""

import pytest
from playwright.sync_api import expect

from tests.browser.phone import no_exception
from tests.browser.test_journeys import STEPS, pointed

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def all_at(page, step):
    page.wait_for_function(f"() => ({STEPS})().every(s => s === {step})")


def drawn(page, count):
    page.wait_for_function(
        f"() => {{ const s = ({STEPS})(); return s.length === {count} && s.every(v => v !== undefined); }}"
    )


def run_dpm(page):
    box = page.get_by_role("combobox", name="Method", exact=True)
    box.fill("DPM")
    box.press("Enter")
    expect(page.locator(".dp-strip")).to_contain_text("DPM")
    drawn(page, 4)
    page.wait_for_function("() => document.querySelectorAll('.dpviz-stage')[0]?.panel?.stage?.layout.meta?.regions")


def test_tree_and_plane_follow_each_other(open_page):
    page = open_page("explore", height=1100)
    page.wait_for_function(f"() => ({STEPS})().some(v => v !== undefined)")
    run_dpm(page)
    last = int(page.get_by_role("slider", name="Step").get_attribute("max"))
    all_at(page, last)  # the previous run had fewer steps, so its last step must not remain

    pointed(page, 1, 3)
    expect(page.get_by_role("group", name="Steps of the run").get_by_text("Region 4 of")).to_be_visible()

    target = page.evaluate("""() => {
        const root = document.querySelectorAll('.dpviz-stage')[0], {axes, layout} = root.panel.stage;
        root.scrollIntoView({block: "center"});  // the tree was scrolled to: the plane may lie behind the player
        const [x0, y0, x1, y1, frame] = layout.meta.regions[0].at(-1), edge = root.getBoundingClientRect();
        return [edge.left + axes.x.p((x0 + x1) / 2), edge.top + axes.y.p((y0 + y1) / 2), frame];
    }""")
    assert target[2] != 3
    page.mouse.click(target[0], target[1])
    all_at(page, target[2])
    page.wait_for_function(f"""() => {{
        const {{stage}} = document.querySelectorAll('.dpviz-stage')[1].panel, nodes = stage.trace(0, stage.drawn);
        const arrow = stage.trace(2, stage.drawn);
        return Math.abs(arrow.x[0] - nodes.x[nodes.customdata.indexOf({target[2]})]) < 1;
    }}""")  # the arrow of the tree is above the node of the clicked region


def test_the_tree_is_whole_at_the_end_whatever_was_shown_before(open_page):
    page = open_page("explore", height=1100)
    page.wait_for_function(f"() => ({STEPS})().some(v => v !== undefined)")
    run_dpm(page)
    player = page.get_by_role("group", name="Steps of the run")
    player.focus()
    # the keys are pressed faster than the figures redraw
    for key in ("Home", "ArrowRight", "End", "Home", "ArrowRight", "ArrowRight", "End"):
        page.keyboard.press(key)
    page.wait_for_function("""() => {
        const canvas = document.querySelectorAll('.dpviz-canvas')[1], {width, height} = canvas;
        const seen = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        let ghosts = 0, blue = 0;  // bars that were not visited yet, and bars that were
        for (let i = 0; i < seen.length; i += 4) {
            if (seen[i] === 236 && seen[i + 1] === 236 && seen[i + 2] === 230) ghosts += 1;
            if (seen[i] === 27 && seen[i + 1] === 95 && seen[i + 2] === 168) blue += 1;
        }
        return blue > 1000 && ghosts === 0;
    }""")
    page.keyboard.press("Home")
    page.wait_for_function("""() => {
        const {stage} = document.querySelectorAll('.dpviz-stage')[1].panel, found = new Set();
        for (let x = 0; x < stage.width; x += 3) for (let y = 0; y < stage.height; y += 3) found.add(stage.hit(x, y));
        return stage.step === 0 && found.has(0) && found.size === 2;  // the first node, and nothing beside it
    }""")
    no_exception(page)
