"""Check that every page renders, and marks its place, with the headers of deploy/Caddyfile, and who may frame one."""

import http.server
import re
import threading

import pytest
from playwright.sync_api import expect

from pages._ui.frame.places import PAGES, PLACES
from tests.browser.conftest import PATIENCE, keep_process
from tests.browser.phone import no_exception
from tests.browser.proxy import proxied
from tests.browser.test_bar import marked
from tests.browser.test_journeys import charts

pytestmark = [pytest.mark.browser, pytest.mark.slow]
POLICY = re.compile("^CSP|Content Security Policy|Permissions policy", re.IGNORECASE)
WATCH = "document.addEventListener('securitypolicyviolation', e => console.error('CSP ' + e.violatedDirective))"


@pytest.fixture(scope="module")
def behind(browser, server):
    """Yield the address of a proxy that adds the headers, and a browser context that reports violations of them."""
    with proxied(server) as base, browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.add_init_script(WATCH)
        keep_process(context, f"{base}/_stcore/health")
        yield base, context


@pytest.fixture
def visit(behind):
    """Open a page through the proxy; fail if the page violates a policy or calls another server."""
    complaints, outside, pages = [], [], []
    base, context = behind

    def opener(path):
        pages.append(page := context.new_page())
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda said: complaints.append(said.text) if POLICY.search(said.text) else None)
        ours = (base, base.replace("http", "ws"), "data:", "blob:")
        page.on("request", lambda asked: None if asked.url.startswith(ours) else outside.append(asked.url))
        page.goto(f"{base}/{path}")
        return page

    yield opener
    for page in pages:
        page.close()
    assert complaints == [] and outside == []


def test_behind_the_headers_every_page_renders_marks_its_place_and_is_one_step_of_the_arrows(visit):
    page = visit("")
    renders(page, "home")
    page.evaluate("window.same = true")  # a new session would lose this mark
    walked, length = ["home"], page.evaluate("history.length")
    for place in PLACES[1:]:
        page.locator("nav.bar").get_by_role("link", name=place.word, exact=True).click()
        renders(page, place.pages[0])
        walked.append(place.pages[0])
        for name in place.pages[1:]:
            page.locator("nav.tabs").get_by_role("link", name=PAGES[name].title, exact=True).click()
            renders(page, name)
            walked.append(name)
    page.locator("nav.bar").get_by_role("link", name="Papers", exact=True).click()
    renders(page, "papers")
    assert {*walked, "papers"} == set(PAGES)
    assert page.evaluate("history.length") == length + len(walked)
    for name in reversed(walked):
        page.go_back()
        marked(page, name)
    page.go_forward()
    marked(page, walked[1])
    assert page.evaluate("window.same")


def renders(page, name):
    marked(page, name)
    expect(page.locator("h1").first).to_be_visible()
    expect(page.locator("[data-testid=stStatusWidget]")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


def test_explore_draws_and_plotly_comes_for_a_close_look(visit):
    page = visit("explore")
    charts(page, 3)
    page.get_by_role("button", name="Zoom and hover").click()
    expect(page.locator(".dpviz-look .main-svg").first).to_be_visible()
    no_exception(page)


class Page(http.server.BaseHTTPRequestHandler):
    """Make a page of another site that embeds the dashboard."""

    target = ""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<iframe src="{self.target}" width="1200" height="700"></iframe>'.encode())

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("allowed", [True, False])
def test_a_frame_of_another_site_needs_the_owner_s_word(browser, server, allowed):
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    foreign = f"http://localhost:{other.server_port}"
    context = browser.new_context()
    try:
        with proxied(server, f"'self' {foreign}" if allowed else None) as base:
            Page.target = f"{base}/limits?embed=true"
            page, refused = context.new_page(), []
            page.on("console", lambda said: refused.append(said.text) if "frame-ancestors" in said.text else None)
            if allowed:
                page.goto(foreign)
                heading = page.frame_locator("iframe").locator("h1").first
                expect(heading).to_have_text("Limits")
                assert refused == []
            else:
                with page.expect_console_message(lambda said: "frame-ancestors" in said.text):
                    page.goto(foreign)
    finally:
        context.close()
        other.shutdown()
