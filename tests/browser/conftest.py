"""Provide a real server and a real browser. If Chromium is missing, tests are skipped; in CI, they fail."""

import gc
import os
import shutil
import time
import weakref
from contextlib import suppress
from functools import partial

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.serving import ROOT, running, serve

__all__ = ["CHROMIUM", "FLAGS", "PATIENCE", "ROOT", "browser", "home", "keep_process", "open_page", "serve", "server"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # see `keep_process`
]


PATIENCE = 60_000  # Time limit in milliseconds; on a busy machine a page is at rest after ten seconds.
LOOKS = 100  # Milliseconds between two polls: polling at every frame, the default, would occupy a core.
expect.set_options(timeout=PATIENCE)  # Tests must not change this: it would apply to all later tests.
ACTS = ("click", "fill", "press", "check", "set_checked", "press_sequentially")
AT_REST = "() => !document.querySelector('[data-testid=stApp][data-test-script-state=running]')"
SETTLED = 200  # Milliseconds between an action and the next one on the same page.
BREATH = 10_000  # Milliseconds that an action waits at most for the page to rest.


def pytest_collection_modifyitems(items):
    """Repeat a walk that fails, beginning with a fresh page, because it may meet a page between two redraws.

    A real fault fails in all three attempts; the report counts and shows every rerun.
    """
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=2))


_acted = weakref.WeakKeyDictionary()  # page: when its last action ended


def _at_rest(act):
    """Delay an action until the page is at rest, because a click or key during a redraw may be lost.

    A page that was just acted on is given the time to begin its redraw.
    """

    def acting(self, *args, **more):
        page = self.page if isinstance(self, Locator) else self
        with suppress(Error):  # if the page never comes to rest, act anyway
            page.wait_for_timeout(max(0.0, SETTLED - 1000 * (time.monotonic() - _acted.get(page, 0.0))))
            page.wait_for_function(AT_REST, polling=LOOKS / 2, timeout=BREATH)
        done = act(self, *args, **more)
        _acted[page] = time.monotonic()
        return done

    return acting


def _without_errors(wait):
    """Let a condition that reads what a redraw has just removed be false, because an error would end the wait."""

    def waiting(self, condition, **more):
        held = f"const found = {condition}\n; return typeof found === 'function' ? found(arg) : found;"
        return wait(self, f"(arg) => {{ try {{ {held} }} catch {{ return false; }} }}", **more)

    return waiting


def _after_effects(page, act):
    """Delay an action until React has run its effects, because buttons react to their keys only after that."""

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
        patched.setattr(Page, "reload", _at_rest(Page.reload))
        patched.setattr(Page, "wait_for_function", _without_errors(Page.wait_for_function))
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()
    gc.collect()  # collect Playwright's greenlets now: collecting one during a parse breaks Python 3.11


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Return the state folder of the shared server, with the accounts of its files."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def server(browser, home):
    """Start the shared server."""
    with running(DPVIZ_HOME=str(home)) as (url, _):
        yield url


@pytest.fixture(scope="session")
def visitor(browser, server):
    """Return the browser context of one visitor, who has seen Start; all tests share its cache."""
    with browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(server)
        page.wait_for_selector(".dp-strip")
        keep_process(context, f"{server}/_stcore/health")
        page.close()
        yield context


def keep_process(context, address):
    """Leave an idle page open in a context, so that the site's renderer process lives on with compiled scripts."""
    context.new_page().goto(address)


@pytest.fixture
def open_page(browser, visitor, server):
    """Open paths of the server, each after the first as a new visitor; fail if a request leaves the machine."""
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
        page.evaluate("localStorage.clear()")  # the next test must not depend on this one
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
    """Type a seed; press Run if the run does not start by itself, as on a slow machine."""
    seed = details(page)
    seed.fill(value)
    seed.press("Enter")
    page.wait_for_function(
        """value => { [...document.querySelectorAll('button')].find(one => one.innerText.trim() === 'Run')?.click();
        return new URLSearchParams(location.search).get('s') === value; }""",
        arg=value,
        polling=500,
    )
