"""Check centers drawn in the shape of their data: pictures and words follow from released values and declared facts."""

import base64
import dataclasses
import re

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import dictionary, load
from dpviz.domain import Domain
from dpviz.figures.kit.shapes import SHAPES, Drawing, coordinates, drawn, partners
from dpviz.figures.kit.theme import LIGHT
from dpviz.postprocessing.in_words import center_words


def shown(name, *, centers=None, reference=None, slug="glloyd", **values):
    data = load(name)
    values = {"n_clusters": 3, **values}
    trace = ALGORITHMS[slug](**values).run(data.X, domain=data.domain, seed=0)
    if centers is not None:
        trace = dataclasses.replace(trace, cluster_centers=np.asarray(centers, dtype=float))
    return Drawing(trace, data, LIGHT, reference)


@pytest.mark.parametrize(("name", "shape"), [("digits", "picture"), ("town", "map"), ("city", "map"), ("iris", "bars")])
def test_a_data_set_declares_its_shape(name, shape):
    assert load(name).shape == shape
    assert shape in SHAPES


def test_a_private_file_without_declared_units_is_a_table_of_bars():
    data = load("town")
    assert dataclasses.replace(data, units=("", "")).shape == "bars"
    assert dataclasses.replace(data, units=("km", "years")).shape == "bars"


@pytest.mark.parametrize("size", [[8, 9], [64], "8x8", [8.0, 8], [-8, -8]])
def test_a_picture_has_as_many_cells_as_columns(size):
    facts = {**load("digits").facts, "picture": size}
    with pytest.raises(ValueError, match="picture must be a height and a width"):
        dictionary.complete(facts)


def test_every_digit_is_a_picture_and_kmeans_stands_beside_its_partner():
    plain = shown("digits")
    assert drawn(plain).count("<img") == 3 and "NOT PRIVATE" not in drawn(plain)
    reference = np.asarray(plain.trace.cluster_centers)[[2, 0, 1]]
    both = dataclasses.replace(plain, reference=reference)
    assert partners(both) == {0: 1, 1: 2, 2: 0}
    assert drawn(both).count("<img") == 6 and "NOT PRIVATE" in drawn(both)


def test_places_are_told_in_the_units_of_the_data_and_in_degrees_where_declared():
    town = shown("town", centers=[[1.5, -2.25], [0, 0], [3, 4]])
    assert coordinates(town)[0] == "1.50 km east, -2.25 km north"
    city = shown("city", centers=[[0, 0], [1, 1], [2, 2]])
    latitude, longitude = load("city").projection.at
    assert coordinates(city)[0].endswith(f"({latitude:.4f}, {longitude:.4f})")


def test_words_compare_centers_by_their_noisy_sizes():
    centers = [[5.0, 3.0, 1.5, 0.2], [5.0, 3.0, 1.5, 0.2], [6.5, 3.0, 5.5, 2.0]]
    iris = shown("iris", centers=centers, epsilon=50.0)
    words = center_words(iris.trace, iris.data.columns)
    assert words[2] == "higher petal width, petal length and sepal length than most"
    assert words[0].partition("; ")[0] == words[1]  # the first center is also said to be at a bound
    assert not any("sepal width" in word for word in words)  # it is the same in all centers
    assert words[2] in drawn(iris)


def test_names_of_columns_stay_text():
    iris = shown("iris")
    hostile = dataclasses.replace(iris, data=dataclasses.replace(iris.data, columns=("<b>x", "y", "z", "w")))
    assert "<b>x" not in drawn(hostile) and "&lt;b&gt;x" in drawn(hostile)


def test_the_map_of_a_long_strip_can_be_seen_and_says_that_it_is_stretched():
    town = shown("town", centers=[[100, 40], [500, 8], [900, 72]])
    strip = Domain.box([0, 0], [1000, 80], scale="common", n_public=5000, units=("km", "km"))
    long = dataclasses.replace(town, trace=dataclasses.replace(town.trace, domain=strip))
    svg = base64.b64decode(re.search('base64,([^"]*)', drawn(long))[1]).decode()
    paper = re.search('width="520.0" height="([0-9.]*)"', svg)
    assert float(paper[1]) == pytest.approx(0.3 * 520) and "stretched" in drawn(long)
    assert "stretched" not in drawn(town)
