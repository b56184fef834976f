"""Check the track of ε without stored runs: nearest stops are made first, shared for public data, never for private."""

import dataclasses

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import fill
from dpviz.atlas.cells import STOPS
from dpviz.datasets import load_sample
from pages._ui.work import filling
from pages._ui.work.batch import Gathered
from pages._ui.work.filling import track

METHOD = ALGORITHMS["dp-lloyd"](n_clusters=4, epsilon=3.0)


@pytest.fixture
def data():
    return load_sample("tiny")


@pytest.fixture
def shelf(monkeypatch):
    """Return a dict of finished runs by (public, name); every requested run is made at once, without a job."""
    shelf = {}

    def gather(topic, title, pieces, *, public, seconds):
        shelf.update({(public, piece.name): piece.function(*piece.args) for piece in pieces})
        return Gathered({})

    monkeypatch.setattr(filling, "gather", gather)
    monkeypatch.setattr(filling, "peek", lambda name, *, public: shelf.get((public, name)))
    monkeypatch.setattr(fill, "RUNS", 2)
    return shelf


def test_the_stops_nearest_to_the_forms_epsilon_come_first(data, shelf):
    here = track(data, METHOD)
    assert here.chart is None and not here.whole
    here.make()
    assert here.chart is None and len(shelf) == 1  # KMeans, the reference of all methods, comes first
    here.make()
    names = [name for _, name in shelf][1:]
    assert [float(name.partition('"epsilon": ')[2].partition(",")[0]) for name in names] == [
        4.0,
        2.0,
        1.5,
        8.0,
        1.0,
        0.75,
        0.5,
        0.25,
        0.1,
    ]
    chart, beside = here.chart
    assert here.whole and [stop.epsilon for stop in chart.stops] == list(STOPS) and chart.seeds == 2
    assert chart.best == beside.loss and all(public for public, _ in shelf)


def test_another_epsilon_has_the_same_track_and_another_k_or_file_has_its_own(data, shelf):
    here = track(data, METHOD)
    here.make(), here.make()
    assert track(data, dataclasses.replace(METHOD, epsilon=0.3)).whole
    assert track(data, dataclasses.replace(METHOD, n_clusters=3)).chart is None
    own = dataclasses.replace(data, dataset_id="token")
    assert track(own, METHOD).chart is None
    track(own, METHOD).make()
    assert [public for public, name in shelf if "token" in name] == [False]


def test_private_data_have_no_track_and_nothing_of_them_is_made(data, shelf):
    private = dataclasses.replace(data, private=True, domain=dataclasses.replace(data.domain, n_public=40))
    assert track(private, METHOD) is None
    with pytest.raises(PermissionError):
        filling.Track(private, METHOD).make()
    assert shelf == {}


def test_what_would_take_long_or_has_no_centers_for_squared_distances_has_no_track(data, monkeypatch):
    assert track(data, ALGORITHMS["kmeans"](n_clusters=3)) is None
    assert track(data, ALGORITHMS["dp-dbscan"]()) is None
    monkeypatch.setattr(filling.runs, "seconds", lambda data, algorithm: filling.MOST)
    assert track(data, METHOD) is None
