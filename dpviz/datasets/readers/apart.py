"""Read any file except simple public text in a separate process, so that a hostile file cannot harm or delay others.

A server calls `warm`, which keeps processes ready that have already imported their parsers. In a browser, no process
can be started; there a file is read in the page's worker, which the page can end, and from which no other file suffers.
"""

from __future__ import annotations

import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.frames import ASKED, ERROR, FILE, PROGRESS, TABLE, request, table_from
from dpviz.datasets.readers.table import Limits, Table, TableError, faults_as, too_much
from dpviz.frames import frames, send

__all__ = ["read_apart", "stop", "warm"]

_PACKAGE = str(Path(__file__).parents[3])  # folder that contains `dpviz`
# Number of processes that may read at once, so that one visitor's slow files leave room for others.
_AT_A_TIME = 4
_TICK = 0.05  # seconds between two checks whether to stop

_places = threading.BoundedSemaphore(_AT_A_TIME)
_lock = threading.Lock()
_waiting: list[subprocess.Popen[bytes]] = []  # processes that wait for a file
_spares = 0

_Frame = tuple[bytes, bytes]


def warm() -> None:
    """Keep two processes ready from now on, so that the next visitor finds one while the other reads."""
    global _spares
    with _lock:
        _spares = 2
    _refill()


def stop() -> None:
    """End the waiting processes and keep no others ready."""
    global _spares
    with _lock:
        _spares = 0
        while _waiting:
            with _waiting.pop() as process:
                process.kill()


def read_apart(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read a file in a separate process; end the process if it exceeds a limit or `advance` raises an error."""
    if sys.platform == "emscripten":
        from dpviz.datasets.readers.child import read

        return read(data, name, form, limits, advance)
    while not _places.acquire(timeout=_TICK):
        advance(0.0)
    try:
        with _process(name) as process:
            return _answer(process, data, name, form, limits, advance)
    finally:
        _places.release()


def _answer(
    process: subprocess.Popen[bytes],
    data: memoryview,
    name: str,
    form: Form,
    limits: Limits,
    advance: Callable[[float], None],
) -> Table:
    """Return the table that the process reads from a file; at every tick, check whether to stop."""
    answers: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
    threading.Thread(target=_talk, args=(process, request(name, form, limits), data, answers), daemon=True).start()
    arriving, done = iter(answers.get, None), 0.0
    while True:
        advance(done)
        try:
            frame = answers.get(timeout=_TICK)
        except queue.Empty:
            continue
        if frame is None:  # the process exceeded a limit or crashed on the file
            raise too_much(name)
        letter, content = frame
        if letter == PROGRESS:
            (done,) = struct.unpack("<d", content)
        elif letter == ERROR:
            raise TableError(content.decode(errors="replace"))
        elif letter == TABLE:
            with faults_as(str(too_much(name))):
                table = table_from(name, content, arriving)
                limits.check(name, table.n_rows, len(table.columns))
                return table


def _talk(
    process: subprocess.Popen[bytes], asked: bytes, data: memoryview, answers: queue.SimpleQueue[_Frame | None]
) -> None:
    """Send a process its file, and put the frames of its answer into `answers` until it ends; the last item is None."""
    assert process.stdin and process.stdout
    try:
        with process.stdin as into, process.stdout as out:
            send(into, ASKED, asked)
            send(into, FILE, data)
            for frame in frames(out):
                answers.put(frame)
    except OSError:  # the process ended during the transfer; the None below tells the reader
        pass
    finally:
        answers.put(None)


@contextmanager
def _process(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that reads one file, a waiting process if possible, and end it afterwards."""
    process = None
    with _lock:
        while _waiting and process is None:
            ready = _waiting.pop(0)
            process = ready if ready.poll() is None else None
    try:
        process = process or _start()
    except OSError:
        raise TableError(f"{name}: no process can be started to read it now; try again, or save it as CSV.") from None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        _refill()


def _refill() -> None:
    # without a waiting process, the next file starts its own process, which then reports the failure
    with _lock, suppress(OSError):
        while len(_waiting) < _spares:
            _waiting.append(_start())


def _start() -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path for path in (_PACKAGE, os.environ.get("PYTHONPATH")) if path)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dpviz.datasets.readers.child"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,  # a traceback may quote cells
        env=os.environ | threads | {"PYTHONPATH": paths},
    )  # fmt: skip
