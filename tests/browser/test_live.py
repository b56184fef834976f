"""Check the page that runs methods in a tab: the same bits as here, no request once it is ready, and plain sentences.

The distribution comes from npm and PyPI (`.ci/pyodide`) once, into a folder of the user's cache; where it cannot be
had, these tests are skipped.
"""

import functools
import io
import json
import os
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from dpviz.algorithms import ALGORITHMS
from dpviz.trace import Trace
from lab import site
from lab.site import build, in_tab, live, watch
from lab.site.distribution import distribution
from tests.browser.conftest import PATIENCE
from tests.browser.phone import is_accessible
from tests.lab.site.test_in_tab import form
from tests.serving import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HELD = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dpviz-pyodide"
SLOW = 300_000  # milliseconds until Python has started on a busy machine


class Server(SimpleHTTPRequestHandler):
    asked = []  # the lines of all requests

    def log_message(self, form, *args):
        self.asked.append(form % args)


@pytest.fixture(scope="module")
def pyodide():
    try:
        distribution(HELD)
    except ValueError:
        script = [str(ROOT / ".ci" / "pyodide"), str(HELD)]
        done = subprocess.run(script, env={**os.environ, "PYTHON": sys.executable}, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"the Pyodide distribution cannot be had here: {done.stderr.strip()[-300:]}")
        distribution(HELD)
    return HELD


@pytest.fixture(scope="module")
def folder(pyodide, tmp_path_factory):
    """Build Watch and Run it here in a subfolder, so that their address has a path."""
    out = tmp_path_factory.mktemp("live") / "some" / "path"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "ALGORITHMS", {"nsm": ALGORITHMS["nsm"]})
        kept = tuple(one for one in site._SECTIONS if one[0] in ("Watch", "Words", "Limits", "Run it yourself"))
        patch.setattr(site, "_SECTIONS", kept)
        build(out, pyodide=pyodide)
    return out


@pytest.fixture(scope="module")
def served(folder):
    handler = functools.partial(Server, directory=folder.parents[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/path"
        server.shutdown()


@pytest.fixture
def visit(browser, served):
    """Open the page in a new context; fail if it contacts another server."""
    contexts, outside = [], []

    def visiting(address=f"{served}/{live.HOME}", *, before="", **look):
        context = browser.new_context(reduced_motion="reduce", **look)
        contexts.append(context)
        ours = (served, "blob:", "data:")
        context.on("request", lambda asked: asked.url.startswith(ours) or outside.append(asked.url))
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.add_init_script(before)
        page.goto(address)
        return page

    yield visiting
    for context in contexts:
        context.close()
    assert outside == []


def loaded(page):
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("Python is ready", timeout=SLOW)


def ran(page, method):
    """Run a method; return the trace that the page offers to save."""
    page.get_by_label("Method").select_option(method)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".found h2").first).to_contain_text(ALGORITHMS[method].name)
    expect(page.locator(".status output")).to_contain_text("Ran in")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this run").click()
    return Trace.from_json(Path(saved.value.path()).read_text())


def test_a_tab_finds_the_same_bits_draws_the_film_and_then_asks_nobody(visit):
    page, asked, wrong = visit(), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    loaded(page)
    page.context.on("request", lambda one: one.url.startswith("http") and asked.append(one.url))
    page.context.set_offline(True)
    for method in ("pe-means", "dpm", "nsm"):
        same = json.loads(in_tab.run(form(method, n_clusters="5", epsilon="1"), lambda made, planned: None))
        here, there = Trace.from_json(same["trace"]), ran(page, method)
        assert here.cluster_centers.tobytes() == there.cluster_centers.tobytes(), method
        assert np.array_equal(here.seed, there.seed) and len(here.ledger) == len(there.ledger)
        expect(page.locator(".found .verdict")).to_have_text(f"Released: {same['released']}")
        expect(page.locator(".found")).to_contain_text(same["secret"])
        expect(page.locator(".found .plane canvas").first).to_be_visible()
    page.get_by_role("button", name="First step").click()
    expect(page.locator(".found .say output")).not_to_be_empty()
    page.get_by_label("Privacy budget ε").fill("-1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".status output")).to_contain_text("Privacy budget ε must be above 0; got -1")
    page.get_by_label("Privacy budget ε").fill("1")
    page.get_by_label("Data").select_option("tiny")
    ran(page, "dpm")
    page.get_by_role("button", name="Again with 20 other seeds").click()
    expect(page.locator(".status output")).to_contain_text("of 20 runs with other seeds")
    assert asked == [] and wrong == []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    is_accessible(page)
    page.get_by_label("Data").select_option("digits")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Load Python here")).to_be_visible()


def opened(page, name, content):
    """Open an own file; return when its columns are there or it was refused."""
    page.get_by_label("Data").select_option("file:")
    page.get_by_label("Open a file of public rows").set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": content}]
    )
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def rows(n=500):
    """Return a table of two groups, whose cells occur nowhere else."""
    draws = np.random.default_rng(0).normal(size=(n, 2)) * 0.3 + np.arange(n)[:, None] % 2 * 4
    return "height,weight,name\n" + "".join(f"{7 + a:.9f},{5 + b:.9f},Anna\n" for a, b in draws)


def test_an_own_file_is_opened_offline_and_runs_as_it_does_here(visit):
    page, asked, wrong = visit(), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    expect(page.get_by_text("read by this tab and sent nowhere")).to_be_hidden()
    loaded(page)
    page.context.on("request", lambda one: one.url.startswith("http") and asked.append(one.url))
    page.context.set_offline(True)
    opened(page, "people.csv", rows().encode())
    expect(page.get_by_text("read by this tab and sent nowhere")).to_be_visible()
    expect(page.locator(".status output")).to_contain_text("people.csv is open in this tab: 500 rows.")
    expect(page.get_by_text("It holds text.")).to_be_visible()
    page.get_by_label("Low of height").fill("5")
    page.get_by_label("High of height").fill("14")
    page.get_by_label("Centers k").fill("2")
    there = ran(page, "nsm")
    same = ALGORITHMS["nsm"](**there.parameters).run(
        np.loadtxt(io.StringIO(rows()), delimiter=",", skiprows=1, usecols=(0, 1)), domain=there.domain, seed=0
    )
    assert same.cluster_centers.tobytes() == there.cluster_centers.tobytes()
    assert there.domain.columns == ("height", "weight") and there.domain.low[0] == 5
    expect(page.locator(".found")).to_contain_text("because you said that these rows are public: ")
    page.get_by_role("button", name="Again with 20 other seeds").click()
    expect(page.locator(".status output")).to_contain_text("of 20 runs with other seeds")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    is_accessible(page)
    said = page.locator(".status output")
    for name, content, words in (
        ("words.csv", b"name\nAnna\nBen\n", "words.csv: no column can be used for clustering; column 1 was refused"),
        ("picture.png", bytes(range(256)) * 9, "picture.png: "),
        ("none.csv", b"", "none.csv: the file is empty"),
    ):
        opened(page, name, content)
        expect(said).to_contain_text(words)
        expect(page.locator(".columns table")).to_have_count(0)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(said).to_have_text("Open a file first.")
    page.get_by_label("Open a file of public rows").evaluate(
        """(input) => {
        const held = new DataTransfer(), block = new Uint8Array(1e8);
        held.items.add(new File(Array(5).fill(block), "large.csv"));
        input.closest("label").dispatchEvent(new DragEvent("drop", { dataTransfer: held, bubbles: true }));
        }"""
    )
    expect(said).to_contain_text("large.csv: the file is larger than 300 MB; drop a smaller one.")
    assert asked == [] and wrong == []


ASKING = {  # ways to ask a host for something, and to run a text that could
    "fetch": "await fetch(to)",
    "XMLHttpRequest": "await settled(new XMLHttpRequest(), (one) => { one.open('GET', to); one.send(); })",
    "EventSource": "await settled(new EventSource(to))",
    "WebSocket": "await settled(new WebSocket(to.replace('http', 'ws')))",
    "import": "await import(to)",
    "Worker": "await settled(new Worker(to))",
    "eval": "eval('1')",
}


def refused(place, to):
    """Return the ways that fail in a page or a worker."""
    ways = ", ".join(f"{name}: async () => {{ {way}; }}" for name, way in ASKING.items())
    return place.evaluate(
        f"""async (to) => {{
        const settled = (one, act = () => {{}}) => new Promise((yes, no) => {{
            Object.assign(one, {{ onload: yes, onopen: yes, onmessage: yes, onerror: no }});
            act(one);
        }});
        const found = [];
        for (const [name, way] of Object.entries({{ {ways} }})) await way().catch(() => found.push(name));
        return found;
        }}""",
        to,
    )


def test_once_python_has_its_files_neither_page_nor_worker_can_ask_even_its_own_host(visit, served):
    page = visit()
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("Importing dpviz", timeout=SLOW)
    before = list(Server.asked)
    for place in (page, page.workers[0]):
        assert refused(place, f"{served}/words.html") == list(ASKING)
    assert Server.asked == before and any("dpviz.zip" in line for line in before)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_page_opens_wide_and_narrow(visit, mode):
    page = visit(color_scheme=mode)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        expect(page.get_by_role("button", name="Load Python here")).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        is_accessible(page)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("delete globalThis.WebAssembly", "WebAssembly is missing or switched off in this browser"),
        ("delete globalThis.Worker", "This browser has no web workers"),
    ],
)
def test_a_browser_that_cannot_run_python_is_told_so_and_loads_nothing(visit, before, words):
    page, asked = visit(before=before), []
    page.on("request", lambda one: asked.append(one.url))
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text(words)
    assert asked == []


def test_a_changed_byte_and_a_missing_file_are_named_and_python_does_not_start(visit, folder):
    path = folder / "python" / "dpviz.zip"
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        page = visit()
        page.get_by_role("button", name="Load Python here").click()
        said = page.locator(".status output")
        expect(said).to_contain_text("dpviz.zip is not the file that this site was built with", timeout=PATIENCE)
        path.unlink()
        page.get_by_role("button", name="Load Python here").click()
        expect(said).to_contain_text("dpviz.zip could not be fetched from this site (error 404)", timeout=PATIENCE)
    finally:
        path.write_bytes(whole)


def test_offline_before_python_was_loaded_is_said(visit):
    page = visit()
    page.context.set_offline(True)
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("could not be fetched from this site: are you online?")


def test_from_a_folder_the_page_says_what_it_needs(browser, folder):
    page = browser.new_page()
    page.goto((folder / live.HOME).as_uri())
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("open this page from a web server")
    page.close()
