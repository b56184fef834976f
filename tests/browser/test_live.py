"""Check the page that runs methods in a tab: the same bits as here, no request once it is ready, and plain sentences.

The distribution comes from npm and PyPI (`.ci/pyodide`) once, into a folder of the user's cache; where it cannot be
had, these tests are skipped.
"""

import functools
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.trace import Trace
from lab import site
from lab.site import build, in_tab, live, watch
from lab.site.distribution import distribution
from lab.site.shell import text_of
from tests.browser.conftest import CHROMIUM, FLAGS, PATIENCE
from tests.browser.phone import is_accessible
from tests.lab.site.test_in_tab import form
from tests.serving import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HELD = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dpviz-pyodide"
SLOW = 150_000  # milliseconds until Python has started, or has run a method many times, on a busy machine


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
        patch.setattr(live, "text_of", lambda name: text_of(name) + TRIED * (name == "in_tab/__init__.py"))
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


def fits(page):
    """Check that a wide and a narrow window show the page whole, and that Axe finds no violation."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    is_accessible(page)


def ran(page, method):
    """Run a method; return the trace that the page offers to save."""
    page.get_by_label("Method").select_option(method)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".status output")).to_contain_text("Ran in")
    expect(page.locator(".found h2", has_text=ALGORITHMS[method].name)).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save this run").click()
    return Trace.from_json(Path(saved.value.path()).read_text())


# what a browser cannot do where it keeps nothing, and what the page then says
INSECURE = "Object.defineProperty(self, 'isSecureContext', { value: false })", "only over https or from this computer"
FULL = "Cache.prototype.put = async () => { throw new DOMException('', 'QuotaExceededError'); }", "keeps nothing"


def nothing_is_kept(page, words):
    expect(page.locator(".status output")).to_contain_text("Without a network it will not open again: ")
    expect(page.locator(".status output")).to_contain_text(words)


def test_a_tab_finds_the_same_bits_draws_the_film_and_then_asks_nobody_even_where_nothing_is_kept(visit):
    page, asked, wrong = visit(before=INSECURE[0]), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    loaded(page)
    nothing_is_kept(page, INSECURE[1])
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
    compares_two_methods(page)
    fits(page)
    page.get_by_label("Compare with").select_option("")
    runs_on_painted_people(page)
    assert asked == [] and wrong == []
    page.get_by_label("Data").select_option("digits")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Load Python here")).to_be_visible()


def runs_on_painted_people(page):
    """Check that people are painted by pointer, that a method runs on them as it does here, and the dark mode."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.get_by_label("Data").select_option("painted:")
    canvas, said = page.locator(".dpviz-paint canvas"), page.locator(".status output")
    expect(page.locator(".dpviz-paint output")).to_have_text("0 of 300 people. At least 10 people are needed.")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(said).to_have_text("Painted: at least 10 people are needed; got 0.")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for x, y in ((0.2, 0.2), (0.7, 0.3), (0.5, 0.8)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + (x + 0.08) * box["width"], box["y"] + y * box["height"])
        page.mouse.up()
    expect(page.locator(".dpviz-paint output")).to_contain_text("people in 3 groups")
    expect(page.get_by_label("Centers k")).to_have_value("3")
    there = ran(page, "dp-lloyd")
    people = load(there.dataset_id)
    same = ALGORITHMS["dp-lloyd"](**there.parameters).run(people.X, domain=people.domain, seed=0)
    assert same.cluster_centers.tobytes() == there.cluster_centers.tobytes() and len(same.cluster_centers) == 3
    fits(page)


def compares_two_methods(page):
    """Check that two methods run with one k, ε and seed, that one bar moves both films, and what differs is listed."""
    page.get_by_label("Compare with").select_option("nsm")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".status output")).to_have_text("Ran both.")
    expect(page.locator(".found h2")).to_have_text("A: DPM beside B: NSM (ours)")
    expect(page.locator(".found .verdict")).to_have_count(2)
    planes, says = page.locator(".found .panels canvas"), page.locator(".found .say output")
    expect(planes).to_have_count(2)
    ends = [planes.nth(i).screenshot() for i in range(2)]
    page.get_by_role("button", name="First step").click()
    expect(says).to_contain_text(re.compile("^A: .*; B: "))
    for i in range(2):
        assert planes.nth(i).screenshot() != ends[i]
    page.get_by_role("button", name="Last step").click()
    assert [planes.nth(i).screenshot() for i in range(2)] == ends
    assert "What differs" in kept_files(page, "Comparison on one page")["Comparison on one page"]


def opened(page, name, content, *, private=False):
    """Open an own file; return when its columns are there or it was refused."""
    page.get_by_label("Data").select_option("file:")
    page.get_by_label("Private: of the rows" if private else "Public: the rows are").check()
    if private:
        page.get_by_label("The first line holds the names").check()
    page.get_by_label("Open the file").set_input_files(
        files=[{"name": name, "mimeType": "text/csv", "buffer": content}]
    )
    expect(page.locator(".go")).to_be_enabled()


def rows(n=500):
    """Return a table of two groups, whose cells occur nowhere else."""
    draws = np.random.default_rng(0).normal(size=(n, 2)) * 0.3 + np.arange(n)[:, None] % 2 * 4
    return "height,weight,name\n" + "".join(f"{7 + a:.9f},{5 + b:.9f},Anna\n" for a, b in draws)


def reads_released_points_again(page):
    """Check that a slider shows other numbers of clusters of a run that released points, and that nothing runs."""
    ran(page, "eugkm")
    expect(page.locator(".found article")).to_have_count(2)
    expect(page.locator(".found")).to_contain_text("Any k reads the same ")
    page.get_by_label("Any k afterwards").fill("4")
    expect(page.locator(".found article")).to_have_count(4)
    expect(page.locator(".status output")).to_have_text("Nothing was run or spent.")
    expect(page.locator(".found .clusters")).to_contain_text("No ± is known for these centers")


def test_an_own_file_is_opened_offline_and_runs_as_it_does_here_even_where_nothing_is_kept(visit):
    page, asked, wrong = visit(before=FULL[0]), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    expect(page.get_by_text("read by this tab and sent nowhere")).to_be_hidden()
    loaded(page)
    nothing_is_kept(page, FULL[1])
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
    expect(page.locator(".found article")).to_have_count(2)
    assert "<article>" in kept_files(page, "Clusters as CSV", "Clusters on one page")["Clusters on one page"]
    page.get_by_role("button", name="Again with 20 other seeds").click()
    expect(page.locator(".status output")).to_contain_text("of 20 runs with other seeds")
    reads_released_points_again(page)
    fits(page)
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
    page.get_by_label("Open the file").evaluate(
        """(input) => {
        const held = new DataTransfer(), block = new Uint8Array(1e8);
        held.items.add(new File(Array(5).fill(block), "large.csv"));
        input.closest("label").dispatchEvent(new DragEvent("drop", { dataTransfer: held, bubbles: true }));
        }"""
    )
    expect(said).to_contain_text("large.csv: the file is larger than 300 MB; drop a smaller one.")
    assert asked == [] and wrong == []


def test_curves_are_drawn_on_an_own_public_file_and_refused_on_a_private_one(visit, served):
    page = visit(f"{served}/{live.HOME}?data=file:#trade-off")
    loaded(page)
    page.context.set_offline(True)
    said, draw = page.locator(".status output"), page.get_by_role("button", name="Draw the curves")
    page.get_by_label("Private: of the rows").check()
    expect(page.get_by_label("Open the file")).to_be_visible()
    draw.click()
    expect(said).to_contain_text("There is no trade-off on a private file: each ε would be a run that costs privacy.")
    opened(page, "people.csv", rows().encode())
    page.get_by_label("Centers k").fill("2")
    page.locator(".grid [type=checkbox]").evaluate_all("(all) => all.forEach((one) => { one.checked = false; })")
    draw.click()
    expect(said).to_have_text("Tick a method, and write a value of ε.")
    for method in ("dp-lloyd", "dpm"):
        page.locator(f".grid [value={method}]").check()
    page.get_by_label("Values of ε").fill("0.5, -1, 4")
    page.get_by_label("Runs at each ε").fill("3")
    draw.click()
    expect(said).to_contain_text("Computed 4 of 6 points in ")
    expect(said).to_contain_text("Privacy budget ε must be above 0; got -1")
    expect(page.locator(".curves .light.chart > svg")).to_be_visible()
    names = [ALGORITHMS["dp-lloyd"].name, f"{ALGORITHMS['dpm'].name}, then 2 centers"]
    assert page.locator(".curves tbody th").all_inner_texts() == names
    assert page.locator(".curves tbody td").count() == 4
    expect(page.locator(".curves")).to_contain_text("Median loss × KMeans' over 3 runs with known seeds")
    fits(page)
    page.get_by_label("Values of ε").fill("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20")
    page.get_by_label("Runs at each ε").fill("20")
    draw.click()
    expect(said).to_contain_text("s left")
    page.get_by_role("button", name="Stop").click()
    expect(said).to_contain_text("Stopped after ")
    ran(page, "dpm")


def declared(page, name, content):
    """Open a private file, declare it, and press the button that shows the price of NSM on it."""
    opened(page, name, content, private=True)
    expect(page.locator(".status output")).to_contain_text(f"Only the first line of {name} was read.")
    page.get_by_role("checkbox", name="name", exact=True).uncheck()
    for label, text in {
        "Low of height": "0", "High of height": "20", "Low of weight": "0", "High of weight": "20",
        "Number of rows, rounded": "500", "Centers k": "2",
    }.items():  # fmt: skip
        page.get_by_label(label).fill(text)
    page.get_by_label("Method").select_option("nsm")
    page.get_by_label("Centers k").fill("2")
    page.get_by_role("button", name="Show the price").click()


def priced(page, name, content):
    """Return the price of NSM on a private file, which is offered."""
    declared(page, name, content)
    expect(page.locator(".price h2")).to_have_text("The price of this run")
    return page.locator(".price").inner_text()


def spent(page):
    page.get_by_role("button", name="Spend and draw").click()
    expect(page.locator(".status output")).to_contain_text("Drawn.")
    return page.locator(".status output").text_content()


# what a tab may do with its storage and its worker, changed by a test while the page is open
CHANGED = """
const put = IDBObjectStore.prototype.put, post = Worker.prototype.postMessage;
IDBObjectStore.prototype.put = function (...given) {
    if (globalThis.full) throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, given);
};
Worker.prototype.postMessage = function (message, ...given) {
    if (top.dead && message.ask === "drawn") return; // the worker starts in a frame of the page
    post.call(this, message, ...given);
};
"""
STORED = """async () => {
    const found = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie,
        ...await caches.keys()];
    for (const { name } of await indexedDB.databases()) {
        const base = await new Promise((done) => {
            const asked = indexedDB.open(name);
            asked.onsuccess = () => done(asked.result);
        });
        for (const place of base.objectStoreNames) for (const what of ["getAllKeys", "getAll"])
            found.push(JSON.stringify(await new Promise((done) => {
                const asked = base.transaction(place).objectStore(place)[what]();
                asked.onsuccess = () => done(asked.result);
            })));
        base.close();
    }
    return found.join(" ");
}"""


WATCHED = """() => {
    const draw = crypto.getRandomValues.bind(crypto);
    self.filled = 0;
    crypto.getRandomValues = (view) => {
        self.filled += view.byteLength;
        return draw(view);
    };
}"""


def kept_files(page, *links):
    """Save what the page offers behind some links; return the texts."""
    texts = {}
    for link in links:
        with page.expect_download() as saved:
            page.get_by_role("link", name=link).click()
        texts[link] = Path(saved.value.path()).read_text()
    return texts


def is_refused_where_nothing_is_kept(page):
    """Check that with full storage not even the choice of a file is offered."""
    page.evaluate("() => { globalThis.full = true; }")
    page.get_by_label("Data").select_option("file:")
    page.get_by_label("Private: of the rows").click()
    said = page.locator(".status output")
    expect(said).to_contain_text("A private file is not opened, because its runs could not be counted")
    expect(page.get_by_label("Open the file")).to_be_hidden()
    page.evaluate("() => { globalThis.full = false; }")


# Press Stop as soon as a rehearsal has a headline, because on a fast machine the rest takes a second.
STOPPED = """() => new MutationObserver((_, watch) => {
  if (!document.querySelector(".rehearsal h2")?.textContent.includes("in the worst town")) return;
  watch.disconnect();
  document.querySelector("button.stop").click();
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


def rehearses(page, content):
    """Check that a rehearsal can be stopped between its parts and goes on, and that it asks for no count."""
    declared(page, "people.csv", content)
    page.get_by_role("button", name="Not yet").click()
    rehearse, said = page.get_by_role("button", name="Rehearse"), page.locator(".status output")
    page.evaluate(STOPPED)
    rehearse.click()
    expect(page.locator(".rehearsal h2")).to_contain_text("in the worst town, ")
    expect(said).to_contain_text("Nothing was read or spent.")
    expect(said).to_contain_text("Rehearse goes on from there.")
    rehearse.click()
    expect(said).to_have_text("Rehearsed 60 runs. Nothing was read or spent.", timeout=SLOW)
    expect(page.locator(".rehearsal tbody tr")).to_have_count(5)
    page.get_by_text("Rehearse a town like yours, too").click()
    page.get_by_label("Shares of your groups").fill("70, 20, 10")
    rehearse.click()
    expect(said).to_have_text("Your town needs a share for each of its 2 groups; got 3.")
    page.get_by_label("Shares of your groups").fill("")
    fits(page)


def runs_once(page, content):
    """Check a first run: its price, a count that cannot be written, what is released, and the saved files."""
    price, said = priced(page, "people.csv", content), page.locator(".status output")
    assert "Before: Runs in this browser on this file: 0, together nothing." in price
    assert "Afterwards: Runs in this browser on this file: 1, together ε = 1, δ = 1 in 50,000" in price
    expect(page.locator(".seeds")).to_be_hidden()
    expect(page.locator(".again")).to_be_hidden()
    assert page.locator("[name=method] option[value=kmeans]").is_disabled()
    is_accessible(page)
    page.evaluate("() => { globalThis.full = true; }")
    page.get_by_role("button", name="Spend and draw").click()
    expect(said).to_contain_text("could not write its count: is its storage full? Nothing was drawn or spent.")
    page.evaluate("() => { globalThis.full = false; }")
    assert "file: 0, together nothing" in priced(page, "people.csv", content)
    page.workers[0].evaluate(WATCHED)
    assert spent(page) == (
        "Drawn. Runs in this browser on this file: 1, together ε = 1, δ = 1 in 50,000 for one row added or removed."
    )
    assert page.workers[0].evaluate("() => self.filled") > 1_000  # bytes of noise from the browser's generator
    expect(page.locator(".found .badge").first).to_have_text("PRIVATE RELEASE")
    expect(page.locator(".found article")).to_have_count(2)
    expect(page.locator(".found")).to_contain_text("Noise of a center: height: rehearsed ±")
    expect(page.locator(".found .plane canvas").first).to_be_visible()
    expect(page.locator(".found .label")).to_contain_text("nobody else counts")
    fits(page)
    texts = kept_files(page, "Save this release", "Privacy label", "Clusters as CSV", "Clusters on one page")
    assert not any(cell in text for cell in (*cells_of(content), "people.csv") for text in texts.values())
    trace = Trace.from_json(texts["Save this release"])
    assert trace.seed is None and trace.sampler == "exact samplers of dpviz itself"


def shares_one_count(page, other, content):
    """Check that of two tabs that know of one run, the second to spend must look again."""
    priced(page, "people.csv", content)
    assert "Before: Runs in this browser on this file: 1, " in priced(other, "copy.csv", content)
    assert "on this file: 2, together ε = 1.4" in spent(other)
    page.get_by_role("button", name="Spend and draw").click()
    expect(page.locator(".price")).to_contain_text("Before: Runs in this browser on this file: 2, ")


def counts_what_was_never_drawn(page, other, content):
    """Check that a tab closed between count and draw keeps others from drawing until then, and refunds nothing."""
    priced(other, "people.csv", content)
    other.evaluate("() => { globalThis.dead = true; }")
    other.get_by_role("button", name="Spend and draw").click()
    expect(other.locator(".status output")).to_contain_text("Counted; drawing")
    page.get_by_role("button", name="Spend and draw").click()
    expect(page.locator(".status output")).to_contain_text("Another tab is drawing a private run; wait for it.")
    other.close()
    assert "Before: Runs in this browser on this file: 3, " in priced(page, "people.csv", content)


def keeps_its_count(page, content):
    """Check that a kept count names no byte, and that adding it to another file adds claims alone."""

    def add(text):
        held = {"name": "count.json", "mimeType": "application/json", "buffer": text.encode()}
        page.get_by_label("Add a kept count").set_input_files(files=[held])

    with page.expect_download() as saved:
        page.get_by_role("button", name="Keep this count as a file").click()
    kept = Path(saved.value.path()).read_text()
    assert kept.count('"plan"') == 3 and not any(word in kept for word in (*cells_of(content), "people.csv"))
    changed = content.replace(b"Anna", b"Bert", 1)
    assert "Before: Runs in this browser on this file: 0, " in priced(page, "people.csv", changed)
    for _ in range(2):
        add(kept)
        expect(page.locator(".price")).to_contain_text("Before: Runs in this browser on this file: 3, ")
    add(kept.replace('mu": ', 'mu": -'))
    expect(page.locator(".status output")).to_contain_text("This is not a count that a browser kept for dpviz.")


def compares_what_is_counted(page, content):
    """Check that two releases of this tab are put side by side, and that the count stays as it is."""
    expect(page.locator(".paid")).to_be_hidden()  # it has one release of this file
    priced(page, "people.csv", content)
    assert "on this file: 4, together" in spent(page)
    expect(page.locator(".other")).to_be_hidden()
    page.get_by_role("button", name="Compare these two").click()
    expect(page.locator(".status output")).to_have_text("Nothing was run or spent.")
    expect(page.locator(".found .badge")).to_have_text(["PRIVATE RELEASE"] * 2)
    expect(page.locator(".found .panels canvas")).to_have_count(2)
    is_accessible(page)
    assert "Before: Runs in this browser on this file: 4, " in priced(page, "people.csv", content)


def stays_private_and_paid(page, content):
    """Check that private files stay private and public ones public, and that stopping a run refunds nothing."""
    said = page.locator(".status output")
    opened(page, "other.csv", content + b"1,2,Eve\n")
    expect(said).to_contain_text("other.csv is open in this tab: 501 rows.")
    declared(page, "other.csv", content + b"1,2,Eve\n")
    expect(said).to_have_text("You already declared this file public in this browser; that is final.")
    opened(page, "people.csv", content)
    expect(said).to_have_text("You already declared this file private in this browser; that is final.")
    expect(page.locator(".columns table")).to_have_count(0)
    priced(page, "people.csv", content)
    page.evaluate("() => { globalThis.dead = true; }")
    page.get_by_role("button", name="Spend and draw").click()
    expect(said).to_contain_text("Counted; drawing")
    page.get_by_role("button", name="Stop").click()
    expect(said).to_contain_text("Stopped. Load Python again for another run. The run that was counted stays counted")


def cells_of(content):
    return content.decode().split("\n")[1].split(",")[:2]


def test_a_private_file_is_counted_before_it_is_drawn_in_all_tabs_and_stays_in_the_tab(browser, served, tmp_path):
    content, wrong, asked, home = rows().encode(), [], [], tmp_path / "profile"
    context = browser.browser_type.launch_persistent_context(
        home, executable_path=CHROMIUM, args=FLAGS, reduced_motion="reduce", accept_downloads=True
    )
    page, other = context.new_page(), context.new_page()
    for one in (page, other):
        one.set_default_timeout(PATIENCE)
        one.on("pageerror", lambda error: wrong.append(str(error)))
        one.on("console", lambda said: wrong.append(said.text))
        one.add_init_script(CHANGED)
        one.goto(f"{served}/{live.HOME}")
        loaded(one)
    before = list(Server.asked)
    context.on("request", lambda one: one.url.startswith("http") and asked.append(one.url))
    is_refused_where_nothing_is_kept(page)
    context.set_offline(True)
    rehearses(page, content)
    runs_once(page, content)
    shares_one_count(page, other, content)
    counts_what_was_never_drawn(page, other, content)
    keeps_its_count(page, content)
    compares_what_is_counted(page, content)
    stays_private_and_paid(page, content)
    stored, cells = page.evaluate(STORED), cells_of(content)
    assert "Gaussian" in stored and "hmac" in stored
    assert not any(one in stored for one in (*cells, "people.csv", hashlib.sha256(content).hexdigest()))
    assert Server.asked == before and asked == [] and wrong == []
    context.close()
    for path in filter(Path.is_file, home.rglob("*")):
        held = path.read_bytes()
        assert not any(cell.encode(code) in held for cell in cells for code in ("utf-8", "utf-16-le")), path


ASKING = {  # ways to ask a host for something, and to run a text that could
    "fetch": "await fetch(to)",
    "XMLHttpRequest": "await settled(new XMLHttpRequest(), (one) => { one.open('GET', to); one.send(); })",
    "EventSource": "await settled(new EventSource(to))",
    "WebSocket": "await settled(new WebSocket(to.replace('http', 'ws')))",
    "import": "await import(to)",
    "Worker": "await settled(new Worker(to))",
    "service worker": "await (await navigator.serviceWorker.getRegistration(to)).update()",
    "eval": "eval('1')",
}


def refused(place, to):
    """Return the ways that fail in a page or a worker."""
    ways = ", ".join(f"'{name}': async () => {{ {way}; }}" for name, way in ASKING.items())
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


def test_python_starts_while_files_are_kept_but_can_ask_no_host_and_is_not_ready_until_the_page_cannot(visit, served):
    page = visit(before="Cache.prototype.put = () => new Promise(() => {})")
    with page.expect_event("worker"):
        page.get_by_role("button", name="Load Python here").click()
    before = list(Server.asked)
    assert refused(page.workers[0], f"{served}/words.html") == list(ASKING)
    assert Server.asked == before
    assert refused(page, f"{served}/words.html") != list(ASKING)
    expect(page.locator(".status output")).to_contain_text("Keeping the files")
    expect(page.locator("form.run")).to_be_hidden()
    assert not page.evaluate("() => 'serviceWorker' in document.querySelector('iframe').contentWindow.navigator")


TRIED = """

def tried(asked):
    import importlib, json, socket, urllib.request
    import js
    from pyodide.code import run_js
    from pyodide.http import open_url, pyfetch
    to = json.loads(asked)["to"]
    ways = {
        "from js import fetch": lambda: importlib.import_module("js").fetch.call,
        **{name: (lambda name=name: getattr(js, name).new) for name in (
            "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "Worker", "BroadcastChannel", "FontFace",
        )},
        **{name: (lambda name=name: getattr(js, name).open) for name in ("caches", "indexedDB")},
        "importScripts": lambda: js.importScripts(to),
        "storage": lambda: js.navigator.storage.getDirectory,
        "open_url": lambda: open_url(to),
        "pyfetch": lambda: pyfetch(to).send(None),
        "run_js": lambda: run_js("1"),
        "urlopen": lambda: urllib.request.urlopen(to, timeout=2),
        "socket": lambda: socket.create_connection(("127.0.0.1", int(json.loads(asked)["port"])), 2),
        "the class of self": lambda: js.Object.getPrototypeOf(js.Object.getPrototypeOf(js.self)).fetch.call,
    }
    left = []
    for name, way in ways.items():
        try:
            way()
        except BaseException:
            continue
        left.append(name)
    return json.dumps({"left": left, "tried": len(ways)})
"""
ASK = """async (form) => {
    const told = [], post = self.postMessage;
    self.postMessage = (message) => told.push(message);
    await new Promise((go) => setTimeout(go, 50)); // until then the browser's debugger allows eval
    await self.onmessage({ data: { ask: "tried", form } });
    self.postMessage = post;
    return told[0].found;
}"""


def test_once_python_has_its_files_the_tab_has_lost_every_way_out_in_javascript_and_python(visit, served):
    page = visit()
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("Starting Python", timeout=SLOW)
    before, worker = list(Server.asked), page.workers[0]
    assert any("dpviz.zip" in line for line in before)
    for place in (page, worker):
        assert refused(place, f"{served}/words.html") == list(ASKING)
    expect(page.locator(".status output")).to_contain_text("Python is ready", timeout=SLOW)
    assert refused(worker, f"{served}/words.html") == list(ASKING)
    ways = re.search(r"const WAYS = (\[.*?\]);", text_of("live_worker.js"), re.DOTALL)[1]
    keepers = re.search(r"const KEEPERS = (\[.*?\]);", text_of("live_worker.js"))[1]
    assert worker.evaluate(f"() => {ways}.filter((name) => self[name] !== undefined)") == []
    assert worker.evaluate(f"() => {keepers}.filter((name) => name in navigator)") == []
    port = int(re.search(r":(\d+)/", served)[1])
    assert worker.evaluate(ASK, {"to": f"{served}/words.html", "port": port}) == {"left": [], "tried": 18}
    assert Server.asked == before


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


# an extension that leaves the frame of Python empty, lets it open an error page, or holds it back, as `broken` says
BLOCKING = """
if (self === top) {
    const frames = HTMLIFrameElement.prototype, { set } = Object.getOwnPropertyDescriptor(frames, "srcdoc");
    const append = Element.prototype.append;
    self.broken = "empty";
    Object.defineProperty(frames, "srcdoc", { set(text) {
        if (self.broken === "error") this.src = "blocked.html";
        else if (self.broken !== "empty") set.call(this, text);
    } });
    Element.prototype.append = function (...all) {
        if (self.broken === "held" && all[0]?.tagName === "IFRAME") self.release = () => append.apply(this, all);
        else append.apply(this, all);
    };
}
"""


def test_a_frame_that_the_browser_does_not_open_is_said_and_one_that_comes_late_starts_python(visit):
    page, wrong = visit(before=BLOCKING), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.route("**/blocked.html", lambda route: route.abort())
    said, load_ = page.locator(".status output"), page.get_by_role("button", name="Load Python here")
    unopened = "has not opened the hidden frame of this page in which Python starts, so nothing runs: an extension"
    for broken in ("empty", "error"):
        page.evaluate("(broken) => { self.broken = broken; }", broken)
        load_.click()
        expect(said).to_contain_text(unopened, timeout=SLOW)
        expect(load_).to_be_visible()
    page.evaluate("() => { self.broken = 'held'; }")
    load_.click()
    expect(load_).to_be_hidden()
    expect(said).to_contain_text(unopened, timeout=SLOW)
    assert page.workers == [] and wrong == []
    page.evaluate("() => self.release()")
    expect(said).to_contain_text("Python is ready", timeout=SLOW)


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


@contextmanager
def one_line_server(folder):
    """Serve a folder by the command that deploy/README.md names."""
    words = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = int(re.search(r"port (\d+)", server.stdout.readline())[1])
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


KEPT = """async () => {
    const held = await caches.open((await caches.keys())[0]);
    const digest = async (answer) => new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.arrayBuffer()));
    return Promise.all((await held.keys()).map(async ({ url }) =>
        [new URL(url).pathname, (await digest(await held.match(url) ?? new Response())).toHex()]));
}"""


def kept_and_built(page, folder, under):
    """Return the hashes of what the browser keeps, and of the same files in the folder."""
    kept = dict(page.evaluate(KEPT))
    return kept, {path: hashlib.sha256((folder / path.removeprefix(under)).read_bytes()).hexdigest() for path in kept}


def test_a_zip_of_the_folder_works_through_a_one_line_server_and_then_without_server_and_network(
    browser, folder, tmp_path
):
    shutil.unpack_archive(shutil.make_archive(str(tmp_path / "site"), "zip", folder), tmp_path / "far")
    outside, wrong = [], []
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    with one_line_server(tmp_path) as host:
        page = context.new_page()
        context.on("request", lambda one: one.url.startswith((host, "blob:", "data:")) or outside.append(one.url))
        page.goto(f"{host}/far/{live.HOME}")
        loaded(page)
        expect(page.locator(".status output")).to_contain_text("From now on it opens without a network, too.")
        kept, built = kept_and_built(page, tmp_path / "far", "/far/")
        files = {f"/far/python/{path.name}" for path in (folder / "python").iterdir()}
        assert kept == built and set(kept) == {f"/far/{live.HOME}", *files}
        page.close()
    context.set_offline(True)
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{host}/far/{live.HOME}?method=nsm")
    loaded(page)
    expect(page.locator(".status output")).to_contain_text("From now on it opens without a network, too.")
    assert ran(page, "nsm").algorithm == "nsm"
    with pytest.raises(PlaywrightError):
        page.goto(f"{host}/far/watch/index.html")  # which is not kept
    assert outside == [] and wrong == []
    context.close()


def test_a_new_build_replaces_what_the_browser_kept_and_still_opens_without_a_network(
    browser, pyodide, folder, tmp_path
):
    copy, context = tmp_path / "site", browser.new_context()
    context.set_default_timeout(PATIENCE)
    shutil.copytree(folder, copy)
    with one_line_server(tmp_path) as host, pytest.MonkeyPatch.context() as patch:

        def keeps(place):
            kept, built = kept_and_built(page, copy, "/site/")
            files = {f"/site/{place}/{path.name}" for path in (copy / place).iterdir()}
            return kept == built and set(kept) == {f"/site/{live.HOME}", *files}

        page = context.new_page()
        page.goto(f"{host}/site/{live.HOME}")
        page.get_by_role("button", name="Load Python here").click()
        expect(page.locator(".status output")).to_contain_text("Starting Python")
        assert keeps("python")
        patch.setattr(site, "_SECTIONS", tuple(one for one in site._SECTIONS if one[0] == "Words"))
        patch.setattr(live, "_FILES", "other/")
        build(copy, pyodide=pyodide)
        page.goto(f"{host}/site/words.html")  # any page of the site makes the browser look for a new build
        for _ in range(PATIENCE // 500):
            kept = [path for path, _ in page.evaluate(KEPT)]
            if any("/other/" in path for path in kept) and not any("/python/" in path for path in kept):
                break
            page.wait_for_timeout(500)
        assert keeps("other") and len(page.evaluate("() => caches.keys()")) == 1
        page.close()
    context.set_offline(True)
    page = context.new_page()
    page.goto(f"{host}/site/{live.HOME}")
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("Starting Python")
    context.close()


def test_from_a_folder_the_page_says_what_it_needs(browser, folder):
    page = browser.new_page()
    page.goto((folder / live.HOME).as_uri())
    page.get_by_role("button", name="Load Python here").click()
    expect(page.locator(".status output")).to_contain_text("open this page from a web server")
    page.close()


def test_the_comparison_of_a_tab_with_this_machine_runs_at_its_least_size(folder):
    words = ["-m", "lab.benchmarks.tab", str(folder), "--methods", "dpm", "--data", "tiny"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-500:]
    assert re.search(r"^\| dpm \| = \| [\d.]+ \|$", done.stdout, re.MULTILINE) and "MB, ready after" in done.stdout
