"""Show the projector's page: the code to join with, the current phase, and live input from the phones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpviz.escape import cell, plain
from dpviz.numbers import number
from pages._ui.frame import markup, messages, shell
from pages._ui.learn import exhibits
from pages._ui.teach.classroom import asking, compute, joining, maps, masking, running
from pages._ui.teach.classroom.joining import LIVE, many
from pages._ui.teach.classroom.registry import rooms
from pages._ui.teach.classroom.room import ALONE, LIFE, MOST_SEATS, Answers, Classroom, NotAdmitted
from pages._ui.teach.notes.view import picked
from pages._ui.work import runs

__all__ = ["opening", "projector"]

_CLASS_RENEW = "class_renew"
_CLASS_EMPTY = "class_empty"

MANY_WRONG = 20  # number of wrong codes in ten minutes at which the lecturer is warned
PHASES = {
    "place": "Everyone is a point",
    "predict": "Predict",
    "lesson": "A lesson",
    "run": "Run",
    "local": "Trust nobody",
    "masks": "Masks that cancel",
    "game": "Was I in?",
}
_KEEPS = {True: "this server keeps the points", False: "nobody: randomized reports only"}
_HOLDS = {True: "the points and numbers that people make up", False: "one randomized report from each phone"}


def opening() -> Classroom | None:
    """Offer to open a class; return the class once it is open."""
    st.html(
        markup.lede(
            "Show this page on the projector; everybody joins by phone with five letters or the QR code. Each phone "
            "is one person with one made-up point."
        )
    )
    keeps = st.radio(
        "Who is trusted with the points", (True, False), key="class_keeps", format_func=_KEEPS.__getitem__,
        help="With randomized reports only, no point ever reaches the class, so only the local model can be shown.",
    )  # fmt: skip
    st.html(
        markup.small(
            "You see dots and counts, but no names. The server holds, in memory only, "
            f"{_HOLDS[keeps]}, and the answers and scores of at most {MOST_SEATS} phones. The class ends after "
            f"{number(LIFE / 3600)} hours, {number(ALONE / 60)} minutes after everybody has left, or when you "
            "end it; then all of this is deleted. Nothing is written to disk."
        )
    )
    if st.button("Open a class", type="primary", key="class_open"):
        try:
            return rooms().open(
                compute.LOW, compute.HIGH, keeps_points=keeps, cells=compute.cells(), opener=runs.owner()
            )
        except NotAdmitted as problem:
            st.error(plain(str(problem)))
    return None


def projector(room: Classroom, base: str) -> None:
    """Show the class to everybody."""
    for lesson in picked():  # prepares the picked lessons, so that they open at once
        exhibits.ahead(lesson.name, 0)
    phases = [phase for phase in PHASES if room.keeps_points or phase in ("place", "predict", "lesson", "local")]
    phase = st.segmented_control(
        "The phones show", phases, default=room.phase, required=True, format_func=PHASES.__getitem__,
        key="class_phase",
    )  # fmt: skip
    if phase != "lesson":  # a lesson shows its phase once its question exists
        room.show(phase=phase)
    room.attend(room.lecturer)
    with st.container(key="class_projector"):  # in letters for the last row
        _DRAWN[str(phase)](room, base)
    with st.container(horizontal=True, vertical_alignment="center", key="class_end"):
        if phase != "place":
            with st.popover("Code", icon=":material/qr_code:"):
                joining.code(room, base)
        _new_code(room)
        st.fragment(_left, run_every=1.0 if room.ending else LIVE)(room)
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
            f"{wrong} wrong codes were typed on this server in ten minutes: somebody may be guessing. If typed "
            "letters are refused, let phones scan the QR code."
        )


def _new_code(room: Classroom) -> None:
    """Offer a new code, for a class that strangers have joined."""
    with st.popover("New code"):
        st.caption("The code on the screen changes, and the old one stops working.")
        for words, key, empty in (
            ("Change the code; everybody stays", _CLASS_RENEW, False),
            ("Change the code and empty the class", _CLASS_EMPTY, True),
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
        _save(room)
        st.button("Resume the class", type="primary", key="class_resume", on_click=_resume, args=(room,))
        return
    with st.popover("End the class", key="class_close"):
        st.fragment(_question, run_every=LIVE)(room)
        st.button("End it", key="class_close_yes", on_click=room.end, width="stretch")


def _save(room: Classroom) -> None:
    """Offer the answers to all questions as a file, if there are any."""
    if room.all_answers():
        st.download_button(
            "Save the answers", lambda: counts(room.all_answers()), "class.csv", "text/csv", key="class_counts",
            on_click="ignore", help="One line for each option of each question, with numbers of phones only.",
        )  # fmt: skip


def counts(asked: Sequence[Answers]) -> str:
    """Return the answers to all questions as a table in CSV, one row per option, in which nothing acts as a formula."""
    rows = [
        {
            "question": cell(one.question.text), "option": cell(option),
            "right": "yes" if i in one.question.right else "no" if one.question.lesson else "",
            "at_first": first, "after_the_run": again if one.again else "", "phones": one.phones,
        }
        for one in asked
        for i, (option, first, again) in enumerate(zip(one.question.options, one.first, one.revised, strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows).to_csv(index=False)


def _question(room: Classroom) -> None:
    points = f", {many(len(room.points()), 'point')}" if room.keeps_points else ""
    st.markdown(
        f"**{many(room.seats, 'phone')}{points}: end the class?** Everything in it will be deleted for everybody."
    )
    _save(room)


def _local(room: Classroom, base: str) -> None:
    st.fragment(_reports, run_every=LIVE)(room)


def _reports(room: Classroom) -> None:
    reports = room.reports()
    left, right = st.columns([3, 2], gap="large")
    if not len(reports):
        left.html(markup.odds("There are no reports yet."))
        return
    estimates, sd = compute.estimates(reports)
    negative = "An estimate below 0 is no mistake: the coins said yes less often than expected. "
    below = negative if (estimates < 0).any() else ""
    with left:
        st.html(maps.grid(shell.colors(), estimates, sd))
    with right:
        st.html(
            markup.odds(markup.bold(many(len(reports), "randomized report")), ".")
            + markup.small(
                f"Each phone sent one randomized bit per cell, at ε {number(compute.LOCAL_EPSILON)}; the numbers "
                f"are estimates, each ±{sd:.1f} from the coins alone. With a trusted server, the same promise (one "
                f"person's point changed, ε {number(compute.LOCAL_EPSILON)}) would blur each number by "
                f"±{compute.blurs(1)[1]:.1f}, however many take part. Without one the blur grows with the square "
                f"root of the number of people, to ±{compute.blurs(MOST_SEATS)[0]:.0f} for {MOST_SEATS:,}: that is "
                "the price of trusting nobody."
            )
            + markup.small(
                f"{below}To be honest, this server tossed the coins for the phones. A real local app tosses its "
                "coins on the phone."
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


_DRAWN = {
    "place": joining.place,
    "predict": asking.predict,
    "lesson": asking.lesson,
    "run": running.run,
    "local": _local,
    "masks": masking.masks,
    "game": _game,
}
