"""Check that a message from a visitor's browser changes nothing for anybody else."""

import re
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import pytest
import streamlit as st
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

from lab.benchmarks.visitor import Visitor
from pages._ui.frame.inside import patches
from tests.pages.server.test_owner import awaited

CLEAR_CACHE = bytes([0x28, 0x01])
OPERATION = BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type

# type of message within the heeded ones -> its fields; each only says what the sender's own page draws or sends
FIELDS = {
    # which page, which part of it, and with which values; hashes only shorten the answer
    "ClientState": "query_string widget_states page_script_hash page_name fragment_id is_auto_rerun "
    "cached_message_hashes context_info is_history_navigation",
    "ContextInfo": "timezone timezone_offset locale url is_embedded color_scheme",  # text about the sender's browser
    "WidgetStates": "widgets",
    # values, which `check_values` compares with their widgets' types
    "WidgetState": "id trigger_value bool_value double_value int_value string_value double_array_value int_array_value "
    "string_array_value json_value arrow_value bytes_value file_uploader_state_value string_trigger_value "
    "chat_input_value json_trigger_value",
    "FileURLsRequest": "request_id file_names session_id",  # answered for the sender's session, whatever it names
    "BackendOperationRequest": "request_id session_id deferred_file install_skills dismiss_skills_nudge "
    "dataframe_chunk",  # answered only if the session is the sender's
    "DeferredFileRequestPayload": "file_id",
    "DataframeChunkRequestPayload": "source_id offset limit sort",  # at most MAX_CHUNK_ROWS rows of the sender's source
    "SortState": "column direction",
}
VALUES = {  # messages that hold one widget's value and nothing else
    "DoubleArray", "SInt64Array", "StringArray", "ArrowTable", "ArrowTableStyler", "FileUploaderState",
    "UploadedFileInfo", "FileURLs", "StringTriggerValue", "ChatInputValue",
}  # fmt: skip


@pytest.fixture
def handled(monkeypatch):
    """Return a function that sends a message to the server's handler; its attribute `seen` lists those handled."""
    seen = []
    monkeypatch.setattr(AppSession, "handle_backmsg", AppSession.handle_backmsg)
    monkeypatch.setattr(AppSession, "_handle_clear_cache_request", AppSession._handle_clear_cache_request)
    monkeypatch.setattr(patches, "_handle", lambda self, message: seen.append(message.WhichOneof("type")))
    patches.refuse_messages()

    def send(frame):
        AppSession.handle_backmsg(None, BackMsg.FromString(frame))
        return seen

    return send


def kinds():
    """Yield every kind of message; an operation has a kind of its own."""
    for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields:
        if field.message_type is OPERATION:
            yield from (f"{field.name}.{payload.name}" for payload in OPERATION.oneofs_by_name["payload"].fields)
        else:
            yield field.name


def message(kind):
    """Return an otherwise empty message of a kind."""
    name, _, payload = kind.partition(".")
    made = BackMsg()
    if payload:
        getattr(getattr(made, name), payload).SetInParent()
    elif BackMsg.DESCRIPTOR.fields_by_name[name].message_type:
        getattr(made, name).SetInParent()
    else:
        setattr(made, name, True)
    return made


def test_every_kind_of_message_of_the_protocol_is_judged():
    assert sorted(kinds()) == sorted(patches.MESSAGES)
    assert set(BackMsg.DESCRIPTOR.fields) == set(BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields)


def test_no_message_has_a_field_that_nobody_has_looked_at():
    found, ahead = {}, [field.message_type for field in BackMsg.DESCRIPTOR.fields if field.message_type]
    while ahead:
        kind = ahead.pop()
        if kind.name not in found and kind.name not in VALUES:
            found[kind.name] = sorted(field.name for field in kind.fields)
            ahead += [field.message_type for field in kind.fields if field.message_type]
    empty = {"InstallSkillsRequestPayload": [], "DismissSkillsNudgeRequestPayload": []}
    assert found == {name: sorted(fields.split()) for name, fields in FIELDS.items()} | empty


def test_the_frame_of_two_bytes_asks_to_clear_the_caches_and_is_dropped(handled):
    assert BackMsg.FromString(CLEAR_CACHE).WhichOneof("type") == "clear_cache"
    assert handled(CLEAR_CACHE) == []
    AppSession._handle_clear_cache_request(None)  # would need a session to clear


def test_streamlit_obeys_the_frame_if_nothing_drops_it():
    """Check that the other tests would notice the harm."""
    made, gone = st.cache_resource(lambda: object()), []
    before = made()
    session = SimpleNamespace(_session_state=SimpleNamespace(clear=lambda: gone.append(1)))
    session._handle_clear_cache_request = partial(AppSession._handle_clear_cache_request, session)
    patches._handle(session, BackMsg.FromString(CLEAR_CACHE))
    assert made() is not before and gone == [1]


def test_exactly_the_allowed_kinds_are_handled(handled):
    for kind in patches.MESSAGES:
        handled(message(kind).SerializeToString())
    allowed = [kind.partition(".")[0] for kind, is_handled in patches.MESSAGES.items() if is_handled]
    assert handled(b"") == allowed  # a message of no kind, or of one that this version does not know, is dropped
    operation = BackMsg()
    operation.backend_operation_request.request_id = "one"
    assert handled(operation.SerializeToString()) == handled(b"\xfa\x07\x01x") == allowed


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
def test_a_real_server_drops_the_frames_and_answers_on(alive):
    assert awaited(sent(alive.url, CLEAR_CACHE, CLEAR_CACHE))
    for kind, is_handled in patches.MESSAGES.items():
        if not is_handled:
            assert awaited(sent(alive.url, message(kind).SerializeToString()))
    awaited(a_class_while_a_stranger_clears(alive.url))
    assert alive.process.poll() is None and "Traceback" not in alive.log.read_text()


async def a_class_while_a_stranger_clears(url):
    port = int(url.rsplit(":", 1)[1])
    async with Visitor(port, "class") as lecturer:
        await lecturer.ask()
        await lecturer.press("Open a class")
        code, key = re.search(r"code=([A-Z]{5})(?:&amp;|&)key=([\w-]+)", " ".join(lecturer.words)).groups()
        assert await sent(url, *[CLEAR_CACHE] * 30)
        async with Visitor(port, "class", query=f"code={code}&key={key}") as phone:
            await phone.ask()
            assert phone.faults == [] and not any("No class has this code" in words for words in phone.words)
        lecturer.words.clear()
        await lecturer.ask()
        assert code in " ".join(lecturer.words)


@pytest.mark.slow
def test_a_late_request_of_what_the_phase_before_refreshed_draws_nothing(alive):
    awaited(a_class_that_changes_its_phase(int(alive.url.rsplit(":", 1)[1])))


async def a_class_that_changes_its_phase(port):
    """Ask for the fragments of the phase before, as a slow browser does; drawn, they would empty its page."""
    async with Visitor(port, "class") as lecturer:
        await lecturer.ask()
        await lecturer.press("Open a class")
        former = {*lecturer.polls}
        await lecturer.tell("class_phase", "string_array_value", ["Masks that cancel"])
        late = former - {*lecturer.polls}
        assert late and "Can a sum hide its parts?" in lecturer.words
        lecturer.polls = dict.fromkeys(late, 0.01)
        lecturer._since, lecturer._patience = dict.fromkeys(late, 0.0), 3.0
        with suppress(TimeoutError):  # the server does not answer
            await lecturer.poll()
        lecturer._patience = 120.0
        await lecturer.ask()
        assert lecturer.faults == [] and not late & {one for run in lecturer.scripts for one in run.split(",")}
