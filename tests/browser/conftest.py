"""Provide a real server and a real browser. Without Chromium the tests skip with a reason; in CI they fail."""

import gc
import os
import shutil
from contextlib import suppress
from functools import partial

import pytest
from playwright.sync_api import Error, Locator, expect

from tests.serving import ROOT, running, serve

__all__ = ["CHROMIUM", "FLAGS", "PATIENCE", "ROOT", "browser", "home", "open_page", "serve", "server"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


PATIENCE = 120_000  # milliseconds, enough for a busy machine; something that never comes still fails
LOOKS = 100  # milliseconds between two looks: at every frame, as by default, the looking takes a core of its own
expect.set_options(timeout=PATIENCE)  # set once: a test that changes it changes it for later tests
ACTS = ("click", "fill", "press", "check", "set_checked", "press_sequentially")
AT_REST = "() => !document.querySelector('[data-testid=stApp][data-test-script-state=running]')"
BREATH = 10_000  # most milliseconds that an action waits for that
LOST = ["TimeoutError", r"with timeout \d+ms"]  # errors with which a walk ends if a redraw lost its action


def pytest_collection_modifyitems(items):
    """A walk that waits in vain is repeated from a fresh page, and the report counts it as a rerun.

    A real fault fails three times, and so fails; a failed comparison or an error of the test fails at once.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=LOST))


def _at_rest(act):
    """A click or key during a redraw may be lost, so an action waits until the redraw is over."""

    def acting(self, *args, **more):
        with suppress(Error):  # the page keeps being drawn, or changes: then act as it is
            self.page.wait_for_function(AT_REST, polling=LOOKS / 2, timeout=BREATH)
        return act(self, *args, **more)

    return acting


def _after_effects(page, act):
    """A button hears its key once React has run its effects, which on a busy machine is after the button is seen."""

    def acting(*args, **more):
        with suppress(Error):
            page.wait_for_function(AT_REST, polling=LOOKS / 2, timeout=BREATH)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        return act(*args, **more)

    return acting


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        reason = "Chromium is not installed (apt install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patched:
        for name in ACTS:
            patched.setattr(Locator, name, _at_rest(getattr(Locator, name)))
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()
    gc.collect()  # Playwright's greenlets end here: one that is collected in the middle of a parse breaks Python 3.11


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The state folder of the shared server, with the accounts of its files."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def server(browser, home):
    with running(DPVIZ_HOME=str(home)) as (url, _):
        yield url


@pytest.fixture(scope="session")
def visitor(browser):
    """The browser of one visitor; files fetched for one test are there for the next."""
    with browser.new_context(reduced_motion="reduce") as context:
        yield context


@pytest.fixture
def open_page(browser, visitor, server):
    """Open a path of the shared server; fails if a request leaves the machine. A test's second page is a stranger's."""
    pages, strangers, outside = [], [], []

    def opener(path="", *, width=1280, height=800, mode="light", base=server):
        if pages:
            strangers.append(browser.new_context(reduced_motion="reduce"))
        page = (strangers[-1] if pages else visitor).new_page()
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.wait_for_function = partial(page.wait_for_function, polling=LOOKS)
        page.keyboard.press = _after_effects(page, page.keyboard.press)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=mode, reduced_motion="reduce")

        def watch(request):
            if not request.url.startswith((base, "data:", "blob:", base.replace("http", "ws"))):
                outside.append(request.url)

        page.on("request", watch)
        page.goto(f"{base}/{path}")
        return page

    yield opener
    for page in pages:
        page.context.set_offline(False)
        page.evaluate("localStorage.clear()")  # the next test does not find the page as the last one left it
        page.close()
    for stranger in strangers:
        stranger.close()
    assert outside == []


def details(page):
    """Open the details of Explore's form unless they are open; return the field of the seed."""
    seed = page.get_by_label("Seed", exact=True)
    if not seed.is_visible():
        page.get_by_role("button", name="Details").click()
    expect(seed).to_be_visible()
    return seed


def run_seed(page, value):
    """Type a seed; press Run if a slow machine did not run by itself."""
    seed = details(page)
    seed.fill(value)
    seed.press("Enter")
    page.wait_for_function(
        """value => { [...document.querySelectorAll('button')].find(one => one.innerText.trim() === 'Run')?.click();
        return new URLSearchParams(location.search).get('s') === value; }""",
        arg=value,
        polling=500,
    )
