"""Measure the pages of this checkout and another in turns: `python -m lab.benchmarks.against FOLDER --turns 5`.

FOLDER is a git worktree of the version to compare with (`git worktree add FOLDER COMMIT`); both versions are started
with the README's command, under this Python. The script prints, for each version, the median cost of opening a session,
of a step of the player, of a new seed or ε, opened by its address, until its picture appears, and of the first picture
in a cold browser (seconds, milliseconds of the renderer's main thread, megabytes). It also prints the memory and the
number of threads at the end. Without FOLDER, only this checkout is measured. On a busy machine, trust the processor
time and the ratio of the two versions, not the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.serving import ROOT, awaited, serve

from .load import Server
from .visitor import Visitor

PANELS = 3  # every version shows at least three panels
# Number of panels that show something, drawn by the stage's canvas or by Plotly.
DRAWN = """() => [...document.querySelectorAll(".dpviz-stage")].filter((root) => root.panel?.stage?.drawn >= 0).length
    + [...document.querySelectorAll("[class*=_figures] .js-plotly-plot")]
        .filter((graph) => graph.querySelector(".point, .js-line, .hm image, .annotation")).length"""
PAGES = (("Explore", "explore", PANELS),)
RUNS = ("nsm", "dpm", "pe-means")  # methods that are run on the sample town
SETTLE = 400  # milliseconds within which a step is drawn; the page's idle cost in that time is subtracted


class Spent:
    """The time that the renderer's main thread has used (ms), and the number of bytes received over the network."""

    def __init__(self, page: Page) -> None:
        self._cdp: CDPSession = page.context.new_cdp_session(page)
        self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._cdp.send("Network.enable")
        self.bytes = 0.0
        self._cdp.on("Network.loadingFinished", self._add)

    def _add(self, event: dict[str, float]) -> None:
        self.bytes += event["encodedDataLength"]

    def ms(self) -> float:
        """Return the processor time of the main thread so far, in milliseconds."""
        metrics = self._cdp.send("Performance.getMetrics")["metrics"]
        return next(1e3 * metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def new_page(browser: Browser) -> tuple[BrowserContext, Page, Spent]:
    """Return a context without any cache, a page in it, and a meter of the page's costs."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    return context, page, Spent(page)


def drawn(page: Page, panels: int) -> None:
    """Wait until this many panels show something."""
    page.wait_for_function(f"() => ({DRAWN})() >= {panels}", polling=20)


def first_picture(browser: Browser, url: str, panels: int) -> dict[str, float]:
    """Return the seconds and the main thread's milliseconds until marks are drawn, and the megabytes received."""
    context, page, spent = new_page(browser)
    begun = time.perf_counter()
    page.goto(url)
    drawn(page, panels)
    found = {"s": time.perf_counter() - begun, "main thread ms": spent.ms()}
    page.wait_for_load_state("networkidle")
    found["MB"] = spent.bytes / 1e6
    context.close()
    return found


def step_times(page: Page, spent: Spent) -> list[float]:
    """Return the milliseconds that the main thread spends on each step of the player, minus its idle cost."""
    page.wait_for_timeout(1500)
    last = int(page.get_by_role("slider", name="Step").get_attribute("max") or 0)

    def cost(button: str, act: str = "(button) => button.click()") -> float:
        before = spent.ms()
        page.get_by_role("button", name=button).first.evaluate(act)
        page.wait_for_timeout(SETTLE)
        return spent.ms() - before

    cost("First step")
    rest = float(np.median([cost("Step forward", "() => null") for _ in range(5)]))
    return [max(cost("Step forward") - rest, 0.0) for _ in range(last)]


def opened_run(page: Page, url: str, server: Server, slug: str, seed: int, epsilon: float) -> dict[str, float]:
    """Open the address of a run on the sample town, and return the cost until its picture shows all panels."""
    page_ms, all_ms = server.page_seconds(), server.seconds(server.family())
    begun = time.perf_counter()
    page.goto(f"{url}/explore?v=1&d=town&a={slug}&k=5&e={epsilon:g}&s={seed}")
    drawn(page, PANELS)
    found = {"s": time.perf_counter() - begun}
    page.wait_for_timeout(1500)
    found["page ms"] = 1e3 * (server.page_seconds() - page_ms)
    found["all ms"] = 1e3 * (server.seconds(server.family()) - all_ms)
    return found


async def opened(server: Server, sessions: int) -> tuple[float, float]:
    """Open sessions on Explore one by one; return the ms of processor time for each (page's process, all processes)."""
    page, all_ = server.page_seconds(), server.seconds(server.family())
    visitors = [Visitor(server.port, "explore") for _ in range(sessions)]
    for visitor in visitors:
        await visitor.__aenter__()
        await visitor.ask()
    await asyncio.sleep(2)
    spent = server.page_seconds() - page, server.seconds(server.family()) - all_
    for visitor in visitors:
        await visitor.__aexit__(None, None, None)
    return 1e3 * spent[0] / sessions, 1e3 * spent[1] / sessions


def measured_pages(
    browser: Browser, arms: dict[str, str], servers: dict[str, Server], turns: int
) -> Iterator[tuple[str, str, str, float]]:
    """Yield (what, unit, version, value) for first pictures and for sessions, alternating between the versions."""
    for turn in range(turns + 1):
        for name, path, panels in PAGES:
            for arm, url in arms.items():
                found = first_picture(browser, f"{url}/{path}", panels)
                if turn:  # the first visit warms up the server
                    yield from ((f"{name}, first picture", unit, arm, value) for unit, value in found.items())
    for _ in range(turns):
        for arm, server in servers.items():
            own, all_ = awaited(opened(server, 4))
            yield "opening a session", "page ms", arm, own
            yield "opening a session", "all ms", arm, all_


def measured_runs(
    browser: Browser, arms: dict[str, str], servers: dict[str, Server], turns: int
) -> Iterator[tuple[str, str, str, float]]:
    """Yield (what, unit, version, value) for steps, new seeds and new ε, one version after the other."""
    for arm, url in arms.items():
        context, page, spent = new_page(browser)
        for slug in RUNS:
            opened_run(page, url, servers[arm], slug, 0, 1.0)
            for value in step_times(page, spent):
                yield f"a step, {slug} on town", "main thread ms", arm, value
            for turn in range(turns):
                for what, seed, epsilon in (("seed", 100 + turn, 1.0), ("ε", 0, 1.1 + turn / 100)):
                    found = opened_run(page, url, servers[arm], slug, seed, epsilon)
                    yield from ((f"a new {what}, {slug} on town", unit, arm, it) for unit, it in found.items())
        context.close()


def measure(browser: Browser, arms: dict[str, str], turns: int, part: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield the measurements of both versions."""
    servers = {arm: Server(int(url.rsplit(":", 1)[1])) for arm, url in arms.items()}
    for name, measured in (("pages", measured_pages), ("runs", measured_runs)):
        if part in (None, name):
            yield from measured(browser, arms, servers, turns)
    for arm, server in servers.items():
        yield "memory at the end", "MB", arm, server.memory()[1]
        yield "threads", "", arm, server.threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--part", choices=["pages", "runs"], help="only first pictures and sessions, or only steps and runs"
    )
    options = parser.parse_args()
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with ExitStack() as stack, sync_playwright() as playwright:
        folders = {"before": options.folder, "now": ROOT} if options.folder else {"now": ROOT}
        arms = {arm: stack.enter_context(serve(folder)) for arm, folder in folders.items()}
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for what, unit, arm, value in measure(browser, arms, options.turns, options.part):
            values[what, unit][arm].append(value)
            print(f"{what}: {value:.3g} {unit} {arm}", file=sys.stderr, flush=True)
        browser.close()
    heads = [*arms, *["ratio"] * (len(arms) > 1)]
    print(f"| | | {' | '.join(heads)} |\n|---|---{'|---' * len(heads)}|  load {os.getloadavg()[0]:.1f}")
    for (what, unit), found in values.items():
        medians = [float(np.median(found[arm])) for arm in arms]
        cells = [f"{one:.3g}" for one in medians] + [f"{medians[1] / medians[0]:.2f}" for _ in medians[1:]]
        print(f"| {what} | {unit} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
