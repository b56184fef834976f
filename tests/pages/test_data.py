"""Check the Data page through Streamlit's test driver: its steps, its kept values, and that PRIVATE shows no cell."""

import base64
import gc
import html
import io
import json
import re
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser

from dpviz.datasets import SAMPLES, dictionary
from dpviz.escape import plain
from pages._ui.data import paint
from pages._ui.data.plan import view
from pages._ui.data.upload import keep_uploads_in_memory
from pages._ui.frame.places import PAGES
from pages._ui.work import results
from tests.pages.pictures import pictures
from tests.pages.visitor import csv, declare, drop, facts, finish, onward, press, ran
from tests.serving import awaited

ROOT = Path(__file__).parents[2]
ROWS = 7919  # a number of rows that occurs nowhere else


def test_without_a_private_file_the_account_shows_an_example_whose_total_is_that_of_its_claims(start):
    app = start()
    app.switch_page("pages/account.py").run()
    bodies = [block.proto.body for block in app.get("html")]
    (table,) = [body for body in bodies if 'aria-label="Claims"' in body]
    assert re.findall("<td>([0-9.]+)</td><td>NSM|<td>(Rows outside the bounds)</td>", table) and not app.exception
    (parts,) = [
        re.findall("<b>ε ([0-9.]+)</b> (spent|left)", body) for body in bodies if "dp-meter" in body and "<b>ε" in body
    ]
    assert [word for _, word in parts] == ["spent", "left"]
    assert sum(float(part) for part, _ in parts) == pytest.approx(2, abs=0.01) and float(parts[0][0]) < 1.55


def test_blobs_are_made_chosen_and_explored_and_a_bad_parameter_is_a_sentence(start):
    app = start()
    app.segmented_control(key="data_way").set_value("Make blobs").run()
    app.number_input(key="blobs_spread").set_value(-1.0).run()
    assert [error.value for error in app.error] == ["Blobs: spread must be > 0; got -1.0."]
    app.number_input(key="blobs_spread").set_value(0.5).run()
    app.number_input(key="blobs_n_rows").set_value(400).run()
    press(app, "Use these blobs")
    app.switch_page("pages/explore.py").run()
    key = app.selectbox(key="explore_data").value
    assert key.startswith("blobs:n_rows=400,") and not app.exception
    ran(app)
    assert json.loads(app.session_state["shown"])[0] == key


@pytest.mark.slow
def test_a_painting_is_used_and_explored_and_what_is_none_is_a_sentence(start):
    app = start()
    app.segmented_control(key="data_way").set_value("Paint").run()
    assert not app.exception and next(b for b in app.button if b.label == "Use these people").disabled
    code = "AAA" * 30 + "." + "zzz" * 30
    app.session_state["painted"] = code
    app.run()
    press(app, "Use these people")
    assert app.session_state["explore_data"] == f"painted:{code}"
    app.switch_page("pages/explore.py").run()
    assert app.selectbox(key="explore_data").value == f"painted:{code}"
    ran(app)
    assert json.loads(app.session_state["shown"])[0] == f"painted:{code}"
    for page in ("compare", "attacker", "tradeoff", "plan", "ledger", "data"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page


@pytest.mark.parametrize("sent", ["AAA" * 1_000_000, float("nan"), [[1e9, 1]] * 3, "AA", {"x": 1}, None])
def test_a_browser_cannot_send_what_is_no_painting(monkeypatch, sent):
    said, state = [], {"painted": "AAA", "paint": {"people": sent}}
    monkeypatch.setattr(paint.st, "session_state", state)
    monkeypatch.setattr(paint.messages, "say", lambda *words: said.append(words))
    paint._took()
    assert state["painted"] == "AAA" and [kind for kind, _ in said] == ["problem"]
    state["paint"]["people"] = "AAAzzz~___"
    paint._took()
    assert state["painted"] == "AAAzzz~___" and len(said) == 1


@pytest.mark.slow
def test_a_public_file_is_declared_and_explored(start):
    app = drop(start(), "mine.csv", csv(), "Yes, it is public")
    assert not app.exception and [info.value for info in app.info if "bounds are missing" in info.value]
    assert next(button for button in app.button if button.label == "Explore it").disabled
    declare(app, facts("a", "b", n_public=300))
    name = app.session_state["explore_data"]
    data = app.session_state["own"][name]
    assert data.columns == ("a", "b") and data.domain.n_public == 300 and not data.private
    app.switch_page("pages/home.py").run()
    app.switch_page("pages/explore.py").run()
    assert app.selectbox(key="explore_data").value == name
    ran(app)
    assert json.loads(app.session_state["shown"])[0] == name and len(pictures(app)) > 2
    app.switch_page("pages/data.py").run()
    app.segmented_control(key="data_way").set_value("Your file").run()
    press(app, "Remove it")
    assert not app.session_state["own"] and app.session_state["store"].get(app.session_state["shown"]) is None
    app.switch_page("pages/explore.py").run()
    assert not app.exception and app.selectbox(key="explore_data").value in SAMPLES


@pytest.mark.slow
def test_a_run_under_an_earlier_declaration_is_shown_beside_those_of_today(start):
    app = declare(drop(start(), "mine.csv", csv(), "Yes, it is public"), facts("a", "b"))
    ran(app.switch_page("pages/explore.py").run())
    declare(app, facts("a", "b", high=200))
    ran(app.switch_page("pages/explore.py").run())
    box = next(b for b in app.selectbox if b.label == "Earlier runs")
    older, newer = app.session_state["history"]
    assert len(set(box.options)) == 2 and box.value == newer
    box.set_value(older).run()
    assert not app.exception and app.session_state["shown"] == older and len(pictures(app)) > 2
    assert any("Declaration an earlier one" in block.proto.body for block in app.get("html"))
    assert not app.switch_page("pages/ledger.py").run().exception
    finish(app.switch_page("pages/explore.py").run())
    finish(app.number_input(key="explore_seed").set_value(4).run())
    assert json.loads(app.session_state["shown"])[3] == 4


@pytest.mark.slow
def test_a_changed_declaration_keeps_the_number_of_centers(start, monkeypatch):
    def field():
        app.switch_page("pages/explore.py").run()
        return next(one for one in app.number_input if one.label == "Centers k")

    app = declare(drop(start(), "mine.csv", csv(), "Yes, it is public"), facts("a", "b"))
    field().set_value(5).run()
    before = app.session_state["explore_data"]
    declare(app, facts("a", "b", high=200))
    assert app.session_state["explore_data"] != before and field().value == 5 and not app.exception


def test_no_two_runs_in_a_list_have_the_same_name(start, monkeypatch):
    finished = SimpleNamespace(parameters={"n_clusters": 3}, seed=0, noiseless=False, name="NSM")
    data = SimpleNamespace(title="mine, 300 rows", columns=("a", "b"))
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    runs = [results.Result(str(i), finished, data, at=at + timedelta(seconds=i // 2)) for i in range(4)]
    names = results.labels(runs)
    assert list(names) == list("0123") and len(set(names.values())) == 4
    assert all(name.startswith("k 3, seed 0 · NSM on mine, 2 columns, ") for name in names.values())
    assert list(results.labels(runs[:1]).values()) == ["k 3, seed 0 · NSM on mine"]


@pytest.mark.slow
def test_every_file_of_a_run_on_a_file_of_ones_own_can_be_made_after_the_page_is_drawn(start, monkeypatch):
    offered = {}
    button = streamlit.download_button

    def recorded(label, made, *args, **named):
        offered[label] = made
        return button(label, made, *args, **named)

    monkeypatch.setattr(streamlit, "download_button", recorded)
    app = declare(drop(start(), "mine.csv", csv(), "Yes, it is public"), facts("a", "b"))
    app.session_state["explore_take"] = True
    ran(app.switch_page("pages/explore.py").run()).run()
    made = {label: text() for label, text in offered.items() if callable(text)}  # outside any session, as on a server
    assert {"Replay", "One page", "Privacy label", "Python script", "Notebook", "Centers as CSV"} <= made.keys()
    assert "NOT PRIVATE" in made["Replay"] and all(made.values())


@pytest.mark.slow
def test_a_column_that_numbers_the_rows_is_left_out_and_one_of_words_names_the_groups(start):
    a = np.repeat([20.0, 80.0], 20) + np.linspace(-1, 1, 40)
    rows = {"customer_id": range(500, 540), "serial": range(40), "a": a, "b": a, "kind": ["x"] * 20 + ["y"] * 20}
    content = pd.DataFrame(rows).to_csv(index=False).encode()
    app = drop(start(), "mine.csv", content, "Yes, it is public")
    token = app.session_state["upload_shown"]
    cells = app.session_state["uploads"][token].cells
    assert [name for name, cell in cells.items() if cell["use"]] == ["a", "b"]
    assert "suggests row numbers" in cells["customer_id"]["why"] and "looks like a row number" in cells["serial"]["why"]
    press(app, "Fill from the data")
    app.selectbox(key=f"{token}_1_label").set_value("kind").run()
    press(app, "Explore it")
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.n_clusters == 2 and data.labels.tolist() == [0] * 20 + [1] * 20
    app.session_state["quality"] = True
    finish(app.switch_page("pages/explore.py").run()).run()
    assert any("Accuracy, one to one" in block.proto.body for block in app.get("html"))
    other = pd.DataFrame({**rows, "b": -a}).to_csv(index=False).encode()
    private = drop(start(), "secret.csv", other, "No, it is private")
    token = private.session_state["upload_shown"]
    cells = private.session_state["uploads"][token].cells
    assert not any(cell["use"] for cell in cells.values()), "names that say nothing suggest nothing"
    assert list(cells) == ["customer_id", "serial", "a", "b", "kind"]
    assert not [box for box in private.selectbox if box.label == "Known groups"]
    assert all(column.codes is None for column in private.session_state["uploads"][token].table.columns)


@pytest.mark.slow
def test_bounds_from_the_data_are_marked_and_no_private_file_takes_them(start):
    app = drop(start(), "mine.csv", csv(), "Yes, it is public")
    press(app, "Fill from the data")
    onward(app)
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.domain.origin == dictionary.FROM_THE_DATA and data.facts["declared"] is False
    assert (data.X >= data.domain.low).all() and (data.X <= data.domain.high).all()
    app.switch_page("pages/explore.py").run()
    ran(app)
    assert any("NOT PRIVATE" in caption.value for caption in app.caption)
    other = drop(start(), "secret.csv", csv(seed=1), "No, it is private")
    assert "Fill from the data" not in [button.label for button in other.button]
    next(f for f in other.file_uploader if "dictionary" in f.key).upload(
        "f.json", json.dumps(data.facts).encode()
    ).run()
    assert any("were taken from data" in error.value for error in other.error)


@pytest.mark.slow
def test_names_suggest_what_a_private_file_holds_and_its_owner_confirms(start):
    content = b"customer_id,age,Q1,newsletter,x,children\n1,30,4,1,7,2\n2,40,5,0,8,0\n"
    app = drop(start(), "mine.csv", content, "No, it is private")
    (upload,) = app.session_state["uploads"].values()
    used = {name: (cell["low"], cell["high"]) for name, cell in upload.cells.items() if cell["use"]}
    assert used == {"age": (0, 120), "Q1": (1, 5), "children": (0, 10)}
    assert all(upload.cells[name]["why"].startswith("left out: ") for name in ("customer_id", "newsletter", "x"))
    shown = " ".join(html.unescape(part.proto.body) for part in app.get("html"))
    for name in upload.cells:  # reasons are shown in full outside the table, which cuts them
        assert f": {upload.cells[name]['why']}</p>" in shown and f"{name}" in shown
    strip = next(block.proto.body for block in app.get("html") if "dp-strip" in block.proto.body)
    assert ">mine<" in strip and "mine.csv" not in strip  # the strip names the file as the step File does
    assert next(b for b in app.button if b.label == "Rehearse it").disabled
    press(app, "Confirm the suggested bounds of 3 columns")
    app.number_input(key=f"{upload.key}_n").set_value(2.5).run()
    assert any("Rows must be a whole number; got 2" in info.value for info in app.info)
    app.number_input(key=f"{upload.key}_n").set_value(300).run()
    onward(app)
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.private and data.columns == ("age", "Q1", "children") and data.domain.high.tolist() == [120, 5, 10]
    assert app.session_state["plan_units"] == "years, points, " and not app.error  # one column has no unit


def test_more_centers_than_declared_rows_are_refused_before_anything_is_booked(start, monkeypatch):
    monkeypatch.setattr(view, "_gather", lambda *_: view.Gathered({}, None))
    app = drop(start(), "mine.csv", csv(30, 5), "No, it is private")
    declare(app, facts("a", "b", n_public=30))
    app.number_input(key="plan_n").set_value(5000).run()  # a rehearsal may use another number of people
    app.number_input(key="plan_k").set_value(35).run()
    press(app, next(button.label for button in app.button if button.label.startswith("Continue to Spend")))
    assert any("at most 30, the number of rows; got 35. Nothing was spent." in error.value for error in app.error)
    assert "Run and spend" not in [button.label for button in app.button] and not app.exception


def test_latitude_and_longitude_become_one_map_in_kilometers(start):
    content = "lat,lon\n" + "\n".join(f"{50 + i / 100},{10 + i / 50}" for i in range(40))
    app = drop(start(), "mine.csv", content.encode(), "Yes, it is public")
    press(app, "Fill from the data")
    onward(app)
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.columns == ("east", "north") and data.units == ("km", "km") and data.shape == "map"
    assert data.view == (0, 1) and data.X[-1, 1] - data.X[0, 1] == pytest.approx(0.39 * 111.19, rel=1e-3)


@pytest.mark.slow
def test_centers_of_a_map_beside_another_column_have_their_degrees(start):
    content = "trips,lat,lon\n" + "\n".join(f"{i % 7},{50 + i / 100},{10 + i / 50}" for i in range(40))
    app = drop(start(), "mine.csv", content.encode(), "Yes, it is public")
    press(app, "Fill from the data")
    onward(app)
    ran(app)
    assert not app.exception
    assert any("latitude" in block.proto.body and "east" in block.proto.body for block in app.get("html"))


def test_a_column_of_two_values_or_one_is_left_out_of_a_public_file_with_the_reason(start):
    rows = "\n".join(f"{i * 7 % 50 + i / 9},{i % 2},7" for i in range(40))
    app = drop(start(), "mine.csv", f"a,yes,same\n{rows}\n".encode(), "Yes, it is public")
    (upload,) = app.session_state["uploads"].values()
    assert [name for name, cell in upload.cells.items() if cell["use"]] == ["a"]
    assert "two values" in upload.cells["yes"]["why"] and "same value" in upload.cells["same"]["why"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": [{"name": "a", "low": 5, "high": 1}]}, "must have low < high; got 5 and 1."),
        ({"columns": [{"name": "c", "low": 5, "high": 10}]}, "the table has no usable column 'c'."),
        ({"radius": -1}, "radius must be > 0; got -1."),
    ],
)
def test_a_wrong_dictionary_is_one_sentence_and_nothing_is_lost(start, change, words):
    app = drop(start(), "mine.csv", csv(), "Yes, it is public")
    content = json.dumps({**facts("a", "b"), **change}).encode()
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("facts.json", content).run()
    assert not app.exception and any(words in error.value.replace("\\", "") for error in app.error)
    declare(app, facts("a"))
    assert app.session_state["own"][app.session_state["explore_data"]].columns == ("a",)


def test_the_answer_is_final_for_the_same_file_and_leads_on(start):
    app = drop(start(), "mine.csv", csv(), None)
    press(drop(start(), "same.csv", csv(), None), "No, it is private")  # another tab has answered the question first
    press(app, "Yes, it is public")
    assert not app.session_state["uploads"] and not app.exception
    assert any("You already declared this file private" in info.value for info in app.info)
    assert {b.label: b.disabled for b in app.button if "it is p" in b.label} == {
        "Yes, it is public": True, "No, it is private": False,
    }  # fmt: skip
    press(press(app, "No, it is private"), "Yes, names")
    assert len(app.session_state["uploads"]) == 1 and not app.exception and not app.error


def test_a_file_has_no_mode_until_its_owner_answers(start):
    app = drop(start(), "mine.csv", csv(), None)
    strip = next(block.proto.body for block in app.get("html") if "dp-strip" in block.proto.body)
    assert "mine" in strip and "mine.csv" not in strip and ">DEMO<" not in strip and ">PRIVATE<" not in strip
    app.button(key="share").click().run()
    assert not app.exception and any("not the data" in block.value for block in app.markdown)
    press(app, "No, it is private")
    assert any(">PRIVATE<" in block.proto.body for block in app.get("html"))


@pytest.mark.slow
def test_a_run_put_off_is_rehearsed_with_its_own_values(start, monkeypatch):
    monkeypatch.setattr(view, "_gather", lambda *_: view.Gathered({}, None))
    app = declare(drop(start(), "mine.csv", csv(), "No, it is private"), facts("a", "b"))
    app.switch_page("pages/explore.py").run()
    app.selectbox(key="private_algorithm").set_value("pe-means").run()
    next(field for field in app.number_input if field.label == "Centers k").set_value(4).run()
    app.number_input(key="param_pe-means_epsilon").set_value(0.5).run()
    press(press(app, "Run"), "Not yet")
    assert app.session_state["page"] == "plan" and not app.exception
    assert "Continue to Spend: PE-means, k = 4, ε = 0.5" in [button.label for button in app.button]
    app.number_input(key="plan_k").set_value(6).run()
    assert app.number_input(key="plan_k").value == 6  # values from Explore are passed on only once


def test_a_file_can_be_forgotten_before_it_is_read(start):
    app = drop(start(), "mine.csv", csv(), None)
    press(app, "Neither: forget the file")
    assert "pending" not in app.session_state and not app.session_state["uploads"]


@pytest.mark.slow
def test_two_visitors_do_not_see_each_other(start):
    first, second = start(), start()
    declare(drop(first, "mine.csv", csv(), "Yes, it is public"), facts("a", "b"))
    second.switch_page("pages/explore.py").run()
    assert "own" not in second.session_state or not second.session_state["own"]
    titles = second.selectbox(key="explore_data").options
    assert "mine" not in titles
    first.switch_page("pages/explore.py").run()
    assert "mine" in first.selectbox(key="explore_data").options
    ran(first)
    from pages._ui.work.results import store

    assert store().get(first.session_state["shown"]) is None, "a run on somebody's file must not be shared"


class Sentinels:
    """A table whose numbers are all different, so that each can be searched for in everything that a page sends."""

    def __init__(self):
        numbers = np.random.default_rng(8).choice(9 * 10**6, (ROWS, 3), replace=False) * 100_000 + 10**11 + 7
        self.values = numbers.astype(np.float64)
        table = pd.DataFrame(numbers, columns=["a", "b", "c"])
        table["words"] = [f"SENTINEL{i}" for i in range(ROWS)]
        self.csv = table.to_csv(index=False).encode()
        self._texts = re.compile(r"SENTINEL|\d{12}")
        self._digits = {str(number) for number in numbers.ravel()}
        self._size = re.compile(rf"\b{ROWS // 1000}\\?,?{ROWS % 1000}\b")
        self._binary = [
            (np.sort(np.r_[self.values.ravel().view("<u8"), numbers.ravel().astype("<i8").view("<u8")]), 8, 1),
            (np.sort(self.values[:100].ravel().astype("<f4").view("<u4")), 4, 5),  # a few 4-byte values match by chance
        ]

    def found(self, app, logs=""):
        """Return the table's cells that occur in what the page sends, as text or inside binary arrays."""
        protos = [node.proto for place in (app.main, app.sidebar) for node in place if node.proto is not None]
        blobs = [proto.SerializeToString() for proto in protos]
        for picture in pictures(app):
            blobs += [base64.b64decode(found) for found in re.findall(r'"bdata":\s*"([^"]*)"', picture)]
        hits = set()
        for text in [logs, *(blob.decode("utf-8", errors="replace") for blob in blobs)]:
            hits |= {hit for hit in self._texts.findall(text) if hit == "SENTINEL" or hit in self._digits}
            hits |= {"the number of rows"} if self._size.search(text) else set()
        for cells, width, most in self._binary:
            same = set()
            for blob in blobs:
                for shift in range(width):
                    words = np.frombuffer(blob[shift : shift + (len(blob) - shift) // width * width], cells.dtype)
                    same |= set(words[cells[np.searchsorted(cells, words) % len(cells)] == words].tolist())
            hits |= {f"{len(same)} cells in binary"} if len(same) >= most else set()
        return hits


@pytest.mark.slow
def test_no_cell_of_a_private_file_is_in_any_page_message_or_log(start, capfd, caplog):
    caplog.set_level("DEBUG")
    sentinels = Sentinels()

    def check(app, *, clean=True):
        assert not app.exception
        output = capfd.readouterr()
        hits = sentinels.found(app, output.out + output.err + caplog.text)
        caplog.clear()
        assert (not hits) is clean, list(hits)[:5]

    app = drop(start(), "secret.csv", sentinels.csv, None)
    check(app)
    check(press(app, "No, it is private"))
    check(press(app, "Yes, names"))
    declare(app, facts("a", "b", "c", low=0, high=10**12, n_public=8000))
    check(app)
    assert app.session_state["own"][app.session_state["explore_data"]].X.shape == (ROWS, 3)
    app.switch_page("pages/explore.py").run()
    check(app)
    assert not [toggle for toggle in app.toggle if "people" in toggle.label.lower()]
    assert "Seed" not in [n.label for n in app.number_input]
    assert "kmeans" not in app.selectbox(key="private_algorithm").options
    press(app, "Run")
    check(app)
    finish(press(app, "Run and spend"))
    check(app)
    assert pictures(app) and json.loads(app.session_state["shown"])[3] is None
    result = app.session_state["store"].get(app.session_state["shown"])
    assert (result.trace.seed, result.losses, result.reference) == (None, None, None)
    assert not any(step.hidden for step in result.trace.steps)
    words = " ".join(block.proto.body for block in app.get("html"))
    assert ">PRIVATE<" in words and "NOT PRIVATE" not in words and ">DEMO<" not in words
    press(app, "Run")
    assert any("already" in info.value for info in app.info)
    for name in PAGES:
        check(app.switch_page(f"pages/{name}.py").run())
    for broken in (
        b"a,b\n1,2\n482915736048,3,4\n",
        b"482915736048,1\n2,3\n",
        b"a\nSENTINEL\n",
        b'a,b\n"482915736048,3\n4,5\n',
    ):
        other = drop(start(), "secret.csv", broken, "No, it is private")
        assert bool(other.error) is broken.startswith(b"4"), (
            "its first line holds a value for a name; no row is refused"
        )
        check(other)
    other = drop(start(), "open.csv", sentinels.csv, None)
    assert any("already declared this file private" in info.value for info in other.info)
    assert [button.disabled for button in other.button if button.label == "Yes, it is public"] == [True]
    check(other)
    other = drop(start(), "open.csv", sentinels.csv + b"\n", "Yes, it is public")
    check(other, clean=False)  # a public file with the same cells shows that the check can find them


@pytest.mark.slow
def test_claims_add_up_over_sessions_and_are_not_given_back(start):
    content = csv(seed=9)
    seen = []
    for epsilon in (1.0, 0.5):
        app = declare(drop(start(), "secret.csv", content, "No, it is private"), facts("a", "b"))
        app.switch_page("pages/explore.py").run()
        app.selectbox(key="private_algorithm").set_value("pe-means").run()
        app.number_input(key="param_pe-means_epsilon").set_value(epsilon).run()
        press(app, "Run")
        seen.append(next(block.value for block in app.markdown if "so far" in block.value))
        press(app, "Run and spend")
        finish(app)
    assert "nothing" in seen[0] and "= 1," in seen[1]
    app.button(key="share").click().run()  # a paid run has no address, and Explore says why
    assert not app.exception and not app.code and app.session_state["kept"] == ("explore", "")
    assert any("not the data: anyone who opened it" in block.value for block in app.markdown)


def test_a_name_from_a_file_is_shown_as_it_is(start):
    name = "![x](http://evil.example/x.png) $a$ :red[b] <b>"
    app = drop(start(), "mine.csv", f'"{name}",b\n,1\n,2\n'.encode(), "Yes, it is public")
    assert not app.exception and any(plain(name)[:20] in words.value for words in app.markdown)
    assert not any("![x](" in words.value for words in app.markdown)


def parsed(size):
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="mine.csv"\r\n\r\n'
        + b"1" * size
        + b"\r\n--x--\r\n"
    )

    async def stream():
        for at in range(0, len(body), 1 << 18):
            yield body[at : at + (1 << 18)]

    async def run():
        form = await MultiPartParser(Headers({"content-type": "multipart/form-data; boundary=x"}), stream()).parse()
        return form["file"].file._rolled

    return awaited(run())


@pytest.mark.slow
def test_uploads_stay_in_memory(monkeypatch):
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1 << 20)
    assert parsed(5_000_000), "the parser of this version writes nothing to disk anyway: the test guards nothing"
    keep_uploads_in_memory(300_000_000)
    assert not parsed(5_000_000)
    monkeypatch.setattr("pages._ui.work.workers.workers", lambda: SimpleNamespace(warm=lambda: None))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    import_module("app").prepare()
    assert MultiPartParser.spool_max_size > 300 * 1024 * 1024, "the server raises it before its port answers"


def test_the_bytes_of_an_upload_go_with_the_file(start):
    app = drop(start(), "mine.csv", csv(), "Yes, it is public")
    assert "pending" not in app.session_state
    state = app.session_state._state._state.filtered_state
    assert not [value for value in state.values() if isinstance(value, bytes | io.BytesIO)]
    assert [upload.content for upload in app.session_state["uploads"].values()] == [
        csv()
    ]  # the bytes are kept, so that the file can be read again in another format
    app.switch_page("pages/data.py").run()
    assert not press(app, "Remove it").session_state["uploads"]


@pytest.mark.slow
def test_words_become_numbers_by_a_dictionary_and_no_word_of_a_private_file_is_shown(start):
    rows = [{"a": i, "sex": ("f", "m", "SENTINEL")[i % 3]} for i in range(60)]
    content = pd.DataFrame(rows).to_csv(index=False).encode()
    app = drop(start(), "mine.csv", content, "No, it is private")
    declared = facts("a", recode=[{"column": "sex", "code": "one-hot", "categories": ["f", "m"]}])
    app = declare(app, declared)
    assert not app.exception
    (data,) = app.session_state["own"].values()
    assert data.columns == ("a", "sex: f", "sex: m")
    assert np.isnan(data.X[2]).any() and data.X[0].tolist() == [0, 1, 0]
    assert "SENTINEL" not in "".join(str(element.proto) for element in app.main)
    assert not any("begins" in n.label for n in app.number_input), "another line was not confirmed to hold names"


def test_a_table_may_begin_further_down(start):
    app = drop(start(), "mine.csv", b"a title,,\n" + csv(), None)
    next(n for n in app.number_input if "begins" in n.label).set_value(2).run()
    app = press(app, "Yes, it is public")
    (upload,) = app.session_state["uploads"].values()
    assert upload.table.usable == ("a", "b") and upload.form.header_row == 2
    next(n for n in app.number_input if "begins" in n.label).set_value(9).run()
    app = press(app, "Read it this way")
    assert not app.exception and upload.form.header_row == 2, "line 9 holds values: it is refused, and nothing changes"


def test_the_owner_says_how_numbers_are_written(start):
    content = "a;b\n" + "\n".join(f"1.{100 + i};{i},5" for i in range(40))
    app = drop(start(), "mine.csv", content.encode(), None)
    press(app, "No, it is private")
    next(box for box in app.selectbox if "Do your numbers look like" in box.label).set_value("1.234,5").run()
    press(app, "Yes, names")
    (upload,) = app.session_state["uploads"].values()
    assert upload.table.values("a")[:2].tolist() == [1100, 1101] and upload.table.values("b")[1] == 1.5
    assert any("1.234,5" in caption.value for caption in app.caption) and not app.exception


@pytest.mark.slow
def test_a_dictionary_of_the_command_line_is_obeyed_on_the_page_or_refused(start):
    content = "a;b;c\n" + "\n".join(f"{i},5;48.1{i};often" for i in range(10, 39)) + "\n-9;48.5;often\n"
    columns = [{"name": "a", "low": 0, "high": 50}, {"name": "b", "low": 0, "high": 90}]
    columns += [{"name": "c", "low": None, "high": None, "recode": "ordinal:never,often"}]
    form = {"header": True, "decimal": ".", "decimal_of": {"a": ","}, "missing_marks": ["-9"]}
    left = [{"name": "d", "kind": "text", "reason": "It was not selected."}]
    declared = {"columns": columns, "left_out": left, "form": form, "n_public": 30, "rows_per_person": 5}
    app = drop(start(), "mine.csv", content.encode(), "No, it is private")
    elsewhere = {**declared, "form": form | {"header_row": 2}}
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("f.json", json.dumps(elsewhere).encode()).run()
    assert any("header_row differs" in error.value.replace("\\", "") for error in app.error)
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("g.json", json.dumps(declared).encode()).run()
    onward(app)
    (data,) = app.session_state["own"].values()
    assert data.columns == ("a", "b", "c") and data.X[0].tolist() == [10.5, 48.11, 1] and np.isnan(data.X[-1][0])
    assert data.domain.rows_per_person == 5 and not app.exception


def test_logarithms_and_weights_are_declared_in_the_table_and_kept(start):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "pay": np.exp(rng.normal(7, 1, 60)).round()})
    columns = [
        {"name": "age", "low": 18, "high": 95, "weight": 2},
        {"name": "pay", "low": 0, "high": 9000, "log": True},
    ]
    declared = {"columns": columns, "n_public": 60, "n_clusters": 2}
    app = drop(start(), "mine.csv", frame.to_csv(index=False).encode(), "Yes, it is public")
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("f.json", json.dumps(declared).encode()).run()
    (upload,) = app.session_state["uploads"].values()
    assert (upload.cells["age"]["weight"], upload.cells["pay"]["kind"]) == (2, "amount, in logarithms")
    onward(app)
    (data,) = app.session_state["own"].values()
    assert data.domain.weights == (2, 1) and data.units == ("", "ln(1 + value)")
    np.testing.assert_allclose(data.X[:, 1], np.log1p(frame["pay"]))
    assert data.facts["columns"][1]["high"] == 9000 and not app.exception


def test_a_public_cell_that_may_be_two_numbers_is_asked_about_on_screen(start):
    app = drop(start(), "mine.csv", b"a;b\n" + b"1.234;7\n" * 20, "Yes, it is public")
    assert any("1.234: is it 1,234?" in block.value.replace("\\", "") for block in app.markdown)
    (upload,) = app.session_state["uploads"].values()
    assert upload.table.values("a")[0] == 1.234
    press(app, "Yes, 1,234")
    assert upload.table.values("a")[0] == 1234 and not any("is it" in block.value for block in app.markdown)
    assert not app.exception


@pytest.mark.parametrize(("answer", "remarked"), [("Yes, it is public", True), ("No, it is private", False)])
def test_only_a_public_file_is_remarked_on(start, answer, remarked):
    app = drop(start(), "mine.csv", b"age,pay\n20,1\n30,2\n41,4\n40,5\n35,9\n28,3\n194,24\n", answer)
    app.switch_page("pages/data.py").run()
    words = " ".join(caption.value for caption in app.caption)
    assert ("The last row is the sum of all others" in words) == remarked and "Continue to its bounds" in str(
        app.button
    )


@pytest.mark.slow
def test_the_table_of_public_facts_names_weights_and_logarithms_where_there_are_any(start):
    def table():
        app.switch_page("pages/data.py").run()
        app.segmented_control(key="data_way").set_value("Samples").run()
        return next(block.proto.body for block in app.get("html") if "Data dictionary" in block.proto.body)

    app = start()
    assert ">weight<" not in table()
    drop(app, "mine.csv", csv(), "Yes, it is public")
    declared = facts("a", "b", n_public=300)
    declared["columns"][0]["log"] = True
    declared["columns"][1]["weight"] = 2.5
    declare(app, declared)
    assert all(word in table() for word in (">logarithms<", ">2.5<", ">weight<")) and not app.exception
