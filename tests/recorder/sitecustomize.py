"""Record every name that a server under test looks up, and every address that it calls, in a file."""

import os
import sys

_FILE = os.environ.get("DPVIZ_TEST_SOCKETS")
_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "")


def _record(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""  # a path, which means a socket of this machine
    elif event in ("socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host or "")
    if host not in _LOCAL:
        descriptor = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{event} {host}\n".encode())
        os.close(descriptor)


if _FILE:
    sys.addaudithook(_record)
