"""Check how many processes, and how much memory, a server needs that nobody has visited yet, and whom it answers."""

import socket
import sys
import time
import urllib.error
import urllib.request

import pytest

from lab.benchmarks.load import Server
from tests.serving import running


def handshake(url, origin):
    """Request a websocket as a page of the given origin would; return the status line."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as line:
        request = (
            f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        line.sendall(request.encode())
        return line.recv(4096).decode("latin-1").split("\r\n")[0]


def healthy(url):
    try:
        with urllib.request.urlopen(f"{url}/_stcore/script-health-check", timeout=240) as answer:
            return answer.status == 200
    except urllib.error.HTTPError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_an_idle_server_has_at_most_five_processes_and_800_mb_and_answers_no_foreign_page():
    """Afterward, `running` checks that the server asked no outside address."""
    with running() as (url, _):
        server, before = Server(int(url.rpartition(":")[2])), -1.0
        while abs((now := server.memory()[1]) - before) > 1:  # workers still import their modules
            before = now
            time.sleep(4)
        assert len(server.family()) <= 5 and now < 800
        assert "403" in handshake(url, "http://evil.example")  # before any visit
        until = time.monotonic() + 200
        while not healthy(url):  # the first run of the script may take longer than Streamlit waits for it
            assert time.monotonic() < until
        assert "101" in handshake(url, url)
