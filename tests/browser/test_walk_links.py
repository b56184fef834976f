"""Frames with the picture alone, and back after a reload, in a real browser."""

import html
import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]
STILL = """async () => {
    const read = () => document.querySelectorAll('[data-testid=stStatusWidget], [data-testid=stSkeleton]').length;
    for (let quiet = 0; quiet < 10;) {
        await new Promise((done) => setTimeout(done, 200));
        quiet = read() || !document.querySelector('.dp-strip') ? 0 : quiet + 1;
    }
    return true;
}"""


@pytest.mark.parametrize("colors", ["light_theme", "dark_theme"])
def test_a_frame_shows_the_player_alone_in_its_own_colors(open_page, server, colors):
    page = open_page("limits")  # any page of this server
    source = f"{server}/explore?v=1&d=town&a=pe-means&k=5&e=1&s=0&t=2&embed=true&embed_options={colors}"
    page.set_content(
        f'<h1>A lecture</h1><iframe src="{html.escape(source)}" style="width:900px;height:700px"></iframe>'
    )
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("slider", name="Step", exact=True)).to_have_value("2")
    expect(frame.locator(".dpviz-canvas")).to_have_count(1)
    expect(frame.get_by_text("DEMO", exact=True).first).to_be_visible()
    for other in ("Share", "Run", "Show all controls"):
        expect(frame.get_by_role("button", name=other, exact=True).locator("visible=true")).to_have_count(0)
    expect(frame.get_by_role("link", name="Learn").locator("visible=true")).to_have_count(0)
    background = frame.locator("[data-testid=stApp]").evaluate("node => getComputedStyle(node).backgroundColor")
    bright = sum(map(int, re.findall(r"\d+", background)[:3])) > 380
    assert bright == (colors == "light_theme")
    frame.get_by_label("Step forward").click()
    expect(frame.get_by_role("slider", name="Step", exact=True)).to_have_value("3")


def test_after_a_reload_back_leads_to_the_run_before(open_page):
    page = open_page("explore?v=1&d=iris&a=kmeans&k=4&s=7")
    seed = page.get_by_label("Seed", exact=True)
    for value in ("8", "9"):
        seed.fill(value)
        seed.press("Enter")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page).to_have_url(re.compile(f"s={value}(&|$)"))
    page.wait_for_function(STILL)
    page.reload()
    page.wait_for_function(STILL)
    expect(page.get_by_label("Seed", exact=True)).to_have_value("9")
    for value in ("8", "7"):
        page.go_back()
        expect(page.get_by_label("Seed", exact=True)).to_have_value(value)
        page.wait_for_function(STILL)
        expect(page).to_have_url(re.compile(f"s={value}(&|$)"))
