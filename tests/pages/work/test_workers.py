"""Check runs in other processes: the trace is the same, steps and crashes are reported, and runs stop on request."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.runs.single import replay
from dpviz.trace import Cancelled
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.workers import Workers


@pytest.fixture(scope="module")
def workers():
    return Workers(1)


def steps(wait_for, on_step):
    """Report steps, like a long run, until the file `wait_for` exists."""
    done = 0
    while not os.path.exists(wait_for):
        on_step(done := done + 1, 7)
    return done


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(marker):
    if not os.path.exists(marker):
        open(marker, "w").close()
        die()
    return os.getpid()


def refuse(on_step):
    raise ValueError("NSM (ours): n_clusters must be <= n = 40; got 100.")


def test_a_trace_from_a_worker_is_the_same_to_the_bit_and_as_frozen(workers):
    data, algorithm = load_sample("iris"), ALGORITHMS["nsm"](n_clusters=3)
    away = workers.run(replay, data, algorithm, 1, job=Job("", ""))
    home = replay(data, algorithm, 1)
    assert away.trace.to_json(include_hidden=True) == home.trace.to_json(include_hidden=True)
    np.testing.assert_allclose(away.losses, home.losses, rtol=1e-12)
    assert away.seconds > 0
    arrays = [value for step in away.trace.steps for value in step.released.values() if hasattr(value, "flags")]
    assert arrays and not any(array.flags.writeable for array in [*arrays, away.trace.cluster_centers])


def test_steps_are_seen_and_a_stop_is_heard(workers, tmp_path):
    go, seen = tmp_path / "go", threading.Event()

    class Watched(Job):
        def advance(self, done, total):
            super().advance(done, total)
            if done and total == 7:
                seen.set()

    job, raised = Watched("", ""), []

    def work():
        try:
            workers.run(steps, str(go), job=job)
        except Cancelled as stopped:
            raised.append(stopped)

    thread = threading.Thread(target=work)
    thread.start()
    assert seen.wait(240) and job.done > 0
    job.cancel()
    thread.join(240)
    assert raised and not go.exists()
    assert workers.call(os.getpid) != os.getpid()  # the only process has stopped the run and is free again


def test_nobody_waits_for_processes_that_are_still_importing():
    slow = Workers(1)
    slow._warming = [Future()]
    assert slow.call(os.getpid) == os.getpid() and slow._pool is None
    assert slow.run(lambda on_step: os.getpid(), job=Job("", "")) == os.getpid()


def test_a_sentence_comes_back_as_it_was(workers):
    with pytest.raises(ValueError, match=r"^NSM \(ours\): n_clusters must be <= n = 40; got 100.$"):
        workers.run(refuse, job=Job("", ""))


@pytest.mark.slow
def test_a_death_ends_a_run_with_a_sentence_but_a_picture_is_tried_again(workers, tmp_path):
    job = Jobs().submit("run", lambda job: workers.run(die, job=job))
    assert job.wait(240) and job.status == "failed" and "died, perhaps for lack of memory" in job.error
    assert workers.call(die_once, str(tmp_path / "marker")) != os.getpid()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks at processes by /proc")
def test_no_worker_outlives_a_killed_server(tmp_path):
    code = (
        "import os; from pages._ui.work.workers import Workers; print(Workers(1).call(os.getpid), flush=True); input()"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    worker = int(server.stdout.readline())
    assert worker != server.pid and os.path.exists(f"/proc/{worker}")
    server.kill()
    server.communicate()
    until = time.monotonic() + 240
    while os.path.exists(f"/proc/{worker}") and time.monotonic() < until:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{worker}")
