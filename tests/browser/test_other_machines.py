"""Check that stored runs are shown at once on a processor and with a patched library that did not make them."""

import os

import pytest
from playwright.sync_api import expect

from pages._ui.explore.tradeoff.form import FIRST
from tests.browser.test_drag import READY
from tests.browser.test_story import WHOLE
from tests.serving import ROOT, running

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATCHED = f"""
import importlib.metadata, runpy
version = importlib.metadata.version
importlib.metadata.version = lambda name: version(name) + ".1" if name == "scikit-learn" else version(name)
runpy.run_path({str(ROOT / "tests" / "recorder" / "sitecustomize.py")!r})
"""


def test_start_watch_and_tradeoff_open_finished(browser, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(PATCHED)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with running(OPENBLAS_CORETYPE="NEHALEM", PYTHONPATH=path) as (url, _), browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(url)
        page.wait_for_function("() => document.querySelector('.dp-story')?.story?.text")
        page.wait_for_function(WHOLE)
        page.goto(f"{url}/explore?v=1&d=town&a=pe-means&k=5&e=1&s=0")
        page.wait_for_function(READY)
        expect(page.get_by_text("being made")).to_have_count(0)
        page.goto(f"{url}/tradeoff?v=1")
        expect(page.get_by_role("heading", name="How much ε do I need?")).to_be_visible()
        expect(page.get_by_role("button", name="Start", exact=False)).to_have_count(0)
        expect(page.get_by_text("Stored runs")).to_have_count(0)
        expect(page.locator("table").first.locator("tbody tr")).to_have_count(len(FIRST))
