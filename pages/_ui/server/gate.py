"""Put a gate in front of Streamlit that admits only pages of this server and port, and hides metrics by default."""

from __future__ import annotations

import os
import posixpath
from urllib.parse import urlsplit

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages._ui.frame.inside.client import address
from pages._ui.frame.inside.patches import is_set

__all__ = ["METRICS", "Gate", "same_origin"]

METRICS = "DPVIZ_METRICS"  # "on": anyone who reaches this server may see how many people visit and how much is stored
_ASKING = {"GET", "HEAD", "OPTIONS"}
_PORTS = {"http": 80, "https": 443}


class Gate:
    """ASGI middleware that keeps pages of another origin or port from opening a session or changing anything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._metrics = _plain(address("metrics"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on."""
        kind = scope["type"]
        if kind == "http" and _plain(scope["path"]).startswith(self._metrics) and os.environ.get(METRICS) != "on":
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        elif kind == "websocket" and not _ours(scope):
            await send({"type": "websocket.close", "code": 1008})
        elif kind == "http" and scope["method"] not in _ASKING and not _ours(scope):
            await PlainTextResponse("This server accepts nothing from pages of other sites.", 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _plain(path: str) -> str:
    """Return an address as a router might read it at its most tolerant: one slash each, no dots, in small letters."""
    return posixpath.normpath(f"/{path.lstrip('/')}").lower()


def _ours(scope: Scope) -> bool:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"origin", b"host")}
    return b"origin" not in headers or same_origin(headers[b"origin"], headers.get(b"host", ""))


def same_origin(origin: str, host: str) -> bool:
    """Return whether a page of this origin, such as "http://localhost:8501", may talk to the server under this host.

    Two Streamlit options admit other pages: `browser.serverAddress`, for a proxy that changes the host, and
    `server.corsAllowedOrigins`.
    """
    if not st.get_option("server.enableCORS"):
        return True
    named = {text.strip() for text in st.get_option("server.corsAllowedOrigins")}
    if is_set("browser.serverAddress"):
        address = st.get_option("browser.serverAddress")
        named |= {f"http://{address}", f"https://{address}"}
        if is_set("browser.serverPort"):
            port = st.get_option("browser.serverPort")
            named |= {f"http://{address}:{port}", f"https://{address}:{port}"}
    try:
        page, scheme = urlsplit(origin), urlsplit(origin).scheme
        asked = urlsplit(f"{scheme}://{host}")
        port = _PORTS[scheme]
        return origin in named or (
            bool(page.hostname) and (page.hostname, page.port or port) == (asked.hostname, asked.port or port)
        )
    except (KeyError, ValueError):  # the origin is "null" or not an address
        return False
