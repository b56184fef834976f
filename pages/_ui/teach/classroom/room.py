"""Hold one class in memory: seats that survive a reload, a question, a run, an end that can be undone.

No file is written and no name is kept: a seat is a random token that only its phone has.
"""

from __future__ import annotations

import dataclasses
import hmac
import math
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pages._ui.teach.classroom.masks import FEWEST, HIGHEST, Round, Share, deal

__all__ = [
    "ALONE", "HERE", "LIFE", "MOST_SEATS", "SEEN", "UNDO", "Answers", "Classroom", "Closed", "NotAdmitted", "Poll",
    "Seat",
]  # fmt: skip

LIFE = 2 * 3600.0  # Number of seconds after which a class ends in any case.
ALONE = 30 * 60.0  # Number of seconds, without the lecturer and without a phone, after which a class ends.
SEEN = 5 * 60.0  # Number of seconds after which an idle phone or class may be replaced.
HERE = 10.0  # Number of seconds without a message after which a phone gets no mask.
UNDO = 10.0  # Number of seconds in which an ended class can be resumed.
MOST_SEATS = 300
MOST_OPTIONS, MOST_QUESTION, MOST_OPTION = 8, 200, 60
MOST_ROUNDS = 10_000


class NotAdmitted(ValueError):
    """Raised when somebody may not enter; the message is one sentence for that person."""


class Closed(NotAdmitted):
    """Raised when the class is over."""


@dataclasses.dataclass(eq=False)
class Seat:
    """One phone.

    Attributes
    ----------
    token : secret text that identifies the phone when it returns
    number : number of the seat (1, 2, ...), which reveals only the order of arrival
    seen : time at which the phone was last seen, by the class's clock
    point : the phone's place on the map, None before it is chosen and in a class that keeps only reports
    report : the bits that the phone's session has drawn, None before that
    whole : the number that the phone chose for the sum behind masks, None before that
    answer : indices of the chosen options, at first none; more than one only if several options may be right
    revised : the same after the run of a lesson, for phones that answered again
    hits : number of bets won in the phone's own game
    rounds : number of rounds played in it
    game : the phone's own game, kept across reloads
    game_of : the run and the place that this game is about
    """

    token: str
    number: int
    seen: float = 0.0
    point: tuple[float, float] | None = None
    report: tuple[bool, ...] | None = None
    whole: int | None = None
    answer: frozenset[int] = frozenset()
    revised: frozenset[int] = frozenset()
    hits: int = 0
    rounds: int = 0
    game: Any = None
    game_of: tuple[Any, Any] = (None, None)


@dataclasses.dataclass(frozen=True)
class Poll:
    """A question to everybody; a new number marks a new question.

    Attributes
    ----------
    lesson : name of the lesson that asks, "" if none does
    several : whether several options may be right
    right : indices of the right options of a lesson
    replies : a reply to each option, () if several options may be right
    task : the instruction for the run
    keep : the sentence to remember
    """

    text: str
    options: tuple[str, ...]
    number: int = 0
    lesson: str = ""
    several: bool = False
    right: frozenset[int] = frozenset()
    replies: tuple[str, ...] = ()
    task: str = ""
    keep: str = ""


@dataclasses.dataclass(frozen=True)
class Answers:
    """A question with the numbers of phones that chose each option: at first, and when they answered again.

    `phones` counts those that answered at all, `again` those that answered again.
    """

    question: Poll
    first: tuple[int, ...]
    revised: tuple[int, ...]
    phones: int
    again: int


class Classroom:
    """One class. All its methods are thread-safe.

    Parameters
    ----------
    code : the code that people type to enter
    low, high : corners of the public box, arrays of shape (2,)
    keeps_points : whether the server stores people's places; if not, it stores only reports
    cells : number of bits of a report
    opener : the visit that opened the class, "" for none
    clock : function that returns seconds; tests replace it

    Attributes
    ----------
    key : secret that the QR code adds to the code; entering with it is exempt from the limit on wrong codes
    lecturer : the token of the person who opened the class
    version : number that changes whenever phones have something new to show
    phase : the phase that the phones show now
    part : part of a lesson ("predict", "run", "again" or "answer")
    result : the lecturer's run itself, for a projector that was reloaded
    run : the lecturer's run in the form that pages show
    step : step of the lecturer's player
    masks : the round of masks under way, None between rounds
    """

    def __init__(
        self, code: str, low: np.ndarray, high: np.ndarray, *, keeps_points: bool = True, cells: int = 1,
        opener: str = "", clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.code, self.low, self.high, self.keeps_points, self.cells = code, low, high, keeps_points, cells
        self.opener = opener
        self.key, self.lecturer = secrets.token_urlsafe(12), secrets.token_urlsafe(18)
        self.version, self.phase, self.step = 0, "place", 0
        self.question, self.part = Poll("", ()), "predict"
        self.run: Any = None
        self.result: Any = None
        self.masks: Round | None = None
        self._clock, self._ends, self._seen = clock, clock() + LIFE, clock()
        self._goes_on_until: float | None = None  # time at which the class would have ended by itself
        self._seats: dict[str, Seat] = {}
        self._numbers = 0
        self._past: list[Answers] = []
        self._lock = threading.RLock()

    @property
    def left(self) -> float:
        """Return the seconds until the class ends by itself, 0 when it is over."""
        return 0.0 if self.alone >= ALONE else max(0.0, self._ends - self._clock())

    @property
    def alone(self) -> float:
        """Return the seconds since the lecturer or a phone was last seen."""
        return self._clock() - self._seen

    @property
    def ending(self) -> bool:
        """Return whether the class was ended but can still be resumed."""
        return self._goes_on_until is not None and bool(self.left)

    def attend(self, token: str) -> None:
        """Record that the lecturer or a phone is present."""
        with self._lock:
            now = self._clock()
            if (seat := self._seats.get(token)) is not None:
                seat.seen = now
            if seat is not None or token == self.lecturer:
                self._seen = now

    def end(self) -> None:
        """End the class in a few seconds unless it is resumed."""
        with self._lock:
            if self.left and self._goes_on_until is None:
                self._goes_on_until, self._ends = self._ends, min(self._ends, self._clock() + UNDO)

    def resume(self) -> bool:
        """Resume a class that was ended; return whether it was in time."""
        with self._lock:
            if self._goes_on_until is None or not self.left:
                return False
            self._ends, self._goes_on_until = self._goes_on_until, None
            return True

    def close(self) -> None:
        """End the class now and forget everything in it."""
        with self._lock:
            self._ends = -math.inf
            self._seats.clear()
            self._past.clear()
            self.run = self.result = self.masks = None
            self.version += 1

    def sit(self, token: str = "") -> Seat:
        """Return the token's seat, or a new seat if the token has none.

        Raises
        ------
        Closed
            If the class is over.
        NotAdmitted
            If the class is full.
        """
        with self._lock:
            self._open()
            self._seen = self._clock()
            if (seat := self._seats.get(token)) is not None:
                seat.seen = self._seen
                return seat
            if len(self._seats) >= MOST_SEATS:
                self._make_room()
            self._numbers += 1
            seat = Seat(secrets.token_urlsafe(18), self._numbers, self._seen)
            self._seats[seat.token] = seat
            return seat

    def _make_room(self) -> None:
        """Free the seat whose phone has been away longest, if it has been away long enough."""
        last = min(self._seats.values(), key=lambda seat: seat.seen)
        if self._clock() - last.seen < SEEN:
            raise NotAdmitted(f"This class is full: {MOST_SEATS} phones are in it already.")
        del self._seats[last.token]

    def renew(self, code: str, *, empty: bool) -> None:
        """Choose a new code and key; the old ones no longer work.

        Unless `empty`, phones stay in the class with everything that they sent.
        """
        with self._lock:
            self._open()
            self.code, self.key = code, secrets.token_urlsafe(12)
            if empty:
                self._seats.clear()
                self._numbers, self.masks = 0, None
            self.version += 1

    def _open(self) -> None:
        if not self.left:
            raise Closed("This class has ended; everything in it is forgotten.")

    def knows(self, token: str) -> bool:
        """Return whether a token is the lecturer's or a seat's."""
        with self._lock:
            return token in self._seats or (token.isascii() and hmac.compare_digest(token, self.lecturer))

    def place(self, token: str, x: Any, y: Any) -> bool:
        """Put a seat's point on the map; return whether it lies within the map."""
        with self._lock:
            seat, at = self._seats.get(token), _place(x, y)
            if seat is None or at is None or not self.keeps_points or not self.left:
                return False
            if not (np.all(self.low <= at) and np.all(at <= self.high)):
                return False
            seat.point = (float(at[0]), float(at[1]))
            return True

    def tell(self, token: str, report: Any) -> bool:
        """Store a seat's first randomized report, one bit per cell; a second would reveal more, so it is refused."""
        with self._lock:
            seat = self._seats.get(token)
            bits = tuple(report) if isinstance(report, tuple | list) else ()
            if seat is None or seat.report is not None or len(bits) != self.cells or not self.left:
                return False
            if not all(isinstance(bit, bool) for bit in bits):
                return False
            seat.report = bits
            return True

    def choose(self, token: str, whole: Any) -> bool:
        """Record a seat's number for the sum behind masks; a round that has dealt this seat a mask keeps its number."""
        with self._lock:
            seat, number = self._seats.get(token), isinstance(whole, int) and not isinstance(whole, bool)
            if seat is None or not number or not 0 <= whole <= HIGHEST or not self.keeps_points or not self.left:
                return False
            if self.masks is not None and token in self.masks.shares:
                return False
            seat.whole = whole
            return True

    def deal_masks(self) -> None:
        """Begin a round of masks among the phones that are here and have chosen a number.

        Raises
        ------
        ValueError
            If there are fewer than three such phones.
        """
        with self._lock:
            ready = self.ready
            if len(ready) < FEWEST:
                raise ValueError(
                    f"Masks need at least {FEWEST} phones that are here and have chosen a number; now "
                    f"{f'{len(ready)} have' if len(ready) != 1 else '1 has'}. With two, the sum would tell each phone "
                    "the other's number."
                )
            dealt = zip(ready, deal(len(ready)), strict=True)
            self.masks = Round({seat.token: Share(seat.number, seat.whole or 0, mask) for seat, mask in dealt})
            self.version += 1

    @property
    def ready(self) -> list[Seat]:
        """Return the seats that have chosen a number and whose phones are here, in the order of arrival."""
        with self._lock:
            now = self._clock()
            return [seat for seat in self._seats.values() if seat.whole is not None and now - seat.seen < HERE]

    def drop_masks(self) -> None:
        """End the round of masks; a mask is never used twice, so the next round deals new ones."""
        with self._lock:
            self.masks = None
            self.version += 1

    def send_masked(self, token: str) -> bool:
        """Show a seat's masked number on the screen; return whether the seat takes part in the round."""
        with self._lock:
            if self.masks is None or token not in self.masks.shares or not self.left:
                return False
            self.masks.sent.add(token)
            return True

    def say(self, token: str, option: Any) -> bool:
        """Record a seat's answer: it replaces the last one or, if several may be right, adds or removes an option.

        A lesson accepts answers until its run begins, and later another one from everybody who is asked again.
        """
        with self._lock:
            seat = self._seats.get(token)
            if seat is None or not self.left or isinstance(option, bool) or not isinstance(option, int):
                return False
            if not 0 <= option < len(self.question.options) or self.closed:
                return False
            name = "revised" if self.revising else "answer"
            before: frozenset[int] = getattr(seat, name)
            setattr(seat, name, before ^ {option} if self.question.several else frozenset({option}))
            return True

    def score(self, token: str, hits: Any, rounds: Any) -> bool:
        """Record how often a seat was right in its own game."""
        with self._lock:
            seat = self._seats.get(token)
            numbers = all(isinstance(one, int) and not isinstance(one, bool) for one in (hits, rounds))
            if seat is None or not numbers or not 0 <= hits <= rounds <= MOST_ROUNDS or not self.left:
                return False
            seat.hits, seat.rounds = hits, rounds
            return True

    def ask(self, text: str, options: list[str]) -> None:
        """Ask everybody a new question and drop the answers to the previous one.

        Raises
        ------
        ValueError
            If there are not two to eight different answers, or a text is empty or too long.
        """
        text, options = " ".join(text.split()), [" ".join(one.split()) for one in options if one.strip()]
        if not text or len(text) > MOST_QUESTION:
            raise ValueError(f"A question has 1 to {MOST_QUESTION} characters.")
        if not 2 <= len(options) <= MOST_OPTIONS or len(set(options)) != len(options):
            raise ValueError(f"A question has 2 to {MOST_OPTIONS} different answers, one per line.")
        if any(len(one) > MOST_OPTION for one in options):
            raise ValueError(f"An answer has at most {MOST_OPTION} characters.")
        with self._lock:
            self._pose(Poll(text, tuple(options)))

    def _pose(self, question: Poll) -> None:
        self._past = self.all_answers()
        self.question = dataclasses.replace(question, number=self.question.number + 1)
        for seat in self._seats.values():
            seat.answer = seat.revised = frozenset()
        self.version += 1

    def teach(self, question: Poll, part: str) -> None:
        """Move everybody to a part of a lesson; a new lesson's question starts without answers."""
        with self._lock:
            before, self.part = (self.phase, self.part), part
            if question.lesson != self.question.lesson:
                self._pose(question)
            self.phase = "lesson"
            if before != (self.phase, self.part):
                self.version += 1

    @property
    def closed(self) -> bool:
        """Return whether answers are closed because a lesson's run has begun and nobody is asked again."""
        return bool(self.question.lesson) and self.part not in ("predict", "again")

    @property
    def revising(self) -> bool:
        """Return whether everybody is asked again after a lesson's run."""
        return bool(self.question.lesson) and self.part == "again"

    def show(self, phase: str | None = None, run: Any = None, step: int | None = None) -> None:
        """Change what the phones show; an argument that is None changes nothing."""
        with self._lock:
            now = self.phase, self.run, self.step
            self.phase = self.phase if phase is None else phase
            self.run = self.run if run is None else run
            self.step = self.step if step is None else step
            if now != (self.phase, self.run, self.step):
                self.version += 1

    def forget_scores(self) -> None:
        """Reset everybody's score, because the game's question has changed."""
        with self._lock:
            for seat in self._seats.values():
                seat.hits = seat.rounds = 0

    def points(self) -> np.ndarray:
        """Return everybody's points, shape (m, 2), in the order of arrival."""
        with self._lock:
            points = [seat.point for seat in self._seats.values() if seat.point is not None]
        return np.array(points, dtype=float).reshape(-1, 2)

    def reports(self) -> np.ndarray:
        """Return everybody's bits, shape (m, cells)."""
        with self._lock:
            reports = [seat.report for seat in self._seats.values() if seat.report is not None]
        return np.array(reports, dtype=bool).reshape(-1, self.cells)

    def answers(self) -> Answers:
        """Return the question with the numbers of seats that gave each answer."""
        with self._lock:
            asked, seats = self.question, list(self._seats.values())
            first, revised = [seat.answer for seat in seats], [seat.revised for seat in seats]
        options = range(len(asked.options))
        counts, revisions = (
            tuple(sum(option in one for one in given) for option in options) for given in (first, revised)
        )
        return Answers(asked, counts, revisions, phones=sum(map(bool, first)), again=sum(map(bool, revised)))

    def all_answers(self) -> list[Answers]:
        """Return all questions that somebody has answered, in the order in which they were asked."""
        with self._lock:
            return [*self._past, *(one for one in (self.answers(),) if one.phones or one.again)]

    def rights(self, *, revised: bool = False) -> tuple[int, int]:
        """Return how many phones gave exactly the right answers, and how many answered, at first or again."""
        with self._lock:
            given = [answer for seat in self._seats.values() if (answer := seat.revised if revised else seat.answer)]
            return given.count(self.question.right), len(given)

    def scores(self) -> list[tuple[int, int]]:
        """Return (hits, rounds) of everybody who has played."""
        with self._lock:
            return [(seat.hits, seat.rounds) for seat in self._seats.values() if seat.rounds]

    @property
    def seats(self) -> int:
        """Return the number of phones in the class."""
        return len(self._seats)


def _place(x: Any, y: Any) -> np.ndarray | None:
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (x, y)):
        return None
    try:
        at = np.array([x, y], dtype=float)
    except OverflowError:
        return None
    return at if np.isfinite(at).all() else None
