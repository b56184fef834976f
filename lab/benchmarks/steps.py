"""Time a frame of the film on Explore, for every family of figures and every data set of the gallery.

python -m lab.benchmarks.steps
python -m lab.benchmarks.steps --data town iris --algorithms nsm dpm

The server is warm. The script prints the processor time of the main thread (ms) from the request for a moment of the
film until its picture is handed to the browser, minus the cost of two screen refreshes. Each cell has the median and
the maximum over evenly spaced moments, and the number of figures.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES, load_sample
from dpviz.figures import pane
from tests.browser.conftest import CHROMIUM, FLAGS, serve

from .against import DRAWN, new_page

MOMENTS, APART = 60, 2000  # moments of a film, each drawn after one that is this part of the film before it
SEEK = """(slider, at) => new Promise((done) => {
    if (at !== null) {
        slider.value = at;
        slider.dispatchEvent(new Event("input"));
    }
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
})"""
DECIDED = f"() => ({DRAWN})() > 0 || document.querySelector('[data-testid=stAlertContentError]')"


def families() -> list[str]:
    """Return the first algorithm of each family of figures, in teaching order."""
    data, found = load_sample("tiny"), {}
    for slug, cls in ALGORITHMS.items():
        trace = cls(n_clusters=data.n_clusters).run(data.X, domain=data.domain, seed=0)
        found.setdefault(id(pane(trace)), slug)
    return list(found.values())


def walk(browser: Browser, url: str) -> tuple[list[float], int]:
    """Return the milliseconds that each moment of the film at an address takes, and the number of figures."""
    context, page, spent = new_page(browser)
    page.goto(url)
    page.wait_for_function(DECIDED)
    page.wait_for_timeout(1500)
    if not page.evaluate(DRAWN):
        context.close()
        return [], 0

    slider = page.get_by_role("slider", name="Step").first

    def cost(at: float | None) -> float:
        before = spent.ms()
        slider.evaluate(SEEK, at)
        return spent.ms() - before

    first, last = (float(slider.get_attribute(end) or 0) for end in ("min", "max"))
    rest = float(np.median([cost(None) for _ in range(9)]))
    cost(first)
    times = []
    for at in np.linspace(first, last, MOMENTS + 1)[1:]:
        cost(at - (last - first) / APART)
        times.append(max(cost(at) - rest, 0.0))
    figures = page.evaluate(DRAWN)
    context.close()
    return times, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=SAMPLES)
    parser.add_argument("--algorithms", nargs="+", default=families())
    options = parser.parse_args()
    print(f"| method | {' | '.join(options.data)} |\n|{'---|' * (len(options.data) + 1)}")
    every: list[float] = []
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for slug in options.algorithms:
            cells = []
            for data in options.data:
                times, figures = walk(browser, f"{url}/explore?v=1&d={data}&a={slug}")
                cells.append(f"{np.median(times):.1f} / {max(times):.1f} ({figures})" if times else "-")
                every += times
            print(f"| {ALGORITHMS[slug].name} | {' | '.join(cells)} |", flush=True)
        browser.close()
    print(
        f"{len(every)} moments: median {np.median(every):.1f} ms, 95 of 100 within {np.quantile(every, 0.95):.1f} ms, "
        f"most {max(every):.1f} ms; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
