"""Tasks for worker processes, in a module that a process imports fast."""

import os
import signal
import time
from pathlib import Path


def steps(wait_for, on_step):
    """Report steps, like a long run, until the file `wait_for` exists."""
    done = 0
    while not os.path.exists(wait_for):
        on_step(done := done + 1, 7)
    return os.getpid()


def hang(begun, on_step):
    Path(begun).touch()
    time.sleep(10_000)


def draw(log, content, on_step):
    """Write a line, as if noise were drawn, and return the process and the size of what it was sent."""
    with open(log, "a") as lines:
        lines.write("drawn\n")
    return os.getpid(), len(content)


def die(log, on_step):
    """Write a line, as if noise were drawn, and die."""
    with open(log, "a") as lines:
        lines.write("drawn\n")
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(marker):
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)
    return os.getpid()


def fill(size):
    return bytes(size)


def refuse(on_step):
    raise ValueError("NSM (ours): n_clusters must be <= n = 40; got 100.")


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__("secret 123")


def be_odd():
    print("what a library prints must not disturb the answer")
    raise Odd(1, 2)
