"""Check the atlas: which runs it holds, what survives storage on disk, and what makes a stored run outdated."""

import dataclasses
import errno
import shutil

import pytest

from dpviz.atlas import cells, files, make
from dpviz.atlas.cells import METHODS, STOPS, Chapter, chapters
from dpviz.atlas.fingerprint import _without_words, agrees, fingerprint
from dpviz.cli import main
from dpviz.datasets import SAMPLES, load
from dpviz.metrics import run_loss

TINY = Chapter("tiny", "kmeans")  # 20 runs on 40 rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("atlas")
    rows = [cells.row(cell) for cell in TINY.cells()]
    files.write(TINY, rows, place)
    return place


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "atlas")


def test_every_sample_has_every_method_but_distances_across_unlike_columns():
    pairs = {(chapter.sample, chapter.method) for chapter in chapters()}
    missing = {(sample, method) for sample in SAMPLES for method in METHODS} - pairs
    assert missing == {("wine", "dist-dp-region-means")}


def test_a_chapter_holds_every_stop_and_seed_of_every_edition():
    story = Chapter("town", "pe-means").cells()
    assert {cell.people for cell in story} == {None, 300, 1000} and {cell.epsilon for cell in story} == set(STOPS)
    assert len(story) == 3 * len(STOPS) * cells.STORY_SEEDS
    assert [cell.epsilon for cell in TINY.cells()] == [None] * cells.SEEDS


def test_what_is_read_is_what_the_method_releases(copy):
    chart, data = files.read("tiny", "kmeans", folder=copy), load("tiny")
    assert chart.groups == 2 and chart.seeds == cells.SEEDS
    (stop,) = chart.stops
    for seed in (0, 7):
        run = cells.trace(TINY.cells()[seed])
        assert stop.losses[seed] == run_loss(run, data.X)
    assert chart.best == run_loss(cells.trace(TINY.cells()[0]), data.X)
    assert stop.found[0] == 2 and stop.bet == 100


def test_noisy_sizes_and_budgets_are_kept_where_a_method_has_them():
    cell = next(cell for cell in Chapter("tiny", "fastlloyd").cells() if cell.epsilon == 4.0)
    row = cells.row(cell)
    assert row["sizes"].shape == (2,) and row["epsilon"] == 4.0 and 50 < row["bet"] <= 100


@pytest.mark.parametrize("damage", ["missing", "truncated", "byte", "layout", "text"])
def test_a_damaged_file_is_no_atlas(copy, damage, monkeypatch):
    path = copy / "tiny.kmeans.parquet"
    content = path.read_bytes()
    assert files.load(TINY, copy) is not None
    if damage == "missing":
        path.unlink()
    elif damage == "layout":
        monkeypatch.setattr(files, "LAYOUT", files.LAYOUT + 1)
    elif damage == "text":
        path.write_text("PAR1 is not enough PAR1")
    else:
        middle = len(content) // 4
        changed = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        path.write_bytes(content[: len(content) // 2] if damage == "truncated" else changed)
    assert files.load(TINY, copy) is None and files.read("tiny", "kmeans", folder=copy) is None
    assert not files.current(TINY, copy)


def test_a_folder_that_refuses_writing_is_read_and_stays_as_it_was(copy, monkeypatch, capsys):
    def refused(table, path, **_):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(files.pq, "write_table", refused)
    monkeypatch.setattr(make, "chapters", lambda: [TINY])
    content = (copy / "tiny.kmeans.parquet").read_bytes()
    assert files.read("tiny", "kmeans", folder=copy).seeds == cells.SEEDS and make.outdated(copy) == []
    monkeypatch.setattr(make, "current", lambda *_: False)
    assert main(["atlas", "--make", "--sample", "tiny", "--workers", "1", "--folder", str(copy)]) == 2
    assert "Read-only file system" in capsys.readouterr().err.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == {"tiny.kmeans.parquet": content}


def test_another_processor_has_no_stamp_and_the_probes_decide(copy, monkeypatch):
    files.stamp(copy)
    assert files.stamped(copy)
    own = files.machine()
    monkeypatch.setattr(files, "machine", lambda: "another")
    assert not files.stamped(copy) and files.current(TINY, copy)
    files.stamp(copy)
    for one, known in (("another", True), (own, True), ("a third", False)):
        monkeypatch.setattr(files, "machine", lambda one=one: one)
        assert files.stamped(copy) == known
    monkeypatch.setattr(files, "code", lambda: "other code")
    monkeypatch.setattr(files, "sources", lambda: "other words")
    files.stamp(copy)  # by the third machine
    assert files.stamped(copy)
    monkeypatch.setattr(files, "machine", lambda: own)
    assert not files.stamped(copy)


def test_only_names_of_samples_and_methods_are_ever_looked_up(monkeypatch):
    asked = []
    monkeypatch.setattr(files, "load", lambda *chapter: asked.append(chapter))
    for sample in ("../tiny", "3f2c", "file:age,income", "blobs:300:2"):
        assert files.read(sample, "kmeans") is None
    assert files.read("tiny", "../kmeans") is None and files.read("tiny", "kmeans", None, (("k", "/../x"),)) is None
    assert not asked


def test_a_changed_default_or_release_makes_a_chapter_old(folder, monkeypatch):
    assert files.current(TINY, folder)
    first = cells.row(TINY.cells()[0])
    moved = first | {"centers": first["centers"] + 1e-4}
    monkeypatch.setattr("dpviz.atlas.fingerprint.row", lambda cell: moved)
    assert not files.current(TINY, folder)
    monkeypatch.undo()
    monkeypatch.setattr(cells, "SEEDS", 21)
    assert not files.current(TINY, folder)


def test_fingerprints_agree_within_a_millionth_and_no_further():
    one = fingerprint(TINY)
    near = {**one, "probes": [{**probe, "loss": probe["loss"] * (1 + 1e-8)} for probe in one["probes"]]}
    far = {**one, "probes": [{**probe, "loss": probe["loss"] * (1 + 1e-4)} for probe in one["probes"]]}
    fewer = {**one, "probes": one["probes"][:-1]}
    assert agrees(one, near) and not agrees(one, far) and not agrees(one, fewer)
    assert not agrees(one, {**one, "parameters": {}}) and not agrees(one, {**one, "data": "0"})


@pytest.mark.slow
def test_a_check_finds_the_run_that_was_altered(copy):
    chosen = [TINY.cells()[3], TINY.cells()[4]]
    assert list(make.check(chosen, copy)) == [None, None]
    table, facts = files.load(TINY, copy)
    rows = table.to_pylist()
    rows[3]["centers"][0] += 2.0**-22
    files.write(TINY, rows, copy)
    (difference,) = [each for each in make.check(chosen, copy) if each is not None]
    assert difference.cell == chosen[0] and "centers" in str(difference)


@pytest.mark.parametrize(
    ("made", "alike"), [([1.0, 2.0 + 1e-9], True), ([1.0, 2.0 + 1e-4], False), ([1.0], False), (None, False)]
)
def test_another_kind_of_machine_may_differ_in_the_last_digits_alone(made, alike):
    assert make._same([1.0, 2.0], made, exact=False) is alike and not make._same([1.0, 2.0], made, exact=True)
    assert make._same(7, 7, exact=False) and not make._same(7, 8, exact=False)


@pytest.mark.slow
def test_make_makes_only_what_is_old_and_stamps_when_all_is_true(copy, monkeypatch):
    monkeypatch.setattr(make, "chapters", lambda: [TINY])
    assert make.outdated(copy) == [] and not files.stamped(copy)
    (copy / "tiny.kmeans.parquet").unlink()
    assert make.outdated(copy) == [TINY]
    runs, now = [], {"rounds": False, "averages": False}
    monkeypatch.setattr(make.rounds, "current", lambda folder: now["rounds"])
    monkeypatch.setattr(make.averages, "current", lambda folder: now["averages"])
    make.make([TINY], copy, on_run=lambda: runs.append(1))
    assert len(runs) == cells.SEEDS and make.outdated(copy) == [] and not files.stamped(copy)
    for name, true in (("rounds", False), ("averages", True)):
        now[name] = True
        make.make([], copy)
        assert files.stamped(copy) == true
    monkeypatch.setattr(files, "sources", lambda: "other words")
    assert files.stamped(copy)
    monkeypatch.setattr(files, "code", lambda: "other code")
    assert not files.stamped(copy)


def test_comments_and_docstrings_are_no_code():
    written, reworded, changed = (
        _without_words(text)
        for text in (
            '"""One."""\ndef f():\n    """Two."""\n    return 1  # three\n',
            "def f():\n\n    return 1\n",
            "def f():\n\n    return 2\n",
        )
    )
    assert written == reworded != changed


@pytest.mark.parametrize("stamp", ["", "[]", "null", '"text"', "{}", '{"sources": 1}'])
def test_a_stamp_that_says_nothing_is_no_stamp(tmp_path, stamp):
    (tmp_path / "sources.json").write_text(stamp)
    assert not files.stamped(tmp_path)


@pytest.mark.slow
def test_the_seed_draws_the_runs_that_are_checked():
    assert make.drawn(0.01, "a") == make.drawn(0.01, "a") != make.drawn(0.01, "b")
    assert len(make.drawn(1e-9, "a")) == 1


def test_nothing_private_is_below_the_atlas():
    assert all(not cells.opened(sample, None).data.private for sample in SAMPLES)
    assert {field.name for field in dataclasses.fields(Chapter)} == {"sample", "method", "values"}
    assert {chapter.values for chapter in chapters()} == {(), cells.EXACTLY_K}  # chapters hold no rows
