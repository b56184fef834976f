"""Check Learn through Streamlit's test driver: four parts per lesson, wrong answers, printed sheets, bad addresses."""

import json
import re

import pytest

from dpviz.lessons import LESSONS, SEEDS, glossary
from dpviz.lessons.homework.codes import answers
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address import scene
from tests.lessons.test_lessons import exhibit
from tests.pages.pictures import pictures, sent
from tests.pages.sentences import code_names, words
from tests.pages.visitor import read, told


def press(app, key):
    app.button(key=key).click().run()
    assert not app.exception
    return app


def player(app):
    (found,) = sent(app, "dpviz_transport")
    return found


def wrong(lesson):
    right = exhibit(lesson.name, 0).right
    return next(i for i in range(len(lesson.options)) if i not in right)


LATER = {"noise", "looks", "votes", "rounds", "person", "choice"}  # these take longest


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LATER)) for name in LESSONS])
def test_a_lesson_goes_through_its_four_parts(open_link, name):
    lesson, shown = LESSONS[name], exhibit(name, 0)
    app = open_link("learn", f"v=1&lesson={name}&part=predict")
    assert not app.exception and not told(app) and app.title[0].value == lesson.title
    assert lesson.fill(lesson.question, shown) in read(app) and lesson.fill(lesson.explain, shown) not in read(app)
    assert player(app)["step"] == shown.first and not player(app)["main"]
    for option in shown.right:
        press(app, f"lesson_option_{option}")
    press(app, "lesson_next")
    assert lesson.fill(lesson.task, shown) in read(app) and player(app)["main"]
    assert player(app)["titles"] == list(shown.titles) and len(pictures(app)) >= 1
    press(app, "lesson_next")
    assert "Right." in read(app) and lesson.fill(lesson.explain, shown) in read(app)
    assert player(app)["step"] == shown.hint
    press(app, "lesson_next")
    assert lesson.fill(lesson.keep, shown) in read(app) and not app.button(key="lesson_back").disabled
    assert all(term in read(app) for term in lesson.terms)
    assert code_names(words(app)) == []


@pytest.mark.parametrize("name", ["bounds", "votes"])
def test_a_wrong_answer_gets_a_hint_at_a_frame_and_a_second_try(open_link, name):
    lesson, shown = LESSONS[name], exhibit(name, 0)
    app = open_link("learn", f"v=1&lesson={name}&part=explain&answer={wrong(lesson) + 1}")
    assert "Not quite" in read(app) and lesson.fill(lesson.hint, shown) in read(app)
    assert lesson.fill(lesson.explain, shown) not in read(app)  # the solution is shown after the second try only
    assert player(app)["step"] == shown.hint and app.button(key=f"lesson_option_{wrong(lesson)}").disabled
    (right,) = shown.right
    press(app, f"lesson_option_{right}")
    assert "Right, on the second try." in read(app) and "your prediction" in read(app)
    assert lesson.fill(lesson.explain, shown) in read(app)
    press(press(app, "lesson_back"), "lesson_back")
    press(app, f"lesson_option_{wrong(lesson)}")  # a new prediction replaces both tries
    assert app.session_state[f"learn_answer_{name}"] == [str(wrong(lesson) + 1)]


def test_the_last_part_gives_an_answer_code_under_the_name_as_given(open_link):
    app = open_link("learn", "v=1&lesson=noise&part=keep&answer=1&s=2")
    assert not app.code
    app.text_input(key="lesson_student").set_value("=Ada  B").run()
    (given,) = app.code
    student, lesson, told, problem = answers(given.value)
    assert (student, lesson, problem) == ("=Ada B", "noise", "") and [row[1] for row in told] == ["1", "1"]
    app.text_input(key="lesson_student").set_value("a\u202eb").run()
    assert "1 to 100 printable characters" in app.error[0].value and not app.code


def test_two_wrong_answers_lead_to_the_solution_with_what_is_right(open_link):
    lesson, shown = LESSONS["votes"], exhibit("votes", 0)
    app = open_link("learn", "v=1&lesson=votes&part=explain&answer=1&answer=2")
    assert "Not quite." in read(app) and lesson.fill(lesson.explain, shown) in read(app)
    bodies = " ".join(block.proto.body for block in app.get("html"))
    assert bodies.count('class="right"') == len(shown.right) and "your second try" in bodies


def test_who_did_not_predict_is_asked_before_anything_is_explained(open_link):
    lesson, shown = LESSONS["small"], exhibit("small", 0)
    app = open_link("learn", "v=1&lesson=small&part=explain")
    assert lesson.fill(lesson.explain, shown) not in read(app)
    press(app, f"lesson_option_{wrong(lesson)}")
    assert lesson.fill(lesson.hint, shown) in read(app)


@pytest.mark.slow
def test_another_draw_is_another_run_and_its_own_numbers(open_link):
    app = open_link("learn", "v=1&lesson=small&part=run")
    seen = set()
    for seed in SEEDS:
        assert player(app)["titles"] == list(exhibit("small", seed).titles)
        seen.add(tuple(player(app)["titles"]))
        press(app, "lesson_draw")
    assert len(seen) > 2 and app.session_state["learn_seed_small"] == 0


def test_a_locked_lesson_lets_nobody_go_on_and_one_that_leaves_the_seed_only_draws(open_link):
    app = open_link("learn", "v=1&lesson=small&part=run&lock=all")
    assert app.button(key="lesson_next").disabled and app.button(key="lesson_draw").disabled
    app = open_link("learn", "v=1&lesson=small&part=predict&lock=seed")
    assert app.button(key="lesson_option_0").disabled
    app = open_link("learn", "v=1&lesson=small&part=run&lock=seed")
    assert app.button(key="lesson_next").disabled and not app.button(key="lesson_draw").disabled


def test_a_step_in_the_address_is_where_the_player_starts(open_link):
    assert player(open_link("learn", "v=1&lesson=small&part=run&t=2"))["step"] == 2


@pytest.mark.parametrize("name", LESSONS)
def test_where_a_lesson_goes_on_is_a_scene_of_explore(name):
    asked = scene.Scene("explore", LESSONS[name].explore)
    found, wrong = scene.read("explore", scene.write(asked, explore), explore)
    assert wrong == "" and dict(asked.values).items() <= dict(found.values).items()


def test_the_course_lists_its_lessons_and_words(open_link):
    app = open_link("learn", "v=1")
    bodies = " ".join(block.proto.body for block in app.get("html"))
    assert ("Open a class", "class") in [(link.proto.label, link.proto.page) for link in app.get("page_link")]
    assert re.findall('data-lesson="(.*?)"', bodies) == [*LESSONS, "limits"]  # limits come last
    press(app, "course_glossary")
    assert all(f"<dt>{term}</dt>" in " ".join(b.proto.body for b in app.get("html")) for term in glossary())
    press(press(app, "course_lessons"), "start_votes")
    assert app.title[0].value == LESSONS["votes"].title


@pytest.mark.parametrize(
    "query",
    ["lesson=<b>x</b>", "lesson=votes&part=glossary", "part=run", "lesson=votes&part=run&answer=9", "lesson=votes&s=8"]
    + ["lesson=votes&answer=21", "lesson=votes&answer=1&answer=1", "lesson=votes&answer=%00", "lesson=small&t=-1"]
    + ["lesson=nope", "lesson=nope&part=run", "lesson=votes&part=nope"],
)
def test_what_does_not_fit_gives_the_default_and_one_sentence(open_link, query):
    app = open_link("learn", f"v=1&{query}")
    assert not app.exception and len(told(app)) == 1 and told(app)[0].startswith("This link opens, but")
    assert "<b>" not in told(app)[0] and "nope" not in told(app)[0]


def test_a_number_stays_on_one_line_with_its_symbol_and_its_unit(open_link):
    app = open_link("learn", "v=1&lesson=screen&part=predict")
    labels = [app.button(key=f"lesson_option_{i}").label for i in (6, 8)]
    assert "μ\N{NO-BREAK SPACE}0.245" in labels[0] and labels[1].endswith("12\N{NO-BREAK SPACE}km")


def test_the_definition_is_a_part_of_the_course_and_the_end_of_lesson_2(open_link):
    app = open_link("learn", "v=1&part=definition")
    (shown,) = sent(app, "dpviz_definition")
    assert not app.exception
    assert "at most e^ε times as likely with you as without you, plus δ in all" in read(app)
    record = json.loads(shown["record"])
    assert record["cells"][0]["words"][1][3] == "δ = 1 in 500,000"
    assert len(sent(open_link("learn", "v=1&lesson=noise&part=keep"), "dpviz_definition")) == 1
    app = open_link("learn", "v=1&lesson=exact&part=keep")
    assert not sent(app, "dpviz_definition") and ("Bet" in LESSONS["exact"].terms) == any(
        button.key == "lesson_bet" for button in app.button
    )
    app = press(open_link("learn", "v=1&lesson=looks&part=keep"), "lesson_bet")
    assert len(sent(app, "dpviz_definition")) == 1
