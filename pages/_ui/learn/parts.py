"""Show the four parts of a lesson: predict, run, explain with a second try, keep."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qsl

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import STORY
from dpviz.escape import plain
from dpviz.lessons import LESSONS, SEEDS, Exhibit, Lesson, glossary
from dpviz.lessons.homework import MOST_NAME, code
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import markup, prepared
from pages._ui.frame.address.scene import Scene, write
from pages._ui.learn import definition, exhibits, progress
from pages._ui.learn.controls import LEARN_ANSWER, LEARN_PART, LEARN_SEED, PARTS, TRIES
from pages._ui.learn.picture import LESSON_FIGURES, Look, picture, planes, side_figures
from pages._ui.learn.place import Spot, answer, draw_again, go

__all__ = ["show"]

_LEARN_DRAFT = "learn_draft_{}".format

_STORYS = ALGORITHMS[STORY[1]].name  # The story's method needs no label.
_TIED = "\N{NO-BREAK SPACE}"  # `plain` would replace this character with a space.
_COLUMN = 5  # Maximum number of answers in a column.


def show(place: Spot) -> None:
    """Show the current part of a lesson: words, answers and next steps beside the picture."""
    lesson = place.lesson
    assert lesson is not None
    exhibit = exhibits.exhibit(lesson.name, place.seed)
    _head(lesson, place.part)
    if place.part == "keep":
        _keep(lesson, exhibit)
        _onward(place, lesson)
        if lesson.definition:
            st.header("The definition")
            definition.show()
    else:
        with st.container(key=LESSON_FIGURES):
            words, plane = st.columns([2, 3] if planes(place) > 1 else [6, 5], gap="large")
            with words:
                look = _WORDS[place.part](place, lesson, exhibit)
                _onward(place, lesson)
                if not look.still:
                    side_figures(place)
            with plane:
                picture(place, exhibit, look)
    if follower := _follower(lesson):
        exhibits.ahead(follower, 0)


def _follower(lesson: Lesson) -> str:
    """Return the name of the next lesson, "" after the last one."""
    return next((name for name, other in LESSONS.items() if other.number == lesson.number + 1), "")


def _head(lesson: Lesson, part: str) -> None:
    steps = "".join(f"<li{' aria-current=step' if name == part else ''}>{words}</li>" for name, words in PARTS.items())
    other = f" · this lesson uses {markup.escape(lesson.methods)}" if lesson.methods != _STORYS else ""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="lesson_head"):
        st.title(lesson.title, width="content")
        st.html(
            f'<div class="dp-lesson"><span>Lesson {lesson.number} of {len(LESSONS)}{other}</span>'
            f'<ol aria-label="Parts of the lesson">{steps}</ol></div>',
            width="content",
        )


def _predict(place: Spot, lesson: Lesson, exhibit: Exhibit) -> Look:
    _paragraph(lesson.fill(lesson.setting, exhibit))
    _asked(lesson.fill(lesson.question, exhibit))
    first = place.answers[0] if place.answers else frozenset()
    _options(lesson, exhibit, first, partial(_predicted, lesson, first))
    several, keyboard = (
        "Mark every right answer. " * lesson.several,
        "Keys: the numbers for the answers, N for the next part.",
    )
    st.html(markup.small(several, markup.Html(f'<span class="dp-keys">{keyboard}</span>')))
    return Look(exhibit.first, still=True)


def _predicted(lesson: Lesson, chosen: frozenset[int], option: int) -> None:
    """Record an answer before the run; a new prediction clears the tries that followed the old prediction."""
    answer(lesson, [_toggled(lesson, chosen, option)])


def _toggled(lesson: Lesson, chosen: frozenset[int], option: int) -> frozenset[int]:
    return chosen ^ {option} if lesson.several else frozenset({option})


def _run(place: Spot, lesson: Lesson, exhibit: Exhibit) -> Look:
    _asked(lesson.fill(lesson.task, exhibit))
    return Look(exhibit.first)


def _explain(place: Spot, lesson: Lesson, exhibit: Exhibit) -> Look:
    tries = place.answers
    if not tries:
        _asked(lesson.fill(lesson.question, exhibit))
        _options(lesson, exhibit, frozenset(), partial(_predicted, lesson, frozenset()))
        st.html(markup.small("Answer first: without a prediction, a surprise goes unnoticed."))
        return Look(exhibit.first, still=True)
    if lesson.is_right(tuple(tries[-1]), exhibit) or len(tries) == TRIES:
        _solved(place, lesson, exhibit)
        return Look(exhibit.hint)
    st.html(
        f'<div class="dp-hint" role="status"><b>{lesson.verdict(tries, exhibit)}</b> '
        f"{markup.escape(lesson.reply(tries[0], exhibit))} "
        f"<b>{markup.escape(lesson.fill(lesson.hint, exhibit))}</b></div>"
    )
    _second(lesson, exhibit, tries[0])
    return Look(exhibit.hint, pointed=True)


def _second(lesson: Lesson, exhibit: Exhibit, first: frozenset[int]) -> None:
    """Offer the second try."""
    st.html('<h2 class="dp-again">Try again</h2>')
    if not lesson.several:
        _options(
            lesson, exhibit, frozenset(), lambda option: answer(lesson, [first, frozenset({option})]), without=first
        )
        return
    key = _LEARN_DRAFT(lesson.name)
    draft = frozenset(st.session_state.get(key, first))
    _options(lesson, exhibit, draft, lambda option: st.session_state.update({key: _toggled(lesson, draft, option)}))
    same = not draft or draft == first
    st.button(
        "Check", key="lesson_check", type="primary", shortcut="H", disabled=same, on_click=answer,
        args=(lesson, [first, draft]), help="Change your answer first." if same else None,
    )  # fmt: skip


def _solved(place: Spot, lesson: Lesson, exhibit: Exhibit) -> None:
    """Show the prediction beside the right answer, with the reason for the right answer."""
    tries = place.answers
    reply = "" if lesson.several else f" {lesson.reply(tries[-1], exhibit)}"
    verdict = lesson.verdict(tries, exhibit)
    st.html(f'<div class="dp-hint" role="status"><b>{verdict}</b>{markup.escape(reply)}</div>')
    _paragraph(lesson.fill(lesson.explain, exhibit))
    lines = map(partial(_line, lesson, exhibit, tries), range(len(lesson.options)))
    st.html(f'<ul class="dp-solution">{"".join(lines)}</ul>')


def _line(lesson: Lesson, exhibit: Exhibit, tries: tuple[frozenset[int], ...], i: int) -> str:
    """Return one option, with a check mark if it is right and a note on the tries that chose it."""
    is_right = i in exhibit.right
    whose = [name for name, tried in zip(("your prediction", "your second try"), tries, strict=False) if i in tried]
    mark = '<span class="mark" role="img" aria-label="right">\N{CHECK MARK}</span>' if is_right else "<span></span>"
    chosen_by = f" <em>{', '.join(whose)}</em>" if whose else ""
    words = markup.escape(lesson.fill(lesson.options[i].text, exhibit))
    return f'<li class="{"right" if is_right else ""}">{mark}<span>{words}{chosen_by}</span></li>'


def _keep(lesson: Lesson, exhibit: Exhibit) -> None:
    progress.done(lesson.name)
    left, right = st.columns(2, gap="large")
    with left:
        st.html(f'<blockquote class="dp-keep">{markup.escape(lesson.fill(lesson.keep, exhibit))}</blockquote>')
        st.header("How the picture can fool you")
        _paragraph(lesson.fill(lesson.fool, exhibit))
        page, scene = _explored(lesson)
        st.page_link(page, label="Try it yourself with these values", icon=":material/play_circle:", query_params=scene)
        if "Bet" in lesson.terms and not lesson.definition:
            st.button("The bet as a picture", key="lesson_bet", on_click=go, args=("", "definition"), type="tertiary")
    with right:
        st.header("Words")
        st.html(markup.definitions((term, glossary()[term]) for term in lesson.terms))


def _explored(lesson: Lesson) -> tuple[str, dict[str, str]]:
    """Return the page on which to continue, and its scene."""
    return "pages/explore.py", dict(parse_qsl(write(Scene("explore", lesson.explore), explore)))


def _options(
    lesson: Lesson,
    exhibit: Exhibit,
    chosen: frozenset[int],
    choose: Callable[[int], None],
    without: frozenset[int] = frozenset(),
) -> None:
    """Show the answers as buttons, each with its number as a key; those in `without`, already tried, are disabled."""
    shapes = ("radio_button_checked", "radio_button_unchecked")
    if lesson.several:
        shapes = ("check_box", "check_box_outline_blank")
    with st.container(key="lesson_options", gap="xsmall"):
        columns = st.columns(1 + (len(lesson.options) > _COLUMN), gap="xsmall")
        for i, option in enumerate(lesson.options):
            parts = lesson.fill(option.text, exhibit).split(_TIED)
            words = _TIED.join(map(plain, parts)) + " · **your answer**" * (i in chosen)
            columns[i // _COLUMN].button(
                words, key=f"lesson_option_{i}", on_click=choose, args=(i,), shortcut=str(i + 1), width="stretch",
                icon=f":material/{shapes[i not in chosen]}:", wrap=True,
                disabled=i in without or prepared.locked(LEARN_ANSWER(lesson.name)),
            )  # fmt: skip


def _paragraph(words: str) -> None:
    st.html(f'<p class="dp-said">{markup.escape(words)}</p>')


def _asked(words: str) -> None:
    st.html(f'<p class="dp-asked">{markup.escape(words)}</p>')


def _onward(place: Spot, lesson: Lesson) -> None:
    """Show the buttons that lead back and onward. The limits of the promise follow the last lesson."""
    order = list(PARTS)
    at, fixed = order.index(place.part), prepared.locked(LEARN_PART)
    follower = _follower(lesson)
    with st.container(key="lesson_onward", horizontal=True, gap="small"):
        if at:
            st.button(
                "Back", key="lesson_back", shortcut="B", on_click=go, args=(lesson.name, order[at - 1]),
                disabled=fixed,
            )  # fmt: skip
        if at + 1 < len(order):
            ready = place.part != "predict" or place.answers
            st.button(
                "Next" if ready else "Skip the prediction", key="lesson_next", shortcut="N", on_click=go,
                args=(lesson.name, order[at + 1]), type="primary" if ready else "secondary", disabled=fixed,
            )  # fmt: skip
        elif follower:
            st.button(
                f"Next lesson: {LESSONS[follower].title}", type="primary", key="lesson_follower", on_click=go,
                args=(follower, "predict"), shortcut="N",
            )  # fmt: skip
        else:
            st.page_link("pages/limits.py", label="The last page: what no promise covers", width="content")
        if place.part in ("run", "explain"):
            st.button(
                "Draw again", key="lesson_draw", icon=":material/casino:", shortcut="D", on_click=draw_again,
                args=(place,), disabled=prepared.locked(LEARN_SEED(lesson.name)),
                help=f"Draw {place.seed + 1} of {len(SEEDS)}: the same people, another start, different noise. "
                "Every number in this lesson is computed from the draw that is shown.",
            )  # fmt: skip
        if place.part == "keep" and place.answers:
            with st.popover("Hand it in", icon=":material/upload:"):
                _hand_in(place, lesson)
        st.button("All lessons", key="lesson_all", type="tertiary", on_click=go, args=("", "lessons"))


def _hand_in(place: Spot, lesson: Lesson) -> None:
    """Offer the answers as a code, under a name that the student gives and that is kept nowhere else."""
    student = st.text_input("Your name", key="lesson_student", max_chars=MOST_NAME, autocomplete="off")
    if student.strip():
        try:
            st.code(
                code(lesson.name, place.seed, student, place.answers[0], place.answers), language=None, wrap_lines=True
            )
        except ValueError as problem:
            st.error(plain(str(problem)))
    st.caption(
        "An answer code for your teacher: it holds this name, the draw and your answers, and proves none of them. A "
        "folder of .txt files with codes is checked with: dpviz homework --check FOLDER"
    )


_WORDS: dict[str, Callable[[Spot, Lesson, Exhibit], Look]] = {"predict": _predict, "run": _run, "explain": _explain}
