"""A visitor without a browser: one session of Streamlit 1.67's own websocket protocol, on this machine only."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

__all__ = ["Visitor"]

_AGAIN = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # the script restarts by itself, so its run has not ended


class Visitor:
    """One session, which keeps the widgets that it was sent and their values, and answers as a browser would.

    Parameters
    ----------
    port : port of a server on 127.0.0.1
    page : path without the leading slash, "" for the first page
    query : query of the address, without the question mark
    cookie : cookie sent with the websocket's request, by which a proxy keeps a visitor on one process
    patience : seconds after which an answer is considered lost
    """

    def __init__(self, port: int, page: str, *, query: str = "", cookie: str = "", patience: float = 120.0) -> None:
        self._address, self._page, self._patience = f"127.0.0.1:{port}", page, patience
        self.query, self._cookie = query, cookie
        self._values: dict[str, tuple[str, Any]] = {}
        self._hash = ""
        self.widgets: dict[str, tuple[str, Any, str]] = {}  # id -> (kind, proto, the fragment that contains it).
        self.polls: dict[str, float] = {}  # fragments to poll after the page's last run -> seconds between two polls
        self._since: dict[str, float] = {}  # when the timer of each fragment started
        self.scripts: list[str] = []  # for each script run, the fragments that it ran; "" for the whole page
        self.faults: list[str] = []
        self.words: list[str] = []  # texts of the page's HTML and headings, in order of arrival
        self._kept: dict[
            str, tuple[Any, int]
        ] = {}  # large messages by their hash, each with the script run that last sent it
        self._oldest = 2  # number of script runs for which a message is kept

    async def __aenter__(self) -> Visitor:
        self._socket = await websockets.connect(
            f"ws://{self._address}/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            max_size=None,
            compression=None,
            open_timeout=self._patience,
            ping_timeout=self._patience,
            additional_headers={"cookie": self._cookie} if self._cookie else None,
        )
        return self

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._socket.close()

    def find(self, key: str, kind: str = "") -> str:
        """Return the id of the newest widget with this key, or of the newest button with this label."""
        for identity, (found, proto, _) in reversed(self.widgets.items()):
            if identity.endswith(f"-{key}") or (found == "button" and proto.label == key):
                if kind in ("", found):
                    return identity
        raise KeyError(key)

    async def ask(self) -> float:
        """Run the page; return the seconds until its last message has arrived."""
        return await self._send()

    async def change(self, key: str, value: bool | float | str) -> float:
        """Give a widget a value; return the seconds until the answer has arrived."""
        identity = self.find(key)
        kind, proto, fragment = self.widgets[identity]
        field = {bool: "bool_value", str: "string_value"}.get(type(value), "double_value")
        if kind == "number_input" and proto.data_type == proto.INT:
            field, value = "int_value", int(value)
        self._values[identity] = field, value
        return await self._send(fragment=fragment)

    async def tell(self, key: str, field: str, value: Any) -> float:
        """Set a widget through the protocol's field for its kind; return the seconds until the answer has arrived."""
        identity = self.find(key)
        self._values[identity] = field, value
        return await self._send(fragment=self.widgets[identity][2])

    async def press(self, label: str) -> float:
        """Press a button; return the seconds until the answer has arrived."""
        identity = self.find(label, "button")
        return await self._send(fragment=self.widgets[identity][2], trigger=identity)

    async def poll(self) -> float:
        """Wait until the first self-refreshing fragment is due and request it; return the seconds until the answer."""
        fragment, seconds = next(iter(self.polls.items()))
        now = time.perf_counter()
        await asyncio.sleep(seconds - (now - self._since[fragment]) % seconds)  # the timer does not wait for answers
        return await self._send(fragment=fragment, auto=True)

    async def _send(self, *, fragment: str = "", trigger: str = "", auto: bool = False) -> float:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = self.query
        rerun.page_script_hash, rerun.fragment_id, rerun.is_auto_rerun = self._hash, fragment, auto
        if not self._hash:
            rerun.page_name = self._page
        for identity, (field, value) in self._values.items():
            widget = rerun.widget_states.widgets.add(id=identity)
            if isinstance(value, list):
                getattr(widget, field).data.extend(value)
            else:
                setattr(widget, field, value)
        rerun.cached_message_hashes.extend(self._kept)
        if trigger:
            rerun.widget_states.widgets.add(id=trigger, trigger_value=True)
        context = rerun.context_info
        context.timezone, context.locale, context.url = "UTC", "en-US", f"http://{self._address}/{self._page}"
        context.color_scheme = "light"
        begun = time.perf_counter()
        await self._socket.send(message.SerializeToString())
        await asyncio.wait_for(self._until_finished(), self._patience)
        return time.perf_counter() - begun

    async def _until_finished(self) -> None:
        while True:
            text = await self._socket.recv()
            message = self._whole(ForwardMsg.FromString(text))
            kind = message.WhichOneof("type")
            if kind == "new_session":
                fragments = message.metadata.run.fragment_ids
                self.scripts.append(",".join(fragments))
                self._oldest = message.new_session.config.max_cached_message_age
                if not fragments:
                    self.polls.clear()
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "navigation" and message.navigation.page_script_hash:
                self._hash = message.navigation.page_script_hash
            elif kind == "auto_rerun":
                self.polls[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                self._since[message.auto_rerun.fragment_id] = time.perf_counter()
            elif kind == "delta":
                self._take(message.delta)
            elif kind == "script_finished" and message.script_finished != _AGAIN:
                last = len(self.scripts) - self._oldest
                self._kept = {name: kept for name, kept in self._kept.items() if kept[1] >= last}
                return

    def _whole(self, message: Any) -> Any:
        """Return a whole message, even if it arrived only as the hash of one that the server had sent before."""
        name = message.ref_hash or (message.hash if message.metadata.cacheable else "")
        if name:
            message = self._kept[name][0] if message.ref_hash else message
            self._kept[name] = message, len(self.scripts)
        return message

    def _take(self, delta: Any) -> None:
        if delta.WhichOneof("type") != "new_element":
            return
        kind = delta.new_element.WhichOneof("type")
        proto = getattr(delta.new_element, kind)
        if kind in ("html", "heading"):
            self.words.append(proto.body)
        if kind == "exception":
            self.faults.append("\n".join([proto.message, *proto.stack_trace]))
        if identity := getattr(proto, "id", ""):
            self.widgets.pop(identity, None)
            self.widgets[identity] = kind, proto, delta.fragment_id
