"""Check the whole static site, served and opened from a folder: every page opens, and none contacts another server."""

import base64
import functools
import itertools
import json
import os
import re
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import SAMPLES
from dpviz.lessons import LESSONS, exhibit
from dpviz.lessons.homework.codes import answers, codes_in
from dpviz.papers.registry import papers
from tests.browser.conftest import PATIENCE, keep_process
from tests.browser.phone import is_accessible
from tests.lab.site.links import broken, pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST = 21_000_000  # bytes, of which films and the stage's script in every page take the most
OURS = [
    *("index.html", "words.html", "limits.html", "run.html", "lessons/index.html", "watch/index.html"),
    *(f"lessons/{one.number}-{name}.html" for name, one in LESSONS.items()),
    *("teach/index.html", "teach/deck.html", "teach/5-votes-notes.html", "teach/6-small-worksheet.html"),
    *(f"watch/{slug}.html" for slug in ALGORITHMS),
    *(f"tradeoff/{sample}.html" for sample in SAMPLES),
    *(f"papers/{name}.html" for name in ("index", *papers(), "nsm")),
    *(f"api/{name}.html" for name in ("index", "dpviz/algorithms", "dpviz/testing", "dpviz/audits/witness")),
    "api/dpviz/datasets.html",  # the longest signature in the reference
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site in a subfolder, so that its address has a path; one test process builds it for all processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    out, built, building = shared / "served" / "some" / "path", shared / "built", shared / "building"
    while not built.exists():
        try:
            building.mkdir()
        except FileExistsError:  # by another process
            time.sleep(0.5)
            continue
        try:
            if not built.exists():
                assert main(["site", str(out)]) == 0
            built.touch()
        finally:
            building.rmdir()
    return out


@pytest.fixture(scope="module")
def served(site):
    handler = functools.partial(Quiet, directory=site.parents[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/path"
        server.shutdown()


@pytest.fixture(scope="module")
def reader(browser, served):
    with browser.new_context(reduced_motion="reduce") as context:
        keep_process(context, f"{served}/limits.html")
        yield context


@pytest.fixture
def visit(browser, reader):
    """Open pages of the site in one window; fail if a page contacts another server or writes to the console."""
    pages, wrong, at = [], [], {}

    def window(**look):
        page = (browser.new_context(reduced_motion="reduce", **look) if look else reader).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda said: said.type == "timeEnd" or blame(said.text))  # pdoc's search
        page.on("pageerror", blame)
        page.on("request", lambda asked: asked.url.startswith((at["base"], "data:", "blob:")) or blame(asked.url))
        return page

    def blame(what):
        wrong.append(f"{at['name']}: {what}")

    def visiting(base, name, *, width=1280, height=800, mode="light", **look):
        if not pages:
            pages.append(window(**look))
        at.update(base=base, name=name)
        pages[0].set_viewport_size({"width": width, "height": height})
        pages[0].emulate_media(color_scheme=mode)
        pages[0].goto(f"{base}/{name}", wait_until="load")
        return pages[0]

    yield visiting
    for page in pages:
        (page if page.context is reader else page.context).close()
    assert wrong == []


def test_the_site_is_whole_and_small(site):
    assert set(OURS) < set(pages(site))
    wrong = [one for one in broken(site) if not (one.startswith("api/") and one.endswith("no such place"))]
    assert wrong == []  # pdoc links to base classes that it leaves out
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < MOST


LOOKS = ((1280, "light"), (390, "dark"))


def looks():
    """Pair each page with its looks: both for two pages of a folder, which are made alike, and for others in turn one.

    The pages of the highest folder differ, so each is opened in both.
    """
    for folder, names in itertools.groupby(sorted(OURS), lambda name: name.rpartition("/")[0]):
        for i, name in enumerate(names):
            yield name, LOOKS if i < 2 or not folder else LOOKS[i % 2 :][:1]


@pytest.mark.parametrize(("name", "seen"), looks())
def test_a_page_opens_wide_or_narrow_light_or_dark(visit, served, name, seen):
    for width, mode in seen:
        page = visit(served, name, width=width, height=844, mode=mode)
        drawn = page.locator("main canvas:visible")
        if name.startswith(("watch/", "lessons/", "tradeoff/")) and not name.endswith("index.html"):
            expect(drawn.first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        is_accessible(page)


def test_a_page_of_the_reference_opens_with_each_set_of_scripts(visit, served, site):
    found = {}
    for name in sorted(name for name in pages(site) if name.startswith("api/")):
        text = (site / name).read_text()
        assert not re.search(r"<[^>]* on\w+=", text), name  # no other code runs than that of script elements
        found.setdefault(tuple(re.findall("<script.*?</script>", text, re.DOTALL)), []).append(name)
    assert sum(map(len, found.values())) > 60 and len(found) <= 4
    for names in found.values():
        for name in {names[0], names[-1]}:
            visit(served, name)


@pytest.mark.parametrize("name", ["api/index.html", "api/dpviz/domain.html"])
def test_the_reference_is_searched_from_a_folder(visit, site, name):
    page = visit(site.as_uri(), name)
    page.get_by_role("searchbox").fill("default_delta")
    found = page.locator(".search-result").first
    expect(found).to_contain_text("default_delta")
    found.locator("a").first.click()
    expect(page).to_have_url(f"{site.as_uri()}/api/dpviz/privacy/accounting.html#default_delta")


@pytest.mark.parametrize("name", ["index.html", "watch/nsm.html", "tradeoff/town.html", "lessons/4-bounds.html"])
def test_a_page_works_from_a_folder(visit, site, name):
    page = visit(site.as_uri(), name)
    expect(page.locator("main canvas").first).to_be_visible()
    page.get_by_role("link", name="Limits", exact=True).click()
    expect(page.get_by_role("heading", name="Limits")).to_be_visible()
    assert page.url == f"{site.as_uri()}/limits.html"


def test_the_story_turns_by_keys_and_by_drag(visit, served):
    page = visit(served, "index.html")
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('.dp-story').story.at === 1")
    page.get_by_role("button", name="4: How much noise? That is ε.").click()
    page.get_by_role("slider", name="Privacy budget").fill("0")
    expect(page.locator(".dp-story section").nth(3)).to_contain_text("ε 0.1: a bet")
    page.get_by_role("button", name="6: Your turn.").click()
    page.get_by_role("link", name=re.compile("^Watch a run")).click()
    expect(page).to_have_url(f"{served}/watch/pe-means.html")


def test_without_a_script_the_story_has_its_six_pictures(visit, served):
    page = visit(served, "index.html", java_script_enabled=False)
    expect(page.locator(".still svg")).to_have_count(6)
    expect(page.get_by_text("20 are people's", exact=True)).to_be_visible()


def test_the_story_waits_for_little(visit, served):
    page = visit(served, "index.html")
    sizes = page.evaluate("() => performance.getEntries().map(one => one.encodedBodySize || 0)")
    assert 0 < sum(sizes) < 600_000


def test_a_drag_moves_the_table_the_words_and_the_film(visit, served):
    page = visit(served, "tradeoff/town.html")
    track = page.get_by_role("slider", name="Privacy budget")
    pixels = "() => document.querySelector('.plane canvas').toDataURL()"
    row, before = page.locator("tr[data-method=pe-means]"), page.evaluate(pixels)
    expect(row).to_contain_text("55 of 100")
    assert page.locator(".scroll").evaluate("table => table.scrollWidth - table.clientWidth") == 0
    assert page.locator(".marks svg:visible").first.bounding_box()["width"] == 16
    track.focus()
    page.keyboard.press("End")
    expect(page.locator(".at")).to_have_text("8")
    expect(row).not_to_contain_text("55 of 100")
    page.wait_for_function(f"before => ({pixels})() !== before", arg=before)
    page.locator("main select").select_option("nsm")
    expect(page.locator("tr.now th")).to_have_text("NSM (ours)")
    box = track.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 21, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 21, box["y"] + 20, steps=4)
    page.mouse.up()
    expect(page.locator(".at")).to_have_text("0.1")


def test_a_replay_takes_the_colors_of_its_page(visit, served):
    page = visit(served, "watch/pe-means.html")
    pixels = "() => document.querySelector('.plane canvas').toDataURL()"
    light = page.evaluate(pixels)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => ({pixels})() !== light", arg=light)


@pytest.mark.parametrize("name", ["small", "screen"])
def test_a_lesson_is_answered_before_its_run_and_a_wrong_answer_has_a_second_try(visit, served, name):
    lesson, shown = LESSONS[name], exhibit(name, 0)
    page = visit(served, f"lessons/{lesson.number}-{name}.html")
    form, status = page.locator("form.predict"), page.locator("form.predict [role=status]")
    button, explained = form.get_by_role("button"), page.get_by_text(lesson.fill(lesson.keep, shown), exact=True)
    assert button.is_disabled() and page.locator(".run").evaluate("(run) => run.inert")
    wrong = next(i for i in range(len(lesson.options)) if i not in shown.right)
    form.locator("input").nth(wrong).check()
    button.click()
    assert not page.locator(".run").evaluate("(run) => run.inert")
    expect(status).to_contain_text("Now watch the run")
    button.click()
    expect(status).to_contain_text(f"Not quite. {lesson.reply({wrong}, shown)}")
    assert button.is_disabled()
    expect(page.get_by_text(lesson.fill(lesson.hint, shown), exact=True)).to_be_visible()
    expect(explained).to_be_hidden()
    if lesson.several:
        form.locator("input").nth(wrong).uncheck()
    for i in shown.right:
        form.locator("input").nth(i).check()
    button.click()
    expect(status).to_contain_text("Right, on the second try.")
    expect(explained).to_be_visible()
    expect(form.locator("input:enabled")).to_have_count(0)
    page.get_by_label("Your name, for an answer code").fill("=Ada  O'Neil é")
    (given,) = codes_in(page.get_by_label("Answer code", exact=True).input_value())
    assert answers(given)[:2] == ("=Ada O'Neil é", name) and answers(given)[3] == ""
    assert [row[2] for row in answers(given)[2]] == ["no", "yes"]
    page.get_by_label("Your name, for an answer code").fill("a\u202eb")
    expect(page.get_by_label("Answer code", exact=True)).to_be_hidden()
    is_accessible(page)


def test_a_lesson_is_drawn_again_with_its_own_numbers_and_its_code_says_which_draw(visit, served):
    page = visit(served, "lessons/6-small.html")
    form = page.locator("form.predict")
    form.locator("input").first.check()
    form.get_by_role("button").click()
    for draw in range(1, 4):
        page.get_by_role("button", name="Draw again").click()
        expect(page.get_by_text(f"Draw {draw + 1} of 4 here")).to_be_visible()
        expect(page.get_by_text(LESSONS["small"].fill(LESSONS["small"].task, exhibit("small", draw)))).to_be_visible()
        assert form.locator("input").first.is_checked() and not page.locator(".run").evaluate("(run) => run.inert")
        expect(page.locator(".run canvas").first).to_be_visible()
    assert page.locator(".run canvas").count() == page.locator("#run").evaluate(
        "(run) => JSON.parse(run.textContent).panels.length"
    )
    form.locator("input").nth(min(exhibit("small", 3).right)).check()
    form.get_by_role("button").click()
    page.get_by_label("Your name, for an answer code").fill("Ada")
    given = page.get_by_label("Answer code", exact=True).input_value()
    assert json.loads(base64.urlsafe_b64decode(given.split(".")[1] + "=="))["draw"] == 3
    is_accessible(page)
