"""Hold this server's classes in one list for all sessions, with codes that cannot be guessed and limits on tries."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable

import numpy as np

from pages._ui.frame.shared import once
from pages._ui.teach.classroom.room import LIFE, SEEN, Classroom, Closed, NotAdmitted

__all__ = ["MOST_CLASSES", "Classrooms", "rooms", "spelled"]

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # the letters of a code, without I and O, which look like digits
LENGTH = 5
SWEEP = 60.0  # seconds between checks for classes that are over
MOST_CLASSES = 60
# limits on the wrong codes of one visit: at once, and per minute from then on
MY_WRONG_AT_ONCE, MY_WRONG_A_MINUTE = 10, 6
# limits for all visits together; they allow 8,200 of the 7,962,624 codes in two hours
WRONG_AT_ONCE, WRONG_A_MINUTE = 1_000, 60
LATELY = 600.0  # seconds during which a wrong code counts toward the lecturers' warning


def spelled(code: str) -> str:
    """Return a typed code as the class spells it: without spaces, in capitals."""
    return "".join(code.split()).upper()


class _Tries:
    """A supply of tries that refills over time."""

    def __init__(self, at_once: int, a_minute: int, clock: Callable[[], float]) -> None:
        self._most, self._a_second, self._clock = at_once, a_minute / 60, clock
        self._left, self._since = float(at_once), clock()

    @property
    def left(self) -> float:
        """Return the number of tries left."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._since) * self._a_second)
        self._since = now
        return self._left

    def spend(self) -> None:
        """Use up one try."""
        self._left = self.left - 1


class Classrooms:
    """The classes of this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: dict[str, Classroom] = {}
        self._over: dict[str, float] = {}  # code of an ended class -> when to forget it
        self._tries = _Tries(WRONG_AT_ONCE, WRONG_A_MINUTE, clock)
        self._of: dict[str, _Tries] = {}  # Visit -> remaining tries.
        self._wrong: list[float] = []  # Times at which wrong codes were tried.

    def open(
        self, low: np.ndarray, high: np.ndarray, *, keeps_points: bool = True, cells: int = 1, opener: str = ""
    ) -> Classroom:
        """Open a class.

        Parameters
        ----------
        low, high, keeps_points, cells : parameters of the `Classroom`
        opener : the visit that opens the class, "" for none; a visit may have one open class

        Raises
        ------
        NotAdmitted
            If the visit has an open class, or there are too many on this server.
        """
        with self._lock:
            self._sweep()
            mine = [room.code for room in self._open.values() if opener and room.opener == opener]
            if mine:
                raise NotAdmitted(f"This visit has the class {mine[0]} open: end it before you open another one.")
            if len(self._open) >= MOST_CLASSES:
                self._make_room()
            room = Classroom(
                self._new_code(), low, high, keeps_points=keeps_points, cells=cells, opener=opener, clock=self._clock
            )
            self._open[room.code] = room
        self._sweep_later()
        return room

    def _new_code(self) -> str:
        code = ""
        while not code or code in self._open or code in self._over:
            code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        return code

    def _make_room(self) -> None:
        """End the class that has been idle longest, if it has been idle long enough."""
        room = max(self._open.values(), key=lambda room: room.alone)
        if room.alone < SEEN:
            raise NotAdmitted(f"{MOST_CLASSES} classes are open on this server, the most that it allows.")
        room.close()
        self._sweep()

    def renew(self, room: Classroom, *, empty: bool) -> None:
        """Give a class another code.

        Raises
        ------
        NotAdmitted
            If the class is over.
        """
        with self._lock:
            self._sweep()
            old, code = room.code, self._new_code()
            room.renew(code, empty=empty)
            self._over[old] = self._clock() + LIFE
            self._open[code] = self._open.pop(old)

    def _sweep_later(self) -> None:
        """Remove ended classes again later, as long as any class is open, even if nobody visits."""
        timer = threading.Timer(SWEEP, self._sweep_on)
        timer.daemon = True
        timer.start()

    def _sweep_on(self) -> None:
        self.sweep()
        if self._open:
            self._sweep_later()

    def sweep(self) -> None:
        """Forget the classes that are over."""
        with self._lock:
            self._sweep()

    @property
    def wrong(self) -> int:
        """Return how many wrong codes were tried in the last ten minutes."""
        with self._lock:
            self._wrong = [at for at in self._wrong if self._clock() - at < LATELY]
            return len(self._wrong)

    def enter(self, code: str, key: str = "", visit: str = "") -> Classroom:
        """Return the class that has this code.

        A code that does not exist counts against a limit of the visit and one shared by all visits, so that nobody can
        try all codes; above a limit, only the QR code's key works.

        Raises
        ------
        NotAdmitted
            If the visitor may not enter; the message gives the reason.
        """
        code = spelled(code)
        with self._lock:
            self._sweep()
            room = self._open.get(code)
            if room is not None and key and key.isascii() and hmac.compare_digest(room.key, key):
                return room
            mine = self._of.get(visit) or _Tries(MY_WRONG_AT_ONCE, MY_WRONG_A_MINUTE, self._clock)
            if visit and mine.left < 1:
                raise NotAdmitted("Too many wrong codes were typed here. Scan the QR code or wait a minute.")
            if self._tries.left < 1:
                raise NotAdmitted("Too many wrong codes were tried on this server: scan the QR code, or wait a minute.")
            if room is not None:
                return room
            for tries in (self._tries, mine):
                tries.spend()
            if visit:
                self._of = {name: one for name, one in self._of.items() if one.left < MY_WRONG_AT_ONCE}
                self._of[visit] = mine
            self._wrong = [at for at in self._wrong if self._clock() - at < LATELY] + [self._clock()]
            if code in self._over:
                raise Closed("This class has ended or has a new code: look at the screen.")
            raise NotAdmitted("No class has this code: look at the five letters on the screen again.")

    def known(self, code: str, token: str) -> Classroom | None:
        """Return the class with this code if the token is its lecturer's or a seat's; this counts against no limit.

        Tokens cannot be guessed, and anyone who has one knows the code.
        """
        with self._lock:
            self._sweep()
            room = self._open.get(code)
        return room if room is not None and room.knows(token) else None

    def _sweep(self) -> None:
        """Forget the classes that are over; reserve their codes for a class's lifetime. The caller holds the lock."""
        now = self._clock()
        for code in [code for code, room in self._open.items() if not room.left]:
            room = self._open.pop(code)
            room.close()
            self._over[code] = now + LIFE
        for code in [code for code, until in self._over.items() if until < now]:
            del self._over[code]


@once
def rooms() -> Classrooms:
    """Return the server's classes."""
    return Classrooms()
