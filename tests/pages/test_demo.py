"""Check a server for demonstrations: samples, blobs and paintings work, and no page takes a file."""

import json

import pytest

from pages._ui.frame import demo
from pages._ui.frame.bar import TABS
from pages._ui.frame.places import PAGES
from pages._ui.work.workers import workers
from tests.pages.visitor import visit


@pytest.fixture
def on(monkeypatch):
    monkeypatch.setenv("DPVIZ_DEMO", "1")


def tabs(app):
    """Return the words of the tabs."""
    [drawn] = [one for one in app.get("bidi_component") if TABS in one.proto.id]
    return [link["word"] for link in json.loads(drawn.proto.json)["links"]]


def test_the_page_of_data_offers_samples_blobs_and_paint(on):
    app = visit("data")
    way = app.segmented_control(key="data_way")
    assert not app.exception and way.options == ["Samples", "Make blobs", "Paint"] and way.value == "Samples"
    for other in way.options:
        app.segmented_control(key="data_way").set_value(other).run()
        assert not app.exception and not app.file_uploader


@pytest.mark.parametrize("page", demo.ABSENT)
def test_a_page_about_ones_own_file_is_one_sentence(page, on):
    app = visit(page)
    assert [box.value for box in app.info] == [demo.NO_FILE]
    assert not app.exception and not app.file_uploader
    assert [button.key for button in app.button] == ["share"]


@pytest.mark.slow
def test_no_page_takes_a_file(on):
    for page in PAGES:
        app = visit(page)
        assert not app.exception and not app.file_uploader, page


def test_the_bar_leaves_out_what_is_absent(monkeypatch):
    whole = tabs(visit("data"))
    monkeypatch.setenv("DPVIZ_DEMO", "1")
    here = tabs(visit("data"))
    assert whole == ["File", "Bounds", "Rehearse", "Spend", "Account"] and here == ["File", "Rehearse"]


def test_one_worker_computes(on, monkeypatch):
    monkeypatch.delenv("DPVIZ_WORKERS")
    with_one = workers.__wrapped__()
    assert (with_one._most, with_one._keep) == (1, 1)


def test_another_value_is_one_sentence(monkeypatch):
    monkeypatch.setenv("DPVIZ_DEMO", "yes")
    with pytest.raises(ValueError, match="DPVIZ_DEMO must be 1 for a demonstration, or 0; got 'yes'"):
        demo.demo()
