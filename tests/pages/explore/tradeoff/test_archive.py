"""Check sweeps on disk: each is found with all rows and resumes where it stopped; those of own files are not stored."""

import dataclasses
import time

import pytest

from dpviz.sweeps.sweep import Sweep, Variant, execute
from dpviz.trace import Cancelled
from pages._ui.explore.tradeoff import sweeps
from pages._ui.explore.tradeoff.archive import MOST, Archive, is_public
from pages._ui.frame.shared import once
from pages._ui.work.jobs import Job

NAME = "abcdefghij-_"
SWEEP = Sweep(data=("sample:tiny",), variants=(Variant("kmeans", "kmeans"), Variant("pe-means", "pe-means")),
              epsilon=(0.5, 1.0), repeats=2)  # fmt: skip


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeps, "on_this_machine", lambda cells, run, give_up, **_: (run(cell) for cell in cells))
    monkeypatch.setattr(sweeps, "_archive", lambda: Archive(tmp_path))
    monkeypatch.setattr(sweeps, "shelf", once(sweeps.Shelf))
    return lambda: sweeps.shelf()


def until_over(kept):
    end = time.monotonic() + 240
    while kept.active and time.monotonic() < end:
        time.sleep(0.01)
    assert not kept.active and not kept.job.error


def test_a_sweep_comes_back_after_a_restart_and_goes_on_where_it_stopped(shelf, monkeypatch):
    archive, cells = shelf().archive, list(SWEEP.runs())
    archive.put(NAME, SWEEP, "Two budgets")
    with archive.working(NAME) as file:
        for cell in cells[:3]:
            file.append(execute(cell))
    again = shelf().get(NAME)
    assert (again.title, again.sweep, again.total) == ("Two budgets", SWEEP, len(cells))
    until_over(again)
    assert [row["key"] for row in again.rows] == [cell.key for cell in cells]
    monkeypatch.setattr(sweeps, "shelf", once(sweeps.Shelf))  # another restart
    whole = shelf().get(NAME)
    assert whole.job.status == "done" and not whole.active
    left, right = (kept.table(99).drop(columns=["seconds", "peak_mb"], errors="ignore") for kept in (again, whole))
    assert left.loss.tolist() == right.loss.tolist() and left.key.tolist() == right.key.tolist()


def test_what_another_process_works_on_is_shown_and_left_alone(shelf):
    archive = shelf().archive
    archive.put(NAME, SWEEP, "Theirs")
    with archive.working(NAME) as file, Archive(archive._folder).working(NAME) as second:
        assert second is None
        file.append(execute(next(SWEEP.runs())))
        seen = shelf().get(NAME)
        assert seen.job.status == sweeps.ELSEWHERE and not seen.active and len(seen.rows) == 1
    assert shelf().get(NAME).job.status != sweeps.ELSEWHERE  # the other process has died


def test_a_sweep_that_was_cancelled_stays_so(shelf):
    archive = shelf().archive
    archive.put(NAME, SWEEP, "Cancelled")
    kept = sweeps.Progress(NAME, "Cancelled", SWEEP, 6, job=Job("", ""))
    with pytest.raises(Cancelled):
        kept.job._cancel.set()  # as a server does when it ends
        sweeps._work(kept, kept.job)
    assert archive.get(NAME)[3] == ""
    sweeps.cancel(kept)
    assert shelf().get(NAME).job.status == "cancelled"


def test_only_public_data_are_written_and_only_so_many(tmp_path):
    assert is_public(SWEEP)
    assert not is_public(dataclasses.replace(SWEEP, data=("sample:tiny", "/dev/shm/dpviz-x/mine.csv"), public=True))
    archive = Archive(tmp_path)
    for number in range(MOST + 2):
        archive.put(f"{number:012}", SWEEP, "t")
    assert len(list(tmp_path.glob("*.toml"))) == MOST


@pytest.mark.parametrize("name", ["", "../../secret", "short", "abcdefghij-/", "x" * 300])
def test_a_link_is_never_a_path(tmp_path, name):
    assert Archive(tmp_path).get(name) is None
