"""Compare runs in a browser's tab with runs here: the same centers bit for bit, or how far apart, and how much slower.

`dpviz site SITE --live --pyodide FOLDER` makes the site first (`.ci/pyodide FOLDER` gets the distribution). Every
private method runs once on each of six samples, with seed 0 and the sample's k, and on made-up groups of 10,000 rows
and 8 columns; a trace of KMeans holds no centers to compare. About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Blobs, load
from dpviz.runs.single import replay
from dpviz.trace import Trace

SAMPLES = ("town", "overlap", "minority", "ring", "iris", "wine")
METHODS = [slug for slug, cls in ALGORITHMS.items() if cls.notion.private]
LARGE = "blobs:"  # made-up groups of 10,000 rows and 8 columns
_BLOBS = Blobs(n_rows=10_000, n_features=8)
_PATIENCE = 600_000  # milliseconds
ASK = """async (form) => {
    const told = [], post = self.postMessage;
    self.postMessage = (message) => message.found && told.push(message.found);
    await self.onmessage({ data: { ask: "run", form } });
    self.postMessage = post;
    const { trace, seconds, refused } = told[0];
    return { trace, seconds, refused };
}"""


class _Silent(SimpleHTTPRequestHandler):
    sent = 0

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Count the bytes that are sent."""
        content = source.read()
        _Silent.sent += len(content)
        outputfile.write(content)


@contextmanager
def opened(site: Path, width: int, height: int) -> Iterator[tuple[Page, float]]:
    """Yield the page with Python ready, and the seconds that this took."""
    handler = functools.partial(_Silent, directory=site)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"http://127.0.0.1:{server.server_port}/watch/run.html")
        page.get_by_role("button", name="Load Python here").click()
        began = time.perf_counter()
        expect(page.locator(".status output")).to_contain_text("Python is ready", timeout=_PATIENCE)
        yield page, time.perf_counter() - began
        browser.close()
        server.shutdown()


def form(method: str, data: str, k: int) -> dict[str, Any]:
    """Return what the page sends for a run."""
    fields = ALGORITHMS[method].__dataclass_fields__
    values = {"n_clusters": str(k)} if "n_clusters" in fields else {}
    blobs = {name: str(getattr(_BLOBS, name)) for name in ("n_rows", "n_features")}
    return {"data": data, "method": method, "seed": "0", "values": values, "blobs": blobs}


def compared(page: Page, method: str, name: str) -> tuple[str, float]:
    """Return how far the centers lie apart, in half-widths, and the tab's time over the time here.

    The distance is "=" if no bit differs.
    """
    data = _BLOBS.make() if name == LARGE else load(name)
    asked = form(method, name, data.n_clusters)
    there = page.workers[0].evaluate(ASK, asked)
    if there.get("refused"):
        return "refused", float("nan")
    done = replay(data, ALGORITHMS[method](**{key: int(text) for key, text in asked["values"].items()}), 0)
    here, tab = done.trace.cluster_centers, Trace.from_json(there["trace"]).cluster_centers
    ratio = there["seconds"] / (done.seconds or np.nan)
    if here.tobytes() == tab.tobytes():
        return "=", ratio
    if here.shape != tab.shape:
        return f"{len(tab)}, not {len(here)} centers", ratio
    return f"{np.abs((here - tab) / data.domain.half_width).max():.0e}", ratio


def main() -> None:
    """Print a table of all methods and data, and what the start took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--data", nargs="+", default=[*SAMPLES, LARGE])
    parser.add_argument("--phone", action="store_true", help="in a window of 390 x 844")
    arguments = parser.parse_args()
    with opened(arguments.site, *((390, 844) if arguments.phone else (1280, 800))) as (page, seconds):
        print(f"{_Silent.sent / 1e6:.1f} MB, ready after {seconds:.0f} s\n")
        print(f"| method | {' | '.join(arguments.data)} | times as long, median |")
        print(f"|---{'|---' * len(arguments.data)}|---|", flush=True)
        for method in arguments.methods:
            found = [compared(page, method, name) for name in arguments.data]
            ratio = np.nanmedian([one for _, one in found])
            print(f"| {method} | {' | '.join(far for far, _ in found)} | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
