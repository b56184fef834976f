"""Check Start in a real browser: keys lead through six screens, each with an address; bets work; Back leaves Start."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RECORD = "() => JSON.parse(document.querySelector('.dp-story').story.text)"
WHOLE = f"() => {{ const all = ({RECORD})(); return all.given && all.bets && all.editions.length === 3; }}"
DEALT = "() => document.querySelector('.dp-story').story.hand.rounds.map(round => round.inside)"
LATE = """() => {  // the theme arrives after the story was drawn
    const {story} = document.querySelector('.dp-story');
    story.root.style.setProperty('--dp-panel', ' ');
    story.canvas.width += 0;  // a new canvas paints in black
    story.paint();
    story.draw();
    return new Promise((done) => setTimeout(() => done(story.root.style.removeProperty('--dp-panel')), 300));
}"""
LIGHT = """() => {
    const canvas = document.querySelector('.dp-story canvas'), {width, height} = canvas;
    const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) dark += data[i + 3] === 255 && data[i] + data[i + 1] + data[i + 2] < 60;
    return dark < 0.1 * width * height;
}"""
IN_SIGHT = """i => {
    const edge = document.querySelectorAll('.dp-story section')[i]?.getBoundingClientRect();
    return edge && edge.top >= 0 && edge.top < innerHeight / 2;
}"""


def test_six_screens_by_keys_bets_and_back(open_page):
    page = open_page("limits")
    expect(page.locator("h1").first).to_be_visible()
    page.goto(page.url.partition("/limits")[0] + "/")
    page.wait_for_function("() => document.querySelector('.dp-story')?.story?.scale")
    page.wait_for_function("() => document.querySelector('.dp-story').story.record.given")
    expect(page.get_by_text("20 are people's", exact=True)).to_be_visible()  # the number does not grow
    for screen in range(2, 7):
        page.keyboard.press("PageDown" if screen % 2 else "ArrowDown")
        expect(page).to_have_url(re.compile(rf"/\?v=1&screen={screen}$"))
        page.wait_for_function(IN_SIGHT, arg=screen - 1)
    expect(page.get_by_role("button", name="6: Your turn.")).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("link", name="Explore Watch a run")).to_be_visible()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile(r"screen=1$"))
    page.get_by_role("button", name="3: Is Alex in the data?").click()
    expect(page).to_have_url(re.compile(r"screen=3$"))

    page.wait_for_function(WHOLE)  # stored runs appear at once; others are computed now
    record = page.evaluate(RECORD)
    rounds = page.evaluate(DEALT)
    note = page.locator(".dp-story section").nth(2)
    for i, inside in enumerate(rounds):
        expect(note).to_contain_text(record["bets"]["prompts"][i])
        expect(page.locator(".chips i:visible")).to_have_count(3 if i < 3 else 6)  # one circle for each bet announced
        page.get_by_role("button", name="In" if inside == (i < 5) else "Out", exact=True).click()
    expect(note).to_contain_text(record["bets"]["after"][3].replace("**", ""))  # Three of three.
    expect(note).to_contain_text(record["bets"]["coin"][2].replace("**", ""))  # Two of three.
    page.get_by_role("button", name="Again").click()
    expect(note).to_contain_text(record["bets"]["prompts"][0])

    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"screen=4$"))
    for stop, one in enumerate(record["editions"][0]["stops"]):
        page.get_by_role("slider", name="Privacy budget").fill(str(stop))
        expect(page.locator(".dp-story section").nth(3)).to_contain_text(one["epsilon"]["big"].replace("**", ""))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"screen=5$"))
    page.get_by_role("button", name="300", exact=True).click()
    few = record["editions"][2]["stops"][-1]["people"]["big"].replace("**", "")
    expect(page.locator(".dp-story section").nth(4)).to_contain_text(few)  # the previous screen's ε still holds

    page.reload()
    expect(page).to_have_url(re.compile(r"screen=5$"))
    page.wait_for_function(IN_SIGHT, arg=4)
    page.go_back()
    expect(page).to_have_url(re.compile(r"/limits"))  # screens add no entry to the history
    expect(page.get_by_test_id("stException")).to_have_count(0)


KEYED = """() => {
    const {story} = document.querySelector('.dp-story'), all = [];
    for (let i = 0; i < story.sections.length; i++) {
        story.go(i, 'auto');
        const edge = (one) => one.getBoundingClientRect(), {key, sections} = story, tag = key.querySelector('b');
        const words = (box) => [...box.querySelectorAll(':scope > :not(b, .secret)')].map((one) => one.textContent);
        const bottom = Math.max(...[...key.children].map((one) => edge(one).bottom)); // of its lines
        all.push({
            below: bottom - (story.narrow ? edge(sections[i].firstChild).top : innerHeight),
            wide: key.scrollWidth - key.clientWidth,
            apart: words(key), secret: words(tag.parentElement), first: tag.parentElement.firstChild === tag,
        });
    }
    return all;
}"""


@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844), (320, 640)])
def test_the_key_fits_and_its_tag_holds_all_that_is_not_private_and_nothing_else(open_page, width, height):
    page = open_page(width=width, height=height)
    page.wait_for_function("() => document.querySelector('.dp-story')?.story?.scale")
    page.wait_for_function(WHOLE)
    screens = page.evaluate(KEYED)
    assert len(screens) == 6
    assert ["Alex" in one["secret"] for one in screens] == [False, True, False, True, True, True]
    for one in screens:
        assert one["below"] <= 0 and one["wide"] <= 0 and one["first"]
        assert all(words.startswith(("released", "in ")) for words in one["apart"])
        assert one["secret"] and not any(words.startswith("released") for words in one["secret"])


def test_the_picture_waits_for_the_colors_of_the_page(open_page):
    page = open_page()
    page.wait_for_function("() => document.querySelector('.dp-story')?.story?.scale")
    page.wait_for_function(WHOLE)  # all parts have arrived, so none redraws the picture later
    page.evaluate(LATE)
    page.wait_for_function(LIGHT, timeout=10_000)
