"""Prepare tests of pages, so that neither this machine's pace nor another test affects them."""

import functools
import re
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from pages._ui.frame import markup
from pages._ui.work import runs
from pages._ui.work.pace import Pace
from tests.luck import same_luck
from tests.pages.visitor import new_app, visit

ROOT = Path(__file__).parents[2]
# Every tested script has a new runtime, which would otherwise read the metadata of all installed packages again.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(autouse=True)
def paths_of_pages_begin_in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(autouse=True)
def no_luck_decides(monkeypatch):
    same_luck(monkeypatch)


@pytest.fixture(autouse=True)
def no_clock_decides(monkeypatch):
    """Let a script wait for its run, use the forecasts of a new server, and leave no job in the queue."""
    monkeypatch.setattr(runs, "QUICK", 200.0)
    new = Pace()
    monkeypatch.setattr(new, "learn", lambda *_: None)
    monkeypatch.setattr(runs, "pace", lambda: new)
    yield
    left = list(runs.jobs()._jobs.values())  # a sweep that continues would take a core from all later tests
    for job in left:
        job.cancel()
    for job in left:
        assert not job.active or job.wait(200)


@pytest.fixture(autouse=True)
def our_own_markup_is_never_escaped(monkeypatch):
    """Fail if an f-string or a plus sign turned markup into plain text, because the page would show its tags."""
    own, seen = markup.text, []

    def text(*parts):
        lost = (str(part) for part in parts if not isinstance(part, markup.Html))
        seen.extend(part for part in lost if re.search(r'class="?dp-|<svg |src="data:|</(a|b|i|p|small|span)>', part))
        return own(*parts)

    monkeypatch.setattr(markup, "text", text)
    yield seen
    assert seen == []


@pytest.fixture
def app():
    return new_app().run()


@pytest.fixture
def open_link():
    return visit


@pytest.fixture
def start():
    return functools.partial(visit, "data")
