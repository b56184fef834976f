"""What every test of a page needs: no answer depends on this machine's pace, or on what another test left behind."""

import re

import pytest

from pages._ui.frame import markup
from pages._ui.work import runs
from pages._ui.work.pace import Pace
from tests.luck import same_luck


@pytest.fixture(autouse=True)
def no_luck_decides(monkeypatch):
    same_luck(monkeypatch)


@pytest.fixture(autouse=True)
def no_clock_decides(monkeypatch):
    """A script run waits for its run (pieces are polled), forecasts are a new server's, nothing stays in the queue."""
    monkeypatch.setattr(runs, "QUICK", 200.0)
    new = Pace()
    monkeypatch.setattr(new, "learn", lambda *_: None)
    monkeypatch.setattr(runs, "pace", lambda: new)
    yield
    left = list(runs.jobs()._jobs.values())
    for job in left:
        job.cancel()
    for job in left:
        job.wait(200)


@pytest.fixture(autouse=True)
def our_own_markup_is_never_escaped(monkeypatch):
    """Markup that lost its type, in an f-string or by a plus, would be seen as tags on the page; yield what did."""
    own, seen = markup.text, []

    def text(*parts):
        lost = (str(part) for part in parts if not isinstance(part, markup.Html))
        seen.extend(part for part in lost if re.search(r'class="?dp-|<svg |src="data:|</(a|b|i|p|small|span)>', part))
        return own(*parts)

    monkeypatch.setattr(markup, "text", text)
    yield seen
    assert seen == []
