"""Walk through the plan of 90 minutes with six phones, one of which leaves in the middle and comes back."""

import html
import re

import pytest

from dpviz.lessons.plans import plans
from pages._ui.teach.classroom import components
from pages._ui.teach.notes.controls import PICKED
from tests.pages.test_class import computed, joined
from tests.pages.visitor import visit, words

PHONES = 6


def opened(query="v=1"):
    return visit("class", query)


def sound(app):
    """Run a page once more, and check that it shows neither an exception nor a box with an error."""
    app.run()
    assert not app.exception and not app.error
    return app


def asked(lecturer, room, phones, part, shift):
    """Let every phone choose an answer in a part of a lesson; return how many chose each option."""
    lecturer.segmented_control(key=f"class_part_{room.question.lesson}").set_value(part).run()
    options, counts = len(room.question.options), [0] * len(room.question.options)
    for i, (app, _) in enumerate(phones):
        sound(app)
        app.button(key=f"class_answer_{room.question.number}_{(i + shift) % options}").click().run()
        counts[(i + shift) % options] += 1
    sound(lecturer)
    return tuple(counts)


def returned(room, seat, monkeypatch):
    """Return the page of a phone that was loaded anew, whose browser remembers its seat."""
    kept = {"code": room.code, "token": seat.token, "role": "phone"}
    with monkeypatch.context() as patched:
        patched.setattr(components, "memory", lambda save, *, forget=False: kept)
        return opened()


def lesson(lecturer, room, phones, name, shift):
    """Lead the class through a lesson up to its run: the phones' answers are counted."""
    lecturer.segmented_control(key="class_phase").set_value("lesson").run()
    lecturer.segmented_control(key="class_lesson").set_value(name).run()
    first = asked(lecturer, room, phones, "predict", shift)
    assert room.answers().first == first and room.answers().phones == PHONES
    assert f"{PHONES} answers, without names" in words(lecturer)
    lecturer.segmented_control(key=f"class_part_{name}").set_value("run").run()
    return first


def solved(lecturer, room, phones, name, first, shift):
    """Ask everybody again after a lesson's run, and tell everybody who was right."""
    again = asked(lecturer, room, phones, "again", shift)
    assert (room.answers().first, room.answers().revised, room.answers().again) == (first, again, PHONES)
    lecturer.segmented_control(key=f"class_part_{name}").set_value("answer").run()
    right, given = room.rights(revised=True)
    assert given == PHONES
    for app, seat in phones:
        sound(app)
        verdict = "You were right." if seat.revised == room.question.right else "Not quite."
        assert [one.value for one in app.header] == [verdict]
        assert f"<b>{right} of {PHONES}</b> who answered again" in words(app)
    sound(lecturer)


def played(lecturer, room, phones):
    """Go through the other stages of a class."""
    stage = lecturer.segmented_control(key="class_phase")
    for i, (_, seat) in enumerate(phones):
        assert room.place(seat.token, 2 * i - 5, i)
    stage.set_value("place").run()
    assert f"<b>{PHONES} phones</b>, <b>{PHONES} points</b>" in words(lecturer)
    lecturer.segmented_control(key="class_phase").set_value("run").run()
    computed(lecturer, room)
    assert f"This class, {PHONES} points" in words(sound(lecturer))
    lecturer.segmented_control(key="class_phase").set_value("game").run()
    for app, seat in phones:
        app.run()
        seat.game.job.wait(240)
        sound(app).button(key="class_in_0").click().run()
    assert [rounds for _, rounds in room.scores()] == [1] * PHONES
    assert f"in {PHONES} bets so far" in words(sound(lecturer))
    lecturer.segmented_control(key="class_phase").set_value("local").run()
    for app, _ in phones:
        sound(app)
    assert len(room.reports()) == PHONES and f"<b>{PHONES} randomized reports</b>" in words(sound(lecturer))
    lecturer.segmented_control(key="class_phase").set_value("masks").run()
    for i, (app, _) in enumerate(phones):
        sound(app).button(key=f"class_whole_{i}").click().run()
    for _, seat in phones:
        room.attend(seat.token)
    lecturer.button(key="class_deal").click().run()
    for app, _ in phones:
        sound(app).button(key="class_send").click().run()
    assert f">{sum(range(PHONES))}<" in words(sound(lecturer))


@pytest.mark.slow
def test_the_plan_of_90_minutes_with_six_phones(monkeypatch):
    plan = plans()[-1]
    notes = visit("notes", "v=1")
    notes.button(key="notes_plan_90").click().run()
    table = next(block.proto.body for block in notes.get("html") if "A lecture of 90 minutes" in block.proto.body)
    rows = [html.unescape(link).partition("?")[::2] for link in re.findall(r'<a href="([^"]+)"', table)]
    pages = ["./", *["learn"] * len(plan.lessons), "explore", "class", "limits"]
    assert [page for page, _ in rows] == pages

    lecturer = opened()
    lecturer.session_state[PICKED.key] = list(plan.lessons)
    lecturer.button(key="class_open").click().run()
    room = lecturer.session_state["class_room"]
    phones = [joined(opened, room) for _ in range(PHONES)]
    for i, (page, query) in enumerate(rows):
        if page == "class":
            played(lecturer, room, phones)
            continue
        sound(visit("home" if page == "./" else page, query))
        if page == "learn":
            name = plan.lessons[i - 1]
            assert f"lesson={name}&" in f"{query}&"
            first = lesson(lecturer, room, phones, name, i)
            if i == 3:  # a phone leaves while everybody watches the run, and comes back
                phones[2] = (returned(room, phones[2][1], monkeypatch), phones[2][1])
                assert "You answered:" in words(phones[2][0])
            solved(lecturer, room, phones, name, first, i + 1)
    assert room.seats == PHONES and [one.question.lesson for one in room.all_answers()] == list(plan.lessons)
    room.close()
    for app in (lecturer, *(phone for phone, _ in phones)):
        app.run()
        assert not app.exception and "has ended" in app.info[0].value
