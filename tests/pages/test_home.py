"""Check Start through Streamlit's test driver: the story comes at once, slow parts come later, old addresses work."""

import json
import time

import pytest

from dpviz.atlas import averages
from pages._ui.home import story
from pages._ui.home.controls import SCREENS, as_run, run_of
from pages._ui.work import atlas
from pages._ui.work.atlas import Trust

RUN = "v=1&d=town&a=pe-means&k=5&e={}&s=0"


@pytest.fixture
def nothing_made(monkeypatch):
    """Replace the story's parts with those of a new server, which has made none; return the list of requested parts."""
    asked = []

    class Parts:
        failed = ""

        def made(self, name, make):
            asked.append(name)

    monkeypatch.setattr(story, "_parts", Parts)
    monkeypatch.setattr(atlas, "given", lambda: Trust.NO)
    return asked


def component(app):
    (one,) = (one.proto for one in app.get("bidi_component") if one.proto.component_name == "dpviz_story")
    return json.loads(one.json)


def test_start_is_there_before_any_part_is_made_and_asks_nothing(open_link, nothing_made):
    app = open_link("home", "v=1&screen=3")
    assert not app.exception
    data = component(app)
    record = json.loads(data["record"])
    assert data["screen"] == 3 and data["opened"] == 1 and data["failed"] == ""
    assert len(record["titles"]) == SCREENS == 6 and record["given"] is None and len(record["people"]) > 26_000
    assert [door["page"] for door in data["doors"] if door["screen"] == 6] == ["explore", "data", "class"]
    assert not [*app.button, *app.slider, *app.segmented_control, *app.selectbox][1:]  # Share is the only control.
    assert app.session_state["kept"] == ("home", "v=1")  # The browser adds the screen's number.
    assert "averages" in nothing_made and not [name for name in nothing_made if name.startswith("runs")]


@pytest.mark.parametrize("screen", ["0", "7", "-1", "2.5", "<b>x</b>", "3&screen=4", "%00"])
def test_a_screen_that_does_not_exist_is_the_first_one_and_one_sentence(open_link, screen):
    app = open_link("home", f"v=1&screen={screen}")
    assert not app.exception and component(app)["screen"] == 1
    (told,) = [info.value for info in app.info]
    assert told.startswith("This link opens, but") and "<b>" not in told


def test_stored_averages_and_bets_are_there_without_any_computation(monkeypatch, open_link, nothing_made):
    monkeypatch.setattr(atlas, "given", averages.read)
    record = json.loads(component(open_link("home", "v=1"))["record"])
    assert record["given"]["steps"][-1]["big"].startswith("**26") and len(record["bets"]["exact"]) == 2 * averages.POOL
    assert not {"averages", "bets"} & set(nothing_made)
    monkeypatch.setattr(atlas, "given", lambda: Trust.CHECKING)
    assert story._made(False)[:2] == (None, None) and not {"averages", "bets"} & set(nothing_made)


def test_reruns_are_made_only_where_none_are_stored_and_somebody_needs_them(monkeypatch, nothing_made):
    monkeypatch.setattr(atlas, "trust", lambda *_: Trust.NO)
    assert story._reruns(False) == [] and nothing_made == []
    assert story._reruns(True) == [] and nothing_made == ["runs, None", "runs, 1000", "runs, 300"]
    monkeypatch.setattr(atlas, "trust", lambda *_: Trust.CHECKING)
    assert story._reruns(True) == [] and len(nothing_made) == 3


def test_a_part_is_made_once_and_one_that_fails_says_why():
    made, times = story._Parts(), []

    def broken():
        raise ValueError("the town is gone")

    def wait(done):
        until = time.monotonic() + 60
        while not done() and time.monotonic() < until:
            time.sleep(0.01)

    assert made.made("one", lambda: times.append(1) or "there") is None or times == [1]
    wait(lambda: made.made("one", lambda: "again") is not None)
    assert made.made("one", lambda: "again") == "there" and times == [1] and made.failed == ""
    made.made("two", broken)
    wait(lambda: made.failed)
    assert made.failed == "the town is gone" and made.made("two", broken) is None


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("", None),
        ("v=1&screen=3", None),
        ("v=1&task=Look", None),
        ("utm_source=mail", None),
        ("v=1&e=4", RUN.format(4)),
        ("v=1&e=0.25&t=3&hide=form,kmeans&task=a%20b", RUN.format(0.25) + "&t=3&hide=form,kmeans&task=a+b"),
        ("embed=true&embed_options=dark_theme", RUN.format(1) + "&embed=true&embed_options=dark_theme"),
        ("v=1&play=1&d=iris&s=9", RUN.format(1) + "&play=1"),
        ("e=" + "9" * 9_000, None),
    ],
)  # fmt: skip
def test_an_address_with_a_run_leads_to_that_run(query, there):
    assert run_of(query) == there


def test_the_run_of_an_old_address_opens_as_it_was_asked_for(open_link):
    app = open_link("explore", as_run("v=1&e=4&hide=verdict"))
    assert not app.exception and not app.info
    found = json.loads(app.session_state["shown"])
    assert found[:2] == ["sample:town", "pe-means"] and (found[2]["epsilon"], found[2]["n_clusters"]) == (4.0, 5)
    assert app.session_state["hidden_parts"] == {"verdict"}


def test_the_door_to_explore_leads_to_the_run_at_the_epsilon_that_was_dragged_to(monkeypatch):
    went = []
    monkeypatch.setattr(story.st, "switch_page", lambda page, query_params: went.append((page, query_params)))
    for door in (None, "explore", {"page": "home"}, {"page": ["explore"]}, {"stop": 3}):
        story._leave(door)
    assert went == []
    for stop in (7, 99, True, "7", None):
        story._leave({"page": "explore", "stop": stop})
    story._leave({"page": "data", "stop": 2})
    assert [dict(query).get("e") for _, query in went] == ["4", "1", "1", "1", "1", None]
    assert went[0][0] == "pages/explore.py" and went[-1] == ("pages/data.py", [])
    assert dict(went[0][1]) == {"v": "1", "d": "town", "a": "pe-means", "k": "5", "e": "4", "s": "0"}
