"""Walk through a class in two browsers, a projector's and a phone's: join, place a point, return, answer, bet, end."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.phone import fits_a_phone
from tests.pages.server.test_messages import CLEAR_CACHE, sent
from tests.pages.server.test_owner import awaited

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def end(screen, phone):
    """End a class of one phone."""
    screen.get_by_role("button", name="End the class").click()
    expect(screen.get_by_text("1 phone, 1 point: end the class?")).to_be_visible()
    screen.get_by_role("button", name="End it").click()
    for page in (screen, phone):
        expect(page.get_by_text("This class has ended")).to_be_visible()
    phone.reload()
    expect(phone.get_by_label("Five letters")).to_be_visible()


def test_a_phone_follows_the_projector(open_page):
    screen = open_page("class")
    screen.get_by_role("button", name="Open a class").click()
    code = screen.locator(".dp-letters")
    expect(code).to_be_visible()
    assert awaited(sent(screen.url.partition("/class")[0], CLEAR_CACHE))  # a stranger cannot end the class
    fits_a_phone(screen)  # Axe finds no violation on the projector's page either

    phone = open_page("class", width=390, height=844, mode="dark")
    letters = phone.get_by_label("Five letters")
    letters.fill(code.inner_text().lower())
    phone.get_by_role("button", name="Join").click()
    place = phone.get_by_role("application")
    place.click(position={"x": 100, "y": 80})
    expect(screen.get_by_text("1 phone, 1 point")).to_be_visible()
    fits_a_phone(phone)
    stands = phone.get_by_text("You stand").inner_text()
    phone.reload()
    expect(phone.get_by_text("You stand")).to_have_text(stands)  # the same seat
    expect(screen.get_by_text("1 phone, 1 point")).to_be_visible()
    place.press("ArrowRight")
    expect(phone.get_by_text("You stand")).not_to_have_text(stands)

    screen.get_by_text("Predict", exact=True).click()
    screen.get_by_role("button", name="Ask it").click()
    phone.get_by_text("three", exact=True).click()
    expect(screen.get_by_text("1 answer,")).to_be_visible()

    screen.get_by_text("Run", exact=True).first.click()
    screen.get_by_role("button", name="Run", exact=True).click()
    screen.get_by_role("button", name="First step").click()
    expect(phone.get_by_text("Step 1 of")).to_be_visible()
    screen.get_by_role("button", name="Step forward").click()
    expect(phone.get_by_text("Step 2 of")).to_be_visible()

    screen.get_by_text("Trust nobody", exact=True).click()
    expect(screen.get_by_text("1 randomized report")).to_be_visible()
    screen.get_by_text("Was I in?", exact=True).first.click()
    phone.get_by_role("button", name="I was in").click()
    expect(phone.get_by_text(re.compile("You were right [01] of 1 times"))).to_be_visible()  # a coin decides
    expect(screen.get_by_text("Everybody together")).to_be_visible()
    fits_a_phone(screen)
    fits_a_phone(phone)

    end(screen, phone)


def test_the_qr_code_opens_without_typing(open_page):
    screen = open_page("class")
    screen.get_by_role("button", name="Open a class").click()
    expect(screen.locator(".dp-letters")).to_be_visible()
    screen.wait_for_function("() => localStorage.getItem('dpviz-class')")  # The letters of the code may appear earlier.
    screen.reload()  # The lecturer returns to the class.
    expect(screen.locator(".dp-letters")).to_be_visible()
    link = screen.locator(".dp-door").get_attribute("data-link")
    phone = open_page(link.rpartition("/")[2], width=390, height=844)
    expect(phone.get_by_role("heading", name="Place one made-up point")).to_be_visible()
    expect(phone).not_to_have_url(re.compile(r"[?&]key="))
    expect(screen.get_by_text("1 phone")).to_be_visible()


def test_a_projector_shows_the_question_in_large_letters_and_the_plane_in_the_rest(open_page):
    screen = open_page("class", width=1920, height=1080)
    screen.get_by_role("button", name="Open a class").click()
    screen.wait_for_function("() => localStorage.getItem('dpviz-class')")
    screen.get_by_text("A lesson", exact=True).click()
    expect(screen.locator(".st-key-class_projector .dp-poll")).to_be_visible()
    plane = screen.locator(".st-key-lesson_figures .dpviz-canvas")
    for part in ("Predict", "Run", "Reconsider", "Answer"):
        screen.get_by_text(part, exact=True).last.click()
        expect(screen.locator(".st-key-class_projector .dp-poll")).to_be_visible()
        expect(screen.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
        screen.wait_for_function(
            "() => [['h2', 40], ['.dp-poll th[scope=row]', 32]].every(([name, least]) => {"
            " const found = document.querySelector('.st-key-class_projector ' + name);"
            " return found && parseFloat(getComputedStyle(found).fontSize) >= least; })"
        )
        screen.wait_for_function(
            "() => { const page = document.querySelector('[data-testid=stMain]'),"
            " plane = document.querySelector('.st-key-lesson_figures .dpviz-canvas')?.getBoundingClientRect();"
            " return plane && page.scrollHeight <= page.clientHeight + 8 && plane.width >= 700 && plane.height >= 500"
            " && plane.bottom <= innerHeight - 90; }"
        )
    expect(plane).to_have_count(1)
    fits_a_phone(screen)


def test_three_phones_hide_their_numbers_and_one_leaves_in_the_middle(open_page):
    screen = open_page("class")
    screen.get_by_role("button", name="Open a class").click()
    link = screen.locator(".dp-door").get_attribute("data-link").rpartition("/")[2]
    phones = [open_page(link, width=390, height=844) for _ in range(3)]
    for phone in phones:
        expect(phone.get_by_role("heading", name="Place one made-up point")).to_be_visible()
    screen.get_by_text("Masks that cancel", exact=True).click()
    screen.get_by_role("button", name="Deal the masks").click()
    expect(screen.get_by_text("Masks need at least 3 phones")).to_be_visible()
    for phone, whole in zip(phones, (2, 9, 5), strict=True):
        phone.get_by_role("button", name=str(whole), exact=True).click()
        expect(phone.get_by_text(f"Your number is {whole}.")).to_be_visible()
    fits_a_phone(phones[-1])
    expect(screen.get_by_text("3 of 3 phones chose a number.")).to_be_visible()
    screen.get_by_role("button", name="Deal the masks").click()
    words = []
    for missing, phone in zip((2, 1, 0), phones, strict=True):
        if missing == 1:  # it comes back to the same mask
            words.append(phone.locator(".dp-letters").inner_text())
            phone.reload()
            expect(phone.locator(".dp-letters")).to_have_text(words.pop())
            phone.wait_for_timeout(1_500)  # its browser hands the server the seat, and the page is drawn again
        words.append(phone.locator(".dp-letters").inner_text())
        phone.get_by_role("button", name="Show it on the screen").click()
        expect(screen.locator(".dp-masked b").nth(2 - missing)).to_have_text(words[-1])
        if missing:
            expect(screen.get_by_text(f"with {missing} masked number")).to_be_visible()
    fits_a_phone(screen)
    expect(screen.get_by_text("The sum of the numbers is")).to_be_visible()
    assert sum(map(int, words)) % 10_000 == 16
    expect(screen.locator(".dp-letters").last).to_have_text("16")
