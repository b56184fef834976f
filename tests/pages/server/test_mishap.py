"""Check that unexpected errors and forged values lead to our error page and one line in the log, and show no cell."""

import asyncio
import logging
import re
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, WStates
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_websocket

import app
from lab.benchmarks.visitor import Visitor
from pages._ui.server import incoming, logs, mishap
from tests.serving import running

ROOT = Path(__file__).parents[3]
CELL = "Alice Sentinel 123456789012"
PLANTED = """
import pathlib
import streamlit

asked = streamlit.multiselect

def multiselect(*arguments, **more):
    answer = asked(*arguments, **more)
    if pathlib.Path({trap!r}).exists():
        raise KeyError({cell!r})
    return answer

streamlit.multiselect = multiselect
"""


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(WStates, "__getitem__", WStates.__getitem__)
    incoming.check_values()
    monkeypatch.setattr(incoming, "_LOG", logs.Seldom("pages._ui.server.incoming"))


def states(value_type, deserializer, **sent):
    state = WidgetState(id="one")
    for field, value in sent.items():
        if isinstance(value, list):
            getattr(state, field).data.extend(value)
        else:
            setattr(state, field, value)
    about = WidgetMetadata("one", deserializer, lambda v: v, value_type)
    return WStates({"one": Serialized(state)}, {"one": about})


@pytest.mark.parametrize(
    ("value_type", "deserializer", "sent"),
    [
        ("json_value", lambda v: v or {}, {"json_value": "not json"}),
        ("string_array_value", lambda v: v if v is None else [*v], {"string_value": "x"}),
        ("string_value", lambda v: v if v is None else v.strip(), {"int_value": 7}),
        ("double_array_value", lambda v: v if v is None else {1.0: "a"}[v[0]], {"double_array_value": [2.0]}),
        ("double_value", lambda v: v if v is None else int(v), {"double_value": float("nan")}),
        ("bool_value", lambda v: v, {"double_value": 1.0}),
    ],
)
def test_a_value_of_another_type_counts_as_never_sent(checked, value_type, deserializer, sent, caplog):
    held = states(value_type, deserializer, **sent)
    assert list(held) == ["one"] and held["one"] == deserializer(None) and held["one"] == deserializer(None)
    assert len(caplog.messages) == 1 and "wrong type" in caplog.messages[0]


def test_a_value_of_its_type_is_read(checked, caplog):
    assert states("json_value", lambda v: v, json_value="[1]")["one"] == [1]
    assert states("double_value", lambda v: v, int_value=7)["one"] == 7  # a number field with whole steps sends this
    assert states("string_value", lambda v: v)["one"] is None
    with pytest.raises(KeyError):
        states("string_value", lambda v: v)["two"]
    assert caplog.messages == []


def test_a_visitor_causes_so_many_lines_a_minute(caplog):
    now = [0.0]
    log = logs.Seldom("pages._ui.some", lambda: now[0])
    for i in range(1_000):
        log.warning("line %d", i)
    assert len(caplog.messages) == logs.MOST
    now[0] = logs.MINUTE
    log.warning("again")
    assert caplog.messages[-2:] == ["990 more lines like these were omitted.", "again"]


def failing():
    import streamlit as st

    from pages._ui.server import mishap

    st.text_input("Name", key="name")
    try:
        raise KeyError("Alice Sentinel 123456789012")
    except KeyError as error:
        assert mishap.show(error)


def test_our_page_gives_one_way_on_and_the_log_s_number_and_no_cell(monkeypatch, caplog):
    monkeypatch.setattr(mishap, "_LOG", logs.Seldom("pages._ui.server.mishap"))
    monkeypatch.setattr("streamlit.page_link", lambda path, label, icon: None)  # AppTest has no other page to link to
    at = AppTest.from_function(failing).run()
    words = " ".join(block.proto.body for block in at.get("html"))
    number = re.search(r"error <b>([0-9A-F]{6})</b>", words)[1]
    assert "Your file and its account are safe" in words and at.title[0].value == "This page has failed"
    [line] = [one for one in caplog.messages if one.startswith("Error")]
    assert number in line and "KeyError" in line and "failing" in line and "Sentinel" not in line + words
    at.text_input[0].set_value("Bob").run()
    assert at.session_state["name"] == ""  # the values that broke the page are cleared


def test_streamlit_writes_no_error_s_own_words(monkeypatch, capsys):
    log = logging.getLogger("streamlit.error_util")
    monkeypatch.setattr(log, "filters", [])
    mishap.stay_silent()
    record = log.makeRecord(log.name, logging.ERROR, "", 0, "Uncaught app execution", (), None)
    other = log.makeRecord(log.name, logging.ERROR, "", 0, "Failed", (), None)
    assert not log.filter(record) and log.filter(other)


def test_frames_that_nobody_can_read_fill_no_log_with_tracebacks(monkeypatch, caplog):
    log = logging.getLogger(starlette_websocket.__name__)
    assert starlette_websocket._LOGGER.name == log.name
    monkeypatch.setattr(log, "filters", [])
    monkeypatch.setattr(mishap, "_FRAMES", logs.Seldom("pages._ui.server.mishap"))
    mishap.stay_silent()
    for _ in range(50):
        error = ValueError("a cell of somebody's file")
        record = log.makeRecord(
            log.name, logging.WARNING, "", 0, "Error deserializing back message", (), (ValueError, error, None)
        )
        assert not log.filter(record)
    assert len(caplog.messages) == logs.MOST and "cell" not in caplog.text
    assert caplog.messages[0] == "A browser's message was refused: Error deserializing back message"
    assert log.filter(log.makeRecord(log.name, logging.ERROR, "", 0, "Failed", (), None))


def test_the_app_takes_our_page():
    assert app.app._on_script_error is mishap.show


async def forge(port, log, trap):
    async with Visitor(port, "tradeoff") as visitor:
        await visitor.ask()
        for field, value in (("json_value", "not json"), ("int_value", 7), ("double_array_value", [float("nan")])):
            for name in visitor.widgets:
                visitor._values[name] = field, value
            await visitor._send()
        assert not any("in its log" in words for words in visitor.words)
        visitor._values = {visitor.find("sweep_data"): ("string_array_value", [CELL] * 5)}
        await visitor._send()
        assert not any("in its log" in words for words in visitor.words)
        trap.touch()
        await visitor._send()
        assert any("Your file and its account are safe" in words for words in visitor.words)
        trap.unlink()
        visitor._values, visitor.words = {}, []
        await visitor.ask()
        assert not any("in its log" in words for words in visitor.words) and visitor.faults == []
    assert "Error" in log.read_text() and "Traceback" not in log.read_text() and "Sentinel" not in log.read_text()


@pytest.mark.slow
def test_forged_values_on_a_server_end_in_no_box_of_the_framework(tmp_path):
    """An error is planted in the server, because no forged value breaks a page today."""
    log, trap = tmp_path / "log", tmp_path / "trap"
    recorder = (ROOT / "tests" / "recorder" / "sitecustomize.py").read_text()
    (tmp_path / "sitecustomize.py").write_text(recorder + PLANTED.format(trap=str(trap), cell=CELL))
    with log.open("w") as file, running(ROOT, file, DPVIZ_WORKERS="0", PYTHONPATH=str(tmp_path)) as (url, _):
        asyncio.run(forge(int(url.rsplit(":", 1)[1]), log, trap))
