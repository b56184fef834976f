"""Check that the load generator knows the words and widgets of the pages that it uses."""

import argparse
import time

import pytest

from lab.benchmarks import load
from tests.serving import awaited

pytestmark = [pytest.mark.browser, pytest.mark.slow]


async def walk(port):
    """Do everything once that the benchmark does many times, and cancel the sweep."""
    server, times = load.Server(port), load.Times()
    await load.alone(server, 1)
    for number, others in enumerate((0.0, 1.0)):
        options = argparse.Namespace(arrive=0, think=0.001, runs=1.0, others=others)
        await load.visit(server, number, times, options, 0.0)
    sweep = await load.sweeping(port)
    begun = await load.goes_on(sweep)
    await sweep.press("Cancel")
    until = time.monotonic() + 300
    while await load.goes_on(sweep):
        assert time.monotonic() < until, "the sweep continues after Cancel"
    await sweep.__aexit__(None, None, None)
    return times.faults + sweep.faults, len(times.opened), len(times.runs), begun


def test_everything_that_the_benchmark_asks_for_is_on_the_pages(server):
    assert awaited(walk(int(server.rsplit(":", 1)[1]))) == ([], 3, 1, True)
