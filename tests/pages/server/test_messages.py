"""Check that a message from a visitor's browser changes nothing for anybody else."""

import pytest
import streamlit as st
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

from pages._ui.classroom.registry import rooms
from pages._ui.frame import streamlit_patches
from pages._ui.frame.shared import once
from pages._ui.tradeoff.sweeps import shelf
from pages._ui.work import batch, results, runs
from tests.pages.server.test_owner import awaited
from tests.serving import running

CLEAR_CACHE = bytes([0x28, 0x01])


@pytest.fixture
def handled(monkeypatch):
    """Return a function that sends a message to the server's handler; its attribute `seen` lists those handled."""
    seen = []
    monkeypatch.setattr(AppSession, "handle_backmsg", AppSession.handle_backmsg)
    monkeypatch.setattr(AppSession, "_handle_clear_cache_request", AppSession._handle_clear_cache_request)
    monkeypatch.setattr(streamlit_patches, "_handle", lambda self, message: seen.append(message.WhichOneof("type")))
    streamlit_patches.refuse_messages()

    def send(frame):
        AppSession.handle_backmsg(None, BackMsg.FromString(frame))
        return seen

    return send


def test_every_kind_of_message_of_the_protocol_is_judged():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    assert kinds == set(streamlit_patches.MESSAGES)


def test_the_frame_of_two_bytes_asks_to_clear_the_caches_and_is_dropped(handled):
    assert BackMsg.FromString(CLEAR_CACHE).WhichOneof("type") == "clear_cache"
    assert handled(CLEAR_CACHE) == []
    AppSession._handle_clear_cache_request(None)  # would need a session to clear


def test_exactly_the_allowed_kinds_are_handled(handled):
    allowed = [kind for kind, is_handled in streamlit_patches.MESSAGES.items() if is_handled]
    for kind in streamlit_patches.MESSAGES:
        message = BackMsg()
        field = BackMsg.DESCRIPTOR.fields_by_name[kind]
        getattr(message, kind).SetInParent() if field.message_type else setattr(message, kind, True)
        handled(message.SerializeToString())
    assert handled(b"") == allowed  # a message of no kind, or of one that this version does not know, is dropped


def test_what_visitors_share_outlives_the_caches():
    shared = rooms, runs.jobs, runs.pace, results.store, batch._everybody, shelf
    before = [one() for one in shared]
    st.cache_resource.clear()
    st.cache_data.clear()
    assert all(one() is old for one, old in zip(shared, before, strict=True))


def test_shared_values_are_made_once():
    made = []
    shared = once(lambda: made.append(1) or object())
    assert shared() is shared() and made == [1]


async def sent(url, *frames):
    """Open a page, send frames, ask whether the server still hears, and return whether it answers."""
    async with websockets.connect(
        f"{url.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"], max_size=None
    ) as line:
        for frame in frames:
            await line.send(frame)
        heartbeat = BackMsg()
        heartbeat.app_heartbeat = True
        await line.send(heartbeat.SerializeToString())
        while True:
            if ForwardMsg.FromString(await line.recv()).WhichOneof("type") == "heartbeat_ack":
                return True


@pytest.mark.slow
def test_a_real_server_drops_the_frames_and_answers_on(tmp_path):
    with (tmp_path / "log").open("w") as log, running(log=log, DPVIZ_WORKERS="0") as (url, process):
        assert awaited(sent(url, CLEAR_CACHE, CLEAR_CACHE))
        for kind in ("set_run_on_save", "load_git_info", "debug_shutdown_runtime"):
            message = BackMsg()
            setattr(message, kind, True)
            assert awaited(sent(url, message.SerializeToString()))
        assert process.poll() is None
