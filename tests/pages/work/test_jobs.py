"""Check background jobs: progress, cancellation, failures as sentences, bounded memory."""

import threading
import time

import pytest

from pages._ui.work.jobs import LONG, SWEEP, Job, Jobs
from pages._ui.work.runs import releases
from pages._ui.work.turns import check_settings, turn_of


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
    assert job.active and jobs.get(job.id) is job and not job.wait(0.01)
    go.set()
    assert job.wait(240) and (job.status, job.result) == ("done", 42)


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
    assert queued.status == "cancelled"  # canceled at once, because it has not begun
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


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Line:
    """A queue whose workers are busy until `go`, so that the order of later jobs can be observed."""

    def __init__(self, workers=1):
        self.clock, self.order, self.gates = Clock(), [], []
        self.jobs = Jobs(workers=workers, clock=self.clock)
        for _ in range(workers):
            self.gates.append(threading.Event())
            first = self.jobs.submit("first", lambda _, gate=self.gates[-1]: gate.wait(240))
            until(lambda first=first: first.status == "running")

    def add(self, name, turn, seconds, owner=""):
        return self.jobs.submit(name, lambda _: self.order.append(name), owner, turn=turn, seconds=seconds)

    def go(self):
        made = list(self.jobs._jobs.values())
        for gate in self.gates:
            gate.set()
        assert all(job.wait(240) for job in made)
        return self.order


def test_the_short_job_of_another_visitor_passes_twenty_long_ones():
    line = Line()
    long = [line.add(f"long {i}", "hog", 300.0, owner=f"tab {i}") for i in range(20)]
    line.clock.now = 70.0
    short = line.add("short", "ann", 1.0)
    middle = line.add("middle", "bob", 40.0)
    assert line.jobs.position(short) == 1 and line.jobs.position(middle) == 2 and line.jobs.position(long[0]) == 3
    assert line.go()[:3] == ["short", "middle", "long 0"]


def test_a_class_behind_one_address_has_its_turn_and_a_long_job_does_not_wait_for_ever():
    line = Line()
    for i in range(100):
        line.add(f"phone {i}", "address 10.0.0.1", 0.5, owner=f"seat {i}")
    line.add("ann", "ann", 2.0)
    line.add("long", "bob", 30.0)
    order = line.go()
    assert len(order) == 102 and order.index("ann") == 4  # Ann waits for two seconds of others' work.
    assert order.index("long") == 61  # The long job does not wait for the whole class.


def test_a_job_that_ended_early_or_never_began_costs_its_visitor_no_turn():
    line = Line()
    for _ in range(30):  # as if a visitor dragged a slider
        line.add("dropped", "ann", 20.0, owner="a").cancel()
    early = line.add("early", "ann", 20.0)
    line.go()
    assert early.status == "done" and line.jobs._dues.get(("run", "ann"), 0.0) == pytest.approx(0.0)


def test_one_long_job_runs_at_a_time_and_the_other_places_stay_free():
    jobs, go = Jobs(workers=3, clock=Clock()), threading.Event()
    first = jobs.submit("first", lambda _: go.wait(240), "a", seconds=LONG)
    until(lambda: first.status == "running")
    second = jobs.submit("second", lambda _: go.wait(240), "b", seconds=LONG)
    short = jobs.submit("short", lambda _: 1, "c", seconds=LONG / 2)
    assert short.wait(240) and second.status == "queued"
    go.set()
    assert first.wait(240) and second.wait(240) and second.status == "done"


def test_a_job_that_takes_longer_than_expected_counts_as_long():
    clock, go = Clock(), threading.Event()
    jobs = Jobs(workers=2, clock=clock)
    wrong = jobs.submit("wrong", lambda _: go.wait(240), "a", seconds=0.1)
    until(lambda: wrong.status == "running")
    clock.now = LONG
    long, short = (jobs.submit("", lambda _: 1, owner, seconds=s) for owner, s in (("b", LONG), ("c", 0.1)))
    assert short.wait(240) and long.status == "queued"
    go.set()
    assert long.wait(240)


HEADERS = {"x-forwarded-for": "203.0.113.9, 10.0.0.7"}


def test_a_turn_is_a_login_then_an_address_of_a_named_proxy_then_a_session(monkeypatch):
    monkeypatch.delenv("DPVIZ_OWNER_HEADER", raising=False)
    monkeypatch.delenv("DPVIZ_PROXY", raising=False)
    assert turn_of(HEADERS, "127.0.0.1", "visit") == "visit"  # no proxy is set, and anybody can send that header
    monkeypatch.setenv("DPVIZ_PROXY", "127.0.0.1, 10.0.0.0/8")
    assert turn_of(HEADERS, "127.0.0.1", "visit") == "address 203.0.113.9"
    assert turn_of({"x-forwarded-for": "1.1.1.1, 203.0.113.9"}, "127.0.0.1", "visit") == "address 203.0.113.9"
    assert (
        turn_of(HEADERS, "198.51.100.4", "visit") == "address 198.51.100.4"
    )  # the request did not come through a proxy
    assert turn_of({}, "127.0.0.1", "visit") == "visit"
    for nonsense in ("<script>", "unknown", ","):
        assert turn_of({"x-forwarded-for": nonsense}, "127.0.0.1", "visit") == "visit"
    wide = {turn_of({"x-forwarded-for": name}, "::ffff:10.0.0.1", "v") for name in ("2001:db8::1", "2001:db8::9")}
    assert len(wide) == 1
    monkeypatch.setenv("DPVIZ_OWNER_HEADER", "X-Login")
    assert turn_of(HEADERS | {"x-login": "ann"}, "127.0.0.1", "visit") == "login ann"
    monkeypatch.setenv("DPVIZ_PROXY", "everybody")
    with pytest.raises(ValueError, match="DPVIZ_PROXY must hold addresses"):
        check_settings()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_paid_job_waits_for_no_rehearsal_of_its_visitor(workers):
    """The rehearsals occupy every place, are long, and have used up the visitor's turns."""
    jobs, go = Jobs(workers=workers), threading.Event()
    rehearsals = [
        jobs.submit("rehearsal", lambda job: go.wait(240), f"a {i}", turn="a", seconds=4 * LONG) for i in range(4)
    ]
    try:
        until(lambda: rehearsals[0].status == "running")
        paid = jobs.submit("paid", lambda job: 42, "a 0", turn="a", seconds=LONG, paid=True)
        assert jobs.position(paid) == 0
        assert paid.wait(60) and paid.result == 42
        assert [job.status for job in rehearsals] == ["running"] + ["queued"] * 3
    finally:
        go.set()
        jobs.stop()


def test_paid_jobs_of_a_visitor_run_one_after_the_other_and_first_come_first():
    jobs, go, order = Jobs(workers=1), threading.Event(), []
    for i in range(3):
        last = jobs.submit("paid", lambda job, i=i: (go.wait(240), order.append(i)), "a", turn="a", paid=True)
    assert jobs.position(last) == 2
    go.set()
    assert last.wait(60) and order == [0, 1, 2]


def test_the_place_of_paid_jobs_is_taken_by_no_other():
    jobs, go = Jobs(workers=1), threading.Event()
    first, second = (jobs.submit("any", lambda job: go.wait(240), owner) for owner in "ab")
    until(lambda: first.status == "running")
    time.sleep(0.05)
    assert second.status == "queued"
    go.set()
    assert second.wait(60)


def test_no_run_waits_for_a_sweep_nor_uses_up_its_turn_and_sweeps_run_one_after_the_other():
    jobs, go = Jobs(workers=1, clock=Clock()), threading.Event()
    first, second = (
        jobs.submit("sweep", lambda job: go.wait(240), turn="ann", seconds=50 * LONG, topic=SWEEP) for _ in range(2)
    )
    try:
        until(lambda: first.status == "running")
        run = jobs.submit("run", lambda job: go.wait(240), "ann", turn="ann", seconds=LONG)
        paid = jobs.submit("paid", lambda job: 42, "ann", turn="ann", seconds=LONG, paid=True)
        late = jobs.submit("late", lambda job: 1, "bob", turn="bob", seconds=LONG)
        until(lambda: run.status == "running")
        assert paid.wait(60) and paid.result == 42
        assert (second.status, jobs.position(second), jobs.position(late)) == ("queued", 1, 1)
    finally:
        go.set()
    assert second.wait(60) and late.wait(60)
