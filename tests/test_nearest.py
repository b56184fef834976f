"""Check each row's nearest center against brute force, in the file for public rows and by the exported code."""

import dataclasses
import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.postprocessing.released import centers_json
from dpviz.takeaway.nearest import nearest_code, nearest_csv


@pytest.mark.parametrize("name", ["tiny", "iris"])
def test_the_file_and_the_code_name_the_nearest_center(name, tmp_path, monkeypatch):
    data = load(name)
    X = data.X.copy()
    X[1, 0] = np.nan
    data = dataclasses.replace(data, X=X)
    trace = ALGORITHMS["nsm"](n_clusters=3).run(data.X, domain=data.domain, seed=0)
    scaled = (X[:, None] - trace.cluster_centers) / data.domain.half_width
    away = np.sqrt((scaled**2).sum(2))
    lines = nearest_csv(trace, data).splitlines()
    assert lines[0].startswith("# NOT PRIVATE") and lines[1] == "row,center,distance" and lines[3] == "2,,"
    rows = [line.split(",") for line in lines[2:]]
    assert len(rows) == len(X) and [int(row[0]) for row in rows] == list(range(1, len(X) + 1))
    unit = data.domain.half_width[0] if data.domain.scale == "common" else 1.0
    for place, (_, center, distance) in enumerate(rows):
        if place != 1:
            assert int(center) == away[place].argmin() + 1
            assert float(distance) == pytest.approx(unit * away[place].min(), rel=1e-5)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "centers.json").write_text(centers_json(trace, data.columns))
    names = {"X": X}
    exec(nearest_code(trace), names)
    expected = np.where(np.isnan(away).any(1), 0, away.argmin(1) + 1)
    assert names["nearest"].tolist() == expected.tolist() and expected[1] == 0 and nearest_code(trace).count("\n") == 3
    assert len(json.loads((tmp_path / "centers.json").read_text())["cluster_centers"]) == 3


def test_no_file_is_made_of_private_rows():
    data = load("tiny")
    trace = ALGORITHMS["nsm"](n_clusters=3).run(data.X, domain=data.domain, seed=0)
    with pytest.raises(ValueError, match="that row's secret"):
        nearest_csv(trace, dataclasses.replace(data, private=True))
