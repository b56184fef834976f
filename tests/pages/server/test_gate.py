"""Check who may talk to the server: only its own pages, on its own port; nobody may read its metrics."""

import pytest
from streamlit import config

from pages._ui.server.gate import Gate, same_origin
from tests.serving import awaited

HOST = "127.0.0.1:8501"


@pytest.fixture
def option(monkeypatch):
    """Return a function that sets a Streamlit option; all other options keep their defaults."""
    values = {"server.enableCORS": True, "server.corsAllowedOrigins": [], "browser.serverAddress": "localhost"}
    named = set()

    def put(name, value):
        values[name] = value
        named.add(name)

    monkeypatch.setattr(
        "streamlit.get_option", lambda name: values[name] if name in values else config.get_option(name)
    )
    monkeypatch.setattr(config, "is_manually_set", named.__contains__)
    return put


def answer(kind="http", method="GET", path="/", **headers):
    """Return the gate's answer to a request: the HTTP status, the close code of a websocket, or "passed"."""
    sent = []

    async def app(scope, receive, send):
        sent.append({"status": "passed"})

    async def send(message):
        sent.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": path, "headers": pairs} | ({"method": method} if kind == "http" else {})
    awaited(Gate(app)(scope, None, send))
    return sent[0].get("status", sent[0].get("code"))


OTHERS = [
    "http://127.0.0.1:9999", "http://127.0.0.1", "https://127.0.0.1:8502", "http://localhost:8501", "http://evil.example",
    "null", "", "file://", "http://", "http://127.0.0.1:99999", "http://127.0.0.1:8501.evil.example", "chrome-extension://a",
]  # fmt: skip


@pytest.mark.parametrize("origin", OTHERS)
def test_a_page_of_another_port_or_host_opens_no_session_and_changes_nothing(option, origin):
    assert answer("websocket", origin=origin, host=HOST) == 1008
    assert answer(method="PUT", origin=origin, host=HOST) == 403
    assert answer(method="DELETE", origin=origin, host=HOST) == 403
    assert answer(method="GET", origin=origin, host=HOST) == "passed"


def test_the_server_s_own_pages_pass_and_so_does_a_program_that_names_no_page(option):
    assert answer("websocket", origin=f"http://{HOST}", host=HOST) == "passed"
    assert answer("websocket", host=HOST) == answer(method="PUT", host=HOST) == "passed"
    for origin, host in (
        ("https://dpviz.example.org", "dpviz.example.org"),
        ("https://dpviz.example.org", "dpviz.example.org:443"),
        ("http://dpviz.example.org:80", "DPVIZ.example.org"),
        ("http://[::1]:8501", "[::1]:8501"),
    ):
        assert same_origin(origin, host)
    assert not same_origin("https://dpviz.example.org", "dpviz.example.org:8501")


def test_what_the_operator_names_passes_with_its_port(option):
    assert not same_origin("https://dpviz.example.org", "inner:8501")
    option("browser.serverAddress", "dpviz.example.org")
    assert same_origin("https://dpviz.example.org", "inner:8501")
    assert not same_origin("https://dpviz.example.org:9999", "inner:8501")
    option("server.corsAllowedOrigins", ["https://course.example.org"])
    assert same_origin("https://course.example.org", "inner:8501")
    option("server.enableCORS", False)
    assert same_origin("http://evil.example", "inner:8501")


def test_metrics_are_off_unless_the_operator_wants_them(monkeypatch):
    monkeypatch.delenv("DPVIZ_METRICS", raising=False)
    assert answer(path="/_stcore/metrics") == answer(path="/_stcore/metrics/") == 404
    hidden = (
        "/_stcore//metrics",
        "/_stcore/./metrics",
        "/_STCORE/metrics",
        "//_stcore/x/../metrics",
        "/_stcore/metrics/.",
    )
    for path in hidden:
        assert answer(path=path) == 404, path
    assert answer(path="/metrics") == answer(path="/_stcore/health") == "passed"
    monkeypatch.setenv("DPVIZ_METRICS", "on")
    assert answer(path="/_stcore/metrics") == "passed"
