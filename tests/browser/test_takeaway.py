"""Check that exports work by themselves: the replay plays without a network, and the page prints on one sheet."""

import json
import re

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load
from dpviz.takeaway import export
from tests.browser.conftest import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def offline(browser):
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.failures = []
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    page.on("request", lambda request: request.url.startswith("http") and page.failures.append(request.url))
    yield page
    context.close()
    assert page.failures == []


def demo(slug="pe-means", **values):
    data = load("tiny")
    return ALGORITHMS[slug](n_clusters=2, **values).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)


def saved(tmp_path, trace, kind):
    path = tmp_path / f"{kind}.html"
    path.write_text(export(trace, kind), encoding="utf-8")
    return path.as_uri()


PIXELS = "[...document.querySelectorAll('canvas')].map(c => c.toDataURL()).join()"


def test_a_replay_steps_by_button_and_key_without_a_network(offline, tmp_path):
    trace = demo()
    offline.goto(saved(tmp_path, trace, "replay"))
    canvases = offline.locator("canvas")
    canvases.first.wait_for()
    offline.get_by_role("button", name="First step").click()
    offline.wait_for_function("document.querySelector('input[type=range]').value === '0'")
    first = offline.evaluate(PIXELS)
    offline.get_by_role("button", name="Step forward").click()
    offline.wait_for_function("document.querySelector('input[type=range]').value === '1'")
    offline.wait_for_function(f"before => {PIXELS} !== before", arg=first)
    offline.keyboard.press("ArrowRight")  # the first of the two events that lead to the next step
    offline.wait_for_function("+document.querySelector('input[type=range]').value % 1 > 0.1")
    offline.wait_for_timeout(500)
    offline.keyboard.press("ArrowRight")
    offline.wait_for_function("document.querySelector('input[type=range]').value === '2'")
    offline.get_by_role("button", name="Last step").click()
    last = offline.locator("input[type=range]").get_attribute("max")
    offline.wait_for_function(f"document.querySelector('input[type=range]').value === '{last}'")
    run = json.loads(offline.locator("#run").text_content())
    assert int(last) == len(run["sentences"]) - 1 >= len(trace.steps) - 1


@pytest.mark.parametrize(("slug", "name", "k"), [("pe-means", "tiny", 2), ("kmeans", "tiny", 2), ("nsm", "digits", 24)])
def test_the_page_prints_on_one_sheet(offline, tmp_path, slug, name, k):
    data = load(name)
    trace = ALGORITHMS[slug](n_clusters=k).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    offline.goto(saved(tmp_path, trace, "page"))
    pdf = offline.pdf(prefer_css_page_size=True, print_background=True)
    assert sheets(pdf) == [(595, 842)]  # A4, in points


def sheets(pdf):
    """Return (width, height) of every page of a PDF whose page objects are not compressed, such as Chromium's."""
    boxes = re.findall(rb"/Type\s*/Page\b(?!s).*?/MediaBox\s*\[([^]]*)\]", pdf, re.DOTALL)
    return [tuple(round(float(number)) for number in box.split()[2:]) for box in boxes]


def test_a_sweep_s_report_unpacks_its_figures_without_a_network(offline, tmp_path):
    spec, found, out = tmp_path / "s.toml", tmp_path / "rows.csv", tmp_path / "report.html"
    spec.write_text('data = "sample:tiny"\nalgorithms = ["glloyd"]\nepsilon = [0.5, 1]\nrepeats = 2\nn_clusters = 2\n')
    assert main(["sweep", str(spec), "-o", str(found), "--workers", "1"]) == 0
    assert main(["report", str(found), "-o", str(out)]) == 0
    offline.goto(out.as_uri())
    offline.locator(".plot .main-svg").first.wait_for()
    assert offline.locator(".plot .scatterlayer .trace").count() > 0 and out.stat().st_size < 2_000_000
