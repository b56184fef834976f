"""Send a page with less work: Streamlit would send its 70 messages one by one, and let all other threads work between.

Every write to a socket and every turn of the event loop lets another page be drawn for up to `sys.getswitchinterval()`
before the loop goes on. With a hundred visitors, these waits took more time than everything else.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from streamlit.components.v2.bidi_component import main
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["Gathered", "as_json", "colors_as_kept", "together"]

_flush, _send, _wake = AppSession.flush_browser_queue, Runtime._send_message, Runtime._enqueued_some_message
_connect, _read = WebSocketsSansIOProtocol.connection_made, app_session._populate_theme_msg
_TOGETHER = 100  # messages; a connection that falls more than 500 of them behind is closed


class Gathered:
    """A connection's transport that writes together what it is given during one turn of the event loop."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        """Write bytes before the next turn of the loop."""
        if not self._parts:
            self._loop.call_soon(self._write)
        self._parts.append(part)

    def close(self) -> None:
        """Write what was given and close the connection."""
        self._write()
        self._transport.close()

    def _write(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


def together() -> None:
    """Send the messages that wait for a browser together; call it before Streamlit makes its runtime."""

    def flushed(self: AppSession) -> list[list[ForwardMsg]]:
        waiting = _flush(self)
        return [waiting[start : start + _TOGETHER] for start in range(0, len(waiting), _TOGETHER)]

    def sent(self: Runtime, session: Any, messages: list[ForwardMsg]) -> None:
        for message in messages:
            _send(self, session, message)

    def came(self: Runtime) -> None:
        found = self._get_async_objs()
        try:
            awake = asyncio.get_running_loop() is found.eventloop
        except RuntimeError:  # another thread has no running loop
            awake = False
        if awake:
            found.need_send_data.set()
        else:
            _wake(self)

    def connected(self: WebSocketsSansIOProtocol, transport: Any) -> None:
        _connect(self, Gathered(transport, self.loop))  # type: ignore[arg-type]

    AppSession.flush_browser_queue = flushed  # type: ignore[assignment, method-assign]
    Runtime._send_message = sent  # type: ignore[assignment, method-assign]
    Runtime._enqueued_some_message = came  # type: ignore[method-assign]
    WebSocketsSansIOProtocol.connection_made = connected  # type: ignore[method-assign]


def as_json() -> None:
    """Write a component's data as JSON once, without a search for tables in it and a second copy that only names it.

    Each of our components has a key, which names it.
    """

    def write(data: Any, proto: BidiComponent) -> None:
        proto.json = json.dumps(data)

    main.serialize_mixed_data = write  # type: ignore[assignment]
    main.BidiComponentMixin._build_bidi_identity_kwargs = lambda self, **_: {}  # type: ignore[method-assign]


def colors_as_kept() -> None:
    """Read the 295 options of the theme once, and not whenever a page is drawn."""
    kept: dict[str, CustomThemeConfig] = {}

    def write(message: CustomThemeConfig, section: str = "theme") -> None:
        if section not in kept:
            made = CustomThemeConfig()
            _read(made, section)
            kept[section] = made
        if kept[section].ListFields():
            message.MergeFrom(kept[section])

    app_session._populate_theme_msg = write  # type: ignore[assignment]
