"""Check that samples are complete and within declared bounds, and that the refusal of a bad file shows no cell."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.datasets import SAMPLES, Blobs, Painted, clipping, dictionary, load, load_csv, load_sample, made
from dpviz.datasets.earth import EARTH_RADIUS, Equirectangular
from dpviz.datasets.loading import SAMPLE_FOLDER
from dpviz.domain import Domain

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_without_arrow_as_any_file_is(name):
    plain, read = load_sample(name), load_csv(SAMPLE_FOLDER / f"{name}.csv", dataset_id=f"sample:{name}")
    for one, other in ((plain.X, read.X), (plain.labels, read.labels)):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
        assert not one.flags.writeable and one.flags.c_contiguous
    others = [{**vars(data), "X": None, "labels": None} for data in (plain, read)]
    assert repr(others[0]) == repr(others[1])


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_complete(name):
    data = load_sample(name)
    assert data.dataset_id == f"sample:{name}"
    assert data.X.shape == (data.domain.n_public, len(data.columns)) and not data.X.flags.writeable
    assert np.isfinite(data.X).all() and data.title and data.description.endswith((".", "?"))
    inside = (data.X >= data.domain.low) & (data.X <= data.domain.high)
    assert inside.all(axis=1).mean() > 0.99
    assert {"origin", "licence", "unit_of_privacy", "rows_per_person"} <= set(data.facts)
    assert data.labels is None or len(data.labels) == len(data.X)


def test_bounds_are_round_not_taken_from_the_data():
    for name in SAMPLES:
        domain = load_sample(name).domain
        assert all(float(v) == round(float(v)) for v in (*domain.low, *domain.high)), name


def test_at_least_eight_samples_and_all_of_them_are_listed():
    files = {path.stem for path in (ROOT / "sample_data").glob("*.csv")}
    assert files == set(SAMPLES) and len(files) >= 8


@pytest.mark.slow
def test_the_script_writes_what_is_committed(tmp_path):
    script = (ROOT / "sample_data" / "make.py").read_text()
    (tmp_path / "make.py").write_text(script)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    for path in tmp_path.glob("*.csv"):
        assert path.read_text() == (ROOT / "sample_data" / path.name).read_text()


BAD = {
    "empty": ("", "mine.csv: the file is empty"),
    "header only": ("a,b\n", "no row below the header"),
    "text": ("a,b\n1,secretvalue\n", "column 'b' must hold numbers only"),
    "ragged": ("a,b\n1,2\n3,4,777777\n", "line 3 has 3 cells, but the first line has 2"),
    "longer": ("a,b\n1,2,777777\n3,4,777777\n", "line 2 has 3 cells, but the first line has 2"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence_without_a_cell(name, tmp_path):
    text, words = BAD[name]
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        load_csv(path, low=0, high=1)
    assert "secretvalue" not in str(caught.value) and "777777" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_bounds_or_dictionary_are_needed(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="no public bounds"):
        load_csv(path)
    with pytest.raises(ValueError, match="1 or 2 values"):
        load_csv(path, low=[0, 0, 0], high=[1, 1, 1])
    with pytest.raises(ValueError, match="low < high"):
        load_csv(path, low=5, high=1)
    (tmp_path / "mine.json").write_text(json.dumps({"columns": [{"name": "c", "low": 0, "high": 1}]}))
    with pytest.raises(ValueError, match="lacks the column 'c'"):
        load_csv(path)
    with pytest.raises(ValueError, match="lacks the column 'c'"):
        load_csv(path, low=0, high=5)  # a dictionary that does not fit is refused, not ignored
    (tmp_path / "mine.json").unlink()
    assert load_csv(path, low=0, high=5, n_public=2).domain.n_public == 2


def test_a_dictionary_survives_the_round_trip_and_its_faults_are_sentences():
    facts = load_sample("town").facts
    assert dictionary.parse(dictionary.dump(facts)) == facts
    wrong = {
        "columns": [],
        "radius": -1,
        "scale": "log",
        "n_public": 0,
        "rows_per_person": 1.5,
        "n_is": "maybe",
        "title": 3,
        "n_clusters": 0,
    }
    for key, value in wrong.items():
        with pytest.raises(ValueError) as caught:
            dictionary.complete({**facts, key: value}, "mine.json")
        assert str(caught.value).count("\n") == 0 and key in str(caught.value), key
    columns = {
        "low": (None, "needs a lower bound"),
        "high": (-50, "must have low < high"),
        "name": ("", "must have a name"),
        "unit": (1, "must be text"),
        "fill": (99, "fill must lie within the bounds"),
    }
    for key, (value, words) in columns.items():
        with pytest.raises(ValueError, match=words):
            dictionary.complete({"columns": [{**facts["columns"][0], key: value}]})
    with pytest.raises(ValueError, match="declared twice"):
        dictionary.complete({"columns": [facts["columns"][0]] * 2})
    for text in ("", "[1]", "{", "[" * 100_000, "{}", b"\xff\xfe"):
        with pytest.raises(ValueError, match="data dictionary|columns"):
            dictionary.parse(text)


def test_promises_are_bounds_that_rounding_keeps():
    facts = dictionary.complete(
        {"columns": [{"name": "a", "low": 0, "high": 1.23456, "unit": "m"}], "n_public": 70, "rows_per_person": 3}
    )
    count, total, average, person = dictionary.promises(facts)
    assert "at most 3" in count and "a by 1.86 m" in total and "0.0265 m" in average and "3 ε" in person
    assert 1.86 >= 3 * 1.23456 / 2 and 0.0265 >= 3 * 1.23456 / 2 / 70
    radius = dictionary.promises({**facts, "radius": 0.5, "rows_per_person": 1})
    assert "a by 0.309 m" in radius[1]


def test_clipping_counts_the_rows_it_changes():
    domain = Domain.box(np.array([0.0, 0.0]), np.array([2.0, 2.0]), radius=1.0)
    X = np.array([[1.0, 1.0], [-5.0, 1.0], [3.0, 3.0], [np.nan, 1.0], [0.1, 0.1], [1.0, np.inf]])
    found = clipping(X, domain)
    assert (found.n_rows, found.dropped, found.outside, found.radius) == (6, 2, 2, 2)
    assert found.below.tolist() == [1, 0] and found.above.tolist() == [1, 1]


def test_blobs_are_made_again_from_their_name_and_follow_their_parameters():
    made = Blobs(n_rows=3000, n_features=3, n_clusters=4, imbalance=0.5, outliers=0.1, seed=5)
    data, again = made.make(), load(made.key)
    assert np.array_equal(data.X, again.X) and again.dataset_id == made.key and data.X.shape == (3000, 3)
    sizes = [int((data.labels == group).sum()) for group in range(-1, 4)]
    assert 200 < sizes[0] < 400 and sizes[1] > 1.5 * sizes[2] > 2 * sizes[3]
    assert data.domain.n_public == 3000 and data.domain.low.tolist() == [-10] * 3
    with pytest.raises(ValueError, match="Blobs: spread must be"):
        Blobs(spread=0.0)
    for key in ("blobs:", "blobs:x=1", "blobs:n_rows=much", "blobs:n_rows"):
        with pytest.raises(ValueError, match="does not name blobs"):
            load(key)


def test_painted_people_are_made_again_from_their_name():
    code = "AAA" * 4 + "." + "___" * 5 + ".gAA" + "~ABA"
    data = load(Painted(code).key)
    step = 20 / 512
    assert data.X[0].tolist() == [-10 + step / 2] * 2 and data.X[4].tolist() == [10 - step / 2] * 2
    assert data.X[9].tolist() == [step / 2, -10 + step / 2]  # the letter g encodes 32, half of 64
    assert data.X[10].tolist() == [-10 + step / 2, -10 + 64.5 * step]
    assert data.labels.tolist() == [0] * 4 + [1] * 5 + [2, -1] and data.n_clusters == 3
    assert data.domain.n_public == len(data.X) == 11 and data.title == "Painted, 11 people in 3 groups"
    assert (np.abs(data.X) < 10).all() and not data.private and data.dataset_id == f"painted:{code}"
    assert made("town") is None and made(data.dataset_id) == Painted(code)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AAA" * 9, "at least 10 people are needed; got 9"),
        ("AAA" * 301, "at most 300 people"),
        ("AAA" * 1_000_000, "at most 300 people"),
        (".".join(["AAA"] * 13), "at most 12 groups"),
        ("." * 100_000, "not a painting"),
        *(
            (code, "not a painting")
            for code in ("AA", "AAA..AAA", "A\u0661A", "NaN,NaN", "AAA\n", "~~", "<b>", None, 1e6, ["AAA"])
        ),
    ],
)
def test_a_bad_painting_is_one_sentence(code, words):
    with pytest.raises(ValueError, match=rf"^Painted: .*{words}[^.]*\.$"):
        Painted(code)


def test_any_table_loads_with_its_dictionary(tmp_path):
    table = pd.DataFrame({"a": [1.0, None, 3.0], "b": [True, False, True], "c": ["x", "y", "z"]})
    facts = {"columns": [{"name": "a", "low": 0, "high": 5, "fill": 2.5}, {"name": "b", "low": 0, "high": 1}]}
    table.to_parquet(tmp_path / "mine.parquet")
    table.to_excel(tmp_path / "mine.xlsx", index=False)
    table.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "mine.json").write_text(json.dumps(facts))
    for ending in ("csv", "parquet", "xlsx"):
        data = load_csv(tmp_path / f"mine.{ending}")
        assert data.X.tolist() == [[1, 1], [2.5, 0], [3, 1]] and not data.X.flags.writeable and not data.private
    with pytest.raises(ValueError, match="column 'c' must hold numbers only"):
        (tmp_path / "mine.json").write_text(json.dumps({"columns": [{"name": "c", "low": 0, "high": 1}]}))
        load_csv(tmp_path / "mine.csv")


def haversine(a, b):
    """Return the true distance in kilometers between points (latitude, longitude) in degrees."""
    (lat1, lon1), (lat2, lon2) = (np.radians(points).T for points in (a, b))
    half = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(half))


def test_the_city_is_flattened_to_true_kilometers():
    data = load_sample("city")
    degrees = pd.read_csv(ROOT / "sample_data" / "city.csv")[["latitude", "longitude"]].to_numpy()
    assert data.columns == ("east", "north") and data.units == ("km", "km") and data.domain.scale == "common"
    a, b = np.random.default_rng(0).integers(len(degrees), size=(2, 2000))
    true, flat = haversine(degrees[a], degrees[b]), np.linalg.norm(data.X[a] - data.X[b], axis=1)
    apart = true > 0.01
    np.testing.assert_allclose(flat[apart], true[apart], rtol=3e-3)
    projection = Equirectangular.parse(data.facts["projection"], "city")
    back = np.column_stack(projection.backward(*data.X.T))
    np.testing.assert_allclose(back, degrees, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "mercator"}, "kind 'equirectangular'"),
        ({"at": [50.0]}, "needs 'at'"),
        ({"at": [95, 0]}, "at_latitude must be <= 80"),
        ({"at": ["x", 0]}, "at_latitude must be a number"),
        ({"east": ""}, "name its columns"),
        ({"latitude": "nowhere"}, "'nowhere' is not a usable column"),
        ({"more": 1}, "must have kind"),
    ],
)
def test_a_wrong_projection_is_one_sentence(change, words, tmp_path):
    facts = json.loads((ROOT / "sample_data" / "city.json").read_text())
    facts["projection"] |= change
    (tmp_path / "city.json").write_text(json.dumps(facts))
    (tmp_path / "city.csv").write_text("latitude,longitude\n50.01,10.02\n50.0,10.0\n")
    with pytest.raises(ValueError, match=words):
        load_csv(tmp_path / "city.csv")


def test_the_view_names_two_declared_columns():
    assert load_sample("iris").view == (2, 3) and load_sample("town").view == (0, 1)
    columns = [{"name": name, "low": 0, "high": 1} for name in "ab"]
    for wrong in (["a"], ["a", "c"], "ab"):
        with pytest.raises(ValueError, match="view must name two declared columns"):
            dictionary.complete({"columns": columns, "view": wrong})


def test_a_row_has_the_noun_of_its_declaration_and_a_private_one_is_a_person():
    flowers = load_sample("iris")
    assert (flowers.noun, load_sample("town").noun, load_sample("digits").noun) == ("flower", "person", "image")
    assert dataclasses.replace(flowers, private=True).noun == "person"
    told = {**flowers.facts, "unit_of_privacy": "One row is one night-shift visit."}
    assert dataclasses.replace(flowers, facts=told).noun == "visit"
