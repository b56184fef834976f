"""Check uploads: they need a field, come one at a time, have a maximum size, and are removed with their field."""

import asyncio
import http.client
import math
from types import SimpleNamespace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import Serialized, SessionState, Value
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from lab.benchmarks.visitor import Visitor
from pages._ui.frame.inside import patches
from pages._ui.server import uploads
from pages._ui.server.uploads import GRACE, MARGIN, STEP, Uploads, tidy
from tests.serving import awaited

MB = 1024 * 1024


@pytest.fixture
def server(monkeypatch):
    """Return a server with unlimited memory and one session, "ann", whose page has a field for a file."""
    store, states = MemoryUploadedFileManager("/_stcore/upload_file"), {"ann": SessionState()}
    here = SimpleNamespace(store=store, states=states, active={"ann"}, free=math.inf)
    sessions = SimpleNamespace(
        get_session_info=lambda name: (
            SimpleNamespace(session=SimpleNamespace(session_state=states[name])) if name in states else None
        )
    )
    it = SimpleNamespace(
        _session_mgr=sessions, uploaded_file_mgr=store, is_active_session=lambda name: name in here.active
    )
    monkeypatch.setattr(patches, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: it))
    monkeypatch.setattr(uploads, "memory", lambda: here.free)
    about = WidgetMetadata("field", lambda v: v, lambda v: v, "file_uploader_state_value")
    states["ann"]._new_widget_state.set_widget_metadata(about)
    states["ann"]._new_widget_state.set_from_value("field", None)
    return here


def held(server, *files):
    for name, size in files:
        server.store.add_file("ann", UploadedFileRec(name, "a.csv", "text/csv", bytes(size)))


def names(server):
    return set(server.store.file_storage.get("ann", {}))


async def put(app, length=100, session="ann", chunks=()):
    sent, waiting = [], [{"type": "http.request", "body": chunk} for chunk in chunks]

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    path = f"/_stcore/upload_file/{session}/one"
    await app({"type": "http", "method": "PUT", "path": path, "headers": headers}, receive, send)
    return sent[0]["status"]


async def takes(scope, receive, send):
    await send({"type": "http.response.start", "status": 204})


def test_a_demonstration_takes_no_file(server, monkeypatch):
    monkeypatch.setenv("DPVIZ_DEMO", "1")
    assert awaited(put(Uploads(takes))) == 403
    monkeypatch.setenv("DPVIZ_DEMO", "0")
    assert awaited(put(Uploads(takes))) == 204


def test_only_a_page_with_a_field_takes_a_file(server):
    app = Uploads(takes)
    assert awaited(put(app)) == 204 and awaited(put(app, session="bogus")) == 409
    server.states["ann"]._new_widget_state.states.clear()  # as Streamlit does after a run if the page has no field
    assert awaited(put(app)) == 409


def test_one_file_at_a_time_and_another_when_it_is_there(server):
    async def both():
        gate, begun = asyncio.Event(), asyncio.Event()

        async def slow(scope, receive, send):
            if not begun.is_set():  # the first upload
                begun.set()
                await gate.wait()
            await takes(scope, receive, send)

        app = Uploads(slow)
        first = asyncio.create_task(put(app))
        await begun.wait()
        second = await put(app)
        gate.set()
        return await first, second, await put(app)

    assert awaited(both()) == (204, 429, 204)


def test_a_session_holds_one_file_s_bytes_and_what_no_field_holds_makes_room(server, monkeypatch):
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": "", "server.maxUploadSize": 1}.__getitem__)
    app = Uploads(takes)
    held(server, ("old", MB))
    assert awaited(put(app, MB)) == 204 and names(server) == set()
    held(server, ("mine", MB))
    state = WidgetState(id="field")
    state.file_uploader_state_value.uploaded_file_info.add(file_id="mine")
    server.states["ann"]._new_widget_state.states["field"] = Serialized(state)
    assert awaited(put(app, STEP + 1)) == 413 and names(server) == {"mine"}
    server.states["ann"]._new_widget_state.states["field"] = Value(SimpleNamespace(file_id="mine"))
    assert awaited(put(app, STEP + 1)) == 413 and awaited(put(app, STEP)) == 204 and names(server) == {"mine"}


def test_a_file_that_does_not_fit_into_memory_is_refused_and_given_up(server):
    async def reads(scope, receive, send):
        for _ in range(4):
            await receive()
        await takes(scope, receive, send)

    app, chunks = Uploads(reads), [bytes(STEP)] * 4
    server.free = MARGIN + 2 * STEP
    assert awaited(put(app, STEP, chunks=chunks)) == 503
    server.free = MARGIN + 2 * STEP + 1
    assert awaited(put(app, None, chunks=chunks)) == 503  # the upload declares no length
    server.free = MARGIN + 4 * STEP + 1
    assert awaited(put(app, 2 * STEP, chunks=chunks)) == 204
    assert app._busy == set()


def test_files_go_when_nobody_has_wanted_them_for_a_while(server):
    held(server, ("mine", 1), ("lost", 1))
    server.states["ann"]._old_state["field"] = SimpleNamespace(file_id="mine")
    server.states["ann"]._new_widget_state.states.clear()
    since = tidy({}, 100.0)
    assert tidy(since, 99.0 + GRACE) == since and names(server) == {"mine", "lost"}
    since = tidy(since, 100.0 + GRACE)
    assert names(server) == {"mine"}
    server.active.clear()  # the visitor has left
    since = tidy(since, 200.0)
    server.active.add("ann")
    since = tidy(since, 201.0 + GRACE)  # the visitor is back in time
    assert names(server) == {"mine"} and since == {}
    server.active.clear()
    tidy(tidy(since, 300.0), 300.0 + GRACE)
    assert names(server) == set() and server.store._total_bytes == 0


def test_the_memory_of_a_container_counts(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 8000 kB\nMemAvailable: 4000 kB\n")
    monkeypatch.setattr(uploads, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(uploads, "_GROUP", tmp_path)
    assert uploads.memory() == 4_096_000
    for name, text in (("memory.max", "3000000"), ("memory.current", "2000000"), ("memory.stat", "inactive_file 500")):
        (tmp_path / name).write_text(f"{text}\n")
    assert uploads.memory() == 1_000_500
    (tmp_path / "memory.max").write_text("max\n")
    assert uploads.memory() == 4_096_000
    monkeypatch.setattr(uploads, "_MEMORY", tmp_path / "none")
    assert uploads.memory() == math.inf


class Named(Visitor):
    """A visitor who knows the id of their session."""

    session = ""

    def _whole(self, message):
        message = super()._whole(message)
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
        return message


def send(port, session, size):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=240)
    line.request("GET", "/_stcore/health")
    got = line.getresponse()
    got.read()
    [cookie] = [part.split(";")[0] for part in got.headers.get_all("set-cookie") if "_streamlit_xsrf" in part]
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n' + b"1" * size + b"\r\n--x--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Cookie": cookie}
    headers["X-Xsrftoken"] = cookie.partition("=")[2]
    line.request("PUT", f"/_stcore/upload_file/{session}/a-file", body, headers)
    return line.getresponse().status


async def visits(port):
    found = []
    async with Named(port, "limits") as visitor:
        await visitor.ask()
        found.append(await asyncio.to_thread(send, port, visitor.session, 1_000))
    async with Named(port, "data") as visitor:
        await visitor.ask()
        await visitor.tell("data_way", "string_array_value", ["Your file"])
        found += [await asyncio.to_thread(send, port, visitor.session, 1_000) for _ in range(2)]
    return found


@pytest.mark.slow
def test_a_real_server_takes_files_on_pages_with_a_field_alone(alive):
    assert asyncio.run(visits(int(alive.url.rsplit(":", 1)[1]))) == [409, 204, 204]
