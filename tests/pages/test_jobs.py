"""Background jobs: progress, cancel, failures as sentences, a bounded memory."""

import threading
import time

from pages._ui.jobs import Job, Jobs
from pages._ui.runs import releases


def until(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_a_job_reports_progress_and_a_result():
    jobs, go = Jobs(), threading.Event()

    def work(job):
        job.advance(1, 2)
        go.wait(240)
        return 42

    job = jobs.submit("work", work)
    until(lambda: (job.done, job.total) == (1, 2))
    assert job.active and jobs.get(job.id) is job
    go.set()
    until(lambda: job.status == "done")
    assert job.result == 42


def test_cancel_stops_a_running_and_a_queued_job():
    jobs, started = Jobs(), threading.Event()

    def forever(job):
        started.set()
        while True:
            job.advance(0, 1)
            time.sleep(0.01)

    running, queued = jobs.submit("a", forever), jobs.submit("b", forever)
    started.wait(240)
    assert jobs.position(queued) == 1
    queued.cancel()
    assert queued.status == "cancelled"  # at once: nothing has begun
    running.cancel()
    until(lambda: (running.status, queued.status) == ("cancelled", "cancelled"))


def test_one_owner_does_not_keep_the_others_waiting():
    jobs, go, order = Jobs(workers=2), threading.Event(), []

    def work(name):
        return lambda job: (order.append(name), go.wait(240))

    for name, owner in (("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b")):
        last = jobs.submit(name, work(name), owner)
    until(lambda: last.status == "running")
    assert sorted(order) == ["a1", "b1"]
    go.set()
    until(lambda: len(order) == 4)
    assert order[2:] == ["a2", "a3"]


def test_a_fast_job_can_be_waited_for_and_a_slow_one_is_left():
    jobs, go = Jobs(workers=2), threading.Event()
    fast, slow = jobs.submit("fast", lambda job: 42), jobs.submit("slow", lambda job: go.wait(240))
    assert fast.wait(240) and fast.result == 42 and fast.status == "done"
    assert not slow.wait(0.01) and slow.active
    go.set()
    assert slow.wait(240)


def test_failures_are_sentences_and_an_internal_error_shows_no_value():
    jobs = Jobs()

    def bad(job):
        raise ValueError("PE-means: epsilon must be > 0; got -1.")

    def broken(job):
        raise KeyError("secret cell 123456789012")

    first, second = jobs.submit("a", bad), jobs.submit("b", broken)
    until(lambda: not second.active)
    assert first.error == "PE-means: epsilon must be > 0; got -1."
    assert second.status == "failed" and "secret" not in second.error and "KeyError" in second.error


def test_finished_jobs_are_forgotten_in_time():
    jobs = Jobs(keep=3)
    made = [jobs.submit(str(i), lambda job: None) for i in range(10)]
    until(lambda: not any(job.active for job in made))
    jobs.submit("last", lambda job: None)
    assert sum(jobs.get(job.id) is not None for job in made) <= 4


def test_no_job_comes_while_a_place_in_the_queue_is_counted():
    jobs, held = Jobs(), []

    class Watched(Job):
        active = property(lambda self: held.append(jobs._lock.locked()) or True)

    waiting = Watched("one", "waiting")
    jobs._jobs["one"] = waiting
    assert jobs.position(waiting) == 0 and held == [True]
    jobs.stop()


def test_a_run_whose_releases_follow_from_its_data_is_never_past_its_end():
    assert releases(Job("", "run")) == ""
    assert releases(Job("", "run", done=5, total=22)) == "release 5 of 22"
    assert releases(Job("", "run", done=27, total=22)) == "release 27"
