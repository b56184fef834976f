"""Check that a computation stops if its visitors have left, if it takes too long, or if the server ends."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES, load_sample
from dpviz.privacy.guarantee import Neighboring
from dpviz.sweeps.spec import sweep_of
from lab.benchmarks.visitor import Visitor
from pages._ui.explore.tradeoff import sweeps
from pages._ui.frame.inside import patches
from pages._ui.work import memory, runs, watchers
from pages._ui.work.jobs import SWEEP, Jobs
from pages._ui.work.memory import MemoryFolder
from pages._ui.work.watchers import Presence
from tests.serving import awaited, running

ROOT = Path(__file__).parents[3]


@pytest.fixture
def visitors(monkeypatch):
    """Return a stand-in server: connected sessions, a clock, and the session whose script runs."""
    here = SimpleNamespace(active={"ann", "bob"}, now=0.0, script="ann")
    server = SimpleNamespace(is_active_session=lambda session: session in here.active)
    monkeypatch.setattr(patches, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: server))
    monkeypatch.setattr(patches, "get_script_run_ctx", lambda **_: SimpleNamespace(session_id=here.script))
    monkeypatch.setattr(watchers, "time", SimpleNamespace(monotonic=lambda: here.now))
    return here


def test_a_session_that_left_is_waited_for_and_a_link_adopts(visitors):
    watched = Presence(60.0)
    visitors.now = 1000.0
    assert watched.there(), "it has been connected all the time"
    visitors.active = set()
    visitors.now = 1059.0
    assert watched.there(), "the line may be back"
    visitors.now = 1061.0
    assert not watched.there()
    visitors.active, visitors.script = {"bob"}, "bob"
    assert not watched.there(), "somebody else's session is not asked"
    watched.join()
    visitors.now = 5000.0
    assert watched.there()


def test_a_job_that_nobody_wants_stops_at_its_next_step():
    wanted, going = threading.Event(), threading.Event()
    wanted.set()

    def work(job):
        while True:
            job.advance(1, 2)
            going.set()

    job = Jobs().submit("long", work, wanted=wanted.is_set)
    assert going.wait(240) and job.status == "running"
    wanted.clear()
    assert job.wait(240) and job.status == "cancelled"


def test_all_topics_stop_together():
    jobs = Jobs()

    def work(job):
        while True:
            job.advance(1, 1)

    running, queued, sweep = (jobs.submit(title, work, topic=topic) for title, topic in
                              (("running", "run"), ("queued", "run"), ("sweep", SWEEP)))  # fmt: skip
    while not (running.done and sweep.done):
        time.sleep(0.01)
    jobs.stop()
    assert running.wait(240) and sweep.wait(240)
    assert running.status == queued.status == sweep.status == "cancelled"
    with pytest.raises(RuntimeError):
        jobs.submit("late", work)


FOREVER = """
import time
def work(on_step):
    time.sleep(10_000)
"""
SERVER = """
import sys
sys.path.insert(0, {path!r})
import app, forever
from pages._ui.work.runs import jobs
from pages._ui.work.workers import workers
if __name__ == "__main__":
    job = jobs().submit("forever", lambda job: workers().run(forever.work, look=job.advance))
    workers().call(int)  # the processes are up
    assert job.status == "running", (job.status, job.error)
    app.end()
    print("ended", flush=True)
"""


@pytest.mark.slow
def test_a_run_under_way_does_not_keep_the_server_from_ending(tmp_path):
    (tmp_path / "forever.py").write_text(FOREVER)
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(path=str(ROOT)))
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "DPVIZ_WORKERS": "2"}
    done = subprocess.run(
        [sys.executable, script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0 and "ended" in done.stdout, done.stderr


HOLD = "import sys, time; from pathlib import Path; from pages._ui.work.memory import MemoryFolder\n"
HOLD += "held = MemoryFolder(Path(sys.argv[1])); print(held.name, flush=True); time.sleep(10_000)"


@pytest.mark.skipif(memory.fcntl is None, reason="locks are POSIX's")
def test_the_folder_of_a_killed_server_is_removed_at_the_next_start_and_a_living_ones_is_not(tmp_path):
    mine = MemoryFolder(tmp_path)
    (Path(mine.name) / "rows.csv").write_text("1,2")
    process = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    other = Path(process.stdout.readline().strip())
    assert other.is_dir() and other.parent == tmp_path
    MemoryFolder(tmp_path).cleanup()
    assert other.is_dir() and (Path(mine.name) / "rows.csv").exists()
    process.kill()
    process.wait()
    process.stdout.close()
    (tmp_path / "dpviz-memory-link").symlink_to(tmp_path)
    MemoryFolder(tmp_path).cleanup()
    assert not other.exists() and (Path(mine.name) / "rows.csv").exists()
    mine.cleanup()
    assert not Path(mine.name).exists()


async def sweeps_page(url):
    async with Visitor(int(url.rpartition(":")[2]), "tradeoff") as visitor:
        await visitor.ask()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux tells which files a process holds")
def test_the_folder_goes_with_a_server_that_is_told_to_end():
    with running(DPVIZ_WORKERS="0") as (url, process):
        awaited(sweeps_page(url))
        held = {os.path.realpath(file) for file in Path(f"/proc/{process.pid}/fd").iterdir()}
        [folder] = [Path(file).parent for file in held if memory.PREFIX in file]
    assert process.returncode is not None and not folder.exists()


def test_a_run_that_would_take_too_long_is_refused_with_what_fits():
    data = load_sample("town")
    algorithm = ALGORITHMS["pe-means"](n_clusters=200)
    slow = SimpleNamespace(seconds=lambda algorithm, *_: 2.0 * algorithm.n_clusters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "pace", lambda: slow)
        with pytest.raises(ValueError, match=r"would take about 7 minutes, but this server allows about 5 minutes; "):
            runs.check(data, algorithm)
        with pytest.raises(ValueError, match="150 centers would fit, or use the command line"):
            runs.check(data, algorithm)
        runs.check(data, ALGORITHMS["pe-means"](n_clusters=150))
        slow.seconds = lambda *_: 1e6
        with pytest.raises(ValueError, match="a smaller data set would fit"):
            runs.check(data, algorithm)


def test_every_algorithm_runs_on_every_sample_as_it_is_offered():
    for name in SAMPLES:
        data = load_sample(name)
        for cls in ALGORITHMS.values():
            algorithm = cls(n_clusters=data.n_clusters)
            if algorithm.neighboring is Neighboring.MOVE_RHO and not data.domain.one_scale:
                with pytest.raises(ValueError, match="one scale for all columns"):
                    runs.check(data, algorithm)
            else:
                runs.check(data, algorithm)


@pytest.mark.slow
def test_a_sweep_is_counted_no_farther_than_it_may_be():
    record = {"data": "sample:town", "algorithms": ["pe-means"], "epsilon": [1, 2], "repeats": 5000}
    assert sweeps.size(sweep_of(record | {"repeats": 20_000})) == sweeps.MOST_LISTED + 1
