"""Check the lessons in a real browser: keys, reload, a hint that moves the player, stored progress, and printing."""

import itertools
import re

import pytest
from playwright.sync_api import expect

from dpviz.figures.scenes import definition
from dpviz.lessons import LESSONS, exhibit
from tests.browser.phone import fits_a_phone, no_exception

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOTE = "() => localStorage.getItem('dpviz-lessons')"


def at(page, part, lesson="small"):
    expect(page).to_have_url(re.compile(rf"lesson={lesson}&part={part}"))
    expect(page.locator("li[aria-current=step]")).to_have_text(part.capitalize())
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Shortcut [BN]$")).first).to_be_visible()


def test_a_lesson_by_keyboard_alone_with_a_wrong_answer_a_reload_and_what_the_browser_keeps(open_page):
    (right,), shown = exhibit("small", 0).right, exhibit("small", 0)
    page = open_page("learn?v=1&lesson=small&part=predict")
    at(page, "predict")
    page.keyboard.press("1")  # wrong
    expect(page).to_have_url(re.compile("answer=1"))
    page.keyboard.press("n")
    at(page, "run")
    page.keyboard.press("n")
    at(page, "explain")
    step = page.get_by_role("slider", name="Step", exact=True)
    expect(page.get_by_text("Not quite.")).to_be_visible()
    expect(step).to_have_value(str(shown.hint))  # the hint moved the player
    page.keyboard.press(str(right + 1))
    expect(page.get_by_text("Right, on the second try.")).to_be_visible()
    expect(page).to_have_url(re.compile(f"answer=1&answer={right + 1}"))  # the address changes after the words appear
    page.reload()
    at(page, "explain")
    expect(page.get_by_text("Right, on the second try.")).to_be_visible()
    assert page.evaluate(NOTE) is None
    page.keyboard.press("n")
    at(page, "keep")
    page.wait_for_function(f"() => ({NOTE})() === '[\"small\"]'")
    page.keyboard.press("b")
    at(page, "explain")
    page.get_by_role("button", name="All lessons").click()
    stone = page.locator("[data-lesson=small]")
    expect(stone.locator(".state")).to_have_text("done")
    expect(page.get_by_text(f"1 of {len(LESSONS)} lessons done")).to_be_visible()
    page.get_by_role("button", name="Forget").click()
    expect(stone.locator(".state")).to_have_text("")
    assert page.evaluate(NOTE) == "[]"
    no_exception(page)


def test_another_browser_knows_nothing_of_the_progress_and_nonsense_in_its_storage_is_no_harm(open_page):
    page = open_page("learn")
    expect(page.get_by_text(f"0 of {len(LESSONS)} lessons done")).to_be_visible()
    page.evaluate("localStorage.setItem('dpviz-lessons', '{\"a\": [1}')")
    page.reload()
    expect(page.get_by_text(f"0 of {len(LESSONS)} lessons done")).to_be_visible()
    page.evaluate("localStorage.setItem('dpviz-lessons', JSON.stringify(['votes', 7, 'no such', '<b>']))")
    page.reload()
    expect(page.get_by_text(f"1 of {len(LESSONS)} lessons done")).to_be_visible()


BLOCKED = "Object.defineProperty(self, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"


def test_where_the_browser_keeps_nothing_lessons_and_films_still_work(browser, server):
    with browser.new_context() as context:
        context.add_init_script(BLOCKED)
        page, wrong = context.new_page(), []
        page.on("console", lambda said: "SecurityError" in said.text and wrong.append(said.text))
        page.goto(f"{server}/learn?v=1&lesson=small&part=keep")
        expect(page.get_by_text("How the picture can fool you")).to_be_visible()
        page.goto(f"{server}/learn")
        expect(page.get_by_text(f"0 of {len(LESSONS)} lessons done")).to_be_visible()
        page.goto(f"{server}/explore?v=1&d=tiny&a=dpm&k=2&e=1&s=0")
        step = page.get_by_role("slider", name="Step", exact=True)
        expect(step).to_be_visible()
        page.get_by_role("button", name="First step").click()
        expect(step).to_have_value("0")
        page.get_by_role("button", name="Play").click()
        expect(step).not_to_have_value("0")
        assert wrong == []


PLACES = ["", "v=1&lesson=screen", "v=1&lesson=votes&part=run", "v=1&lesson=small&part=explain&answer=1"]
PLACES += ["v=1&lesson=bounds&part=keep", "v=1&lesson=noise&part=keep", "v=1&part=glossary", "v=1&part=definition"]


def test_a_touch_screen_shows_no_hint_about_keys(browser, server):
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(f"{server}/learn?v=1&lesson=exact")
        expect(page.get_by_text("Nothing about any one person")).to_be_visible()
        expect(page.get_by_text("Keys: the numbers")).to_be_hidden()


@pytest.mark.parametrize(("place", "mode"), zip(PLACES, itertools.cycle(("light", "dark"))))
def test_a_lesson_fits_a_phone(open_page, place, mode):
    page = open_page(f"learn?{place}", width=390, height=844, mode=mode)
    expect(page.locator("h1").first).to_be_visible()
    fits_a_phone(page)


BOXES = """() => {
    const seen = (query) => [...document.querySelectorAll(query)].filter((one) => one.offsetParent);
    const box = (one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; };
    const bar = seen('.dp-nav.bar .all').map(box), low = bar.length && bar[0][0] > 400 ? bar[0][0] : innerHeight;
    return { low, ways: seen('.st-key-lesson_onward').map(box)[0], planes: seen('canvas').map(box),
             answers: seen('.st-key-lesson_options').map(box)[0] ?? null };
}"""


def measured(page):
    return page.wait_for_function(f"() => {{ const found = ({BOXES})(); return found.ways && found; }}").json_value()


@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("place", ["screen&part=predict", "exact&part=run", "votes&part=explain&answer=1"])
def test_a_lesson_has_its_picture_and_its_ways_on_in_reach_of_the_answers(open_page, place, width, height):
    page = open_page(f"learn?v=1&lesson={place}", width=width, height=height)
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    boxes = measured(page)
    top, bottom = boxes["ways"]
    assert 0 < top and bottom <= boxes["low"]  # the buttons lie within the first screen and above a phone's bar
    if width > 640:
        assert min(low for _, low in boxes["planes"]) <= height
        assert boxes["answers"] is None or 0 <= top - boxes["answers"][1] <= 120
    elif "predict" in place:
        assert boxes["answers"][1] <= top  # nine answers fit without scrolling


@pytest.mark.parametrize("width, height, mode", [(1280, 800, "dark"), (390, 844, "light")])
def test_the_run_of_every_lesson_and_its_ways_on_are_on_the_first_screen(open_page, width, height, mode):
    page = open_page("learn", width=width, height=height, mode=mode)
    for name in LESSONS:
        page.goto(f"{page.url.partition('/learn')[0]}/learn?v=1&lesson={name}&part=run")
        page.wait_for_function(
            "() => [...document.querySelectorAll('.dpviz-stage')].some(r => r.panel?.stage?.drawn >= 0)"
        )
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
        boxes = measured(page)
        (top, bottom), planes = boxes["ways"], boxes["planes"]
        assert 0 < top and bottom <= boxes["low"], name
        end = boxes["low"] if width > 640 else top
        assert any(0 < high < end - 120 for high, _ in planes), (
            name
        )  # a large part of the picture is next to or above the answers


@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("lesson", ["screen", "looks"])  # the lessons with the longest "keep" texts
def test_the_last_part_has_its_ways_on_on_the_first_screen(open_page, lesson, width, height):
    page = open_page(f"learn?v=1&lesson={lesson}&part=keep", width=width, height=height)
    expect(page.locator(".dp-words")).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    boxes = measured(page)
    assert 0 < boxes["ways"][0] and boxes["ways"][1] <= boxes["low"]


def test_a_worksheet_on_paper_has_the_sheet_alone(open_page):
    page = open_page("notes?v=1&lesson=votes&show=worksheet")
    expect(page.locator(".dp-sheet")).to_be_visible()
    page.emulate_media(media="print")
    for gone in (".st-key-strip", "[data-testid=stHeader]", "[data-testid=stButton]", "[data-testid=stPageLink]"):
        expect(page.locator(gone).locator("visible=true")).to_have_count(0)
    expect(page.locator(".dp-sheet .line").first).to_be_visible()


@pytest.mark.parametrize("show, pages", [("plan", 1), ("notes", len(LESSONS)), ("worksheet", len(LESSONS))])
def test_a_plan_is_whole_and_every_sheet_is_one_page_of_paper(open_page, show, pages):
    page = open_page("notes?v=1" + "".join(f"&lesson={name}" for name in LESSONS) + f"&show={show}")
    expect(page.locator(".dp-sheet")).to_have_count(pages)
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    for table in page.locator(".dp-sheet .dp-table").all():
        assert table.evaluate("one => one.scrollHeight - one.clientHeight") <= 1
    paper = page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == pages


def test_the_definition_follows_its_sliders_without_the_server_and_every_bet_leads_to_it(open_page):
    page = open_page("learn?v=1&part=definition")
    budget, delta, belief = (page.get_by_role("slider", name=name, exact=True) for name in definition.SLIDERS)
    words = page.locator(".dpviz-definition .words p")
    expect(words.first).to_contain_text("e^ε = 2.72 times")
    page.context.set_offline(True)
    budget.press("ArrowRight")
    expect(words.first).to_contain_text("e^ε = 7.39 times")
    delta.press("Home")
    expect(words.nth(1)).to_contain_text("δ = 1 in 500,000")
    belief.press("End")
    expect(words.nth(3)).to_contain_text("at most 89 in 100")
    expect(words.nth(2)).to_contain_text("right at most 60 times in 100")
    drawn = page.locator(".dpviz-definition").evaluate("(root) => root.definition.stages.map((stage) => stage.drawn)")
    assert drawn == [4 * len(definition.DELTAS)] * 2
    page.context.set_offline(False)
    page.goto(page.url.replace("learn?v=1&part=definition", "explore"))
    bet = page.locator(".dp-strip a").first
    expect(bet).to_have_text(re.compile(r"bet ≤ \d+ of 100"))
    assert bet.get_attribute("href") == "./learn?v=1&part=definition" and bet.get_attribute("target") == "_blank"
