"""Check tasks in other processes: the trace is the same, and a death, an error or a stop ends one task alone."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dpviz import frames
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.runs.single import replay
from dpviz.sweeps import processes
from dpviz.sweeps.processes import FIRST, LAST, Died, Pool
from dpviz.trace import Cancelled
from tests.sweeps.tasks import be_odd, die, die_once, draw, fill, hang, refuse, steps, wait_for


@pytest.fixture(scope="module")
def pool():
    pool = Pool(2)
    yield pool
    pool.stop()


def until(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


class InThread(threading.Thread):
    """A call in a thread, with its result or its error."""

    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.result, self.error = call, None, None
        self.start()

    def run(self):
        try:
            self.result = self.call()
        except BaseException as error:
            self.error = error

    def over(self):
        self.join(240)
        assert not self.is_alive()
        return self


@pytest.mark.slow
def test_a_trace_from_a_worker_is_the_same_to_the_bit_and_as_frozen(pool):
    data, algorithm = load_sample("iris"), ALGORITHMS["nsm"](n_clusters=3)
    away = pool.run(replay, data, algorithm, 1)
    home = replay(data, algorithm, 1)
    assert away.trace.to_json(include_hidden=True) == home.trace.to_json(include_hidden=True)
    np.testing.assert_allclose(away.losses, home.losses, rtol=1e-12)
    assert away.seconds > 0
    arrays = [value for step in away.trace.steps for value in step.released.values() if hasattr(value, "flags")]
    assert arrays and not any(array.flags.writeable for array in [*arrays, away.trace.cluster_centers])


@pytest.mark.slow
def test_steps_are_seen_and_a_stop_is_heard_and_leaves_the_process_to_others(pool, tmp_path):
    before = set(pool._idle)

    def look(done, total):
        if done and total == 7:
            raise Cancelled

    with pytest.raises(Cancelled):
        pool.run(steps, str(tmp_path / "never"), look=look)
    assert pool.call(os.getpid) != os.getpid() and set(pool._idle) >= before


@pytest.mark.slow
def test_a_death_and_a_stop_end_one_task_alone_and_a_task_with_noise_is_never_tried_again(pool, tmp_path):
    go, log, begun, stopped = tmp_path / "go", tmp_path / "log", tmp_path / "begun", threading.Event()
    beside = InThread(lambda: pool.run(steps, str(go)))
    until(lambda: len(pool._busy) == 1)
    with pytest.raises(Died, match=r"^The process that computed this died, perhaps for lack of memory\.$"):
        pool.run(die, str(log))
    assert log.read_text() == "drawn\n"

    def look(done, total):
        if stopped.is_set():
            raise Cancelled

    hung = InThread(lambda: pool.run(hang, str(begun), look=look))
    until(begun.exists)
    stopped.set()
    assert isinstance(hung.over().error, Cancelled)
    assert pool.call(die_once, str(tmp_path / "marker")) != os.getpid()  # what draws no noise is tried again
    assert beside.is_alive()
    go.touch()
    assert isinstance(beside.over().result, int)


@pytest.mark.parametrize("size", [10, 10**6], ids=["all sent", "sent in part"])
def test_a_paid_task_that_its_process_never_began_is_drawn_once_by_another(pool, tmp_path, size):
    """More than a pipe holds is still being sent when the process dies; less waits in the pipe, unread."""
    asleep = pool.run(draw, str(tmp_path / "before"), b"")[0]
    os.kill(asleep, signal.SIGSTOP)
    paid = InThread(lambda: pool.run(draw, str(tmp_path / "log"), bytes(size), rank=FIRST))
    until(lambda: any(process._process.pid == asleep for process in pool._busy))
    time.sleep(0.2)  # the time to send it
    assert not (tmp_path / "log").exists()
    os.kill(asleep, signal.SIGKILL)
    process, n_bytes = paid.over().result
    assert process not in (asleep, os.getpid()) and n_bytes == size
    assert (tmp_path / "log").read_text() == "drawn\n"


def test_a_task_that_no_process_begins_is_given_up(pool, monkeypatch):
    def die(process, content, look, patience):
        raise processes._NotBegun

    monkeypatch.setattr(processes._Process, "answer", die)
    with pytest.raises(Died):
        pool.run(steps, __file__)


def test_a_paid_task_waits_for_no_other_and_a_sweep_leaves_the_cores_to_others(pool, tmp_path, monkeypatch):
    go = tmp_path / "go"
    others = [InThread(lambda: pool.once(wait_for, str(go))) for _ in range(2)]
    until(lambda: len(pool._busy) == 2)
    sweep = InThread(lambda: pool.once(os.getpid, rank=LAST))
    usual = InThread(lambda: pool.call(os.getpid))
    until(lambda: len(pool._waiting) == 2)
    paid = pool.run(steps, __file__, rank=FIRST)
    assert paid not in (0, os.getpid()) and all(other.is_alive() for other in others)
    monkeypatch.setattr(pool, "_cores", 0)
    go.touch()
    assert isinstance(usual.over().result, int) and sweep.is_alive()
    monkeypatch.setattr(pool, "_cores", 1)
    pool.call(int)
    assert isinstance(sweep.over().result, int)


def test_nobody_waits_for_processes_that_are_still_importing(monkeypatch):
    started = []
    monkeypatch.setattr(processes, "_Process", lambda how, ready: started.append(how) or object())
    slow = Pool(3, keep=2, modules=("dpviz.figures",))
    slow.warm()
    assert slow.call(os.getpid) == os.getpid() == slow.run(lambda on_step: os.getpid())
    assert started == [("0", "dpviz.figures")] * 2


def test_processes_that_nobody_needs_end(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_IDLE", 0.5)
    pool, go = Pool(2, keep=1), tmp_path / "go"
    try:
        tasks = [InThread(lambda: pool.once(wait_for, str(go))) for _ in range(2)]
        until(lambda: len(pool._busy) == 2)
        go.touch()
        first, second = (task.over().result for task in tasks)
        ends = [process for process in pool._idle]
        until(lambda: [process._process.poll() is None for process in ends].count(True) == 1)
        assert pool.call(os.getpid) in {first, second}
    finally:
        pool.stop()


def test_a_sentence_comes_back_as_it_was_and_an_odd_error_by_its_name(pool):
    with pytest.raises(ValueError) as refused:
        pool.run(refuse)
    assert str(refused.value) == "NSM (ours): n_clusters must be <= n = 40; got 100."
    with pytest.raises(RuntimeError) as odd:
        pool.call(be_odd)
    assert str(odd.value) == "Odd"


def test_a_pool_whose_processes_cannot_start_says_so(monkeypatch):
    with pytest.raises(ChildProcessError, match="No worker process can be started now"):
        Pool(1, modules=("there_is_no_such_module",)).call(int)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks at processes by /proc")
def test_no_worker_outlives_a_killed_server(tmp_path):
    code = "import os; from dpviz.sweeps.processes import Pool; print(Pool(1).call(os.getpid), flush=True); input()"
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    worker = int(server.stdout.readline())
    assert worker != server.pid and os.path.exists(f"/proc/{worker}")
    server.kill()
    server.communicate()
    until(lambda: not os.path.exists(f"/proc/{worker}"))


def test_an_answer_that_no_frame_holds_is_a_death_and_not_an_endless_wait(pool, monkeypatch):
    monkeypatch.setattr(frames, "_MOST", 1000)
    call = InThread(lambda: pool.once(fill, 5000))
    call.join(120)
    assert not call.is_alive() and isinstance(call.error, Died)
