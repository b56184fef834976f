"""Time the pages of a warm server in headless Chromium: first pictures, steps, and the payload per sample.

python -m lab.benchmarks.pages
python -m lab.benchmarks.pages --second-visitor 20

The steps are those of Explore; Start has none. The second command times first pictures for a visitor alone, and then
while another visitor's sweep is running.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.metrics import loss_path
from tests.browser.conftest import CHROMIUM, FLAGS, serve

DRAWN = """() => [...document.querySelectorAll('.dpviz-stage')].some(root => root.panel?.stage?.drawn >= 0)
    || document.querySelector('.dp-story')?.story?.scale !== undefined"""
# The script's own work until every panel shows a step, without the wait for the next screen refresh.
STEP = """(step) => {
    const panels = [...document.querySelectorAll('.dpviz-stage')].map(root => root.panel).filter(one => one?.frames);
    const begin = performance.now();
    panels.forEach(panel => panel.show(step));
    return performance.now() - begin;
}"""


PAGES = (("Start", ""), ("Explore", "explore"))


def first_picture(browser: Browser, url: str) -> float:
    """Return the seconds from the request until marks are drawn, in a context without any cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(url)
    page.wait_for_function(DRAWN, polling=20)
    seconds = time.perf_counter() - begin
    context.close()
    return seconds


def step_times(page: Page, url: str) -> list[float]:
    """Return the main thread's processor time for each step of one walk through all frames, in milliseconds."""
    page.goto(url)
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(1500)
    last = int(page.get_by_role("slider", name="Step").get_attribute("max") or 0)
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        return next(m["value"] for m in cdp.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")

    times = []
    for step in range(last + 1):
        begin = spent()
        page.evaluate(STEP, step)
        times.append(1000 * (spent() - begin))
    return times


def payload(sample: str, epsilon: float) -> tuple[int, int]:
    """Return (number of characters in all panels' JSON, number of frames) for a run of PE-means on a sample."""
    data = load_sample(sample)
    trace = ALGORITHMS["pe-means"](n_clusters=data.n_clusters, epsilon=epsilon).run(
        data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id
    )
    axes = (0, 1)
    view = View(
        trace, LIGHT, axes, data.columns, data.units, data.X, trace.cluster_centers, loss_path(trace, data.X), 0.1, True
    )
    found = pane(trace).panels(view)
    return sum(len(panel.figure.to_json()) for panel in found), len(found[0].figure.frames)


def start_sweep(browser: Browser, url: str) -> Page:
    """Start a sweep of 4,004 runs in its own context; return its page once a picture is drawn."""
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{url}/tradeoff")
    box = page.get_by_role("spinbutton", name="Runs per point")
    box.fill("50")
    box.press("Enter")
    page.get_by_text("1,001 runs").wait_for()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("textbox", name="Centers k").fill("3, 5, 8, 12")
    page.keyboard.press("Enter")
    page.get_by_text("4,004 runs").wait_for()
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".dpviz-canvas").first.wait_for()
    return page


def second_visitor(browser: Browser, url: str, visits: int) -> None:
    """Print the times of first pictures for a visitor alone, and while another visitor's sweep runs."""
    for _, path in PAGES:
        first_picture(browser, f"{url}/{path}")
    for busy in (False, True):
        sweeping = start_sweep(browser, url) if busy else None
        for name, path in PAGES:
            times = [first_picture(browser, f"{url}/{path}") for _ in range(visits)]
            print(
                f"{name}, {'a sweep is running' if busy else 'alone'}: first picture {np.median(times):.2f} s, "
                f"p95 {np.quantile(times, 0.95):.2f} s ({visits} visits)",
                flush=True,
            )
        if sweeping is not None:
            print("the sweep is still running:", sweeping.get_by_role("button", name="Cancel").is_visible())


def walk(browser: Browser, url: str, visits: int) -> None:
    """Print the times of first pictures, and the processor time per step of Explore."""
    for name, path in PAGES:
        first_picture(browser, f"{url}/{path}")
        times = [first_picture(browser, f"{url}/{path}") for _ in range(visits)]
        spread = f"median of {visits}; {min(times):.2f}-{max(times):.2f}"
        print(f"{name}: first picture {statistics.median(times):.2f} s ({spread})")
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    times = step_times(page, f"{url}/explore")
    print(f"Explore: {statistics.median(times):.1f} ms a step (median of {len(times)}; max {max(times):.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--second-visitor", type=int, metavar="VISITS", help="number of visits to each page")
    parser.add_argument("--visits", type=int, default=5, help="number of first pictures of each page")
    options = parser.parse_args()
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if options.second_visitor:
            second_visitor(browser, url, options.second_visitor)
            return
        walk(browser, url, options.visits)
    for sample, epsilon in (("town", 1.0), ("town", 4.0), ("digits", 1.0), ("digits", 4.0)):
        size, frames = payload(sample, epsilon)
        print(f"{sample}, epsilon {epsilon:g}: {size / 1e3:.0f} kB in {frames} frames")


if __name__ == "__main__":
    main()
