"""A real server and a real browser. Without Chromium the tests skip with a reason; in CI they fail."""

import gc
import os
import shutil

import pytest
from playwright.sync_api import expect

from tests.serving import ROOT, serve

__all__ = ["CHROMIUM", "FLAGS", "PATIENCE", "ROOT", "browser", "open_page", "serve", "server"]
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


PATIENCE = 120_000  # milliseconds: how busy a machine may be; what never comes still fails
expect.set_options(timeout=PATIENCE)  # once for all: a test that sets another one sets it for those after it


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        reason = "Chromium is not installed (apt install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()
    gc.collect()  # Playwright's greenlets end here: one that is collected in the middle of a parse breaks Python 3.11


@pytest.fixture(scope="session")
def server(browser):
    with serve() as url:
        yield url


@pytest.fixture
def open_page(browser, server):
    """Open a path of the shared server; fails if a request leaves the machine."""
    contexts, outside = [], []

    def opener(path="", *, width=1280, height=800, mode="light", base=server):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=mode, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)

        def watch(request):
            if not request.url.startswith((base, "data:", "blob:", base.replace("http", "ws"))):
                outside.append(request.url)

        page.on("request", watch)
        page.goto(f"{base}/{path}")
        return page

    yield opener
    for context in contexts:
        context.close()
    assert outside == []
