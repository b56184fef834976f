"""Check which address a link for other devices carries: never the loopback without a sentence that says so."""

import socket
from types import SimpleNamespace

import pytest

from pages._ui.frame.address import near
from pages._ui.frame.address.near import HERE_ONLY, elsewhere
from pages._ui.teach.classroom import joining

LINK = "http://{}:8501/class?v=1&code=ABCDE#x"


@pytest.fixture
def server(monkeypatch):
    """Set the server's options; a route outside leads over 10.1.2.3, and every use of the network is noted."""
    sent = []

    class Route(socket.socket):
        def connect(self, where):
            sent.append(where)

        def getsockname(self):
            return ("10.1.2.3", 40_000)

        def sendto(self, *args):
            pytest.fail("the network was asked")

        send = sendall = sendto

    def configure(**options):
        values = {"server.address": None, "server.port": 8501} | {n.replace("_", ".", 1): v for n, v in options.items()}
        monkeypatch.setattr(near.st, "get_option", values.get)
        monkeypatch.setattr(near, "is_set", lambda name: name in values and name.startswith("browser"))
        monkeypatch.setattr(near.socket, "socket", Route)
        return sent

    return configure


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.1.1", "[::1]", "0.0.0.0", "[::]"])
def test_a_server_that_listens_on_the_loopback_says_that_no_other_device_can_come(server, host):
    for bound in ("localhost", "127.0.0.1", "::1"):
        assert not server(server_address=bound)
        assert elsewhere(LINK.format(host)) == (LINK.format(host), HERE_ONLY)


@pytest.mark.parametrize(("bound", "host"), [(None, "10.1.2.3"), ("0.0.0.0", "10.1.2.3"), ("::", "10.1.2.3"),
                                             ("192.168.7.5", "192.168.7.5"), ("fd00::5", "[fd00::5]")])  # fmt: skip
def test_a_server_that_listens_further_is_named_by_its_own_address(server, bound, host):
    server(server_address=bound)
    assert elsewhere(LINK.format("127.0.0.1")) == (LINK.format(host), "")


def test_the_configured_name_of_the_server_goes_first(server):
    server(server_address="localhost", browser_serverAddress="dp.example.org", browser_serverPort=443)
    assert elsewhere(LINK.format("localhost")) == (LINK.format("dp.example.org").replace("8501", "443"), "")
    server(server_address="0.0.0.0", browser_serverAddress="dp.example.org")
    assert elsewhere(LINK.format("localhost")) == (LINK.format("dp.example.org"), "")
    server(server_address="0.0.0.0", browser_serverAddress="localhost")
    assert elsewhere(LINK.format("localhost"))[1] == HERE_ONLY


def test_an_address_that_others_know_stays(server):
    server(server_address="0.0.0.0")
    for known in ("https://dp.example.org/class", "http://10.9.9.9:8501/class", "/class", "class"):
        assert elsewhere(known) == (known, "")


def test_a_computer_without_a_network_says_so(server, monkeypatch):
    server(server_address="0.0.0.0")

    def none(*_):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(near.socket.socket, "connect", none)
    assert elsewhere(LINK.format("localhost"))[1] == HERE_ONLY


def test_the_code_of_a_class_carries_the_address_or_the_sentence(server, monkeypatch):
    shown = []
    monkeypatch.setattr(joining.st, "html", lambda body, **_: shown.append(str(body)))
    room = SimpleNamespace(code="ABCDE", key="secret")
    server(server_address="0.0.0.0")
    joining.code(room, "http://localhost:8501/class")
    assert 'data-link="http://10.1.2.3:8501/class?v=1&amp;code=ABCDE' in shown[-1]
    assert "10.1.2.3:8501/class" in shown[-1].partition("Scan, or open")[2] and "localhost" not in shown[-1]
    assert "No phone can join" not in shown[-1]
    server(server_address="localhost")
    joining.code(room, "http://localhost:8501/class")
    assert "No phone can join." in shown[-1] and HERE_ONLY in shown[-1]
