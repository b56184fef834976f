"""Check declarations stored in a browser: they hold names, kinds, bounds and separators, and are checked when read."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.data import kept
from pages._ui.server.owner import Owner
from tests.pages.visitor import csv, drop, onward, press

COLUMN = {"name": "age", "kind": "number", "low": 0, "high": 99.5, "unit": "years", "words": ""}
ENTRY = {"file": "mine.csv", "decimal": ".", "thousands": ",", "columns": [COLUMN]}


@pytest.mark.parametrize(
    "wrong",
    [
        None, 7, {}, {**ENTRY, "columns": []}, {**ENTRY, "columns": [7]}, {**ENTRY, "columns": [COLUMN] * 201},
        {**ENTRY, "file": "x" * 61}, {**ENTRY, "decimal": 1}, {**ENTRY, "columns": [{**COLUMN, "kind": "code"}]},
        {**ENTRY, "columns": [{**COLUMN, "low": "1"}]}, {**ENTRY, "columns": [{**COLUMN, "high": float("nan")}]},
        {**ENTRY, "columns": [{**COLUMN, "words": ["a"]}]},
    ],
)  # fmt: skip
def test_what_is_no_declaration_is_left_out(wrong):
    assert kept.checked([wrong, ENTRY]) == [ENTRY] and kept.checked(wrong) == []


@pytest.fixture
def kept_by(monkeypatch):
    """Return a function that lists what the browser was given to store; the component is not drawn."""
    given = []
    monkeypatch.setattr(kept, "_component", lambda **named: given.append(named["data"]["keep"]) or {})
    return lambda: [entry for entry in given if entry is not None]


@pytest.mark.slow
def test_a_declaration_is_kept_without_a_cell_and_taken_in_another_visit(start, kept_by):
    content = b"customer_id,age,Q1\n482915736048,31.7,4\n482915736049,47.3,5\n"
    app = drop(start(), "mine.csv", content, "No, it is private")
    press(app, "Confirm the suggested bounds of 2 columns").run()
    token = app.session_state["upload_shown"]
    app.number_input(key=f"{token}_1_n").set_value(4321).run()
    entry = kept_by()[-1]
    assert {key for column in entry["columns"] for key in column} == {"name", "kind", "low", "high", "unit", "words"}
    assert entry.keys() == {"file", "decimal", "thousands", "columns"} and entry["file"] == "mine.csv"
    assert not any(secret in json.dumps(entry) for secret in ("4829", "31.7", "47.3", "4321", token))
    assert kept.checked([entry]) == [entry]

    again = start()
    again.session_state["declared"] = [entry, {**entry, "columns": [{**entry["columns"][0], "name": "gone"}]}]
    again = drop(again, "mine.csv", content, None)
    assert any("You already declared this file private" in info.value for info in again.info)
    press(press(again, "No, it is private"), "Yes, names").run()
    assert any("another first line: the column gone" in info.value for info in again.info)
    press(again, next(b.label for b in again.button if b.label.startswith("Declare as before: age 0 to 120")))
    again.run()
    again.number_input(key=next(n.key for n in again.number_input if n.label == "Rows")).set_value(300).run()
    onward(again)
    (data,) = again.session_state["own"].values()
    assert data.columns == ("age", "Q1") and data.domain.high.tolist() == [120, 5] and not again.exception


def test_a_changed_file_is_said_to_be_another_one(start):
    app = start()
    app.session_state["declared"] = [ENTRY]
    app = drop(app, "mine.csv", csv(), None)
    assert any("or has changed, so it gets its own account" in info.value for info in app.info)


def test_nothing_is_kept_under_a_login(monkeypatch, kept_by):
    monkeypatch.setattr(kept, "owner", lambda: Owner("login", "ann"))
    kept._mount(ENTRY)
    assert kept_by() == []
    monkeypatch.setattr(kept, "owner", lambda: Owner("local"))
    kept._mount(ENTRY)
    assert kept_by() == [ENTRY]


def test_a_visit_without_a_file_is_offered_the_last_one(monkeypatch):
    def page():
        from pages._ui.data.kept import reopen

        reopen()

    mounted = []
    monkeypatch.setattr(kept, "_component", lambda **named: mounted.append(named["data"]["opens"]) or {})
    app = AppTest.from_function(page).run()
    assert mounted == [True] and not app.exception
    app.session_state["uploads"] = {"token": object()}
    app.run()
    assert mounted == [True] and not app.exception
    for query in ({"d": "iris"}, {"d": "town", "task": "Find them"}, {"lock": "e"}):
        shared = AppTest.from_function(page)
        shared.query_params.update(query)
        shared.run().run()
        assert mounted == [True] and not shared.exception
    for query in ({"d": "town"}, {"d": "file:east"}):
        own = AppTest.from_function(page)
        own.query_params.update(query)
        own.run()
    assert mounted == [True] * 3
