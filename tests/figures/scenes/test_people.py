"""Check pictures of raw rows: thumbnails stay in their frame, histograms count all rows, and bounds are as declared."""

import re
import xml.etree.ElementTree as xml

import numpy as np
import pytest

from dpviz.datasets import SAMPLES, Blobs, load_sample
from dpviz.domain import Domain
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.scenes.people import bounds_panel, bounds_table, thumbnail


@pytest.mark.parametrize("name", [*SAMPLES, "one column"])
def test_thumbnails_are_pictures_with_everyone_inside(name):
    data = load_sample(name) if name in SAMPLES else Blobs(n_features=1).make()
    svg = thumbnail(data, LIGHT, width=200, height=120, most=50)
    marks = [mark for mark in xml.fromstring(svg).iter() if mark.tag.endswith("circle")]
    assert len(marks) == min(50, len(data.X))
    x, y = (np.array([float(mark.get(key)) for mark in marks]) for key in ("cx", "cy"))
    assert x.min() >= 0 and x.max() <= 200 and y.min() >= 0 and y.max() <= 120
    assert np.ptp(x) > 20 or np.ptp(y) > 20


def test_a_map_keeps_its_shape():
    square = Domain.box(np.zeros(2), np.ones(2), scale="common")
    corners = np.array([[0.0, 0.0], [1, 0], [0, 1], [1, 1]])
    data = Blobs().make()
    object.__setattr__(data, "X", corners)
    object.__setattr__(data, "domain", square)
    found = re.findall(r'cx="(\d+)" cy="(\d+)"', thumbnail(data, DARK, width=300, height=100))
    x, y = np.array(found, dtype=int).T
    assert np.ptp(x) == np.ptp(y) == 88


def test_histograms_count_every_finite_cell_and_say_which_lie_outside():
    domain = Domain.box(np.array([0.0, 0.0]), np.array([10.0, 1.0]))
    X = np.array([[5.0, 0.5], [50.0, 0.5], [-50.0, np.nan], [1.0, 0.2]])
    table = bounds_table(X, domain, ["a", "b"])
    assert table.groupby("column").rows.sum().to_dict() == {"a": 4, "b": 3}
    assert table[(table.column == "a") & ~table.inside].rows.sum() == 2
    panel = bounds_panel(X, domain, ["a", "b"], LIGHT)
    bounds = sorted(shape.x0 for shape in panel.figure.layout.shapes)
    assert bounds == [0, 0, 1, 10] and "; 2 of 7 cells lie outside the bounds. " in panel.alt
    assert "NOT PRIVATE" in panel.figure.to_json()


@pytest.mark.parametrize("step", [1.0, 0.1])
def test_evenly_spaced_values_make_no_comb(step):
    X = np.repeat(np.arange(17, 82), 3)[:, None] * step
    for low, high in ((0, 120), (17, 81), (17.3, 80.9)):
        rows = bounds_table(X, Domain.box(low * step, high * step, 1), ["age"]).rows
        inner = rows[rows > 0][1:-1]
        assert rows.sum() == len(X) and len(inner) > 15 and inner.nunique() == 1


def test_only_the_first_columns_are_drawn():
    domain = Domain.box(0.0, 1.0, 9)
    names = [f"x{j}" for j in range(9)]
    panel = bounds_panel(np.random.default_rng(0).random((50, 9)), domain, names, DARK)
    assert len(panel.figure.data) == 4
