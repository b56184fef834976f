"""Check that what Streamlit sends is the same when it is sent with less work."""

import asyncio
import json

import pytest
from streamlit import config
from streamlit.components.v2.bidi_component import main
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.app_session import AppSession
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from pages._ui.frame.inside import sending


class Transport:
    """A transport that keeps what it is given."""

    def __init__(self):
        self.got = []

    def write(self, part):
        self.got.append(part)

    def close(self):
        self.got.append("closed")


@pytest.fixture
def together(monkeypatch):
    for owner, name in (
        (AppSession, "flush_browser_queue"),
        (Runtime, "_send_message"),
        (Runtime, "_enqueued_some_message"),
        (WebSocketsSansIOProtocol, "connection_made"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return sending.together


def test_what_is_written_in_one_turn_arrives_in_one_piece_and_before_the_end():
    async def turns():
        transport = sending.Gathered(inner := Transport(), asyncio.get_running_loop())
        transport.write(b"a")
        transport.write(b"b")
        assert inner.got == []
        await asyncio.sleep(0)
        assert inner.got == [b"ab"]
        transport.write(b"c")
        transport.close()
        await asyncio.sleep(0)
        return inner.got

    assert asyncio.run(turns()) == [b"ab", b"c", "closed"]


def test_every_waiting_message_is_sent_in_order(monkeypatch, together):
    waiting = [ForwardMsg(hash=str(number)) for number in range(250)]
    got = []
    monkeypatch.setattr(sending, "_flush", lambda self: waiting)
    monkeypatch.setattr(sending, "_send", lambda self, session, message: got.append((session, message.hash)))
    together()
    groups = AppSession.flush_browser_queue(None)
    assert [len(group) for group in groups] == [100, 100, 50]
    for group in groups:
        Runtime._send_message(None, "session", group)
    assert got == [("session", str(number)) for number in range(250)]


def test_the_loop_is_woken_only_by_other_threads(monkeypatch, together):
    woken = []
    monkeypatch.setattr(sending, "_wake", lambda self: woken.append(1))
    together()

    async def messages():
        class It:
            eventloop, need_send_data = asyncio.get_running_loop(), asyncio.Event()

            def _get_async_objs(self):
                return self

        Runtime._enqueued_some_message(one := It())
        assert one.need_send_data.is_set() and not woken
        await asyncio.to_thread(Runtime._enqueued_some_message, one)

    asyncio.run(messages())
    assert woken == [1]


def test_a_component_s_data_are_written_once_as_json(monkeypatch):
    monkeypatch.setattr(main, "serialize_mixed_data", main.serialize_mixed_data)
    name = "_build_bidi_identity_kwargs"
    monkeypatch.setattr(main.BidiComponentMixin, name, getattr(main.BidiComponentMixin, name))
    data, before, after = {"figure": '{"a": "ε"}', "ends": [1, 2.5], "saved": None}, BidiComponent(), BidiComponent()
    main.serialize_mixed_data(data, before)
    sending.as_json()
    main.serialize_mixed_data(data, after)
    assert after == before and json.loads(after.json) == data
    with pytest.raises(TypeError):  # Streamlit says that it cannot send it
        main.serialize_mixed_data({"a": object()}, after)
    assert main.BidiComponentMixin()._build_bidi_identity_kwargs(component_name="a", proto=after, data=data) == {}


def test_the_theme_that_is_kept_is_the_one_that_streamlit_reads(monkeypatch):
    read = app_session._populate_theme_msg
    monkeypatch.setattr(app_session, "_populate_theme_msg", read)
    sections = ("theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar", "theme.dark.sidebar")

    def sent():
        message = NewSession().custom_theme
        for section in sections:
            place = message
            for part in section.split(".")[1:]:
                place = getattr(place, part)
            app_session._populate_theme_msg(place, section)
        return message.SerializeToString(deterministic=True)

    before = sent()
    sending.colors_as_kept()
    assert sent() == before and len(before) > 100
    monkeypatch.setattr(config, "get_options_for_section", None)  # is not read again
    assert sent() == before
