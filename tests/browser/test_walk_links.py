"""Check that an address sets every widget, and that a reload restores all widgets and the picture.

Pages whose widgets and pictures are made as those of another one are left to `tests/pages/frame/address/`, and the
controls of a finished sweep (Trade-off's axis, metric, table, place and second axis) to `tests/pages/test_tradeoff.py`.
"""

import html
import os
import re
import time

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.conftest import PATIENCE, details, run_seed

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]
LINKS = {  # addresses that give every control of a page a value other than its default
    "": "v=1&screen=4",
    "explore": "v=1&d=iris&a=pe-means&preset=refined&k=4&e=2&delta=0.0001&p.variations=paper&p.variations_each=40"
    "&p.rounds=3&p.step_size=0.02&p.levy_beta=1.5&p.keep=2+sd&p.halving=0&p.start=uniform&p.selection=top-k"
    "&p.selection_starts=2&p.refine=0.25&in=mu&s=7&layers=0&axes=0&axes=2&t=1",
    "explore, clients": "v=1&d=town&a=pe-means&e=2&trust=clients&clients=6&spread=skewed&noise=server&ring=32&s=3"
    "&silent=5&from=2&round=2&delay=2.5&bare=1",
    "learn": "v=1&lesson=small&part=explain&answer=1&answer=2&s=3&t=1",
    "tradeoff": "v=1&d=iris&a=dist-dp&e=0.5&e=2&runs=3&rho=0.1&n=500&k=2,3&delta=1e-6&own=1&m=loss&m=inertia&s=5"
    "&vary=trees&p.trees=2,3&scale=linear&single=0&camera=PNG&within=20&curves=dist-DP:+paper",
    "data": "v=1&d=iris&way=Make+blobs&p.n_rows=77&p.n_features=3&p.n_clusters=3&p.spread=0.5&p.imbalance=0.2"
    "&p.outliers=0.1&p.seed=4",
    "compare": "v=1&d=iris&by=spent&layers=0&whole=1&run=a%3Ddpm%26k%3D4%26e%3D2%26s%3D3"
    "&run=a%3Dnsm%26k%3D3%26e%3D4%26s%3D1&t=1",
    "present": "v=1&slide=3&look=dark",
    "attacker": "v=1&d=town&a=dist-dp-region-means&k=4&e=2&s=3&who=at:1.5,-2&ask=moved&rho=0.0032&far=0.0024",
}
WIDGETS = """() => {
    const wanted = '[data-testid=stMain], [data-testid=stSidebar]', of = (q) => [...document.querySelectorAll(q)];
    const inside = (node) => node.closest(wanted) && !node.closest('[role=dialog]');
    const seen = (query, read) => of(query).filter(inside).map(read);
    const toggled = (node) => (node.type === 'checkbox' || node.type === 'radio' ? node.checked : node.value);
    const fields = seen('input:not([type=range]), textarea', (node) => [node.ariaLabel, toggled(node)]);
    const lists = seen('[data-testid=stSelectbox], [data-testid=stMultiSelect]', (node) => node.innerText);
    const chosen = seen('[data-testid^=stBaseButton-][data-testid$=Active]', (node) => node.innerText);
    const sliders = seen('[role=slider]', (node) => node.ariaValueText ?? node.ariaValueNow);
    return JSON.stringify([fields, lists, chosen, sliders]);
}"""
ADDRESS = "() => location.href"
GAME = "[class*=st-key-attacker_figure]"  # the rounds are random and differ in every session
PICTURE = f"""() => [...document.querySelectorAll('.dpviz-canvas')].filter((canvas) => !canvas.closest('{GAME}'))
    .map((canvas) => canvas.toDataURL()).join()"""
PICTURED = ("explore", "learn", "compare", "explore, clients", "attacker")
DRAGGED = ("explore", "attacker")  # their slider of ε appears once runs at two ε are made
STAGES = """() => [...document.querySelectorAll('.dpviz-stage')].map(
    (root) => [root.clientWidth, root.innerText.slice(0, 200), root.panel?.stage?.drawn, root.children.length])"""
DRAWN = f"""(least) => {{
    const stages = [...document.querySelectorAll('.dpviz-stage')].filter((root) => !root.closest('{GAME}'));
    return stages.length >= least && stages.every((root) => root.panel?.stage?.drawn >= 0);
}}"""
STILL = """async () => {
    const going = ['stStatusWidget', 'stSkeleton', 'stProgress'].map((name) => `[data-testid=${name}]`).join();
    const read = () => document.querySelectorAll(going).length;
    for (let quiet = 0; quiet < 10;) {
        await new Promise((done) => setTimeout(done, 100));
        quiet = read() || !document.querySelector('.dp-strip') ? 0 : quiet + 1;
    }
    return true;
}"""


@pytest.mark.parametrize("path", LINKS, ids=lambda path: path or "home")
def test_every_widget_is_the_same_after_a_reload(open_page, path):
    page = open_page(f"{path.partition(',')[0]}?{LINKS[path]}")
    page.wait_for_function(STILL, timeout=2 * PATIENCE)  # A deck first computes all of its pictures.
    expect(page.get_by_text("This link")).to_have_count(0)  # Every part of the link fits.
    words = sorted({part.partition("=")[0] for part in LINKS[path].split("&")})
    everything = f"() => {words}.every((word) => new URLSearchParams(location.search).has(word))"
    page.wait_for_function(everything)
    if path in PICTURED:
        page.wait_for_function(DRAWN, arg=2 if path == "attacker" else 1)  # Both worlds and the lens appear late.
        page.wait_for_function(STILL)  # The sentences below the pictures appear late, too.
    unfold(page, path)
    before = dict(zip((ADDRESS, WIDGETS, PICTURE), settled(page), strict=True))
    page.reload()
    unfold(page, path)
    for script, was in before.items():
        becomes(page, script, was)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def settled(page):
    """Return address, widgets and pictures after a second without change, because a cloud of reruns grows."""
    found, looks, until = None, 0, time.monotonic() + PATIENCE / 1000
    while looks < 5:
        if time.monotonic() > until:
            raise TimeoutError("the page never came to rest")
        page.wait_for_timeout(200)
        before, found = found, [page.evaluate(script) for script in (ADDRESS, WIDGETS, PICTURE)]
        looks = looks + 1 if found == before else 0
    return found


def unfold(page, path):
    """Open the parts of a form that a page makes only on request."""
    if path == "tradeoff":
        page.get_by_role("button", name="Details").click()
        expect(page.get_by_role("textbox", name="Centers k")).to_be_visible()
    if path in DRAGGED:
        expect(page.get_by_role("slider", name="Privacy budget ε")).to_be_visible()
    if path == "explore":
        details(page)
        page.get_by_text("More", exact=True).click()
        expect(page.get_by_role("spinbutton", name="Levy beta")).to_be_visible()
        page.wait_for_function(STILL)


def becomes(page, script, wanted):
    try:
        page.wait_for_function(f"(wanted) => ({script})() === wanted", arg=wanted)
    except TimeoutError:
        now = page.evaluate(script)
        same = len(os.path.commonprefix([now, wanted]))
        words = f"after {same} characters {now[same:][:200]!r} and not {wanted[same:][:200]!r}; {page.evaluate(STAGES)}"
        raise TimeoutError(f"{script} never was as before the reload: {words}") from None


def test_a_frame_shows_the_player_alone_in_its_own_colors(open_page, server):
    page = open_page("limits")  # any page of this server will do
    for colors in ("light_theme", "dark_theme"):
        frame_shows_the_player_alone(page, server, colors)


def frame_shows_the_player_alone(page, server, colors):
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
    for value in ("8", "9"):
        run_seed(page, value)
        expect(page).to_have_url(re.compile(f"s={value}(&|$)"))
    page.wait_for_function(STILL)
    page.reload()
    page.wait_for_function(STILL)
    expect(details(page)).to_have_value("9")
    for value in ("8", "7"):
        page.go_back()
        page.wait_for_function(STILL)
        expect(details(page)).to_have_value(value)
        page.wait_for_function(STILL)
        expect(page).to_have_url(re.compile(f"s={value}(&|$)"))
