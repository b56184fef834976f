"""Walk through pages in Firefox and WebKit: check pictures, the player, the address, and the browser's Back."""

import time

import pytest

from tests.browser import engines
from tests.browser.conftest import PATIENCE
from tests.browser.test_journeys import NSM, STEPS

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
PAINTED = """[...document.querySelectorAll('.dpviz-canvas')].every(canvas => new Set(new Uint32Array(
  canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size > 5)"""
# An element of the page or of a component's shadow tree.
INSIDE = """(wanted => { const look = root => { const own = root.querySelector(wanted); if (own) return own;
  for (const each of root.querySelectorAll('*')) if (each.shadowRoot) {
    const inner = look(each.shadowRoot); if (inner) return inner; } return null; }; return look(document); })"""


def until(evaluate, condition):
    """Wait until a condition, written in JavaScript, holds on the page."""
    end = time.monotonic() + PATIENCE / 1000
    while not evaluate(condition):
        assert time.monotonic() < end, f"never true: {condition}"
        time.sleep(0.1)


@pytest.mark.parametrize("engine", engines.PROGRAMS)
def test_another_engine_draws_plays_and_keeps_the_address(engine, server, tmp_path):
    if lacking := engines.missing(engine):
        pytest.skip(f"not installed: {', '.join(lacking)} (apt install firefox-esr webkit2gtk-driver xvfb)")
    with getattr(engines, engine)(tmp_path) as (go, evaluate):
        go(f"{server}/{NSM}")
        until(evaluate, f"({STEPS})().length === 4 && ({STEPS})().every(step => step > 0)")
        until(evaluate, PAINTED)
        last = evaluate(f"({STEPS})()")[0]
        evaluate(f"{INSIDE}('[aria-label=\"Step back\"]').click()")
        until(evaluate, f"({STEPS})().every(step => step === {last - 1})")
        evaluate(f"{INSIDE}('a[href*=\"ledger\"]').click()")
        until(evaluate, "location.pathname === '/ledger' && location.search.includes('a=nsm')")
        evaluate("history.back()")
        until(evaluate, f"location.pathname === '/explore' && ({STEPS})().length === 4")
        until(evaluate, PAINTED)
        assert not evaluate("!!document.querySelector('[data-testid=stException]')")
