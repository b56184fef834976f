"""Limit uploads: one file at a time per session, only while a field waits for it, and stored no longer than needed.

Streamlit by itself accepts any number of files and keeps them until it drops the session.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages._ui.frame.demo import NO_FILE, demo
from pages._ui.frame.inside.client import address
from pages._ui.frame.inside.patches import connected, drop, file_fields, held

__all__ = ["Uploads", "keep_tidy", "memory"]

GRACE = 30.0  # Number of seconds in which a browser may name a file's field, or a broken connection may return.
LOOK = 10.0  # Seconds between checks for files without a field.
MARGIN = 256_000_000  # Number of bytes of memory that a file must leave for everybody else.
STEP = 8_000_000  # Number of bytes of a file after which the memory is checked again.
_MEMORY = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


class _TooMuch(Exception):
    """Raised when the server lacks memory for the rest of a file."""


class Uploads:
    """ASGI middleware that puts limits on requests sent to Streamlit's upload address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._path = address("upload_file/")
        self._busy: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a file that is unexpected, too large, or sent while another one arrives; pass other requests on."""
        if scope["type"] != "http" or scope["method"] != "PUT" or not scope["path"].startswith(self._path):
            await self._app(scope, receive, send)
            return
        session = scope["path"].removeprefix(self._path).partition("/")[0]
        if refusal := self._refusal(session, _length(scope)):
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, send)
            return
        self._busy.add(session)
        try:
            await self._app(scope, _watched(receive), send)
        except _TooMuch:
            await PlainTextResponse(*_FULL)(scope, receive, send)
        finally:
            self._busy.discard(session)

    def _refusal(self, session: str, length: int) -> tuple[int, str] | None:
        """Return the status and the sentence if a file of this size is refused, else None."""
        if demo():
            return 403, NO_FILE
        if next(file_fields(session), None) is None:
            return 409, "No field on this page accepts a file."
        if session in self._busy:
            return 429, "Another file is still being uploaded; send one at a time."
        _drop(session, lambda file: file not in _wanted(session))
        most = st.get_option("server.maxUploadSize") * 1024 * 1024 + STEP  # plus room for the bytes that a form adds
        if length + sum(map(len, _held(session).values())) > most:
            return 413, "Together, the files of this visit are too large."
        return None if 2 * length + MARGIN < memory() else _FULL[::-1]


_FULL = "This server has no memory for the file right now; try again later.", 503


def _length(scope: Scope) -> int:
    """Return the size that a request declares, or 0 if it declares none; Streamlit counts the bytes itself."""
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 16 else 0


def _watched(receive: Receive) -> Receive:
    """Return a receive function that stops with an error when the server's memory runs out."""
    come, looked = 0, 0

    async def inner() -> Message:
        nonlocal come, looked
        message = await receive()
        come += len(message.get("body", b""))
        if come - looked >= STEP:
            looked = come
            if come + MARGIN > memory():  # Streamlit copies the complete file once more
                raise _TooMuch
        return message

    return inner


def memory() -> float:
    """Return how many bytes this process may still allocate; infinity if the system does not report it."""
    free = math.inf
    try:
        lines = dict(line.split(":") for line in _MEMORY.read_text().splitlines())
        free = 1024.0 * int(lines["MemAvailable"].split()[0])
        most = (_GROUP / "memory.max").read_text().strip()
        if most != "max":
            cached = dict(line.split() for line in (_GROUP / "memory.stat").read_text().splitlines())["inactive_file"]
            used = int((_GROUP / "memory.current").read_text()) - int(cached)
            free = min(free, int(most) - used)
    except (OSError, KeyError, ValueError):
        pass  # these files exist only on Linux, and some of them only in a control group
    return free


def _wanted(session: str) -> set[str]:
    """Return the files in all file fields of a session's page."""
    return {file for files in file_fields(session) for file in files}


def _held(session: str) -> dict[str, bytes]:
    """Return the files that the server holds for a session."""
    return held().get(session, {})


def _drop(session: str, which: Callable[[str], bool]) -> None:
    for file in list(_held(session)):
        if which(file):
            drop(session, file)


async def keep_tidy() -> None:
    """Run forever, dropping the files whose field or visitor has been gone for a while."""
    since: dict[tuple[str, str], float] = {}
    while True:
        await asyncio.sleep(LOOK)
        since = tidy(since, time.monotonic())


def tidy(since: dict[tuple[str, str], float], now: float) -> dict[tuple[str, str], float]:
    """Drop the files that nobody has needed for `GRACE` seconds.

    Parameters
    ----------
    since : (session, file) -> time since which nobody has needed the file, as returned by the last call
    now : the current time in seconds
    """
    seen: dict[tuple[str, str], float] = {}
    for session in held():
        wanted = _wanted(session) if connected([session]) else set()
        for file in set(_held(session)) - wanted:
            seen[session, file] = since.get((session, file), now)
        _drop(session, lambda file, session=session: now - seen.get((session, file), now) >= GRACE)  # type: ignore[misc]
    return seen
