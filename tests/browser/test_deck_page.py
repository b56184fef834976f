"""Check a deck saved as a page: it shows from a file without a network, is accessible, and prints one slide a page."""

import dataclasses
import re

import pytest
from playwright.sync_api import expect

from dpviz.takeaway.deck import Shown, deck
from pages._ui.frame.address.deck import DEFAULT, MOST_SLIDES
from pages._ui.teach.present.scenes import staged
from tests.browser.phone import is_accessible

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHOWN = (0, 1, 3, 4, 5, 8)  # of the default deck: rounds, a film, curves, a label, words, a table


@pytest.fixture(scope="module")
def slides():
    every = [(DEFAULT.slides[i], staged(DEFAULT.slides[i], varied=False)) for i in SHOWN]
    return [
        Shown(slide.title, one.piece.function(*one.piece.args, lambda *_: None), slide.notes, 1, one.step, one.play)
        for slide, one in every
    ]


@pytest.fixture
def opened(browser, tmp_path):
    """Open a deck's page from a file, without a network; an error in it fails the test."""
    contexts, problems = [], []

    def opener(slides, look="", **options):
        path = tmp_path / "deck.html"
        path.write_text(deck("A talk", slides, look), encoding="utf-8")
        contexts.append(browser.new_context(offline=True, **options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.goto(path.as_uri())
        return page

    yield opener
    for context in contexts:
        context.close()
    assert not problems


def paper(page):
    """Return the number of pages on paper, and their sizes in points."""
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    return len(re.findall(rb"/Type\s*/Page\b", pdf)), set(re.findall(rb"/MediaBox\s*\[([^]]*)\]", pdf))


SHEETS = """() => [...document.querySelector(".sheets").shadowRoot.querySelectorAll(".sheet")].map((sheet) => {
    const canvas = sheet.querySelector("canvas"), cut = [...sheet.querySelectorAll(".paper > *, .side, .say")]
        .some((part) => part.scrollHeight > part.clientHeight + 1);
    const low = (one) => one.getBoundingClientRect().bottom;
    const inside = [...sheet.querySelectorAll("td, p, .key")].every((one) => low(one) <= low(sheet));
    const dots = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer;
    return [cut, inside, dots ? new Set(new Uint32Array(dots)).size : null];
})"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_deck_from_a_file_shows_and_prints_every_slide(opened, slides, mode):
    page = opened(slides, color_scheme=mode, viewport={"width": 1280, "height": 800})
    is_accessible(page)
    page.get_by_role("button", name="Present", exact=True).click()
    dialog = page.get_by_role("dialog", name="Presentation")
    expect(dialog.locator(".side .big")).to_have_text("7 of 6,000")  # it has played to its end
    for slide in slides[1:]:
        page.keyboard.press("ArrowDown")
        expect(dialog.locator("h2")).to_have_text(slide.title)
        expect(dialog.locator(".side .small")).to_have_text(slide.picture.small)
        is_accessible(page)
    page.keyboard.press("1")
    expect(dialog.locator(".say")).to_contain_text("no other ε")
    page.keyboard.press("ArrowRight")
    expect(dialog.get_by_text("The end", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(dialog).to_be_hidden()
    assert page.url.endswith(f"#{len(slides)}")
    assert paper(page) == (len(slides), {b"0 0 960 540"})
    for (cut, inside, colors), slide in zip(page.evaluate(SHEETS), slides, strict=True):
        assert not cut and inside and (colors is None) == (not slide.picture.figure), slide.title
        assert colors is None or colors > 20
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_sentence_covers_no_picture(opened, slides):
    film = dataclasses.replace(slides[1].picture, titles=("Short", *["A long sentence " * 30] * 11))
    slide = dataclasses.replace(slides[1], picture=film, play=False, step=0)
    page = opened([slide], viewport={"width": 1280, "height": 800})
    page.get_by_role("button", name="Present", exact=True).click()
    dialog = page.get_by_role("dialog", name="Presentation")
    expect(dialog.locator(".say")).to_have_text("Short")
    high = "(box) => [box.clientHeight, box.scrollHeight]"
    before = dialog.locator(".picture").evaluate(high)
    page.keyboard.press("ArrowRight")
    expect(dialog.locator(".say")).to_contain_text("A long sentence")
    assert dialog.locator(".picture").evaluate(high) == before and before[0] == before[1]


def test_a_deck_of_the_most_slides_prints(opened, slides):
    every = (slides * MOST_SLIDES)[:MOST_SLIDES]
    assert paper(opened(every, look="dark"))[0] == MOST_SLIDES
