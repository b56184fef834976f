"""Check that benchmarks of a server know the words and widgets of the pages that they use."""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib import import_module

import pytest

from lab.benchmarks import load
from tests.lab.test_smoke import SERVED, called
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


@pytest.mark.parametrize("name", SERVED)
def test_a_benchmark_of_a_server_runs_at_its_least_size(name, server, monkeypatch, capsys):
    words, wanted = SERVED[name]
    monkeypatch.setattr(import_module(f"lab.benchmarks.{name}"), "serve", lambda *_, **__: nullcontext(server))
    with ThreadPoolExecutor(1) as thread:  # Playwright runs once per thread, and the tests' own runs in this one
        thread.submit(called, name, words.replace("PORT", server.rsplit(":", 1)[1]).split(), monkeypatch).result()
    printed = capsys.readouterr().out
    assert wanted in printed and "nan" not in printed
