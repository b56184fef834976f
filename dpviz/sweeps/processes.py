"""Keep worker processes, each with its own interpreter lock, for one task at a time.

A task is alone in its process: if the process dies or is stopped, no other task ends. A process says that it begins a
task before it does, so a task whose process died without this word never ran, and another process gets it. Tasks and
results are pickled, so a function must be importable. A process ends when the process that started it ends.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from joblib import cpu_count

from dpviz.frames import frames, send
from dpviz.sweeps import child
from dpviz.sweeps.child import BEGUN, DONE, FAILED, READY, STEP, STOP, TASK, TICK

__all__ = ["FIRST", "LAST", "USUAL", "Died", "Pool", "cpu_count"]

FIRST, USUAL, LAST = range(3)  # ranks of tasks: paid ones, all others, and those that leave the cores to all others
_PATIENCE = 1.0  # seconds that a stopped task has to reach its next step before its process is killed
_IDLE = 60.0  # seconds after which a process that is not kept ready ends
_TRIES = 3  # processes in a row that may die while they start, or before they begin the same task
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}

_Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], bool]  # function, arguments, whether it has steps
Look = Callable[[int, int], None]  # receives (done, total) several times a second; an error stops the task


class Died(ChildProcessError):
    """Raised if a task's process has died."""

    def __init__(self) -> None:
        super().__init__("The process that computed this died, perhaps for lack of memory.")


class _NotBegun(Died):
    """Raised if a task's process has died before it began the task."""


class Pool:
    """Worker processes that start when they are needed, with one BLAS thread each.

    Parameters
    ----------
    most : int, maximum number of processes, not counting one more for tasks of rank FIRST; with 0, every task runs in
        the caller's process
    keep : int, number of processes that are kept ready, at most `most`; the others end after a minute without a task
    nice : int, niceness of the processes, where the system supports it
    modules : names of modules that a process imports before its first task
    """

    def __init__(self, most: int, *, keep: int = 0, nice: int = 0, modules: Sequence[str] = ()) -> None:
        self._most, self._keep, self._how = most, min(keep, most), (str(nice), *modules)
        self._changed = threading.Condition()
        self._starting: set[_Process] = set()
        self._idle: list[_Process] = []  # the last one was used last
        self._busy: set[_Process] = set()
        self._waiting: list[tuple[int, int]] = []  # rank and number of each waiting task
        self._number, self._cores, self._stillborn = count(), cpu_count(), 0
        self._up, self._ended = True, False
        self._trimming: threading.Timer | None = None

    def warm(self) -> None:
        """Start the processes that are kept ready, without waiting; until one is, tasks run in the caller's process."""
        with self._changed:
            self._up = not self._keep
            self._grow()

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Return function(*args, **named), tried again once if its process dies, so never use this to draw noise.

        Raises
        ------
        Died
            If the process dies both times.
        """
        try:
            return self._do((function, args, named, False), None, USUAL)
        except Died:
            return self._do((function, args, named, False), None, USUAL)

    def once(self, function: Callable[..., Any], *args: Any, look: Look | None = None, rank: int = USUAL) -> Any:
        """Return function(*args); its process is killed if `look` raises an error.

        Raises
        ------
        Died
            If the process dies.
        """
        return self._do((function, args, {}, False), look, rank)

    def run(self, function: Callable[..., Any], *args: Any, look: Look | None = None, rank: int = USUAL) -> Any:
        """Return function(*args, on_step); once begun, this is never tried again, because noise may have been drawn.

        `look` receives what on_step(done, total) reports. If it raises an error, the function stops at its next step;
        the process is killed if there is none within a second.

        Raises
        ------
        Died
            If the process dies.
        """
        return self._do((function, args, {}, True), look, rank)

    def stop(self) -> None:
        """Kill all processes, and accept no more tasks."""
        with self._changed:
            self._ended = True
            every = [*self._starting, *self._idle, *self._busy]
            if self._trimming is not None:
                self._trimming.cancel()
            self._changed.notify_all()
        for process in every:
            process.kill()

    def _do(self, task: _Task, look: Look | None, rank: int) -> Any:
        function, args, named, steps = task
        if not self._most or not (self._up or self._ended):
            return function(*args, *[look or _ignore] * steps, **named)
        content = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
        for _ in range(_TRIES):
            process = self._take(look, rank)
            try:
                letter, answer = process.answer(content, look, _PATIENCE if steps else 0.0)
            except _NotBegun:
                continue
            finally:
                self._give_back(process)
            if letter == FAILED:
                raise pickle.loads(answer)
            return pickle.loads(answer)
        raise Died

    def _take(self, look: Look | None, rank: int) -> _Process:
        """Wait for a process, while `look` may stop the waiting; start one if all are busy and there may be more."""
        mine = (rank, next(self._number))
        with self._changed:
            self._waiting.append(mine)
            try:
                while True:
                    if self._ended:
                        raise ChildProcessError("The server is shutting down.")
                    if self._stillborn >= _TRIES:
                        self._stillborn = 0
                        raise ChildProcessError("No worker process can be started now; try again later.")
                    self._grow()
                    if self._idle and mine == min(self._waiting) and self._may(rank):
                        process = self._idle.pop()
                        if process.lives:
                            self._busy.add(process)
                            return process
                        continue
                    self._changed.wait(None if look is None else TICK)
                    if look is not None:
                        look(0, 0)
            finally:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def _may(self, rank: int) -> bool:
        """Return whether a task of this rank may begin: one of the last needs a free core."""
        return rank != LAST or len(self._busy) < self._cores

    def _grow(self) -> None:
        """Start the processes that are missing; the caller holds the lock."""
        waiting = [rank for rank, _ in self._waiting if self._may(rank)]
        while not self._ended:
            there = len(self._starting) + len(self._idle) + len(self._busy)
            wanted = len(waiting) > len(self._idle) + len(self._starting)
            if there >= self._keep and not (wanted and there < self._most + (FIRST in waiting)):
                return
            self._starting.add(_Process(self._how, self._ready))

    def _ready(self, process: _Process) -> None:
        """Take a process that has imported its modules, or has died meanwhile, out of those that are starting."""
        with self._changed:
            if process not in self._starting:
                return
            self._starting.remove(process)
            self._stillborn = 0 if process.lives else self._stillborn + 1
            if process.lives and not self._ended:
                self._up = True
                self._idle.append(process)
            self._trim_later()
            self._changed.notify_all()

    def _give_back(self, process: _Process) -> None:
        with self._changed:
            self._busy.discard(process)
            if process.lives and not self._ended:
                process.since = time.monotonic()
                self._idle.append(process)
            self._grow()
            self._trim_later()
            self._changed.notify_all()

    def _trim_later(self) -> None:
        if self._trimming is None and len(self._idle) > self._keep and not self._ended:
            self._trimming = threading.Timer(_IDLE, self._trim)
            self._trimming.daemon = True
            self._trimming.start()

    def _trim(self) -> None:
        """End processes above the number that is kept, if they have been idle for a minute."""
        with self._changed:
            self._trimming, end = None, time.monotonic() - _IDLE
            there = len(self._idle) + len(self._busy)
            old = [process for process in self._idle if process.since <= end][: max(0, there - self._keep)]
            self._idle = [process for process in self._idle if process not in old]
            self._trim_later()
        for process in old:
            process.kill()


def _ignore(done: int, total: int) -> None:
    pass


class _Process:
    """One worker process; `ready` is called with it when it has imported its modules or has died."""

    def __init__(self, how: Sequence[str], ready: Callable[[_Process], None]) -> None:
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", child.__name__, *how],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | _ONE_THREAD | {"PYTHONPATH": paths},
        )  # fmt: skip
        self._answers: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
        self.lives, self.since = True, time.monotonic()
        threading.Thread(target=self._hear, args=(ready,), daemon=True).start()

    def answer(self, content: bytes, look: Look | None, patience: float) -> tuple[bytes, bytes]:
        """Send a task; return the letter and content of its answer, while `look` sees its steps and may stop it."""
        try:
            self._send(TASK, content)
        except Died:  # a part of the task was not sent, and a process drops an incomplete frame
            self.kill()
            raise _NotBegun from None
        done = total = 0
        begun = False
        while True:
            try:
                letter, answer = self._answers.get(timeout=None if look is None else TICK)
            except queue.Empty:
                letter, answer = STEP, b""
            if letter == STEP:
                done, total = pickle.loads(answer) if answer else (done, total)
                if look is not None:
                    try:
                        look(done, total)
                    except BaseException:
                        self._leave(patience)
                        raise
            elif letter == BEGUN:
                begun = True
            elif letter:
                return letter, answer
            else:
                raise Died if begun else _NotBegun

    def _leave(self, patience: float) -> None:
        """Ask the process to drop its task, and kill it if it has not within `patience` seconds."""
        end = time.monotonic() + patience
        try:
            self._send(STOP, b"")
            while (left := end - time.monotonic()) > 0:
                if self._answers.get(timeout=left)[0] in (DONE, FAILED):
                    return
        except (queue.Empty, Died):
            pass
        self.kill()

    def kill(self) -> None:
        """End the process now."""
        self.lives = False
        self._process.kill()
        self._process.wait()

    def _send(self, letter: bytes, content: bytes) -> None:
        assert self._process.stdin
        try:
            send(self._process.stdin, letter, content)
        except OSError:
            raise Died from None

    def _hear(self, ready: Callable[[_Process], None]) -> None:
        assert self._process.stdout and self._process.stdin
        with self._process.stdout as out:
            for letter, content in frames(out):
                if letter == READY:
                    ready(self)
                else:
                    self._answers.put((letter, content))
        self.kill()  # a process whose answer is too large for a frame still lives
        self._answers.put((b"", b""))
        ready(self)
