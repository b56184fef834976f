"""Check public rows on the pages: a switch on Watch for public data, and a file on Spend for a private one."""

import dataclasses
from urllib.parse import urlencode

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.datasets.public_rows import some_rows
from dpviz.runs.public import started
from pages._ui.explore import look, stored
from pages._ui.explore.attacker import view, worlds
from pages._ui.frame.address.deck import Slide
from pages._ui.teach.present import pictures
from pages._ui.teach.present.scenes import staged
from pages._ui.work import batch
from tests.pages.visitor import content, finish, new_app, press, private_file, visit, wait_for_run

WATCH = "v=1&d=blobs&a=public-start&k=12&e=1&s=0"


def boxes(app):
    return " ".join(box.value for box in [*app.warning, *app.caption, *app.error])


@pytest.mark.slow
def test_a_switch_lets_some_rows_of_a_public_set_count_as_public_and_the_address_keeps_it():
    app = finish(visit("explore", WATCH))
    assert "come from rows that were declared public" in boxes(app) and "no public rows" not in boxes(app)
    app.toggle(key="explore_open").set_value(False).run()
    finish(app)
    assert "no public rows are given" in boxes(app)
    again = finish(visit("explore", f"{WATCH}&open=0"))
    assert not again.toggle(key="explore_open").value and "no public rows are given" in boxes(again)


def test_runs_on_the_town_are_stored_for_the_start_from_public_rows_alone():
    town, bare = load_sample("town"), ALGORITHMS["public-start"](n_clusters=5, epsilon=1.0)
    begun = started(bare, town)
    stop = stored.runs_of(town, begun)
    run = begun.run(town.X, domain=town.domain, seed=0)
    assert stored.runs_of(town, bare) is None and np.allclose(stop.centers[0], run.cluster_centers, atol=1e-4)


@pytest.mark.parametrize(("switch", "stops"), [("", 9), ("&open=0", 0)])
def test_watch_has_stored_runs_only_while_the_switch_is_on(switch, stops, monkeypatch):
    seen, find = [], stored.stored
    monkeypatch.setattr(look, "stored", lambda *given: seen.append(find(*given)) or seen[-1])
    finish(visit("explore", f"v=1&d=town&a=public-start&k=5&e=1&s=0{switch}"))
    assert max((len(one.charts[None].stops) for one in seen if one), default=0) == stops


def test_compare_and_trade_off_start_from_public_rows_and_say_so():
    runs = ["a=public-start&k=2&e=1&s=0", "a=kmeans&k=2&s=0"]
    app = finish(visit("compare", urlencode({"v": 1, "d": "tiny", "run": runs}, doseq=True)))
    batch = app.session_state["compare_batch"]
    trace = next(result.trace for result in batch.inbox if result.trace.algorithm == "public-start")
    assert trace.steps[0].released["public"] and trace.parameters["public_centers"]
    assert "Public start: a twentieth of the rows" in boxes(app)
    runs[0] = "a=glloyd&k=2&e=1&s=0"
    other = finish(visit("compare", urlencode({"v": 1, "d": "tiny", "run": runs}, doseq=True)))
    assert "a twentieth of the rows" not in boxes(other)


@pytest.mark.parametrize("switch", ["", "&open=0"])
def test_alex_starts_from_public_rows_while_the_switch_is_on(switch, monkeypatch):
    seen = []
    monkeypatch.setattr(view, "AHEAD", 2)
    monkeypatch.setattr(worlds, "gather", lambda *given, **more: seen.append(given[2]) or batch.gather(*given, **more))
    app = finish(visit("attacker", f"v=1&d=tiny&a=public-start&k=2&e=1&s=0&who=typical{switch}"))
    run = app.session_state["attacker_games"]["main"].algorithm
    assert not app.exception and (run.public_centers is None) == bool(switch)
    assert {piece.args[1] for piece in seen[-1]} == {run}
    assert ("come from rows that were declared public" in boxes(app)) != bool(switch)


def test_the_slide_of_alex_starts_from_public_rows_and_says_so(monkeypatch):
    monkeypatch.setattr(pictures, "CLOUD", 2)
    scene = "attacker?v=1&d=tiny&a=public-start&k=2&e=1&who=typical"
    for open_ in (True, False):
        piece = staged(Slide("", scene + "&open=0" * (not open_))).piece
        data, bare = piece.args[0].data, ALGORITHMS["public-start"](n_clusters=2, epsilon=1.0)
        assert piece.args[0].algorithm == (started(bare, data) if open_ else bare)
        small = piece.function(*piece.args, lambda *_: None).small
        assert ("Public start: a twentieth of the rows" in small) == open_


def test_other_methods_have_no_such_switch():
    app = finish(visit("explore", "v=1&d=tiny&a=glloyd&k=2&e=1&s=0"))
    assert not [one for one in app.toggle if one.key == "explore_open"]


def test_the_rows_that_count_as_public_are_always_the_same_and_never_those_of_private_data():
    data = load_sample("blobs")
    rows = some_rows(data, 24)
    assert len(rows) == len(data.X) // 20 and np.array_equal(rows, some_rows(data, 24))
    assert len(some_rows(data, 400)) == 400
    with pytest.raises(PermissionError, match="private"):
        some_rows(dataclasses.replace(data, private=True), 24)


@pytest.fixture
def spend():
    """Open Spend with a waiting run of the method on a private file."""
    app = private_file(new_app().run(), content())
    app.session_state["private_algorithm"] = "public-start"
    app.switch_page("pages/explore.py").run()
    return press(app, "Run")


def give(app, name, data):
    return next(f for f in app.file_uploader if f.key == "spend_public_rows").upload(name, data).run()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (content(), "you declared this file private, so its rows are not public"),
        (b"a,c\n1,2\n3,4\n", "the public rows lack the column 'b'"),
        (b"a,b\n1,200\n3,4\n5,6\n7,8\n", "outside the bounds"),
        (b"a,b\n1,2\n", "at least k = 3"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_and_cannot_be_spent_on(spend, data, words):
    app = give(spend, "open.csv", data)
    assert words in boxes(app) and "Nothing was spent" in boxes(app)
    assert "Run and spend" not in [button.label for button in app.button]


@pytest.mark.slow
def test_a_private_run_starts_from_a_file_of_public_rows_and_watch_still_describes_it(spend):
    app = give(spend, "open.csv", content(seed=1))
    assert "300 rows of open.csv give the first 3 centers" in boxes(app) and "nothing checks it" in boxes(app)
    app = wait_for_run(press(app, "Run and spend"))
    app.switch_page("pages/explore.py").run()
    assert not app.exception and "declared public" in boxes(app)
