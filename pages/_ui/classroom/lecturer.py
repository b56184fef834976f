"""The projector's page: the code to join with, the current stage, and live input from the phones."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import segno
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.lessons import LESSONS
from dpviz.numbers import fraction, number
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.verdict import reach
from pages._ui.classroom import components, compute, maps
from pages._ui.classroom.registry import rooms
from pages._ui.classroom.room import ALONE, LIFE, MOST_SEATS, Classroom, NotAdmitted, Poll
from pages._ui.classroom.state import classroom_state
from pages._ui.form.forms import STOPS
from pages._ui.form.numbers import whole_number
from pages._ui.frame import keys, markup, messages, shell
from pages._ui.frame.streamlit_patches import whole
from pages._ui.learn import stage_cache
from pages._ui.learn.picture import Look, picture, planes
from pages._ui.learn.place import Spot
from pages._ui.notes.view import picked
from pages._ui.player import verdict
from pages._ui.player.player import player
from pages._ui.work import runs
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result

__all__ = ["opening", "projector"]

_KEEP: dict[str, Any] = {"persist_state": "session"}
LIVE = 1.5  # seconds between checks of the phones' input
MANY_WRONG = 20  # number of wrong codes in ten minutes at which the lecturer is warned
STAGES = {
    "place": "Everyone is a point",
    "predict": "Predict",
    "lesson": "A lesson",
    "run": "Run",
    "local": "Trust nobody",
    "game": "Was I in?",
}
QUESTION = "How many of the groups on the map will get a center?"
OPTIONS = ("none", "one", "two", "three", "four", "all of them")
_KEEPS = {True: "this server keeps the points", False: "nobody: randomized reports only"}


def opening() -> Classroom | None:
    """Offer to open a class; return the class once it is open."""
    st.html(
        markup.lede(
            "Show this page on the projector; everybody joins by phone with five letters or the QR code. Each phone "
            "is one person with one made-up point."
        )
    )
    keeps = st.radio(
        "Who is trusted with the points", (True, False), key=keys.CLASS_KEEPS, format_func=_KEEPS.__getitem__,
        help="With randomized reports only, no point ever reaches the class, so only the local model can be shown.",
    )  # fmt: skip
    st.html(
        markup.small(
            "You see dots and counts, but no names. The server holds, in memory only, "
            f"{_HOLDS[keeps]}, answers and scores of at most {MOST_SEATS} phones. The class ends after "
            f"{number(LIFE / 3600)} hours, {number(ALONE / 60)} minutes after everybody has left, or when you "
            "end it; then all of this is deleted. Nothing is written to disk."
        )
    )
    if st.button("Open a class", type="primary", key=keys.CLASS_OPEN):
        try:
            return rooms().open(
                compute.LOW, compute.HIGH, keeps_points=keeps, cells=compute.cells(), opener=runs.owner()
            )
        except NotAdmitted as problem:
            st.error(plain(str(problem)))
    return None


_HOLDS = {True: "the points that people make up", False: "one randomized report from each phone"}


def projector(room: Classroom, base: str) -> None:
    """Show the class to everybody."""
    for lesson in picked():  # so that a chosen lesson opens at once
        stage_cache.ahead(lesson.name, 0)
    stages = [stage for stage in STAGES if room.keeps_points or stage in ("place", "predict", "lesson", "local")]
    stage = st.segmented_control(
        "The phones show", stages, default=room.stage, required=True, format_func=STAGES.__getitem__,
        key=keys.CLASS_STAGE,
    )  # fmt: skip
    if stage != "lesson":  # a lesson shows its stage once its question exists
        room.show(stage=stage)
    room.attend(room.lecturer)
    _STAGES[str(stage)](room, base)
    with st.container(horizontal=True, vertical_alignment="center", key=keys.CLASS_END):
        if stage != "place":
            with st.popover("Code", icon=":material/qr_code:"):
                _code(room, base)
        _new_code(room)
        st.fragment(_left, run_every=1.0 if room.ending else 10.0)(room)
        st.space("stretch")
        _end(room)


def _left(room: Classroom) -> None:
    """Show the size of the class and the time left; each request also proves that the lecturer is present."""
    room.attend(room.lecturer)
    if not room.left:
        st.rerun()
    if room.ending:
        st.html(markup.odds(markup.bold(f"The class ends in {math.ceil(room.left)} seconds.")))
        return
    st.caption(f"{room.seats} of at most {MOST_SEATS} phones · ends by itself in {room.left / 60:.0f} minutes")
    if (wrong := rooms().wrong) >= MANY_WRONG:
        st.caption(
            f"{wrong} wrong codes were typed on this server in ten minutes: somebody may be guessing. If letters are "
            "refused, let phones scan the QR code."
        )


def _new_code(room: Classroom) -> None:
    """Offer a new code, for a class that strangers have joined."""
    with st.popover("New code"):
        st.caption("The code on the screen changes, and the old one stops working.")
        for words, key, empty in (
            ("Change the code; everybody stays", keys.CLASS_RENEW, False),
            ("Change it and empty the class", keys.CLASS_EMPTY, True),
        ):
            st.button(words, key=key, on_click=_renew, args=(room, empty), width="stretch")


def _renew(room: Classroom, empty: bool) -> None:
    try:
        rooms().renew(room, empty=empty)
    except NotAdmitted as problem:  # the class has just ended
        messages.say("problem", str(problem))


def _resume(room: Classroom) -> None:
    room.resume()


def _end(room: Classroom) -> None:
    """Ask before the class ends, and allow a few seconds to undo it."""
    if room.ending:
        st.button("Resume the class", type="primary", key=keys.CLASS_RESUME, on_click=_resume, args=(room,))
        return
    with st.popover("End the class", key=keys.CLASS_CLOSE):
        st.fragment(_question, run_every=LIVE)(room)
        st.button("End it", key=keys.CLASS_CLOSE_YES, on_click=room.end, width="stretch")


def _question(room: Classroom) -> None:
    points = f", {_many(len(room.points()), 'point')}" if room.keeps_points else ""
    st.markdown(f"**{_many(room.seats, 'phone')}{points}: end the class?** Everything in it is deleted, for everybody.")


def _code(room: Classroom, base: str) -> None:
    link = f"{base}?v=1&code={room.code}&key={room.key}"
    source = segno.make(link, error="l", micro=False).svg_data_uri(scale=6, border=3, dark="#000", light="#fff")
    st.html(
        f'<img class="dp-qr dp-door" data-link="{markup.escape(link)}" src="{source}" alt="QR code of the class">'
        f'<p class="dp-letters">{room.code}</p>'
        + markup.small("Scan, or open ", markup.bold(base.partition("://")[2] or base), " and type the five letters.")
    )


def _place(room: Classroom, base: str) -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        _code(room, base)
    with right:
        st.fragment(_crowd, run_every=LIVE)(room)


def _crowd(room: Classroom) -> None:
    points = room.points()
    if room.keeps_points:
        st.html(markup.odds(markup.bold(_many(room.seats, "phone")), ", ", markup.bold(_many(len(points), "point"))))
        st.html(maps.people(shell.colors(), points))
        st.html(markup.small(markup.tag(), " Made-up points, before any noise."))
        return
    st.html(markup.odds(markup.bold(_many(room.seats, "phone")), ". Every point stays on its phone."))


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _predict(room: Classroom, base: str) -> None:
    question = Poll("", ()) if room.question.lesson else room.question
    with st.expander("The question", expanded=not question.options):
        text = st.text_input("Question", question.text or QUESTION, key=keys.CLASS_QUESTION, max_chars=200)
        lines = st.text_area("Answers, one per line", "\n".join(question.options or OPTIONS), key=keys.CLASS_OPTIONS)
        if st.button("Ask it", type="primary", key=keys.CLASS_ASK):
            try:
                room.ask(text, lines.splitlines())
                st.rerun()
            except ValueError as problem:
                st.error(plain(str(problem)))
    if question.options:
        st.header(plain(question.text))
        st.fragment(_answers, run_every=LIVE)(room)


def _answers(room: Classroom) -> None:
    question, counts = room.answers()
    truth, word = _truth(room), "right" if question.lesson else "what happened"
    st.html(maps.bars(counts, question.options, truth, word=word, people=room.rights()[1]))


def _truth(room: Classroom) -> Collection[int]:
    """Return the right answers: a lesson's at its end, the first question's once there is a run, otherwise none."""
    run, asked = room.run, room.question
    if asked.lesson:
        return asked.right if room.part == "answer" else ()
    if run is None or (asked.text, asked.options) != (QUESTION, OPTIONS):
        return ()
    return [len(OPTIONS) - 1 if run.groups_found == run.groups else min(run.groups_found, len(OPTIONS) - 2)]


def _lesson(room: Classroom, base: str) -> None:
    """Lead the class through a lesson: it predicts on phones, the run answers, and the phones show who was right."""
    names = [lesson.name for lesson in picked()]
    before = room.question.lesson if room.question.lesson in names else names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Lesson", names, default=before, required=True, key=keys.CLASS_LESSON,
            format_func=lambda one: f"{LESSONS[one].number} {LESSONS[one].title}",
        )  # fmt: skip
        new = name != room.question.lesson
        part = st.segmented_control(
            "Part", list(PARTS), default="predict" if new else room.part, required=True,
            key=keys.CLASS_PART(str(name)), format_func=PARTS.__getitem__,
        )  # fmt: skip
        st.page_link("pages/notes.py", label="Other lessons", icon=":material/checklist:", width="content")
    lesson, stage = LESSONS[str(name)], stage_cache.stage(str(name), 0)

    def fill(text: str) -> str:
        return lesson.fill(text, stage)

    replies = tuple(fill(option.reply) for option in lesson.options)
    options = tuple(fill(option.text) for option in lesson.options)
    question = Poll(
        fill(lesson.question), options, lesson=lesson.name, several=lesson.several, right=stage.right,
        replies=() if lesson.several else replies, task=fill(lesson.task), keep=fill(lesson.keep),
    )  # fmt: skip
    room.teach(question, str(part))
    place = Spot(lesson, str(part))
    with st.container(key=keys.LESSON_FIGURES):
        words, plane = st.columns([2, 3] if planes(place) > 1 else [6, 5], gap="large")
        with words:
            paragraph = {"predict": lesson.setting, "run": lesson.task, "answer": lesson.explain}[str(part)]
            st.html(f'<p class="dp-said">{markup.escape(fill(paragraph))}</p>')
            st.header(plain(question.text))
            st.fragment(_answers, run_every=LIVE)(room)
        with plane:
            picture(place, stage, Look(stage.hint if part == "answer" else stage.first, still=part == "predict"))


PARTS = {"predict": "Predict", "run": "Run", "answer": "Answer"}


def _run(room: Classroom, base: str) -> None:
    # without the panels, the picture and its form fill one screen
    panels = bool(st.session_state.get(keys.CLASS_PANELS))
    form, picture = (st.container(), st.container()) if panels else st.columns(2, gap="medium")
    with form:
        _form(room)
    if classroom_state.class_job is not None:
        with picture:
            st.fragment(_poll, run_every=0.5)(room)
        return
    result: Result | None = room.result
    run = room.run  # read once, because the class may end meanwhile
    if result is None or run is None:
        picture.html(markup.odds("Press Run. The points go through the curator, like all rows here."))
        return
    with form:
        promise = result.trace.claimed
        bet = bet_of(promise, far=reach(result.trace))
        won = f"Bets on {bet.on} are won at most {bet.odds} times in 100."
        words = won if promise.private else "Nothing is promised."
        st.html(
            f'<div class="dp-verdict"><b>{result.trace.name} on {result.data.title}.</b> <span>{words}</span></div>'
            + markup.fooled(
                "Every run on the same points spends ε again. Here the points are made up; with real people nobody "
                "would see the gray points or the diamonds."
            )
        )
        st.toggle(
            "All panels",
            key=keys.CLASS_PANELS,
            help="Shows the panels of Watch, such as votes, loss and the ledger.",
            **_KEEP,
        )
    with picture:
        step = components.mirror()
        room.show(step=len(run.titles) - 1 if step is None else min(step, len(run.titles) - 1))
        player("class", result, hidden=True, axes=(0, 1), compact=not panels)


def _form(room: Classroom) -> None:
    """Show the form of a run on the class's points, and start it."""
    points = room.points()
    with st.container(horizontal=True, vertical_alignment="bottom", key=keys.CLASS_FORM):
        slug = st.selectbox(
            "Algorithm",
            compute.METHODS,
            key=keys.CLASS_METHOD,
            format_func=lambda slug: ALGORITHMS[slug].name,
            width=200,
        )
        k = whole_number("Centers k", 1, 12, 4, key=keys.CLASS_K, width=120)
        epsilon = st.segmented_control(
            "Privacy budget ε", STOPS, default=1.0, required=True, key=keys.CLASS_EPSILON,
            format_func=fraction,
        )  # fmt: skip
        beside = st.segmented_control(
            "Made-up people beside you", compute.BESIDE, default=compute.BESIDE[1], required=True,
            key=keys.CLASS_BESIDE,
            help="A class is a small data set, and small data sets drown in noise, which is worth seeing, too.",
        )  # fmt: skip
        about = whole_number(
            "People declared", 2, 100_000, 200, key=keys.CLASS_ABOUT, width=140,
            help="Declared and public: the budget's δ follows from this number, not from the number of people who "
                "came.",
        )  # fmt: skip
        go = st.button("Run", type="primary", key=keys.CLASS_RUN, disabled=classroom_state.class_job is not None)
    if len(points) + beside < max(k, 2):
        st.info(f"{_many(len(points), 'point')} cannot make {k} centers: wait for more phones, or add made-up people.")
    elif go:
        values = {"n_clusters": k} | ({} if slug == "kmeans" else {"epsilon": epsilon})
        _start(room, compute.data_of(points, beside, about, k), slug, values)


def _start(room: Classroom, data: compute.Dataset, slug: str, values: dict) -> None:
    inbox = []
    try:
        algorithm = ALGORITHMS[slug](**values)
        runs.check(data, algorithm)
    except ValueError as problem:
        st.error(plain(str(problem)))
        return
    make = lambda job: inbox.append(runs.execute(data, algorithm, 0, job))  # noqa: E731
    with whole():
        job = runs.queue("Class", make, runs.seconds(data, algorithm))
        classroom_state.class_job = (job, inbox)
    if job.wait(runs.QUICK):
        _take(room, job, inbox)


def _poll(room: Classroom) -> None:
    if classroom_state.class_job is None:
        return
    job, inbox = classroom_state.class_job
    if job.active:
        st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, "Running")
        return
    _take(room, job, inbox)
    st.rerun()


def _take(room: Classroom, job: Job, inbox: list[Result]) -> None:
    if job.status != "done":
        room.result = None
        del classroom_state.class_job
        st.error(plain(job.error or "The run was stopped."))
        return
    room.result = result = inbox[0]
    try:
        run = compute.frames_of(result.trace, result.data, verdict.groups(result))
    except Exception:
        del classroom_state.class_job  # otherwise every rerun would store the result again
        raise
    room.forget_scores()
    room.show(run=run, step=len(run.titles) - 1)
    del classroom_state.class_job  # last, so that this is repeated if a click ends the script earlier


def _local(room: Classroom, base: str) -> None:
    st.fragment(_reports, run_every=LIVE)(room)


def _reports(room: Classroom) -> None:
    reports = room.reports()
    left, right = st.columns([3, 2], gap="large")
    if not len(reports):
        left.html(markup.odds("There are no reports yet."))
        return
    counts, sd = compute.estimates(reports)
    with left:
        st.html(maps.grid(shell.colors(), counts, sd))
    with right:
        st.html(
            markup.odds(markup.bold(_many(len(reports), "randomized report")), ".")
            + markup.small(
                f"Each phone sent one randomized bit per cell, at ε {number(compute.LOCAL_EPSILON)}; the numbers "
                f"are estimates, each ±{sd:.1f} from the coins alone. With a trusted server, the same ε "
                f"would blur each number by only ±{math.sqrt(2) / compute.LOCAL_EPSILON:.1f} or so. That is the "
                "price of trusting nobody: the relative error shrinks only with the square root of "
                "the number of people."
            )
            + markup.small(
                "To be honest, this server tossed the coins for the phones. A real local app does that on the phone."
            )
        )


def _game(room: Classroom, base: str) -> None:
    run = room.run
    if run is None:
        st.info("First run an algorithm on the class: the game asks about that run.")
        return
    promise = f"{run.algorithm.name} on {run.data.title}"
    st.html(f'<div class="dp-verdict"><b>Was I in?</b> <span>{promise}</span></div>')
    st.fragment(_board, run_every=LIVE)(room)


def _board(room: Classroom) -> None:
    scores, run = room.scores(), room.run
    if run is not None:
        st.html(maps.scores(shell.colors(), scores, run.odds))


_STAGES = {"place": _place, "predict": _predict, "lesson": _lesson, "run": _run, "local": _local, "game": _game}
