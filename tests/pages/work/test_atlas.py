"""Check that a page uses stored runs only if they are of samples and still valid, and never waits for this check."""

import dataclasses
import os
import shutil
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpviz.atlas import averages, cells, files, rounds
from dpviz.atlas.cells import Chapter
from dpviz.datasets import load_sample
from pages._ui.work import atlas
from pages._ui.work.atlas import Trust, chart, trust

TINY = Chapter("tiny", "kmeans")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files.write(TINY, [cells.row(cell) for cell in TINY.cells()], tmp_path)
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    probes = atlas._Probes()
    monkeypatch.setattr(atlas, "_probes", lambda: probes)
    monkeypatch.setattr(atlas, "stamped", lambda: files.stamped(tmp_path))
    files.read.cache_clear()
    return tmp_path


def verdict():
    """Return the verdict on the chapter after its probe runs have been made."""
    trust("tiny", "kmeans")
    assert atlas._probes()._jobs[TINY.name].wait(120)
    return trust("tiny", "kmeans")


def test_stamped_runs_are_used_at_once(folder, monkeypatch):
    files.stamp(folder)
    monkeypatch.setattr(files, "current", lambda *chapter: pytest.fail("the stamp was enough"))
    assert trust("tiny", "kmeans") is Trust.YES
    assert chart("tiny", "kmeans").seeds == cells.SEEDS


def test_a_folder_that_nobody_may_write_to_is_enough(folder, monkeypatch):
    shutil.copy(files.FOLDER / averages.NAME, folder)
    shutil.copy(files.FOLDER / rounds.NAME, folder)
    folder.chmod(0o555)
    written, watching = [], True

    def watch(event, arguments):  # root, who may run the tests, ignores file modes
        if watching and event == "open" and str(folder) in str(arguments[0]):
            written.extend([arguments[0]] * bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
        elif watching and event in ("os.mkdir", "os.rename", "os.remove") and str(folder) in str(arguments[0]):
            written.append(arguments[0])

    sys.addaudithook(watch)  # an audit hook cannot be removed
    try:
        assert verdict() is Trust.YES and chart("tiny", "kmeans").seeds == cells.SEEDS
        files.stamped(folder)
        assert rounds.read(folder) and averages.read(folder)
    finally:
        watching = False
        folder.chmod(0o755)
    assert written == []


def test_rounds_are_looked_up_for_a_sample_and_never_for_private_rows(monkeypatch):
    asked = []
    monkeypatch.setattr(atlas, "stamped", lambda: True)
    monkeypatch.setattr(atlas.rounds, "read", lambda folder: asked.append(folder))
    game, town = atlas.GAMES[0], load_sample("town")
    question = game.algorithm(), game.question().person
    for private in (True, False):  # a file may have a sample's name
        assert atlas.played(dataclasses.replace(town, private=private), *question) == ()
        assert len(asked) == (not private)


def test_what_start_tells_is_believed_by_the_stamp_or_once_it_comes_out_again(tmp_path, monkeypatch):
    shutil.copy(files.FOLDER / averages.NAME, tmp_path)
    asked, verdicts, stamped = [], iter([Trust.CHECKING, Trust.NO, Trust.YES]), True
    probes = types.SimpleNamespace(verdict=lambda *what: asked.append(what) or next(verdicts))
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    monkeypatch.setattr(atlas, "_probes", lambda: probes)
    monkeypatch.setattr(atlas, "stamped", lambda: stamped)
    who, bets = atlas.given()
    assert who.count == 26 and len(bets.exact) == 16 and asked == []
    stamped = False
    assert [atlas.given(), atlas.given(), atlas.given()[0]] == [Trust.CHECKING, Trust.NO, who]
    assert asked == [(averages.NAME, averages.current, tmp_path)] * 3
    (tmp_path / averages.NAME).unlink()
    assert atlas.given() is Trust.NO and len(asked) == 3


def test_visitors_who_come_together_ask_for_the_stamp_once(monkeypatch):
    asked, together = [], threading.Barrier(6)

    def stamped(folder):
        asked.append(folder)
        time.sleep(0.2)  # leave time for the other visitors to arrive
        return False

    def visit(_):
        together.wait()
        return atlas.stamped()

    monkeypatch.setattr(files, "stamped", stamped)
    atlas.stamped.clear()
    try:
        with ThreadPoolExecutor(6) as visitors:
            assert not any(visitors.map(visit, range(6)))
    finally:
        atlas.stamped.clear()
    assert len(asked) == 1


def test_without_a_stamp_the_probes_decide_once_and_nobody_waits(folder, monkeypatch):
    gate, probed = threading.Event(), []

    def current(chapter, place):
        gate.wait(120)
        probed.append((chapter, place))
        return files.agrees(files.load(chapter, place)[1]["fingerprint"], files.fingerprint(chapter))

    monkeypatch.setattr(files, "current", current)
    assert trust("tiny", "kmeans") is Trust.CHECKING and chart("tiny", "kmeans") is None
    gate.set()
    assert verdict() is Trust.YES and chart("tiny", "kmeans") is not None
    assert probed == [(TINY, folder)]


def test_runs_that_come_out_differently_are_not_used(folder, monkeypatch):
    first = cells.row(TINY.cells()[0])
    monkeypatch.setattr("dpviz.atlas.fingerprint.row", lambda cell: first | {"loss": first["loss"] * 1.01})
    assert verdict() is Trust.NO and chart("tiny", "kmeans") is None


def test_a_missing_or_damaged_file_is_no_error(folder):
    assert trust("tiny", "pe-means") is Trust.NO and chart("tiny", "pe-means") is None
    (folder / "tiny.kmeans.parquet").write_bytes(b"PAR1")
    assert verdict() is Trust.NO and chart("tiny", "kmeans") is None
    files.stamp(folder)
    files.read.cache_clear()
    assert trust("tiny", "kmeans") is Trust.NO and chart("tiny", "kmeans") is None


def test_only_samples_and_stored_methods_are_looked_up(folder, monkeypatch):
    files.stamp(folder)
    for name in ("load", "read", "current"):
        monkeypatch.setattr(files, name, lambda *asked, **more: pytest.fail(f"looked up {asked}"))
    for sample, method, values in (
        ("f00d", "kmeans", ()), ("../tiny", "kmeans", ()), ("blobs:n_rows=300", "kmeans", ()),
        ("tiny", "../kmeans", ()), ("tiny", "em-mc", ()), ("tiny", "kmeans", (("n_clusters", 3),)),
    ):  # fmt: skip
        assert chart(sample, method, None, values) is None
