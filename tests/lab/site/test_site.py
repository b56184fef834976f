"""Check a small site: links resolve inside its folder, it needs nothing from outside, and it states what it lacks."""

import base64
import gzip
import html
import json
import re
import struct
import zlib
from pathlib import Path

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import files, noised
from dpviz.cli import main
from dpviz.datasets import SAMPLES, load
from dpviz.figures.kit.theme import LIGHT
from dpviz.lessons import LESSONS, exhibit
from dpviz.lessons.plans import Lecture
from dpviz.papers.registry import papers as registered
from dpviz.version import __version__
from lab.site import build, lessons, papers, reference, shell, teach, tradeoff, watch, words
from pages._ui.frame.places import PAGES, PLACES
from pages._ui.learn.controls import COURSE
from tests.lab.site.links import Page, broken, pages

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Build a site of a few algorithms, one sample and two lessons."""
    out = tmp_path_factory.mktemp("site") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "ALGORITHMS", {slug: ALGORITHMS[slug] for slug in ("kmeans", "pe-means", "nsm")})
        patch.setattr(tradeoff, "SAMPLES", ("town",))
        for part in (lessons, teach):
            patch.setattr(part, "LESSONS", {name: LESSONS[name] for name in ("screen", "noise")})
        patch.setattr(teach, "plans", lambda: [Lecture(20, 3, 5, 2, ("noise", "screen"))])
        patch.setattr(papers, "papers", lambda: {"dist-dp": registered()["dist-dp"]})
        patch.setattr(reference, "find_spec", lambda name: None)
        build(out)
    return out


@pytest.mark.slow
def test_every_link_leads_into_the_folder_and_nothing_is_needed_from_outside(small):
    assert len(pages(small)) == 24 and broken(small) == []
    (small / "more.html").write_text('<a href="nowhere.html">x</a><img src="https://example.org/x.png"><a href="/x">')
    try:
        assert [one.partition(" ")[2] for one in broken(small)] == [
            "needs https://example.org/x.png", "links to nowhere.html", "links to /x",
        ]  # fmt: skip
    finally:
        (small / "more.html").unlink()


@pytest.mark.slow
def test_every_page_says_who_may_run_scripts_and_that_nobody_is_asked(small):
    for path in small.rglob("*.html"):
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', path.read_text())
        assert policy and "default-src 'none'" in policy[1] and "http" not in policy[1], path


def test_every_page_says_which_version_it_is_and_how_to_cite_it(small, monkeypatch):
    for path in small.rglob("*.html"):
        text = path.read_text()
        if '<footer class="site">' in text:
            assert f"dpviz {__version__}, " in text and "License: Apache-2.0" in text and "Cite this</a>" in text, path
            assert '<meta name=description content="Differentially private' in text, path
    cite = (small / "cite.html").read_text()
    assert "author  = {{The dpviz developers}}" in cite and f"version = {{{__version__}}}" in cite
    known = (ROOT / "CITATION.cff").read_text()
    assert f'title: "{shell.TITLE}"' in known and f"- name: {words.AUTHORS}" in known
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert shell.built.__wrapped__().isoformat() == "1970-01-02"


def test_a_link_shows_a_picture_whose_address_is_whole_if_the_sites_is_known(small):
    picture = (small / "preview.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", picture[16:24]) == (1200, 630)
    lines = zlib.decompress(picture[picture.index(b"IDAT") + 4 : -16])
    assert len(lines) == 630 * (1 + 3 * 1200) and bytes.fromhex(LIGHT.released[1:]) in lines and len(picture) < 150_000
    assert '<meta property=og:image content="preview.png">' in (small / "words.html").read_text()
    assert '<meta property=og:image content="../preview.png">' in (small / "lessons" / "2-noise.html").read_text()
    known = shell.Shell((), home="https://example.org/dp/").page("lessons/a.html", "A", "")
    assert 'og:image content="https://example.org/dp/preview.png"' in known
    assert 'og:url content="https://example.org/dp/lessons/a.html"' in known
    assert main(["site", str(small / "new"), "--home", "example.org"]) == 2


def test_the_header_uses_the_words_of_the_app(small):
    header = re.findall(r"<a [^>]*>([^<]*)</a>", (small / "words.html").read_text().partition("</nav>")[0])
    known = {page.title for page in PAGES.values()} | {place.word for place in PLACES} | set(COURSE.values())
    assert set(header) - known == {"Reference", "Run it yourself"}  # what the app has no page for


def test_a_teacher_finds_a_deck_as_a_page(small):
    text = (small / "teach" / "deck.html").read_text()
    shown = json.loads(re.search(r'id="slides">(.*?)</script>', text, re.DOTALL)[1])
    assert [one["title"] for one in shown] == [
        LESSONS["noise"].title,
        LESSONS["screen"].title,
        "What no promise covers",
    ]
    assert 'href="deck.html"' in (small / "teach" / "index.html").read_text()


def test_a_page_names_the_license_of_its_rows():
    sources = {name: tradeoff._source(load(name)) for name in SAMPLES}
    assert {name for name, words in sources.items() if "CC BY 4.0" in words} == {"iris", "wine", "digits"}
    assert sources["town"] == '<p class="small">Rows: CC0 1.0.</p>'


def test_the_story_has_six_pictures_without_a_script(small):
    text = (small / "index.html").read_text()
    still = text.partition("<script")[0]
    assert still.count("<figure><svg") == 6 == still.count("<section class=still>")
    assert "<b>25 rows</b> (ringed). <b>20 are people&#x27;s</b>" in still and "yields 25 rows; 20 of them" in still
    assert still.count('class="guess"') == noised.CLOUD and "<b>0\u00a0of\u00a05</b> neighborhoods" in still
    assert "publishes <b>one table</b>" in still
    assert len(text) < 300_000


def test_a_lesson_keeps_its_answer_behind_a_fold_and_shows_its_first_frame(small):
    text = (small / "lessons" / "2-noise.html").read_text()
    asked, _, answer = text.partition("<summary>The answer</summary>")
    assert "What do 100 runs release now?" in asked and "<b>Right.</b>" not in asked
    told = json.loads(re.search(r'id="answers">(.*?)</script>', text, re.DOTALL)[1])
    lesson, shown = LESSONS["noise"], exhibit("noise", 0)
    assert [told[str(i)][0] for i in range(len(lesson.options))] == [i in shown.right for i in range(len(told))]
    assert [told[str(i)][3] for i in range(len(told))] == [lesson.fill(one.reply, shown) for one in lesson.options]
    assert text.count('type="radio"') == len(told) == len(lesson.options)
    assert answer.count("<b>Right.</b>") == 1
    packed = re.search(r'id="draws">(.*?)</script>', text)[1]
    draws = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert len(draws) == len(lessons.DRAWS) and all(
        f"Draw {draw + 1} of 4 here" in one for draw, one in enumerate(draws)
    )
    last = exhibit("noise", 3)
    assert html.escape(lesson.fill(lesson.explain, last)) in draws[3] and len(set(draws)) == len(draws)
    run = json.loads(re.search(r'id="run">(.*?)</script>', draws[0], re.DOTALL)[1])
    assert run["first"] == len(run["sentences"]) - 1 == 5  # the last step, ε 4, is shown next to the question


def test_a_teacher_finds_the_plans_and_the_sheets_of_every_lesson(small):
    text = (small / "teach" / "index.html").read_text()
    minutes = re.findall(r'<tr><td>(\d+)</td><td>([^<]*)</td><td><a href="([^"]*)"', text)
    assert [(int(minute), where) for minute, _, where in minutes] == [
        (0, "../index.html"), (3, "../lessons/2-noise.html"), (8, "../lessons/3-screen.html"), (13, "../run.html"),
        (18, "../limits.html"),
    ]  # fmt: skip
    lesson, shown = LESSONS["screen"], exhibit("screen", 0)
    notes, work = ((small / "teach" / f"3-screen-{kind}.html").read_text() for kind in ("notes", "worksheet"))
    kept = html.escape(lesson.fill(lesson.keep, shown))
    assert kept in notes and kept not in work and notes.count("<b>Right.</b>") == len(shown.right)
    assert work.count('<li class="check">') == len(lesson.options) and 'href="../lessons/3-screen.html"' in notes


def test_the_table_of_a_trade_off_follows_its_track(small):
    text = (small / "tradeoff" / "town.html").read_text()
    record = json.loads(re.search(r'id="runs">(.*?)</script>', text, re.DOTALL)[1])
    shown = re.findall(r'<tr data-method="([\w-]+)">.*?((?:<td>[^<]*</td>)+)', text)
    assert {slug: re.findall("<td>([^<]*)", cells) for slug, cells in shown} == {
        slug: rows[record["start"]] for slug, rows in record["rows"].items()
    }
    assert record["rows"]["pe-means"][4] == ["55 of 100 bets", "1.02", "72 of 100"]
    assert "dist-dp-region-means" in record["films"] and "dist-dp-region-means" not in record["rows"]


def test_what_needs_a_server_leads_to_the_start_command_of_the_readme(small):
    readme = (ROOT / "README.md").read_text()
    assert shell.INSTALL in readme.partition("<!-- start command -->")[2].partition("<!-- test")[0]
    assert shell.INSTALL in (small / "run.html").read_text().replace("&amp;", "&")
    assert "../run.html" in Page((small / "watch" / "index.html").read_text()).links


def test_without_pdoc_the_reference_is_one_sentence(small):
    assert "built without pdoc" in (small / "api" / "index.html").read_text()


def test_stored_runs_of_another_version_are_refused_in_one_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(files, "__version__", "0.1.7")
    files.read.cache_clear()
    try:
        assert main(["site", str(tmp_path / "out")]) == 2
    finally:
        files.read.cache_clear()
    said = capsys.readouterr().err
    assert "of this version" in said and said.count("\n") == 1 and not (tmp_path / "out").exists()


def test_the_whole_site_has_a_page_for_everything():
    assert [watch.address(slug) for slug in ALGORITHMS][:2] == ["watch/kmeans.html", "watch/pe-means.html"]
    assert SAMPLES[0] == "town" and tradeoff.HOME == "tradeoff/town.html"  # the story's last screen links to this page
