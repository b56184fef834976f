"""Run a worker process: it imports the modules that it is told to, and then runs one task after the other.

`processes` starts it as `python -m dpviz.sweeps.child`. It imports little itself, so that it starts fast.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback

from dpviz.frames import frames, send

__all__ = ["BEGUN", "DONE", "FAILED", "READY", "STEP", "STOP", "TASK", "TICK", "main"]

READY, TASK, BEGUN, STOP, STEP, DONE, FAILED = b"r", b"t", b"b", b"s", b"n", b"d", b"f"  # letters of frames
TICK = 0.05  # seconds between two looks at a task, and at least between two reports of its steps


def main() -> None:
    """Run tasks from standard input, one after the other, and answer on standard output until the input ends."""
    arriving, out = frames(sys.stdin.buffer), _own_output()
    nice, *modules = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(int(nice))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the parent, whose end ends this process
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stopped, reported = threading.Event(), 0.0

    def hear() -> None:
        for letter, content in arriving:
            if letter == TASK:
                stopped.clear()
                tasks.put(content)
            else:
                stopped.set()
        os._exit(0)  # the parent has ended, so nobody waits for the task

    def on_step(done: int, total: int) -> None:
        nonlocal reported
        if stopped.is_set():
            from dpviz.trace import Cancelled

            raise Cancelled
        if time.monotonic() - reported >= TICK:
            reported = time.monotonic()
            send(out, STEP, pickle.dumps((done, total)))

    threading.Thread(target=hear, daemon=True).start()
    for module in modules:
        importlib.import_module(module)
    send(out, READY, b"")
    while True:
        task = tasks.get()
        send(out, BEGUN, b"")  # before anything of the task runs, so a task without it has drawn no noise
        try:
            function, args, named, steps = pickle.loads(task)
            answer = DONE, pickle.dumps(function(*args, *[on_step] * steps, **named), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:  # whatever stopped the task is raised where its result is awaited
            error.add_note("".join(traceback.format_tb(error.__traceback__)))  # the places, without the message
            answer = FAILED, _pickled(error)
        send(out, *answer)


def _own_output() -> io.BufferedWriter:
    """Return a stream to the standard output that was given, and send what a library prints to standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


def _pickled(error: BaseException) -> bytes:
    """Return an error as it will be raised elsewhere, or its type's name if it cannot be pickled."""
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:
        return pickle.dumps(RuntimeError(type(error).__name__))
    return content


if __name__ == "__main__":
    main()
