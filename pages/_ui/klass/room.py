"""Classes in memory: codes that cannot be scanned for, seats that survive a reload, limits, and an end by itself.

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

__all__ = ["LIFE", "MOST_CLASSES", "MOST_SEATS", "Classroom", "Classrooms", "Closed", "Refused", "Seat", "spelled"]

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # no I and no O: they look like figures
LENGTH = 4
LIFE = 2 * 3600.0  # seconds
MOST_SEATS, MOST_CLASSES = 300, 20
WRONG_AT_ONCE, WRONG_A_MINUTE = 40, 6  # codes that do not exist, of everybody together: in two hours 760 of 331,776
MOST_OPTIONS, MOST_QUESTION, MOST_OPTION = 8, 200, 60
MOST_ROUNDS = 10_000


class Refused(ValueError):
    """One sentence for whoever wants to come in."""


class Closed(Refused):
    """The class is over."""


@dataclasses.dataclass(eq=False)
class Seat:
    """One phone.

    Attributes
    ----------
    token : what the phone shows when it returns
    number : of the seat, 1, 2, ...: it tells nothing but the order of coming
    point : where it is on the map, None before, and in a class that keeps reports alone
    report : the bits that its session has drawn, None before
    answer : index of the option, None before
    hits, rounds : of its own game
    """

    token: str
    number: int
    point: tuple[float, float] | None = None
    report: tuple[bool, ...] | None = None
    answer: int | None = None
    hits: int = 0
    rounds: int = 0


@dataclasses.dataclass(frozen=True)
class Question:
    """What everybody is asked; another number is another question."""

    text: str
    options: tuple[str, ...]
    number: int = 0


class Classroom:
    """One class. Every method may be called by any thread.

    Parameters
    ----------
    code : what is typed
    low, high : the public box, arrays of shape (2,)
    keeps_points : False for a class in which the server never keeps where somebody stands
    cells : number of bits of a report
    clock : seconds, for tests

    Attributes
    ----------
    key : what the QR code adds to the code: with it nobody has to guess, and no limit on guessing applies
    lecturer : the token of whoever opened it
    version : another number whenever phones have something else to show
    stage : what the phones show now
    shown : what the lecturer's run shows; the pages decide what that is
    step : of the lecturer's player
    """

    def __init__(
        self, code: str, low: np.ndarray, high: np.ndarray, *, keeps_points: bool = True, cells: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.code, self.low, self.high, self.keeps_points, self.cells = code, low, high, keeps_points, cells
        self.key, self.lecturer = secrets.token_urlsafe(12), secrets.token_urlsafe(18)
        self.version, self.stage, self.step = 0, "place", 0
        self.question = Question("", ())
        self.shown: Any = None
        self._clock, self._ends = clock, clock() + LIFE
        self._seats: dict[str, Seat] = {}
        self._lock = threading.RLock()

    @property
    def left(self) -> float:
        """Seconds until it ends by itself, 0 when it is over."""
        return max(0.0, self._ends - self._clock())

    def close(self) -> None:
        """End it now and forget everything in it."""
        with self._lock:
            self._ends = -math.inf
            self._seats.clear()
            self.shown = None
            self.version += 1

    def sit(self, token: str = "") -> Seat:
        """Return the seat of a token, or a new one.

        Raises
        ------
        Refused
            If the class is over or full.
        """
        with self._lock:
            self._open()
            if (seat := self._seats.get(token)) is not None:
                return seat
            if len(self._seats) >= MOST_SEATS:
                raise Refused(f"This class is full: {MOST_SEATS} phones are in it already.")
            seat = Seat(secrets.token_urlsafe(18), len(self._seats) + 1)
            self._seats[seat.token] = seat
            return seat

    def _open(self) -> None:
        if not self.left:
            raise Closed("This class has ended; everything in it is forgotten.")

    def knows(self, token: str) -> bool:
        """Return whether a token is the lecturer's or a seat's."""
        with self._lock:
            return token in self._seats or (token.isascii() and hmac.compare_digest(token, self.lecturer))

    def place(self, token: str, x: Any, y: Any) -> bool:
        """Put a seat's point on the map; return whether it is a place there."""
        with self._lock:
            seat, at = self._seats.get(token), _place(x, y)
            if seat is None or at is None or not self.keeps_points or not self.left:
                return False
            if not (np.all(self.low <= at) and np.all(at <= self.high)):
                return False
            seat.point = (float(at[0]), float(at[1]))
            return True

    def tell(self, token: str, report: Any) -> bool:
        """Keep a seat's randomized report, one bit a cell; the first one counts: another would tell more."""
        with self._lock:
            seat = self._seats.get(token)
            bits = tuple(report) if isinstance(report, tuple | list) else ()
            if seat is None or seat.report is not None or len(bits) != self.cells or not self.left:
                return False
            if not all(isinstance(bit, bool) for bit in bits):
                return False
            seat.report = bits
            return True

    def say(self, token: str, option: Any) -> bool:
        """Take down a seat's answer to the question; the last one counts."""
        with self._lock:
            seat = self._seats.get(token)
            if seat is None or not self.left or isinstance(option, bool) or not isinstance(option, int):
                return False
            if not 0 <= option < len(self.question.options):
                return False
            seat.answer = option
            return True

    def score(self, token: str, hits: Any, rounds: Any) -> bool:
        """Take down how often a seat was right in its own game."""
        with self._lock:
            seat = self._seats.get(token)
            numbers = all(isinstance(one, int) and not isinstance(one, bool) for one in (hits, rounds))
            if seat is None or not numbers or not 0 <= hits <= rounds <= MOST_ROUNDS or not self.left:
                return False
            seat.hits, seat.rounds = hits, rounds
            return True

    def ask(self, text: str, options: list[str]) -> None:
        """Ask everybody another question; answers to the one before go.

        Raises
        ------
        ValueError
            If it is no question with two to eight different answers.
        """
        text, options = " ".join(text.split()), [" ".join(one.split()) for one in options if one.strip()]
        if not text or len(text) > MOST_QUESTION:
            raise ValueError(f"A question has 1 to {MOST_QUESTION} characters.")
        if not 2 <= len(options) <= MOST_OPTIONS or len(set(options)) != len(options):
            raise ValueError(f"A question has 2 to {MOST_OPTIONS} different answers, one a line.")
        if any(len(one) > MOST_OPTION for one in options):
            raise ValueError(f"An answer has at most {MOST_OPTION} characters.")
        with self._lock:
            self.question = Question(text, tuple(options), self.question.number + 1)
            for seat in self._seats.values():
                seat.answer = None
            self.version += 1

    def show(self, stage: str | None = None, shown: Any = None, step: int | None = None) -> None:
        """Let the phones show something else; what is None stays."""
        with self._lock:
            now = self.stage, self.shown, self.step
            self.stage = self.stage if stage is None else stage
            self.shown = self.shown if shown is None else shown
            self.step = self.step if step is None else step
            if now != (self.stage, self.shown, self.step):
                self.version += 1

    def forget_scores(self) -> None:
        """Begin the game anew: it is another question now."""
        with self._lock:
            for seat in self._seats.values():
                seat.hits = seat.rounds = 0

    def points(self) -> np.ndarray:
        """Return where everybody stands, shape (m, 2), in the order of coming."""
        with self._lock:
            found = [seat.point for seat in self._seats.values() if seat.point is not None]
        return np.array(found, dtype=float).reshape(-1, 2)

    def reports(self) -> np.ndarray:
        """Return everybody's bits, shape (m, cells)."""
        with self._lock:
            found = [seat.report for seat in self._seats.values() if seat.report is not None]
        return np.array(found, dtype=bool).reshape(-1, self.cells)

    def answers(self) -> tuple[Question, list[int]]:
        """Return the question and how many gave each of its answers."""
        with self._lock:
            asked = self.question
            given = [seat.answer for seat in self._seats.values() if seat.answer is not None]
        return asked, [given.count(option) for option in range(len(asked.options))]

    def scores(self) -> list[tuple[int, int]]:
        """Return (hits, rounds) of everybody who has played."""
        with self._lock:
            return [(seat.hits, seat.rounds) for seat in self._seats.values() if seat.rounds]

    @property
    def seats(self) -> int:
        """How many phones have come."""
        return len(self._seats)


def spelled(code: str) -> str:
    """Return a typed code as the class spells it: without spaces, in capitals."""
    return "".join(code.split()).upper()


def _place(x: Any, y: Any) -> np.ndarray | None:
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (x, y)):
        return None
    try:
        at = np.array([x, y], dtype=float)
    except OverflowError:
        return None
    return at if np.isfinite(at).all() else None


class Classrooms:
    """The classes of this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: dict[str, Classroom] = {}
        self._over: dict[str, float] = {}  # code of a class that is over -> when to forget it
        self._left, self._since = float(WRONG_AT_ONCE), clock()

    def open(self, low: np.ndarray, high: np.ndarray, *, keeps_points: bool = True, cells: int = 1) -> Classroom:
        """Open a class.

        Raises
        ------
        Refused
            If there are too many on this server.
        """
        with self._lock:
            self._sweep()
            if len(self._open) >= MOST_CLASSES:
                raise Refused(f"{MOST_CLASSES} classes are open on this server, and it holds no more.")
            code = ""
            while not code or code in self._open or code in self._over:
                code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
            room = Classroom(code, low, high, keeps_points=keeps_points, cells=cells, clock=self._clock)
            self._open[code] = room
        end = threading.Timer(LIFE + 1, self.sweep)  # also where nobody comes by any more
        end.daemon = True
        end.start()
        return room

    def sweep(self) -> None:
        """Forget the classes that are over."""
        with self._lock:
            self._sweep()

    def enter(self, code: str, key: str = "") -> Classroom:
        """Return the class of a code.

        A code that does not exist counts against a limit that all visitors share, so that nobody tries them all; above
        it only the QR code's key opens a door.

        Raises
        ------
        Refused
            One sentence that says why not.
        """
        code = spelled(code)
        with self._lock:
            self._sweep()
            room = self._open.get(code)
            if room is not None and key and key.isascii() and hmac.compare_digest(room.key, key):
                return room
            if not self._may_try():
                raise Refused("Too many wrong codes were tried on this server: scan the QR code, or wait a minute.")
            if room is not None:
                return room
            self._left -= 1
            if code in self._over:
                raise Closed("This class has ended; everything in it is forgotten.")
            raise Refused("No class has this code: look at the four letters on the screen again.")

    def known(self, code: str, token: str) -> Classroom | None:
        """Return the class of a code if the token is one of its own, its lecturer's or a seat's; nothing is counted.

        Tokens cannot be guessed, and whoever has one knows the code.
        """
        with self._lock:
            self._sweep()
            room = self._open.get(code)
        return room if room is not None and room.knows(token) else None

    def _may_try(self) -> bool:
        now = self._clock()
        self._left = min(WRONG_AT_ONCE, self._left + (now - self._since) * WRONG_A_MINUTE / 60)
        self._since = now
        return self._left >= 1

    def _sweep(self) -> None:
        """Likewise, with the lock held; their codes are not given again for as long as a class lives."""
        now = self._clock()
        for code in [code for code, room in self._open.items() if not room.left]:
            room = self._open.pop(code)
            room.close()
            self._over[code] = now + LIFE
        for code in [code for code, until in self._over.items() if until < now]:
            del self._over[code]
