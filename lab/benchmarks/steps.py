"""Time a frame of the film on Explore, for every family of figures and every data set of the gallery.

python -m lab.benchmarks.steps
python -m lab.benchmarks.steps --data town iris --algorithms nsm dpm --moments 30

The script prints the processor time of the browser's main thread (ms) for a frame, from the request until all figures
are drawn and handed over, minus that of a screen refresh without a change. It draws moments of a film: half of them are
the first frame of an event, which changes most, half are spaced evenly in time. Each follows the frame a sixtieth of a
second before it, as in a film that plays; the steps' data are packed as on first sight. Processor time excludes other
programs, but not what they push out of the caches, nor the browser's own chores, such as collecting garbage. So the
script goes through the film several times and takes the least time of each moment: only what is slow every time counts.
Each cell has the median and the maximum of the moments, and the number of figures; below the table, the slowest moments
are listed with their captions and places.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES, load_sample
from dpviz.figures import pane
from tests.browser.conftest import CHROMIUM, FLAGS, serve

from .against import DRAWN

MOMENTS, TURNS = 24, 3  # moments of a film, and how often each is drawn
GOAL = 12  # milliseconds within which every frame should be drawn
# Draw the moments, and mark the trace before and after each; return their captions and places.
WALK = """async (slider, [half, turns]) => {
    const all = [...document.querySelectorAll(".dpviz-stage")].map((root) => root.panel);
    const panels = all.filter((one) => one?.frames);
    const film = (panels.find((one) => one.data.name === "plane") ?? panels[0]).film;
    const first = Number(slider.min), last = Number(slider.max), begins = [], evenly = [];
    let time = 0;
    for (let step = first + 1; step <= last; step++) {
        const events = film.events(step), all = events.reduce((sum, { ms }) => sum + ms, 0);
        const at = (past) => [step - 1 + past / all, 1000 / 60 / all];
        let past = 0;
        for (const { ms } of events) { begins.push(at(past)); past += ms; }
        evenly.push({ time, at });
        time += all;
    }
    const spread = (n, of) => Array.from({ length: n }, (_, i) => Math.floor(((i + 0.5) * of) / n));
    const starts = spread(Math.min(half, begins.length), begins.length).map((i) => begins[i]);
    const middles = spread(half, time).map((t) => {
        const step = evenly.findLast((one) => one.time <= t);
        return step.at(t - step.time);
    });
    const places = [...starts, ...middles].sort(([a], [b]) => a - b);
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const seek = (at) => {
        slider.value = Math.max(first, Math.min(last, at));
        slider.dispatchEvent(new Event("input"));
        return drawn();
    };
    if (window.__dpvizAddress) window.__dpvizAddress.step = undefined; // a film that plays does not write its address
    const says = [];
    for (let turn = 0; turn < turns; turn++) {
        panels.forEach((one) => one.film.open.clear());
        for (const [i, [at, frame]] of places.entries()) {
            await seek(at - frame / 2);
            performance.mark(`begin ${i}`);
            await seek(at + frame / 2);
            performance.mark(`end ${i}`);
            says[i] = `${slider.getAttribute("aria-valuetext")} (at ${at.toFixed(2)})`;
        }
    }
    for (let i = 0; i < 9; i++) {
        performance.mark("begin rest");
        await drawn();
        performance.mark("end rest");
    }
    return says;
}"""
DECIDED = f"() => ({DRAWN})() > 0 || document.querySelector('[data-testid=stAlertContentError]')"


def families() -> list[str]:
    """Return the first algorithm of each family of figures, in teaching order."""
    data = load_sample("tiny")
    found: dict[int, str] = {}
    for slug, cls in ALGORITHMS.items():
        trace = cls(n_clusters=data.n_clusters).run(data.X, domain=data.domain, seed=0)
        found.setdefault(id(pane(trace)), slug)
    return list(found.values())


def least(events: list[dict[str, Any]]) -> dict[str, float]:
    """Return the least processor time (ms) between the marks "begin NAME" and "end NAME" of a trace, by name.

    For "rest", it is the median, because it is subtracted.
    """
    marks = (one for one in events if one["name"].startswith(("begin ", "end ")) and "tts" in one)
    spent: dict[str, list[float]] = defaultdict(list)
    begun = 0.0
    for mark in sorted(marks, key=lambda one: one["ts"]):
        act, name = mark["name"].split()
        if act == "begin":
            begun = mark["tts"]
        else:
            spent[name].append((mark["tts"] - begun) / 1e3)
    return {name: float(np.median(times) if name == "rest" else min(times)) for name, times in spent.items()}


def walk(browser: Browser, page: Page, url: str, moments: int) -> tuple[list[float], list[str], int]:
    """Return the milliseconds of each moment of the film at an address, its caption, and the number of figures."""
    page.goto(url)
    page.wait_for_function(DECIDED, polling=100)
    page.wait_for_timeout(1500)
    if not page.evaluate(DRAWN):
        return [], [], 0
    slider = page.get_by_role("slider", name="Step").first
    browser.start_tracing(page=page, categories=["blink.user_timing"])
    says = slider.evaluate(WALK, [moments // 2, TURNS])
    found = least(json.loads(browser.stop_tracing())["traceEvents"])
    return [max(found[str(i)] - found["rest"], 0.0) for i in range(len(says))], says, page.evaluate(DRAWN)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=SAMPLES)
    parser.add_argument("--algorithms", nargs="+", default=families())
    parser.add_argument("--moments", type=int, default=MOMENTS)
    options = parser.parse_args()
    print(f"| method | {' | '.join(options.data)} |\n|{'---|' * (len(options.data) + 1)}")
    every: list[tuple[float, str]] = []
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="no-preference")
        page.add_init_script("localStorage.setItem('dpviz-premiere', 'seen')")  # the film must not play by itself
        page.set_default_timeout(120_000)
        for slug in options.algorithms:
            cells = []
            for data in options.data:
                times, says, figures = walk(browser, page, f"{url}/explore?v=1&d={data}&a={slug}", options.moments)
                cells.append(f"{np.median(times):.1f} / {max(times):.1f} ({figures})" if times else "-")
                every += zip(times, (f"{slug} on {data}: {words}" for words in says), strict=True)
            print(f"| {ALGORITHMS[slug].name} | {' | '.join(cells)} |", flush=True)
        browser.close()
    times = [ms for ms, _ in every]
    print(
        f"{len(times)} moments: median {np.median(times):.1f} ms, 95 of 100 within {np.quantile(times, 0.95):.1f} ms, "
        f"{sum(ms > GOAL for ms in times)} above {GOAL} ms; load {os.getloadavg()[0]:.1f}"
    )
    for ms, words in sorted(every, reverse=True)[:25]:
        print(f"{ms:.1f} ms: {words}")


if __name__ == "__main__":
    main()
