"""Check dragging ε on Explore: the slider moves over runs with the form's settings, and is absent without such runs."""

import json
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.atlas import cells, files, fill
from dpviz.atlas.cells import STOPS, Chapter
from dpviz.datasets import load
from dpviz.sweeps.sources import open_source
from pages._ui.explore import drag, stored
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import catalog
from pages._ui.frame.address import scene
from pages._ui.work import atlas, filling
from tests.pages.pictures import sent
from tests.pages.visitor import content, private_file, visit

READ = files.read
SEEDS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return an atlas of two files: PE-means and KMeans on the sample "tiny"."""
    place = tmp_path_factory.mktemp("atlas")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cells, "SEEDS", SEEDS)
        for method in ("pe-means", "kmeans"):
            chapter = Chapter("tiny", method)
            files.write(chapter, [cells.row(cell) for cell in chapter.cells()], place)
    return place


@pytest.fixture
def asked(folder, monkeypatch):
    """Replace the shipped atlas with the small one, as if this version had made it; yield the list of lookups."""
    found = []

    def read(*which, **where):
        found.append(which)
        return READ(*which, **where)

    monkeypatch.setattr(atlas, "FOLDER", folder)
    monkeypatch.setattr(files, "read", read)
    drag._record.clear()
    yield found
    drag._record.clear()


def opened(query="v=1&d=tiny&a=pe-means&k=2&e=1&s=0", page="explore"):
    app = visit(page, query)
    assert not app.exception
    return app


def dragged(app):
    """Return the data sent to the slider of ε, or None if the slider is missing."""
    return next(iter(sent(app, "dpviz_drag")), None)


@pytest.mark.slow
def test_a_sample_with_stored_runs_has_a_drag_with_the_runs_of_the_page(asked):
    app = opened()
    data = dragged(app)
    (edition,) = json.loads(data["record"])["editions"]
    assert [stop["epsilon"] for stop in edition["stops"]] == list(STOPS) and data["edition"] == edition[
        "name"
    ] == "tiny"
    assert data["epsilon"] == 1 and not data["locked"] and not data["busy"]
    here = edition["stops"][STOPS.index(1.0)]
    body = " ".join(block.proto.body for block in app.get("html"))
    assert f"{here['truth'][0].split(',')[0]} found" in body and here["promise"][3] in body
    assert f"found again in {here['truth'][1]} runs" in body


@pytest.mark.parametrize("page", ["explore", "again", "attacker", "ledger"])
def test_every_view_of_a_run_has_the_drag(asked, page):
    assert dragged(opened(page=page))["epsilon"] == 1


@pytest.mark.parametrize(
    "query",
    [
        "v=1&d=tiny&a=pe-means&k=3&e=1&s=0",  # Another k.
        "v=1&d=tiny&a=pe-means&k=2&e=1&s=2",  # A seed that is not stored.
        "v=1&d=tiny&a=pe-means&k=2&e=1&s=0&exact=1",
        "v=1&d=tiny&a=pe-means&k=2&e=1&s=0&delta=1e-4",
        "v=1&d=tiny&a=eugkm&k=2&e=1&s=0",  # A method that is not used in teaching.
        "v=1&d=tiny&a=kmeans&k=2&s=0",  # No budget.
        "v=1&d=tiny&a=pe-means&k=2&e=1&s=0&hide=form",
        "v=1&d=tiny:30&a=pe-means&k=2&e=1&s=0",  # no runs with this many people are stored
    ],
)
def test_what_is_not_stored_has_no_drag_and_nobody_is_told_that_it_is_missing(asked, query):
    app = opened(query)
    assert dragged(app) is None and not any("Stored runs" in caption.value for caption in app.caption)


class Made(filling.Track):
    """A track whose stops exist as soon as they are requested."""

    made: ClassVar = []
    last: ClassVar = 3

    @property
    def chart(self):
        self.made.append(self.data.dataset_id)
        some = fill.ground(self.data, self.algorithm.n_clusters)
        stops = tuple(fill.stop(self.data, filling.at(self.algorithm, e), some) for e in STOPS[: self.last])
        return files.Chart(Chapter("tiny", "dp-lloyd"), None, len(some.groups.means), some.loss, fill.RUNS, stops), some


def form(app, key):
    """Return as text all messages for a container of the form, except those for its popovers."""
    blocks = [app.main]
    for block in blocks:
        blocks += block.children.values() if hasattr(block, "children") else ()
    return written(next(block for block in blocks if getattr(block, "key", None) == key))


def written(block):
    if getattr(block, "type", "") == "popover":
        return ""
    return f"{block.proto}" + "".join(map(written, block.children.values() if hasattr(block, "children") else ()))


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(fill, "RUNS", 2)
    monkeypatch.setattr(filling, "Track", Made)
    Made.made.clear()
    return Made.made


@pytest.mark.slow
def test_a_k_off_the_table_gets_a_track_that_grows_from_runs_of_its_own(asked, made, monkeypatch):
    query = "v=1&d=tiny&a=dp-lloyd&k=3&e=1&s=0"
    data = dragged(opened(query))
    (edition,) = json.loads(data["record"])["editions"]
    assert [stop["epsilon"] for stop in edition["stops"]] == list(STOPS[:3]) and data["edition"] == "tiny"
    assert edition["stops"][0]["truth"][1].endswith("of 2") and set(made) == {"sample:tiny"}
    assert dragged(opened(query.replace("s=0", "s=2"))) is None  # the runs of a track have other seeds
    monkeypatch.setattr(Made, "last", 9)
    app = opened(query)
    assert len(json.loads(dragged(app)["record"])["editions"][0]["stops"]) == len(STOPS)
    assert [field.label for field in app.number_input].count("Privacy budget ε") == 1  # the field for typing ε stays
    assert "dpviz_drag" in form(app, "form_drag") and "Privacy budget" not in form(app, "form_fields")


def test_before_a_track_has_stops_the_field_of_epsilon_stands_and_the_track_has_its_room(asked, made, monkeypatch):
    monkeypatch.setattr(Made, "last", 0)
    app = opened("v=1&d=tiny&a=dp-lloyd&k=3&e=1&s=0")
    assert dragged(app) is None and "Privacy budget" in form(app, "form_fields")
    assert "are being made" in form(app, "form_drag")


def test_an_epsilon_between_the_stops_keeps_the_track(asked):
    assert dragged(opened("v=1&d=tiny&a=pe-means&k=2&e=0.8&s=0"))["epsilon"] == 0.8


def test_without_hidden_layers_the_drag_knows_nothing_of_the_rows(asked):
    record = json.loads(dragged(opened("v=1&d=tiny&a=pe-means&k=2&e=1&s=0&layers=0"))["record"])
    assert all(not stop["truth"] and "own" not in stop for stop in record["editions"][0]["stops"])


def test_a_lock_holds_the_drag_too(asked):
    data = dragged(opened("v=1&d=tiny&a=pe-means&k=2&e=1&s=0&lock=k"))
    assert data["locked"] and data["fixed"]
    free = dragged(opened("v=1&d=tiny&a=pe-means&k=2&e=1&s=0&lock=epsilon"))
    assert not free["locked"] and free["fixed"]


@pytest.mark.parametrize("damage", ["missing", "damaged", "old"])
def test_without_an_atlas_the_page_works_and_says_so_once(asked, monkeypatch, folder, tmp_path, damage):
    for method in ("pe-means", "kmeans"):
        content = (folder / f"tiny.{method}.parquet").read_bytes()
        if damage != "missing":
            (tmp_path / f"tiny.{method}.parquet").write_bytes(content if damage == "old" else b"PAR1 no more PAR1")
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    if damage == "old":
        monkeypatch.setattr(files, "__version__", "0.1.7")
    app = opened()
    notes = [caption for caption in app.caption if "Stored runs" in caption.value]
    assert len(notes) == 1 and "Stored runs are missing" in notes[0].value and dragged(app) is None
    app.switch_page("pages/compare.py").run()
    assert not app.exception and not any("Stored runs" in caption.value for caption in app.caption)


@pytest.mark.slow
def test_no_private_file_and_no_file_of_ones_own_is_ever_looked_up(asked, made, monkeypatch):
    app = private_file(opened("v=1&d=town&a=kmeans"), content(1))
    asked.clear(), made.clear()
    app.switch_page("pages/explore.py").run()
    assert not app.exception and app.session_state["explore_data"] not in catalog.names()[-12:]
    assert asked == made == [] and dragged(app) is None  # no runs are made for a track either


@pytest.mark.parametrize("name", ["3f2c9a", "sample", "file:a,b", "blobs:n_rows=300", "sample:mine", "bench:town"])
def test_only_a_public_sample_has_a_name_in_the_atlas(name):
    data = load("tiny")
    assert stored.edition_of(data) == ("tiny", None) and stored.edition_of(load("tiny:30")) == ("tiny", 30)
    assert stored.edition_of(SimpleNamespace(dataset_id=name, private=False)) is None
    assert stored.edition_of(SimpleNamespace(dataset_id="sample:tiny", private=True)) is None


def let_go(ended):
    import streamlit as st

    from pages._ui.explore import drag

    st.session_state.page = "explore"
    st.session_state["mine"], st.session_state.shown = {"released": ended}, "a run"
    drag._released("mine", "param_pe-means_epsilon", ("town", "town:300"), None)


@pytest.mark.parametrize(
    ("ended", "epsilon", "data"),
    [
        ([0.25, "town", 1], 0.25, "town"),
        ([8, "town:300", 2], 8.0, "town:300"),
        ([0.3, "town", 1], None, None),
        ([0.25, "iris", 1], None, None),
        ([0.25, "town"], None, None),
        ("ε", None, None),
        (None, None, None),
        ([None, None, None], None, None),
        ([[0.25], {}, 0], None, None),
    ],
)
def test_what_is_let_go_becomes_the_form_and_anything_else_is_nothing(ended, epsilon, data):
    app = AppTest.from_function(let_go, args=(ended,)).run()
    assert not app.exception
    state = app.session_state
    assert (state["param_pe-means_epsilon"] if "param_pe-means_epsilon" in state else None) == epsilon
    assert (state["explore_data"] if "explore_data" in state else None) == data
    assert ("released" in state) == (epsilon is not None)


def test_fewer_people_are_the_sweeps_rows_under_a_name_that_every_address_takes():
    data, source = load("town:300"), open_source("sample:town", "declared", 300, "").data
    assert np.array_equal(data.X, source.X) and data.n_public == 300 and data.dataset_id == "sample:town:300"
    found, problem = scene.read("explore", "v=1&d=town:300&e=0.5", explore)
    assert problem == "" and found.values["d"] == "town:300" and scene.write(found, explore).count("d=town:300")
    for wrong in ("town:5000", "town:4", "town:0300", "town:1e2", "nobody:300"):
        assert scene.read("explore", f"v=1&d={wrong}", explore)[0].values["d"] == "town", wrong


def test_samples_open_with_the_storys_method_and_own_files_with_the_recommended_one():
    assert scene.read("explore", "v=1&d=iris", explore)[0].values["a"] == "pe-means"
    assert scene.read("explore", "v=1&d=file:a,b", explore)[0].values["a"] == "nsm"
