"""Alex on Explore: chosen by a link, a list or a click; both worlds in five steps; nobody in PRIVATE."""

import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.datasets import load
from pages._ui.explore import alex
from pages._ui.workspace.who import accepts, called

ROOT = Path(__file__).parents[3]


@pytest.fixture
def opened(monkeypatch):
    monkeypatch.chdir(ROOT)

    def opener(query):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)
        app.session_state["address"], app.session_state["wanted"] = ("explore", query), "pages/explore.py"
        return app.run()

    return opener


def caution(app):
    return any("Clouds that overlap do not prove" in block.proto.body for block in app.get("html"))


def test_alex_comes_by_a_link_and_goes(opened):
    app, until = opened("v=1&d=tiny&a=sulloyd&k=2&e=1&s=0&alex=row:3"), time.monotonic() + 240
    while not caution(app) and time.monotonic() < until:
        time.sleep(0.1)
        app.run()
    assert caution(app) and not app.exception and not app.error
    assert app.selectbox(key="explore_alex").value == "row:3"
    app.session_state["explore_alex_next"] = "row:39999"
    app.run()
    assert any("no such person" in info.value for info in app.info) and not app.exception
    app.selectbox(key="explore_alex").set_value("").run()
    assert not caution(app) and not app.exception


def test_a_click_near_a_person_means_that_person_else_somebody_new():
    data = load("tiny")
    view = SimpleNamespace(
        flat=lambda X: X[..., [0, 1]], bounds=lambda: (data.domain.low, data.domain.high), axes=(0, 1)
    )
    spot = data.X[7] + 0.001 * (data.domain.high - data.domain.low)
    assert alex.clicked(view, data, tuple(spot)) == "row:7"
    empty = data.domain.low - 5
    who = alex.clicked(view, data, tuple(empty))
    person = alex._person(who, data)
    assert person.row is None and np.allclose(person.place, data.domain.low, rtol=1e-5)
    assert accepts(who) == who and called(who).startswith("a new person at ") and called("row:7") == "person 8"
    assert alex._person("at:1", data) is None and alex._person("row:99999", data) is None
