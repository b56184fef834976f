"""Samples are complete and inside their declared bounds; bad files get one sentence without a cell value."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpviz.datasets import SAMPLES, load_csv, load_sample

ROOT = Path(__file__).parent.parent


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
    "empty": ("", "cannot be read"),
    "header only": ("a,b\n", "at least one row"),
    "text": ("a,b\n1,secretvalue\n", "numbers only"),
    "ragged": ("a,b\n1,2\n3,4,777777\n", "cannot be read"),
    "longer": ("a,b\n1,2,777777\n3,4,777777\n", "cannot be read"),
    "booleans": ("a,b\n1,True\n2,False\n", "numbers only"),
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
    assert load_csv(path, low=0, high=5, n_public=2).domain.n_public == 2
