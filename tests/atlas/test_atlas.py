"""Check the atlas: which runs it holds, and what survives storage on disk."""

import dataclasses
import errno
import shutil

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import cells, files, make, tables
from dpviz.atlas.cells import METHODS, ON_TOWN, STOPS, Chapter, chapters
from dpviz.atlas.machines import agrees
from dpviz.cli import main
from dpviz.datasets import SAMPLES, load
from dpviz.metrics import run_loss
from dpviz.runs.public import started

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
    assert {pair for pair in pairs if pair[1] not in METHODS} == {("town", method) for method in ON_TOWN}


def test_stored_runs_of_a_method_that_takes_public_rows_start_from_some():
    cell = Chapter("town", "public-start").cells()[-1]
    data = cells.opened("town", cell.people).data
    assert cell.people == 1000 and cell.algorithm().public_centers is not None
    assert cell.algorithm() == started(ALGORITHMS["public-start"](n_clusters=5, epsilon=8.0), data)


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


@pytest.mark.parametrize("damage", ["missing", "truncated", "byte", "layout", "version", "text"])
def test_a_damaged_file_is_no_atlas(copy, damage, monkeypatch):
    path = copy / "tiny.kmeans.parquet"
    content = path.read_bytes()
    assert files.load(TINY, copy) is not None
    if damage == "missing":
        path.unlink()
    elif damage == "layout":
        monkeypatch.setattr(files, "_LAYOUT", files._LAYOUT + 1)
    elif damage == "version":
        monkeypatch.setattr(files, "__version__", "0.1.7")
    elif damage == "text":
        path.write_text("PAR1 is not enough PAR1")
    else:
        middle = len(content) // 4
        changed = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        path.write_bytes(content[: len(content) // 2] if damage == "truncated" else changed)
    assert files.load(TINY, copy) is None and files.read("tiny", "kmeans", folder=copy) is None


@pytest.mark.parametrize("version", ["0.4.0", "0.4.12"])
def test_a_release_that_mends_faults_reads_the_runs_of_the_one_before(copy, monkeypatch, version):
    rows = files.load(TINY, copy)[0].to_pylist()
    monkeypatch.setattr(files, "__version__", "0.4.1")
    files.write(TINY, rows, copy)
    monkeypatch.setattr(files, "__version__", version)
    assert files.load(TINY, copy) is not None
    monkeypatch.setattr(files, "__version__", "0.5.0")
    assert files.load(TINY, copy) is None


@pytest.mark.slow
def test_a_folder_that_refuses_writing_is_read_and_stays_as_it_was(copy, monkeypatch, capsys):
    def refused(table, path, **_):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(tables.pq, "write_table", refused)
    monkeypatch.setattr(make, "chapters", lambda: [TINY])
    content = (copy / "tiny.kmeans.parquet").read_bytes()
    assert files.read("tiny", "kmeans", folder=copy).seeds == cells.SEEDS and make.missing(copy) == []
    monkeypatch.setattr(make, "load", lambda *_: None)
    assert main(["atlas", "--make", "--sample", "tiny", "--workers", "1", "--folder", str(copy)]) == 2
    assert "Read-only file system" in capsys.readouterr().err.splitlines()[-1]
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == {"tiny.kmeans.parquet": content}


def test_only_names_of_samples_and_methods_are_ever_looked_up(monkeypatch):
    asked = []
    monkeypatch.setattr(files, "load", lambda *chapter: asked.append(chapter))
    for sample in ("../tiny", "3f2c", "file:age,income", "blobs:300:2"):
        assert files.read(sample, "kmeans") is None
    assert files.read("tiny", "../kmeans") is None and files.read("tiny", "kmeans", None, (("k", "/../x"),)) is None
    assert not asked


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
    assert agrees([1.0, 2.0], made) is alike and not agrees([1.0, 2.0], made, exact=True)
    assert agrees({"a": [{"b": [1.0, 2.0]}]}, {"a": [{"b": made}]}) is alike
    assert agrees(7, 7) and not agrees(7, 8) and not agrees({"a": 7}, {"b": 7}) and agrees("x", "x")


@pytest.mark.slow
def test_make_makes_only_what_is_missing(copy, monkeypatch):
    monkeypatch.setattr(make, "chapters", lambda: [TINY])
    assert make.missing(copy) == []
    (copy / "tiny.kmeans.parquet").unlink()
    assert make.missing(copy) == [TINY]
    runs = []
    make.make([TINY], copy, on_run=lambda: runs.append(1))
    assert len(runs) == cells.SEEDS and make.missing(copy) == []
    assert list(make.check(TINY.cells(), copy)) == [None] * cells.SEEDS


@pytest.mark.slow
def test_the_seed_draws_the_runs_that_are_checked():
    assert make.drawn(0.01, "a") == make.drawn(0.01, "a") != make.drawn(0.01, "b")
    assert len(make.drawn(1e-9, "a")) == 1


def test_nothing_private_is_below_the_atlas():
    assert all(not cells.opened(sample, None).data.private for sample in SAMPLES)
    assert {field.name for field in dataclasses.fields(Chapter)} == {"sample", "method", "values"}
    assert {chapter.values for chapter in chapters()} == {(), cells.EXACTLY_K}  # chapters hold no rows
