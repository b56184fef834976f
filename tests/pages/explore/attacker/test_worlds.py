"""Check the worlds with and without Alex: Alex is chosen by link, list or click; five steps, a lens, a conclusion."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.datasets import load
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from pages._ui.explore.attacker import view, worlds
from pages._ui.explore.attacker.who import USUAL, accepts, called, person
from pages._ui.work import batch
from tests.pages.pictures import sent
from tests.pages.visitor import visit, wait, words
from tests.traces import trace as run_of


@pytest.fixture
def opened(monkeypatch):
    monkeypatch.setattr(view, "AHEAD", 2)
    return partial(visit, "attacker")


@pytest.mark.slow
def test_alex_comes_by_a_link_and_goes(opened):
    app = opened("v=1&d=tiny&a=sulloyd&k=2&e=1&s=0&who=row:3")
    wait(app, lambda app: "Released: jumps " in words(app))
    assert not app.exception and not app.error and "always the same: Alex is known" in words(app)
    assert app.selectbox(key="attacker_who").value == "row:3"
    conclusion = re.search(r"KMeans: [^,]+, always the same", re.sub("<[^>]*>", "", words(app)))[0]
    app.session_state["attacker_who_next"] = "row:39999"
    app.run()
    (told,) = [info.value for info in app.info if "no such person" in info.value]
    assert "the person farthest from" in told and not app.exception
    assert conclusion not in re.sub("<[^>]*>", "", words(app))  # another person's picture may be shown already


def steps(app):
    """Return the sentences of the player that shows both worlds, or [] if there is no player yet."""
    return next((one["titles"] for one in sent(app, "dpviz_transport") if one.get("what") == "Two worlds"), [])


@pytest.mark.slow
def test_one_run_in_both_worlds_is_shown_before_the_clouds_are_computed(opened, monkeypatch):
    monkeypatch.setattr(
        worlds, "gather", lambda topic, title, pieces, **more: batch.gather(topic, title, pieces[:1], **more)
    )
    app = opened("v=1&d=tiny&a=sulloyd&k=2&e=1&s=0&who=row:5")
    wait(app, lambda app: steps(app))
    assert not app.exception and not app.error and "Alex is known" in words(app) and "jumps" not in words(app)
    assert [title.endswith("not computed yet") for title in steps(app)] == [False, False, True, True, True]
    monkeypatch.setattr(worlds, "gather", batch.gather)
    wait(app, lambda app: "Released: jumps " in words(app))
    assert not app.exception and len(steps(app)) == 5 and "not computed yet" not in " ".join(steps(app))


@pytest.mark.slow
def test_the_progress_of_the_clouds_is_below_the_picture_so_that_its_end_moves_nothing(opened, monkeypatch):
    job = SimpleNamespace(done=1, total=4, cancel=lambda: None)

    def gathering(topic, title, pieces, **more):
        one = batch.gather(topic, title, pieces[:1], **more)
        return batch.Gathered(one.ready, job, active=True)

    monkeypatch.setattr(worlds, "gather", gathering)
    app = opened("v=1&d=tiny&a=sulloyd&k=2&e=1&s=0&who=row:6")
    wait(app, lambda app: steps(app))
    drawn = list(app.main)
    sent = [getattr(part.proto, "component_name", "") or getattr(part.proto, "text", "") for part in drawn]
    assert sent.index("dpviz_transport") < sent.index("25% of the runs in two worlds")


@pytest.mark.slow
@pytest.mark.parametrize("query", ["a=sulloyd&k=2&exact=1", "a=dp-dbscan"])
def test_a_run_without_noise_or_without_centers_says_why_it_has_no_clouds(opened, query):
    app = opened(f"v=1&d=tiny&s=0&{query}")
    assert not app.exception and app.info and "attacker_in_0" in [button.key for button in app.button]
    assert "This run has no noise" in app.info[0].value or "releases regions" in app.info[0].value


def test_a_click_near_a_person_means_that_person_else_somebody_new():
    data = load("tiny")
    view = SimpleNamespace(
        flat=lambda X: X[..., [0, 1]], bounds=lambda: (data.domain.low, data.domain.high), axes=(0, 1)
    )
    spot = data.X[7] + 0.001 * (data.domain.high - data.domain.low)
    assert worlds.clicked(view, data, tuple(spot)) == "row:7"
    empty = data.domain.low - 5
    who = worlds.clicked(view, data, tuple(empty))
    alex = person(who, data)
    assert alex.row is None and np.allclose(alex.place, data.domain.low, rtol=1e-5)
    assert accepts(who) == who and called(who).startswith("a new person at ") and called("row:7") == "person 8"
    assert person("at:1,2,3", data) is None and person("at:1", data) is None and person("row:99999", data) is None


def test_a_place_of_two_numbers_lies_on_the_drawn_columns_and_an_empty_one_near_their_end():
    data = load("iris")
    x, y = data.view
    place = person("at:5,", data).place
    assert place[x] == 5 and place[y] == data.domain.low[y] + 0.9 * (data.domain.high[y] - data.domain.low[y])
    others = [i for i in range(data.domain.n_features) if i not in (x, y)]
    assert np.array_equal(place[others], data.domain.middle[others])


def test_a_click_on_a_plane_of_directions_means_a_place_drawn_there():
    data = load("iris")
    view = View(run_of("pe-means", "iris", n_clusters=3), LIGHT, None, data.columns, data.units)
    assert worlds.clicked(view, data, tuple(view.flat(data.X[7]))).startswith("row:")
    low, high = view.bounds()
    spot = low + np.array([0.5, 0.04]) * (high - low)
    place = person(worlds.clicked(view, data, tuple(spot)), data).place
    assert view.flat(place) == pytest.approx(spot, rel=1e-3) and np.ptp(place - data.domain.middle) > 0


@pytest.mark.parametrize("who", USUAL)
def test_everybody_of_the_list_is_somebody_of_the_data(who):
    data = load("tiny")
    alex = person(who, data)
    assert accepts(who) == who and np.array_equal(data.X[alex.row], alex.place)
