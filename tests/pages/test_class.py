"""Check a class: codes, attempts to guess them, capacity, end, hostile input, returning phones, threads, its page."""

import math
import threading

import numpy as np
import pytest

from dpviz.datasets import load_sample
from dpviz.postprocessing.verdict import groups_of
from dpviz.runs.single import reference
from pages._ui.teach.classroom import components, compute, maps, phone
from pages._ui.teach.classroom.lecturer import counts
from pages._ui.teach.classroom.masks import HIGHEST, RING, Share, deal
from pages._ui.teach.classroom.registry import (
    LETTERS,
    MOST_CLASSES,
    MY_WRONG_A_MINUTE,
    MY_WRONG_AT_ONCE,
    WRONG_A_MINUTE,
    WRONG_AT_ONCE,
    Classrooms,
    rooms,
)
from pages._ui.teach.classroom.room import (
    ALONE,
    HERE,
    LIFE,
    MOST_SEATS,
    SEEN,
    UNDO,
    Answers,
    Closed,
    NotAdmitted,
    Poll,
)
from tests.pages.visitor import visit, wait, words

BOX = (compute.LOW, compute.HIGH)


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def classes(clock):
    return Classrooms(clock)


def wrong(room):
    return next(a * 5 for a in LETTERS if a * 5 != room.code)


def test_a_class_is_found_by_its_code_however_it_is_typed(classes):
    room = classes.open(*BOX)
    assert classes.enter(f" {room.code[:2].lower()} {room.code[2:]}") is room
    assert len(room.code) == 5 and set(room.code) <= set(LETTERS) and room.code not in room.key
    with pytest.raises(NotAdmitted, match="No class has this code"):
        classes.enter(wrong(room))
    with pytest.raises(NotAdmitted, match="No class has this code"):
        classes.enter("\0" * 10_000 + "é")


@pytest.mark.slow
def test_codes_cannot_be_scanned_for_and_the_qr_code_still_opens(classes, clock):
    room = classes.open(*BOX)
    for i in range(WRONG_AT_ONCE):
        with pytest.raises(NotAdmitted, match="No class"):
            classes.enter(wrong(room), "no key", f"visit {i}")
    for attempt in (wrong(room), room.code):  # the refusal does not reveal whether the code exists
        with pytest.raises(NotAdmitted, match="wrong codes were tried on this server"):
            classes.enter(attempt, "", "a new visit")
    assert classes.enter(room.code, room.key) is room
    clock.now += 60 / WRONG_A_MINUTE
    assert classes.enter(room.code) is room
    tried = WRONG_AT_ONCE + WRONG_A_MINUTE * LIFE / 60
    assert tried / len(LETTERS) ** len(room.code) < 0.0025  # share of all codes that can be tried during a class


def test_a_visit_that_guesses_locks_nobody_else_out_and_the_lecturers_hear_of_it(classes, clock):
    room = classes.open(*BOX)
    for _ in range(MY_WRONG_AT_ONCE):
        with pytest.raises(NotAdmitted, match="No class"):
            classes.enter(wrong(room), visit="guesser")
    for _ in range(1_000):
        with pytest.raises(NotAdmitted, match="typed here"):
            classes.enter(room.code, visit="guesser")
    assert classes.wrong == MY_WRONG_AT_ONCE  # a refused attempt reveals nothing and uses up nobody's tries
    assert classes.enter(room.code, visit="phone") is room and classes.enter(room.code, room.key, "guesser") is room
    clock.now += 60 / MY_WRONG_A_MINUTE
    assert classes.enter(room.code, visit="guesser") is room
    clock.now += 600
    assert classes.wrong == 0
    with pytest.raises(NotAdmitted):
        classes.enter(wrong(room), visit="another")
    assert set(classes._of) == {"another"}  # a visit is forgotten once its wrong codes no longer count


def test_a_phone_that_has_left_makes_room_and_one_that_is_there_does_not(classes, clock):
    room = classes.open(*BOX)
    seats = [room.sit() for _ in range(MOST_SEATS)]
    room.place(seats[3].token, 1, 2)
    clock.now += SEEN - 1
    for seat in seats[1:]:
        room.attend(seat.token)
    with pytest.raises(NotAdmitted, match="full: 300 phones"):
        room.sit()
    assert room.sit(seats[7].token) is seats[7]  # a phone that was in the class returns
    clock.now += 1
    assert room.knows(seats[0].token)  # nobody else needs the seat yet
    late = room.sit()
    assert late.number == MOST_SEATS + 1 and room.seats == MOST_SEATS and not room.knows(seats[0].token)
    assert all(room.knows(seat.token) for seat in seats[1:]) and len(room.points()) == 1
    with pytest.raises(NotAdmitted, match="full: 300 phones"):
        room.sit()


@pytest.mark.parametrize("empty", [False, True])
def test_a_new_code_shuts_the_old_door(classes, empty):
    room, other = classes.open(*BOX), classes.open(*BOX)
    seat = room.sit()
    room.place(seat.token, 1, 2)
    code, key, before = room.code, room.key, room.version
    classes.renew(room, empty=empty)
    assert room.version != before and other.code != room.code != code and room.key != key
    for word in ("", key):
        with pytest.raises(NotAdmitted, match="has a new code"):
            classes.enter(code, word)
    assert classes.enter(room.code) is classes.enter(room.code, room.key) is room
    assert classes.known(room.code, room.lecturer) is room
    assert room.knows(seat.token) is not empty and len(room.points()) == (not empty)
    room.close()
    with pytest.raises(NotAdmitted, match="has ended"):
        classes.renew(room, empty=empty)


def test_a_visit_has_one_open_class_and_one_that_was_left_ends(classes, clock):
    room = classes.open(*BOX, opener="ann")
    with pytest.raises(NotAdmitted, match=f"has the class {room.code} open"):
        classes.open(*BOX, opener="ann")
    seat = room.sit()
    for _ in range(3):  # a phone or the lecturer is connected
        clock.now += ALONE - 1
        room.attend(seat.token if _ % 2 else room.lecturer)
    assert room.left
    room.attend("nobody")
    clock.now += ALONE
    assert not room.left and classes.known(room.code, seat.token) is None
    assert classes.open(*BOX, opener="ann").code != room.code and room.seats == 0


def test_classes_that_were_left_make_room_for_others(classes, clock):
    left = [classes.open(*BOX, opener=f"tab {i}") for i in range(MOST_CLASSES - 1)]
    clock.now += SEEN
    held = classes.open(*BOX)
    left[0].attend(left[0].lecturer)
    fresh = [classes.open(*BOX) for _ in range(MOST_CLASSES - 2)]
    assert left[0].left and held.left and not any(room.left for room in left[1:])
    with pytest.raises(NotAdmitted, match="60 classes are open"):
        classes.open(*BOX)
    assert all(room.left for room in fresh)
    held.close()
    assert classes.open(*BOX).left


def test_an_end_can_be_undone_for_ten_seconds(classes, clock):
    room = classes.open(*BOX)
    seat = room.sit()
    room.place(seat.token, 1, 2)
    before = room.left
    room.end()
    clock.now += UNDO - 1
    room.end()  # pressing twice does not delay the end
    assert room.ending and room.left == 1 and len(room.points()) == 1 and room.place(seat.token, 2, 2)
    assert room.resume() and not room.ending and room.left == before - UNDO + 1 and not room.resume()
    room.end()
    clock.now += UNDO
    assert not room.left and not room.ending and not room.resume()
    classes.sweep()
    assert room.seats == 0 and not len(room.points())


def test_a_class_ends_by_itself_and_forgets(classes, clock):
    room = classes.open(*BOX)
    seat = room.sit()
    room.place(seat.token, 1, 2)
    clock.now += LIFE + 1
    assert not room.left and not room.place(seat.token, 3, 4)
    with pytest.raises(Closed, match="has ended"):
        room.sit(seat.token)
    with pytest.raises(Closed, match="has ended"):
        classes.enter(room.code)
    assert room.seats == 0 and not len(room.points()) and classes.known(room.code, seat.token) is None
    other = classes.open(*BOX)
    before = other.version
    other.close()
    assert not other.left and other.version != before  # phones notice


def test_a_phone_returns_to_its_seat_and_nobody_else_does(classes):
    room, other = classes.open(*BOX), classes.open(*BOX)
    seat = room.sit()
    room.place(seat.token, 1.5, -2)
    kept = {"code": room.code, "token": seat.token}
    assert phone.back(classes, kept) == (room, seat) and seat.point == (1.5, -2.0)
    assert phone.back(classes, {"code": room.code, "token": room.lecturer}) == (room, None)
    for bad in (
        {},
        {"code": room.code, "token": ""},
        {"code": room.code, "token": "\ud800é"},
        kept | {"code": other.code},
    ):
        assert phone.back(classes, bad) == (None, None)
    assert room.seats == 1


BAD_PLACES = [
    (13, 0), (0, -9.5), (math.nan, 0), (math.inf, 0), (10**400, 0), ("1", 2), (None, None), ([1], [2]), (True, 0),
]  # fmt: skip


@pytest.mark.parametrize("at", BAD_PLACES, ids=range(len(BAD_PLACES)))
def test_what_is_no_place_changes_nothing(classes, at):
    room = classes.open(*BOX)
    seat = room.sit()
    assert room.place(seat.token, 1, 2) and not room.place(seat.token, *at) and seat.point == (1.0, 2.0)
    assert not room.place("nobody", 1, 2) and not room.place("", 1, 2)


def test_hostile_answers_scores_and_reports_change_nothing(classes):
    room = classes.open(*BOX, keeps_points=False, cells=3)
    seat = room.sit()
    room.ask("Which?", ["a", "b"])
    for option in (-1, 2, True, 1.0, "a", None, 10**30):
        assert not room.say(seat.token, option)
    assert room.say(seat.token, 1) and room.answers().first == (0, 1)
    for hits, rounds in ((2, 1), (-1, 1), (0, 10**9), (1.0, 2), ("1", 2), (True, True), (None, 1)):
        assert not room.score(seat.token, hits, rounds)
    assert room.scores() == []
    for report in ((True,), (True, 2, False), "abc", None, [1, 0, 1], (True,) * 4):
        assert not room.tell(seat.token, report)
    assert room.tell(seat.token, (True, False, True)) and not room.tell(seat.token, (False,) * 3)  # one per seat
    assert room.reports().tolist() == [[True, False, True]]
    assert not room.place(seat.token, 1, 1) and seat.point is None  # this class was opened to keep no points


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", ["a", "b"], "1 to 200"),
        ("x" * 201, ["a", "b"], "1 to 200"),
        ("?", ["a"], "2 to 8 different"),
        ("?", ["a", " a "], "2 to 8 different"),
        ("?", list("abcdefghi"), "2 to 8 different"),
        ("?", ["a", "b" * 61], "at most 60"),
    ],
)
def test_what_is_no_question_is_one_sentence(classes, text, options, words):
    room = classes.open(*BOX)
    with pytest.raises(ValueError, match=words):
        room.ask(text, options)
    assert room.question.number == 0


def test_another_question_has_no_answers_yet_and_phones_notice(classes):
    room = classes.open(*BOX)
    seat = room.sit()
    room.ask("One?", ["a", "b"])
    room.say(seat.token, 1)
    before = room.version
    room.ask("Two?", ["a", "b"])
    assert room.answers().first == (0, 0) and room.version != before
    before = room.version
    room.show(phase="predict", step=0)
    room.show(phase="predict", step=0)
    assert room.version == before + 1  # showing the same step again changes nothing


def test_a_hundred_phones_come_place_and_answer_at_once(classes):
    room = classes.open(*BOX)
    room.ask("?", ["a", "b"])
    gate = threading.Barrier(25)

    def four(number):
        gate.wait()
        for i in range(4):
            seat = classes.enter(room.code).sit()
            room.place(seat.token, number / 10, i)
            room.say(seat.token, i % 2)
            room.points(), room.answers()

    threads = [threading.Thread(target=four, args=(number,)) for number in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.seats == 100 and len(room.points()) == 100 and room.answers().first == (50, 50)
    assert len({tuple(point) for point in room.points()}) == 100


def test_a_report_is_randomized_response_on_the_cells():
    assert [compute.cell_of(*at) for at in ((-12, -9), (12, 9), (0, 0), (-12, 9))] == [0, 11, 6, 8]
    told = np.array([compute.report(7.0, 7.0) for _ in range(3_000)])  # in cell 11
    counts, sd = compute.estimates(told)
    assert abs(counts[11] - 3_000) < 6 * sd + 6 * math.sqrt(3_000)
    assert np.abs(np.delete(counts, 11)).max() < 6 * sd
    flip = told[:, :11].mean()  # the odds ratio of a bit under two answers is at most e^epsilon
    assert 0.5 / flip * (1 - flip) / 0.5 == pytest.approx(math.exp(compute.LOCAL_EPSILON), rel=0.1)


def groups_in(data):
    return groups_of(data.X, data.domain, reference(data, 4, 0).trace.cluster_centers)


def test_the_points_run_as_any_data_set_and_the_price_does_not_count_them():
    few, many = (compute.data_of(load_sample("town").X[:n], 200, 150, 4) for n in (30, 90))
    assert few.n_public == many.n_public == 150 and len(few.X) == 230 and ":" not in few.dataset_id
    algorithm = compute.ALGORITHMS["pe-means"](n_clusters=4, epsilon=1.0)
    assert algorithm.plan(2, few.n_public) == algorithm.plan(2, many.n_public)
    trace = algorithm.run(few.X, domain=few.domain, seed=0, dataset_id=few.dataset_id)
    shown = compute.frames_of(trace, few, groups_in(few))
    got = groups_in(few).found_by(few.domain.normalize(trace.cluster_centers))
    assert (shown.groups, shown.groups_found, shown.odds) == (4, int(got.sum()), trace.claimed.odds)
    assert [len(at) for at in shown.centers[:3]] == [0, 0, 4]  # first trial points, then votes, then centers
    assert len(shown.titles) == len(shown.centers) and np.array_equal(shown.centers[-1], trace.cluster_centers)
    # centers are in km, not in z units
    assert all(np.all((at >= compute.LOW - 9) & (at <= compute.HIGH + 9)) for at in shown.centers)
    question = compute.game_of(shown, tuple(few.X[3]))
    assert len(question.inside) == len(few.X) == len(question.outside) + 1
    assert len(compute.game_of(shown, (11.0, 8.5)).inside) == len(few.X) + 1  # a phone that joined after the run


def test_the_pictures_hold_what_they_are_given(monkeypatch):
    from dpviz.figures.kit.theme import LIGHT

    assert "2 people and 1 released" in maps.people(LIGHT, np.zeros((2, 2)), np.zeros((1, 2)))
    bars = maps.bars(Answers(Poll("a or c?", ("<b>a", "c")), (3, 1), (0, 0), phones=4, again=0), [1])
    assert "&lt;b&gt;a" in bars and "width:33%" in bars and "c ← what happened" in bars and "4 answers" in bars
    words = maps.scores(LIGHT, [(6, 10), (5, 10)], 57)
    assert "<b>55 of 100 bets</b> right, in 20 bets so far (32 to 77)" in words and "Nobody" in maps.scores(
        LIGHT, [], 57
    )
    assert "right, in 1 bet so far (" in maps.scores(LIGHT, [(0, 1)], 57)
    assert "row by row: 2, 0, 0" in maps.grid(LIGHT, np.array([1.8, -0.2] + [0.0] * (compute.cells() - 2)), 0.9)


@pytest.fixture
def opened():
    made = []

    def opener(query="v=1"):
        made.append(visit("class", query))
        return made[-1]

    yield opener
    for app in made:
        if "class_room" in app.session_state and app.session_state["class_room"]:
            app.session_state["class_room"].close()


def led(opened):
    """Open a class; return its lecturer's page and its room."""
    lecturer = opened()
    lecturer.button(key="class_open").click().run()
    return lecturer, lecturer.session_state["class_room"]


def computed(lecturer, room):
    """Press Run in the class's phase "run", and wait for the run."""
    lecturer.button(key="class_run").click().run()
    wait(lecturer, lambda _: room.run is not None)
    assert room.run is not None and not lecturer.exception


def joined(opened, room):
    app = opened(f"v=1&code={room.code}")
    app.button(key="class_join").click().run()
    assert not app.exception and not app.error
    return app, app.session_state["class_seat"]


def test_a_phone_returns_to_its_seat_however_its_code_was_typed(opened, monkeypatch):
    room = rooms().open(*BOX)
    kept = {"code": room.code, "token": room.sit().token}
    monkeypatch.setattr(components, "memory", lambda save, *, forget=False: kept)
    try:
        for typed in (room.code, room.code.lower()):
            app = opened(f"v=1&code={typed}")
            assert not app.exception and app.session_state["class_seat"].token == kept["token"] and room.seats == 1
        elsewhere = opened(f"v=1&code={wrong(room)}")
        assert "class_seat" not in elsewhere.session_state
    finally:
        room.close()


@pytest.mark.slow
def test_a_lecturer_opens_a_class_and_phones_follow(opened):
    lecturer, room = led(opened)
    assert room.code in words(lecturer) and rooms().enter(room.code) is room
    app, seat = joined(opened, room)
    assert "Do not use your real home" in words(app) and room.seats == 1
    room.place(seat.token, 1, 1)
    lecturer.segmented_control(key="class_phase").set_value("predict").run()
    lecturer.button(key="class_ask").click().run()
    app.run()
    app.button(key="class_answer_1_2").click().run()
    assert room.answers().first[2] == 1
    lecturer.segmented_control(key="class_phase").set_value("game").run()
    assert "First run an algorithm on the class" in lecturer.info[0].value
    lecturer.segmented_control(key="class_phase").set_value("local").run()
    app.run()
    assert seat.report is not None and "dp-cells" in words(app) and not app.exception
    seat = app.session_state["class_seat"]
    lecturer.button(key="class_renew").click().run()
    app.run()
    assert room.code in words(lecturer) and f"Class <b>{room.code}" in words(app) and room.knows(seat.token)
    lecturer.button(key="class_empty").click().run()
    app.run()
    assert "place in this class was freed" in app.info[0].value and not app.exception and room.seats == 0
    app, seat = joined(opened, room)
    asked = [one.value for one in lecturer.markdown if "end the class?" in one.value]
    assert asked and asked[0].startswith("**0 phones, 0 points") and room.left > UNDO
    lecturer.button(key="class_close_yes").click().run()
    assert room.ending and "The class ends in" in words(lecturer) and not lecturer.exception
    app.run()
    assert app.session_state["class_seat"] is seat  # the class has not ended yet
    lecturer.button(key="class_resume").click().run()
    assert room.left > UNDO and "class_close_yes" in [button.key for button in lecturer.button]
    room.close()
    lecturer.run()
    assert "has ended" in lecturer.info[0].value
    app.run()
    assert "has ended" in app.info[0].value and not app.exception


@pytest.mark.slow
def test_a_class_follows_a_lesson_and_sees_how_many_were_right(opened):
    lecturer, room = led(opened)
    app, seat = joined(opened, room)
    lecturer.segmented_control(key="class_phase").set_value("lesson").run()
    assert not lecturer.exception and room.question.lesson == "exact" and room.question.right == {1}
    app.run()
    app.button(key="class_answer_1_0").click().run()
    app.button(key="class_answer_1_1").click().run()
    assert seat.answer == {1} and "Keep." not in words(app)  # the last answer replaces the first
    lecturer.segmented_control(key="class_part_exact").set_value("run").run()
    app.run()
    assert "Look at the screen" in [one.value for one in app.header] and not room.say(seat.token, 0)
    late, other = joined(opened, room)  # the phone joins during a lesson, at the class's step
    assert "You have not answered." in words(late) and room.seats == 2
    lecturer.segmented_control(key="class_part_exact").set_value("again").run()
    for phone_ in (app, late):
        phone_.run()
        assert "your answer" not in "".join(button.label for button in phone_.button)
    app.button(key="class_answer_1_2").click().run()
    late.button(key="class_answer_1_1").click().run()
    assert (seat.answer, seat.revised, other.answer, other.revised) == ({1}, {2}, frozenset(), {1})
    lecturer.run()
    assert "at first" in words(lecturer) and "after the run" in words(lecturer)
    assert "1 answer, 2 again, without names." in words(lecturer)
    lecturer.segmented_control(key="class_part_exact").set_value("answer").run()
    for phone_, verdict in ((app, "Not quite."), (late, "You were right.")):
        phone_.run()
        assert [one.value for one in phone_.header] == [verdict] and "<b>1 of 1</b>" in words(phone_)
        assert "<b>1 of 2</b> who answered again" in words(phone_)
    assert "← right" in words(lecturer) and not lecturer.exception
    lecturer.segmented_control(key="class_lesson").set_value("screen").run()
    assert room.part == "predict" and seat.answer == frozenset() and room.question.several
    assert room.say(seat.token, 1) and room.say(seat.token, 2) and room.say(seat.token, 1) and seat.answer == {2}
    assert room.rights() == (0, 1)


@pytest.mark.slow
def test_a_projector_that_is_loaded_anew_goes_on_where_the_class_was(opened, monkeypatch):
    first, room = led(opened)
    room.place(room.sit().token, 5, 4)
    first.segmented_control(key="class_phase").set_value("run").run()
    computed(first, room)
    kept = {"code": room.code, "token": room.lecturer, "role": "lecturer"}
    monkeypatch.setattr(components, "memory", lambda save, *, forget=False: kept)
    again = opened()
    assert not again.exception and again.segmented_control(key="class_phase").value == "run"
    assert "on This class, 1 point" in words(again) and "Press Run." not in words(again)


def test_a_laptop_that_sleeps_for_ten_minutes_finds_its_class_and_its_lesson(classes, clock):
    room = classes.open(*BOX)
    seat = room.sit()
    room.show(phase="lesson")
    room.teach(Poll("Which?", ("a", "b"), lesson="x", right=frozenset({1})), "run")
    clock.now += 600
    assert classes.known(room.code, room.lecturer) is room and classes.known(room.code, seat.token) is room
    assert (room.phase, room.part, room.question.lesson) == ("lesson", "run", "x") and room.left


@pytest.mark.slow
def test_a_run_is_mirrored_and_then_the_game_is_played_and_continued_after_a_reload(opened, monkeypatch):
    lecturer, room = led(opened)
    app, seat = joined(opened, room)
    room.place(seat.token, 5, 4)
    lecturer.segmented_control(key="class_phase").set_value("run").run()
    computed(lecturer, room)
    assert "PE-means on This class" in words(lecturer)
    app.run()
    assert f"Step {len(room.run.titles)} of {len(room.run.titles)}" in words(app)
    room.show(step=0)
    app.run()
    assert f"Step 1 of {len(room.run.titles)}" in words(app)
    lecturer.segmented_control(key="class_phase").set_value("game").run()
    app.run()
    seat.game.job.wait(240)
    app.run()
    app.button(key="class_in_0").click().run()
    app.button(key="class_out_1").click().run()
    assert room.scores() == [(seat.hits, 2)] and "of 2 times." in words(app) and not app.exception
    kept = {"code": room.code, "token": seat.token, "role": "phone"}
    monkeypatch.setattr(components, "memory", lambda save, *, forget=False: kept)
    again = opened()  # the phone reloads
    assert room.scores() == [(seat.hits, 2)] and "of 2 times." in words(again) and not again.exception
    again.button(key="class_in_2").click().run()
    assert room.scores() == [(seat.hits, 3)]


def test_the_next_class_knows_nothing_of_the_last(opened):
    lecturer, first = led(opened)
    phone, seat = joined(opened, first)
    first.place(seat.token, 5, 4)
    lecturer.segmented_control(key="class_phase").set_value("run").run()
    lecturer.selectbox(key="class_method").set_value("kmeans").run()
    computed(lecturer, first)
    assert not first.run.private
    phone.run()
    assert "NOT PRIVATE" in words(phone) and "exact centers" in words(phone) and "released" not in words(phone)
    first.close()
    lecturer.run()
    for name in ("class_job", "class_point"):
        assert name not in lecturer.session_state
    lecturer.button(key="class_open").click().run()
    lecturer.segmented_control(key="class_phase").set_value("run").run()
    room = lecturer.session_state["class_room"]
    assert room is not first and room.run is None and not lecturer.exception


def test_a_wrong_code_is_one_sentence_and_a_class_of_reports_gets_no_point(opened):
    app = opened("v=1&code=ZZZZZ")
    app.button(key="class_join").click().run()
    assert [one.value for one in app.error] == ["No class has this code: look at the five letters on the screen again."]
    app.radio(key="class_keeps").set_value(False).run()
    app.button(key="class_open").click().run()
    room = app.session_state["class_room"]
    assert app.segmented_control(key="class_phase").options == [
        "Everyone is a point",
        "Predict",
        "A lesson",
        "Trust nobody",
    ]
    other, seat = joined(opened, room)
    assert "stays in your own visit" in words(other)
    other.session_state["class_point"] = (5.0, 5.0)
    app.segmented_control(key="class_phase").set_value("local").run()
    other.run()
    assert seat.point is None and len(seat.report) == compute.cells() and not other.exception


def test_local_noise_is_compared_with_a_servers_under_the_same_promise():
    """Tell two classes apart that differ in one phone's cell, by the counts and noise that the page names."""
    local, central = compute.blurs(3)
    flips = [compute.report(0.5, 0.5) for _ in range(20_000)]
    assert np.array(flips)[:, 0].std() * math.sqrt(3) / (0.5 - compute.flip_probability(2.0)) == pytest.approx(
        local, 0.03
    )
    scale = central / math.sqrt(2)  # Laplace noise on two cells, one of which loses the person whom the other gains
    x = np.arange(-400, 401) * 0.05
    near, far = (np.exp(-np.abs(x - moved) / scale) for moved in (0, 1))
    assert 2 * np.log(near / far).max() == pytest.approx(compute.LOCAL_EPSILON)
    assert (round(local, 1), round(central, 1)) == (1.5, 1.4)


def test_a_class_saves_all_its_questions_and_no_formula(classes):
    room = classes.open(*BOX, keeps_points=True, cells=12)
    first, second = room.sit(), room.sit()
    assert room.all_answers() == []
    room.ask("=1+1?", ["=cmd()", "two"])
    assert room.say(first.token, 0) and room.say(second.token, 1)
    room.teach(Poll("why?", ("a", "b"), lesson="exact", right=frozenset({1})), "predict")
    assert room.say(first.token, 0)
    room.teach(room.question, "run")
    assert not room.say(second.token, 1) and room.closed
    room.teach(room.question, "again")
    assert room.say(first.token, 1) and room.say(second.token, 1) and not room.closed
    assert (room.rights(), room.rights(revised=True)) == ((0, 1), (2, 2))
    room.teach(room.question, "answer")
    assert not room.say(first.token, 0)
    lines = counts(room.all_answers()).splitlines()
    assert lines == [
        "question,option,right,at_first,after_the_run,phones",
        "'=1+1?,'=cmd(),,1,,2", "'=1+1?,two,,1,,2", "why?,a,no,1,0,1", "why?,b,yes,0,2,1",
    ]  # fmt: skip
    room.close()
    assert room.all_answers() == []


def test_a_phone_hears_of_nobody_when_nobody_answered(opened):
    lecturer, room = led(opened)
    lecturer.segmented_control(key="class_phase").set_value("lesson").run()
    lecturer.segmented_control(key="class_part_exact").set_value("answer").run()
    app, _ = joined(opened, room)
    assert "This is right." in [one.value for one in app.header] and "0 of 0" not in words(app)


@pytest.mark.slow
def test_masks_are_uniform_and_their_sum_is_exact():
    """Draw many rounds of three phones: any two masked numbers together are uniform, whatever the three numbers are."""
    rounds = 40_000
    for wholes in ((0, 0, 0), (9, 9, 9), (3, 0, 7)):
        shares = np.array([
            [Share(seat, whole, mask).masked for seat, (whole, mask) in enumerate(zip(wholes, deal(3), strict=True))]
            for _ in range(rounds)
        ])  # fmt: skip
        assert (shares.sum(axis=1) % RING == sum(wholes)).all() and shares.min() >= 0 and shares.max() < RING
        for a, b in ((0, 1), (0, 2), (1, 2)):
            cells = np.bincount(shares[:, a] // 1000 * 10 + shares[:, b] // 1000, minlength=100)
            assert ((cells - rounds / 100) ** 2 / (rounds / 100)).sum() < 170  # chi-square of 99: once in 100,000
        last = np.bincount(shares[:, 2] % 10, minlength=10)
        assert ((last - rounds / 10) ** 2 / (rounds / 10)).sum() < 40  # chi-square of 9: once in 100,000
    assert deal(1) == [0] and HIGHEST * MOST_SEATS < RING  # so the last four digits are the whole sum


def test_a_round_of_masks_waits_for_the_phones_that_it_began_with(classes, clock):
    room = classes.open(*BOX)
    seats = [room.sit() for _ in range(6)]
    for seat, whole in zip(seats, (9, 0, 4, 7, 1), strict=False):
        assert room.choose(seat.token, whole)
    clock.now += HERE
    for seat in seats[:4]:
        room.attend(seat.token)  # the fifth phone is away, the sixth has chosen no number
    before = room.version
    room.deal_masks()
    assert room.version != before and list(room.masks.shown) == [1, 2, 3, 4]
    assert not room.choose(seats[0].token, 3) and room.choose(seats[4].token, 3)  # its mask hides one number only
    assert not room.send_masked(seats[4].token) and not room.send_masked("nobody")
    for seat in seats[:3]:
        assert room.send_masked(seat.token) and room.send_masked(seat.token)
    assert room.masks.missing == 1
    assert room.sit(seats[3].token) is seats[3] and room.send_masked(seats[3].token)  # it left and has come back
    assert room.masks.missing == 0 and room.masks.sum == 20
    room.drop_masks()
    assert room.choose(seats[0].token, 3) and room.masks is None and not room.send_masked(seats[0].token)
    for seat in seats:
        room.attend(seat.token)
    room.deal_masks()
    for seat in seats[:5]:
        assert room.send_masked(seat.token)
    assert room.masks.missing == 0 and room.masks.sum == 3 + 0 + 4 + 7 + 3
    classes.renew(room, empty=True)
    assert room.masks is None


def test_masks_need_three_phones_and_whole_numbers(classes):
    room, reports = classes.open(*BOX), classes.open(*BOX, keeps_points=False)
    assert not reports.choose(reports.sit().token, 3)
    seats = [room.sit() for _ in range(3)]
    for whole in (-1, HIGHEST + 1, 1.0, True, "3", None):
        assert not room.choose(seats[0].token, whole)
    for number, now in enumerate(("now 0 have", "now 1 has", "now 2 have")):
        with pytest.raises(ValueError, match=f"at least 3 phones .* {now}"):
            room.deal_masks()
        assert room.masks is None and room.choose(seats[number].token, 9)
    room.deal_masks()
    assert room.masks.missing == 3


def test_three_phones_show_masked_numbers_and_the_projector_their_sum(opened):
    lecturer, room = led(opened)
    phones = [joined(opened, room) for _ in range(3)]
    lecturer.segmented_control(key="class_phase").set_value("masks").run()
    lecturer.button(key="class_deal").click().run()
    assert ["at least 3 phones" in one.value for one in lecturer.error] == [True]
    for (app, seat), whole in zip(phones, (2, 9, 5), strict=True):
        app.run()
        app.button(key=f"class_whole_{whole}").click().run()
        assert seat.whole == whole and f"Your number is {whole}" in words(app)
        room.attend(seat.token)
    lecturer.button(key="class_deal").click().run()
    assert not lecturer.error and "with 3 masked numbers missing" in words(lecturer)
    late, _ = joined(opened, room)
    late.button(key="class_whole_1").click().run()
    assert "under way without your phone" in words(late)
    for app, seat in phones:
        app.run()
        masked = f"{room.masks.shares[seat.token].masked:04d}"
        lecturer.run()
        assert masked in words(app) and f"<b>{masked}</b>" not in words(lecturer)
        app.button(key="class_send").click().run()
        lecturer.run()
        assert "The screen shows your masked number." in words(app) and f"<b>{masked}</b>" in words(lecturer)
        assert not app.exception
    assert "The sum of the numbers is" in words(lecturer) and ">16<" in words(lecturer)
    assert "Mean 5.3" in words(lecturer)
    lecturer.button(key="class_undeal").click().run()
    late.run()
    assert room.masks is None and "Your number is 1" in words(late) and not lecturer.exception
