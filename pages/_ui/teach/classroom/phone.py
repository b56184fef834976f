"""Show the page on a phone: the form to join with, then the lecturer's phase with one small picture."""

from __future__ import annotations

import streamlit as st

from dpviz.audits.game import score
from dpviz.escape import plain
from dpviz.numbers import number
from pages._ui.explore.attacker.rounds import Match
from pages._ui.frame import markup, shell
from pages._ui.frame.inside.patches import redraw
from pages._ui.teach.classroom import components, compute, maps
from pages._ui.teach.classroom.masks import HIGHEST, RING
from pages._ui.teach.classroom.registry import Classrooms, rooms
from pages._ui.teach.classroom.room import Classroom, NotAdmitted, Seat
from pages._ui.teach.classroom.state import classroom_state
from pages._ui.work.runs import owner

__all__ = ["back", "door", "phone"]

_CLASS_SHOWN = "class_shown"

POLL = 0.6  # Seconds between checks for a new phase.
AHEAD, MORE = 12, 4  # Numbers of rounds of a phone's game that are made ahead, and below which more are made.


def door(code: str, key: str, token: str) -> tuple[Classroom, Seat] | None:
    """Return the class and seat that a phone requests, or say in one sentence why it cannot enter."""
    try:
        room = rooms().enter(code, key, owner())
        return room, room.sit(token)
    except NotAdmitted as problem:
        st.error(plain(str(problem)))
        return None


def back(classes: Classrooms, memory: dict[str, str]) -> tuple[Classroom | None, Seat | None]:
    """Return the class that a browser remembers (None after its end) and the seat (None for the lecturer)."""
    room = classes.known(memory.get("code", ""), memory.get("token", ""))
    if room is None or memory["token"] == room.lecturer:
        return room, None
    try:
        return room, room.sit(memory["token"])
    except NotAdmitted:  # the class has just ended
        return None, None


def phone(room: Classroom, seat: Seat) -> None:
    """Show the class to one phone."""
    with st.container(key="class_phone"):  # hides the bar and tabs of a small screen
        st.fragment(_phase, key=_CLASS_SHOWN)(room, seat)
        st.fragment(_watch, run_every=POLL)(room, seat)


def _watch(room: Classroom, seat: Seat) -> None:
    """Draw the phase again when it changes; an idle phone sends only this check."""
    room.attend(seat.token)
    if not room.left or not room.knows(seat.token):
        st.rerun()
    if classroom_state.class_version != room.version:
        redraw(_CLASS_SHOWN)


def _phase(room: Classroom, seat: Seat) -> None:
    """Draw the phase that the lecturer has chosen."""
    classroom_state.class_version = room.version
    st.html(markup.small("Class ", markup.bold(room.code), f" · phone {seat.number}, without a name."))
    _PHASES[room.phase](room, seat)


def _place(room: Classroom, seat: Seat) -> None:
    st.header("Place one made-up point")
    st.html(markup.small(markup.bold("Do not use your real home."), " ", _WHO[room.keeps_points]))
    at = components.place(mine(room, seat))
    if at is not None and at != mine(room, seat):
        if room.keeps_points:
            room.place(seat.token, *at)
        elif seat.report is None:
            classroom_state.class_point = at


_WHO = {
    True: "The lecturer and everybody who sees the screen see your point as a dot without a name; this server keeps "
    "it in memory until the class ends and writes nothing to disk.",
    False: "Your point stays in your own visit to this server. The class gets one randomized report of this point, and "
    "nobody sees the point itself. This server computes the report for you; a real local app would do so on your "
    "phone.",
}


def mine(room: Classroom, seat: Seat) -> tuple[float, float] | None:
    """Return the point of this phone, which only its own session knows in a class that keeps only reports."""
    return seat.point if room.keeps_points else classroom_state.class_point


def _predict(room: Classroom, seat: Seat) -> None:
    asked = room.question
    if not asked.options or (room.phase == "predict" and asked.lesson):
        st.header("A question is coming")
        return
    st.header(plain(asked.text))
    _answers(room, seat)
    st.html(markup.small("Everybody sees how many people gave each answer, but not who gave it."))


def _say(room: Classroom, seat: Seat, option: int) -> None:
    room.say(seat.token, option)


def _answers(room: Classroom, seat: Seat) -> None:
    """Show the answers as rows large enough for a thumb."""
    asked, given = room.question, seat.revised if room.revising else seat.answer
    off, on = ("check_box_outline_blank", "check_box") if asked.several else _RADIO
    with st.container(key="class_answers", gap="xsmall"):
        for i, option in enumerate(asked.options):
            st.button(
                plain(option) + " · **your answer**" * (i in given), key=f"class_answer_{asked.number}_{i}",
                on_click=_say, args=(room, seat, i), width="stretch", wrap=True,
                icon=f":material/{on if i in given else off}:",
            )  # fmt: skip


_RADIO = ("radio_button_unchecked", "radio_button_checked")


def _lesson(room: Classroom, seat: Seat) -> None:
    asked, part = room.question, room.part
    if part == "predict":
        _predict(room, seat)
        return
    if part == "again":
        st.html(markup.told(markup.bold("After the run."), " What do you say now?"))
        _predict(room, seat)
        return
    if part == "run":
        st.header("Look at the screen")
        st.html(markup.odds(asked.task))
        chosen = [asked.options[i] for i in sorted(seat.answer)]
        st.html(markup.small(f"You answered: {'; '.join(chosen)}" if chosen else "You have not answered."))
        return
    answer = seat.revised or seat.answer
    verdict = "You were right." if answer == asked.right else "Not quite." if answer else "This is right."
    st.header(verdict)
    (right, given), (later, again) = room.rights(), room.rights(revised=True)
    if given:
        st.html(markup.odds(markup.bold(f"{right} of {given}"), " people who answered were right."))
    if again:
        st.html(markup.odds(markup.bold(f"{later} of {again}"), " who answered again after the run were right."))
    lines = (
        f'<li class="{"right" if i in asked.right else ""}"><span class="mark">{CHECK * (i in asked.right)}</span>'
        f"<span>{markup.escape(option)}{' <em>your answer</em>' * (i in answer)}</span></li>"
        for i, option in enumerate(asked.options)
    )
    st.html(f'<ul class="dp-solution">{"".join(lines)}</ul>')
    if asked.replies and answer:
        st.html(markup.small(asked.replies[min(answer)]))
    st.html(markup.told(markup.bold("Keep."), f" {asked.keep}"))


CHECK = "\N{CHECK MARK}"


def _run(room: Classroom, seat: Seat) -> None:
    run = room.run
    if run is None:
        st.header("Look at the screen")
        return
    step = min(room.step, len(run.titles) - 1)
    head, _, rest = run.titles[step].partition(" · ")
    st.html(markup.odds(markup.bold(head), f" {rest}"))
    centers = run.centers[step]
    st.html(maps.people(shell.colors(), compute.NOBODY, centers, mine(room, seat), private=run.private))
    st.html(
        markup.small(
            f"Step {step + 1} of {len(run.titles)}, as on the screen. ",
            _CENTERS[run.private],
            " The orange ring is you; only this phone shows it.",
        )
    )


_CENTERS = {True: "Blue: released.", False: markup.text(markup.tag(), " Exact centers.")}


def _local(room: Classroom, seat: Seat) -> None:
    st.header("Trust nobody")
    at = mine(room, seat)
    if at is None and seat.report is None:
        st.html(markup.odds("Place a point first."))
        at = components.place(None)
        if at is None:
            return
        if room.keeps_points:
            room.place(seat.token, *at)
        else:
            classroom_state.class_point = at
    if seat.report is None and at is not None:
        room.tell(seat.token, compute.report(*at))
    own, bits = compute.cell_of(*at) if at else None, seat.report or ()
    lines = "".join(
        f'<i class="{"on" if bit else ""}{" own" if cell == own else ""}">{"1" if bit else "0"}</i>'
        for row in range(compute.ALONG - 1, -1, -1)
        for cell, bit in list(enumerate(bits))[row * compute.ACROSS : (row + 1) * compute.ACROSS]
    )
    st.html(
        markup.small(
            f"{_OWN[at is not None]} This is what your phone sent, after one coin toss for each cell: at "
            f"ε {number(compute.LOCAL_EPSILON)}, nobody can tell from it for sure where you are."
        )
        + f'<div class="dp-cells" role="img" aria-label="{sum(bits)} of {len(bits)} cells say yes">{lines}</div>'
        + markup.small(_HONEST[room.keeps_points])
    )


_OWN = {True: "Your cell has the thick frame.", False: "Your point was forgotten when you left; your report was not."}
_HONEST = {
    True: "To be honest, this server computed the report for you, and it knew your point from the other game.",
    False: "To be honest, this server computed the report for you, within your own visit. The class holds these bits "
    "but not your point.",
}


def _choose(room: Classroom, seat: Seat, whole: int) -> None:
    room.choose(seat.token, whole)


def _send(room: Classroom, seat: Seat) -> None:
    room.send_masked(seat.token)


def _masks(room: Classroom, seat: Seat) -> None:
    round_ = room.masks
    share = None if round_ is None else round_.shares.get(seat.token)
    if share is None:
        st.header("Choose a number")
        st.html(
            markup.small(markup.bold("Make it up."), f" 0 to {HIGHEST}. Only the sum over all phones will be shown.")
        )
        with st.container(horizontal=True, key="class_wholes", gap="xsmall"):
            for whole in range(HIGHEST + 1):
                st.button(
                    str(whole), key=f"class_whole_{whole}", on_click=_choose, args=(room, seat, whole),
                    type="primary" if whole == seat.whole else "secondary",
                )  # fmt: skip
        if round_ is not None:
            st.html(markup.told("A round is under way without your phone; you are in the next one."))
        elif seat.whole is not None:
            st.html(markup.told(f"Your number is {seat.whole}. Wait for your mask."))
        return
    st.header("Your masked number")
    sum_ = f"{share.whole} + {share.mask:04d} ="
    st.html(
        f'<p class="dp-odds">{sum_}</p><p class="dp-letters">{share.masked:04d}</p>'
        + markup.small(
            f"Your number, plus your mask; only the last four digits count. Whatever your number, each of the {RING:,} "
            "results is equally likely, so the result alone says nothing about it."
        )
    )
    if round_ is not None and seat.token in round_.sent:
        st.html(markup.told("The screen shows your masked number."))
        return
    st.button(
        "Show it on the screen", key="class_send", type="primary", width="stretch", on_click=_send,
        args=(room, seat),
    )  # fmt: skip


def _game(room: Classroom, seat: Seat) -> None:
    run, at = room.run, mine(room, seat)
    if run is None or at is None or not room.keeps_points:
        st.header("Look at the screen")
        st.html(markup.odds("You have no point in this run." if run is not None else "A run will follow."))
        return
    past, place = seat.game_of
    if past is not run or place != at:
        seat.game, seat.game_of = Match(compute.game_of(run, at), run.algorithm), (run, at)
        room.score(seat.token, 0, 0)
    seat.game.make(len(seat.game.bets) + AHEAD)
    st.header("Was I in?")
    _rounds(room, seat, seat.game, at)


def _rounds(room: Classroom, seat: Seat, game: Match, at: tuple[float, float]) -> None:
    waited = game.now is None
    st.fragment(_round, run_every=1.0 if waited else None)(room, seat, game, at, waited=waited)


def _round(room: Classroom, seat: Seat, game: Match, at: tuple[float, float], *, waited: bool) -> None:
    if game.error:
        st.error(plain(game.error))
        return
    if game.now is None:
        st.html(markup.odds("Your pictures are being made."))
        if not waited:
            st.rerun()
        return
    if waited:
        st.rerun()
    n = len(game.bets)
    st.html(markup.small("A coin decided whether you were in the data of this run. Look at the release, and bet."))
    run = room.run
    private = run is None or run.private
    st.html(maps.people(shell.colors(), compute.NOBODY, game.now.centers, at, private=private))
    with st.container(horizontal=True):
        for bet, word in ((True, "I was in"), (False, "I was out")):
            st.button(
                word, key=f"class_{'in' if bet else 'out'}_{n}", type="primary", width="stretch",
                on_click=_bet, args=(room, seat, game, bet, n),
            )  # fmt: skip
    if n:
        right = game.rounds[n - 1].inside == game.bets[-1]
        hits = score(game.rounds, game.bets).hits
        st.html(
            markup.told(
                markup.bold("Right." if right else "Wrong."),
                f" You were right {hits} of {n} times. In the long run nobody is right more than "
                f"{game.question.bound.odds} times in 100; a coin is right 50 times.",
            )
        )


def _bet(room: Classroom, seat: Seat, game: Match, bet: bool, number: int) -> None:
    """Record a round's bet, ignore a second one, and update the score on everybody's chart."""
    if game.now is not None and number == len(game.bets):
        game.bets.append(bet)
        result = score(game.rounds, game.bets)
        room.score(seat.token, result.hits, result.rounds)
    if len(game.rounds) - len(game.bets) < MORE:
        game.make(len(game.bets) + AHEAD)


_PHASES = {
    "place": _place, "predict": _predict, "lesson": _lesson, "run": _run, "local": _local, "masks": _masks,
    "game": _game,
}  # fmt: skip
