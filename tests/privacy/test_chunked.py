"""Check rows on disk: runs give the same bits as in memory, in threads or on a cluster, however a file is divided."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import parts as datasets_parts
from dpviz.datasets.parts import Part, parts_of, resized
from dpviz.datasets.readers import Form
from dpviz.domain import Domain
from dpviz.geometry import Population
from dpviz.privacy.chunked import ChunkedRows, threads
from dpviz.privacy.queries import Count, NearestSums, NearestVotes
from dpviz.privacy.rows import ALL, Rows

N, D = 3000, 3
DOMAIN = Domain.box(-1, 1, D, n_public=N)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("chunked"), np.random.default_rng(0)
    X = np.clip(rng.normal(size=(N, D)) * 0.15 + rng.choice([-0.5, 0.0, 0.6], (N, 1)), -1.2, 1.2)
    X[17, 1] = np.nan
    np.save(folder / "rows.npy", X)
    pd.DataFrame(X, columns=list("abc")).to_parquet(folder / "rows.parquet", row_group_size=700)
    return folder, X


def same(trace, other):
    assert len(trace.steps) == len(other.steps)
    for one, two in zip(trace.steps, other.steps, strict=True):
        for name, value in one.released.items():
            np.testing.assert_array_equal(np.asarray(value), np.asarray(two.released[name]))
    np.testing.assert_array_equal(trace.cluster_centers, other.cluster_centers)
    assert trace.ledger == other.ledger


@pytest.mark.slow
def test_projected_rows_are_bit_equal_too(tmp_path):
    """The algorithm projects six columns to two; a projected row's low bits must not depend on its part of the file."""
    rng, domain = np.random.default_rng(1), Domain.box(-1, 1, 6, n_public=1200)
    X = np.clip(rng.normal(size=(1200, 6)) * 0.15 + rng.choice([-0.5, 0.0, 0.6], (1200, 1)), -1, 1)
    np.save(tmp_path / "rows.npy", X)
    algorithm = ALGORITHMS["hdpe-means"](n_clusters=3, epsilon=4.0, projected_features=2)
    rows = ChunkedRows(parts_of(tmp_path / "rows.npy", part_rows=333), domain, "unnamed", threads(2))
    same(algorithm.run(rows, seed=3), algorithm.run(X, domain=domain, seed=3))


@pytest.mark.parametrize("part_rows", [1, 700, 1500, 10**6])
def test_the_parts_do_not_matter(files, part_rows):
    folder, X = files
    memory = ALGORITHMS["pe-means"](n_clusters=3).run(X, domain=DOMAIN, seed=0)
    for name in ("rows.npy", "rows.parquet"):
        if (name, part_rows) == ("rows.npy", 1):
            continue  # 3000 parts of one row are slow and show nothing new
        parts = parts_of(folder / name, part_rows=part_rows)
        assert sum(part.stop - part.start for part in parts) == N
        np.testing.assert_array_equal(np.concatenate([part.read() for part in parts]), X)
        same(
            ALGORITHMS["pe-means"](n_clusters=3).run(ChunkedRows(parts, DOMAIN, "unnamed", threads(2)), seed=0), memory
        )


def test_size_and_inertia_skip_rows_that_are_not_finite(files):
    folder, X = files
    rows = ChunkedRows(parts_of(folder / "rows.npy", part_rows=1000), DOMAIN, "unnamed", threads(2))
    centers = np.zeros((1, D))
    assert rows.size_nonprivate() == N - 1
    assert rows.inertia(centers) == pytest.approx(np.nansum(np.delete(X, 17, axis=0) ** 2))


def test_the_command_line_reads_a_file_in_parts(files, capsys):
    folder, X = files
    options = ["--low", "-1", "--high", "1", "--n-public", str(N), "--public", "--n-clusters", "3"]
    said = []
    for name, more in (("rows.npy", ["--in-parts"]), ("rows.parquet", ["--in-parts"]), ("rows.parquet", [])):
        assert main(["run", "pe-means", "--data", str(folder / name), *options, *more]) == 0
        said.append(capsys.readouterr().out.splitlines())
    assert said[0][1:4] == said[2][1:4] and said[0][5:] == said[2][5:] and said[1][1:] == said[2][1:]
    assert main(["run", "pe-means", "--data", str(folder / "rows.npy"), "--public", "--in-parts"]) == 2
    assert "its public bounds must be given" in capsys.readouterr().err


def test_no_part_takes_more_memory_than_a_part_may(files, tmp_path, monkeypatch, capsys):
    """A few kilobytes of Parquet can hold a huge row group, which is refused; a .npy file is cut into parts."""
    folder, X = files
    monkeypatch.setattr(datasets_parts, "PART_CELLS", 699 * D)
    parts = parts_of(folder / "rows.npy")
    assert max(part.stop - part.start for part in parts) == 699
    np.testing.assert_array_equal(np.concatenate([part.read() for part in parts]), X)
    options = ["--private", "--in-parts", "--low", "0", "--high", "1", "--n-public", "100", "--n-clusters", "2"]
    np.save(tmp_path / "wide.npy", np.zeros((2, 699 * D + 1)))
    for path, words in (
        (folder / "rows.parquet", "a row group of rows.parquet has more than 2,097 cells; write it with smaller"),
        (tmp_path / "wide.npy", "a row of wide.npy has more than 2,097 cells; use fewer columns"),
    ):
        assert main(["run", "nsm", "--data", str(path), *options]) == 2
        assert words in capsys.readouterr().err
    assert parts_of(folder / "rows.parquet", ["a", "b"])  # two of its three columns fit


def test_foreign_files_are_one_sentence(tmp_path):
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(ValueError, match="flat.npy must have two dimensions"):
        parts_of(tmp_path / "flat.npy")
    with pytest.raises(ValueError, match="only .npy and .parquet"):
        parts_of(tmp_path / "x.csv")
    assert Part("a", 0, 1) == Part("a", 0, 1)


def test_a_column_that_holds_no_numbers_is_refused_by_its_place_and_no_cell_is_shown(tmp_path, capsys):
    cells = {"text": ["Alice", "Bob"], "category": pd.Categorical(["Alice", "Bob"]), "bytes": [b"Alice", b"Bob"]}
    cells["date"] = pd.to_datetime(["2001-02-03", "2004-05-06"])
    bounds = ["--in-parts", "--low", "0", "--high", "1", "--n-public", "100", "--n-clusters", "2"]
    for kind, column in cells.items():
        pd.DataFrame({"a": [0.1, 0.2], "b": column}).to_parquet(tmp_path / f"{kind}.parquet")
    np.save(tmp_path / "text.npy", np.array([["Alice", "1"], ["2", "3"]]))
    np.save(tmp_path / "complex.npy", np.array([[1 + 2j, 0], [1, 1]]))
    for path in sorted(tmp_path.iterdir()):
        assert main(["run", "nsm", "--data", str(path), *bounds, "--public"]) == 2
        told = capsys.readouterr().err
        assert f"{path.name} must hold" in told and "Alice" not in told and "2001" not in told
    for path in tmp_path.glob("*.parquet"):  # text cells become missing values without a message, as in memory
        (part,) = parts_of(path, form=Form(private=True, decimal=","))
        assert np.array_equal(part.read(), [[0.1, np.nan], [0.2, np.nan]], equal_nan=True)
    pd.DataFrame({"a": ["7,5", "1.234", "x"]}).to_parquet(tmp_path / "signs.parquet")
    (part,) = parts_of(tmp_path / "signs.parquet", form=Form(private=True, decimal=","))
    assert np.array_equal(part.read(), [[7.5], [1234], [np.nan]], equal_nan=True)
    with pytest.raises(ValueError, match="column 2 of text.parquet must hold numbers; it holds text"):
        parts_of(tmp_path / "text.parquet")
    assert parts_of(tmp_path / "text.parquet", ["a"])


@pytest.mark.parametrize("n_rows", [N - 1, N, N + 40])
def test_a_kept_n_counts_rows_that_are_not_finite_in_parts_too(files, n_rows):
    """Row 17 has a NaN; if n is kept, this row is placed in the middle of the domain, whichever part it is in."""
    folder, X = files

    def answers(rows):
        session = rows.open(n_rows)
        sums, middle = NearestSums(np.zeros((1, D)), 3.0), NearestVotes(Population(np.array([[0.0] * D, [0.5] * D])))
        return [session.noisy_sum(query, ALL, lambda part, true: true)[0] for query in (Count(), sums, middle)]

    memory = answers(Rows(X, DOMAIN))
    parts = answers(ChunkedRows(parts_of(folder / "rows.npy", part_rows=700), DOMAIN, "unnamed", threads(1)))
    assert memory[0][""] == n_rows
    for one, two in zip(memory, parts, strict=True):
        assert one.keys() == two.keys()
        for part in one:
            np.testing.assert_array_equal(one[part], two[part])


@pytest.mark.parametrize("name", ["none.npy", "none.parquet", "no_groups.parquet"])
def test_a_file_without_rows_is_answered_like_any_other(tmp_path, name):
    path = tmp_path / name
    if name == "none.npy":
        np.save(path, np.empty((0, D)))
    elif name == "none.parquet":
        pd.DataFrame(np.empty((0, D)), columns=list("abc")).to_parquet(path)
    else:
        schema = pa.schema([(column, pa.float64()) for column in "abc"])
        parquet.ParquetWriter(path, schema).close()
        assert parquet.ParquetFile(path).num_row_groups == 0
    rows = ChunkedRows(parts_of(path), DOMAIN, "unnamed", threads(1))
    trace = ALGORITHMS["nsm"](n_clusters=3).run(rows, noise="secure")
    assert np.isfinite(trace.cluster_centers).all()


@pytest.mark.parametrize("n_rows", [1, 700, 701, 2999, 3000, 3001, 3000 + 2**17 + 5])
@pytest.mark.parametrize("name", ["rows.npy", "rows.parquet"])
def test_parts_are_cut_or_filled_up_to_a_kept_n(files, name, n_rows):
    folder, X = files
    seen = np.concatenate([part.read() for part in resized(parts_of(folder / name, part_rows=700), n_rows)])
    assert seen.shape == (n_rows, D) and np.isnan(seen[N:]).all()
    np.testing.assert_array_equal(seen[:N], X[:n_rows])
    if n_rows <= N:
        domain = Domain.box(-1, 1, D, scale="common", n_public=n_rows)
        parts = resized(parts_of(folder / name, part_rows=700), n_rows)
        blocks = [Rows(part.read(), domain)._block(part.stop - part.start).x for part in parts]
        np.testing.assert_array_equal(np.concatenate(blocks), Rows(X, domain)._block(n_rows).x)
