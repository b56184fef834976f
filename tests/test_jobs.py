"""Background jobs: progress, cancel, failures as sentences, a bounded memory."""

import threading
import time

from dpviz.experiments.jobs import Jobs


def until(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_a_job_reports_progress_and_a_result():
    jobs, go = Jobs(), threading.Event()

    def work(job):
        job.advance(1, 2)
        go.wait(5)
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
    started.wait(5)
    assert jobs.position(queued) == 1
    queued.cancel()
    assert queued.status == "cancelled"  # at once: nothing has begun
    running.cancel()
    until(lambda: (running.status, queued.status) == ("cancelled", "cancelled"))


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
