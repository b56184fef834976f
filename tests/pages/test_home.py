"""Check Start through Streamlit's test driver: the story comes at once, slow parts come later, old addresses work."""

import json

import numpy as np
import pytest

from dpviz.atlas import averages, files, noised
from dpviz.atlas.cells import STOPS
from dpviz.lessons import story as parts
from pages._ui.start import story
from pages._ui.start.controls import SCREENS
from pages._ui.work import atlas
from pages._ui.work.batch import Gathered
from tests.pages.pictures import sent

RUN = "v=1&d=town&a=pe-means&k=5&e={}&s=0"


@pytest.fixture
def nothing_made(monkeypatch):
    """Let the story find no stored part; return the names of the parts that it has made."""
    asked = []

    def gather(topic, title, pieces, *, public):
        asked.extend(piece.name for piece in pieces)
        return Gathered({}, active=bool(pieces))

    monkeypatch.setattr(story, "gather", gather)
    monkeypatch.setattr(atlas, "given", lambda: None)
    monkeypatch.setattr(atlas, "drowned", lambda: ())
    monkeypatch.setattr(atlas, "chart", lambda *_: None)
    return asked


def component(app):
    (one,) = sent(app, "dpviz_story")
    return one


def test_start_is_there_before_any_part_is_made_and_asks_nothing(open_link, nothing_made):
    app = open_link("home", "v=1&screen=3")
    assert not app.exception
    data = component(app)
    record = json.loads(data["record"])
    assert data["screen"] == 3 and data["opened"] == 1 and data["failed"] == ""
    assert (
        len(record["titles"]) == SCREENS == 6
        and record["given"] is record["noise"] is None
        and len(record["people"]) > 26_000
    )
    assert [door["page"] for door in data["doors"] if door["screen"] == 6] == ["explore", "data", "class"]
    assert not [*app.button, *app.slider, *app.segmented_control, *app.selectbox][1:]  # Share is the only control.
    assert app.session_state["kept"] == ("home", "v=1")  # The browser adds the screen's number.
    assert set(nothing_made) == {"Start: averages"}


def test_stored_parts_are_there_without_any_computation(open_link):
    app = open_link("home", "v=1")
    record = json.loads(component(app)["record"])
    assert "**20 are people's**" in record["given"]["big"] and len(record["bets"]["exact"]) == 2 * averages.POOL
    assert len(record["noise"]["stops"]) == len(noised.STRENGTHS) and record["noise"]["smart"]
    assert len(record["editions"]) == len(parts.EDITIONS) and not any("Stored runs" in one.value for one in app.caption)
    assert story._missing(True) == []


@pytest.mark.slow
def test_missing_parts_are_said_and_made_and_reruns_only_if_somebody_needs_them(open_link, nothing_made):
    app = open_link("home", "v=1")
    assert sum("computed on request" in one.value for one in app.caption) == 1
    assert set(nothing_made) == {"Start: averages"}
    runs = ["Start: runs of None people", "Start: runs of 1000 people", "Start: runs of 300 people"]
    assert [piece.name for piece in story._missing(True)] == ["Start: averages", *runs]
    made = {name: parts.reruns(300) for name in runs[1:]}
    assert story._reruns(made) == []  # the first edition is still missing
    assert story._reruns({runs[0]: made[runs[1]], runs[1]: made[runs[1]]}) == [made[runs[1]]] * 2


@pytest.mark.slow
def test_what_is_made_is_what_is_stored(monkeypatch):
    steps = []
    monkeypatch.setattr(parts, "FEWER", 2)
    made = parts.reruns(300, lambda done, total: steps.append((done, total)))
    stored = parts.of_chart(files.read(parts.SAMPLE, parts.METHOD, 300))
    assert steps == [(i + 1, len(STOPS)) for i in range(len(STOPS))]
    np.testing.assert_allclose(made.centers, stored.centers[:, :2], atol=1e-4)
    assert made.promises == stored.promises and made.found == stored.found


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
    assert went[0][0] == "pages/explore.py" and went[-1] == ("pages/data.py", {})
    assert dict(went[0][1]) == {"v": "1", "d": "town", "a": "pe-means", "k": "5", "e": "4", "s": "0"}
