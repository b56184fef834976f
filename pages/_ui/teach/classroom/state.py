"""Name the values that a session stores for Class: its room, its seat and its run."""

from __future__ import annotations

from pages._ui.frame.session import Held, nothing
from pages._ui.teach.classroom.room import Classroom, Seat
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result


class ClassroomState:
    """Values of one visitor's session, declared as in `SessionState`."""

    class_room: Held[Classroom | None] = Held(nothing)
    class_seat: Held[Seat | None] = Held(nothing)
    class_back: Held[bool] = Held(bool)
    class_job: Held[tuple[Job, list[Result]] | None] = Held(nothing)
    class_version: Held[int | None] = Held(nothing)  # the room's version that this phone has drawn
    class_point: Held[tuple[float, float] | None] = Held(nothing)


classroom_state = ClassroomState()
