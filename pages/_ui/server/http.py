"""Serve browsers before any page script runs: preload large scripts, redirect mistaken addresses, compress files."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Collection, Iterable
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pages._ui.frame.inside.client import STATIC, scripts

__all__ = ["Compressed", "Forwarded", "announcing", "offering"]

_LEVEL = 6  # gzip level; level 9 takes three times as long and makes the files only one percent smaller
_FOREVER = "public, immutable, max-age=31536000"  # Header as Streamlit sends it; safe, because names contain hashes.
_TYPES = {".js": "text/javascript", ".css": "text/css"}


def announcing(parts: Iterable[str], pages: Iterable[str], own: Iterable[str] = ()) -> list[Route]:
    """Return routes that serve the page shell with preload links to the client's parts that every page needs.

    Without these links, a browser requests a part only when the first element needs it, a second after the shell.

    Parameters
    ----------
    parts : names of bundled scripts without their hash, such as `client.COMPONENTS`
    pages : paths of the pages, such as "/explore"
    own : paths of our own scripts, which `offering` serves
    """
    index = (STATIC / "index.html").read_text()
    names: dict[str, None] = {}
    for part in parts:
        names |= dict.fromkeys(scripts(part))
    files = [*(name for name in names if name not in index), *own]
    links = "".join(f'<link rel="modulepreload" crossorigin href="./{file}">' for file in files)
    shell = index.replace("</head>", f"{links}</head>")

    async def answer(_: Request) -> HTMLResponse:
        return HTMLResponse(shell, headers={"cache-control": "no-cache"})

    return [Route(path, answer, methods=["GET", "HEAD"]) for path in pages]


def offering(name: str, content: bytes, media: str = "text/javascript") -> Route:
    """Return a route for a file of ours; its name contains its hash, so browsers cache it for a year."""
    packed = gzip.compress(content, _LEVEL, mtime=0)

    async def answer(request: Request) -> Response:
        short = "gzip" in request.headers.get("accept-encoding", "")
        headers = {
            "cache-control": _FOREVER,
            "vary": "accept-encoding",
            **({"content-encoding": "gzip"} if short else {}),
        }
        return Response(packed if short else content, media_type=media, headers=headers)

    return Route(f"{_base()}/{name}", answer, methods=["GET", "HEAD"])


def _base() -> str:
    """Return the prefix of the server's paths: empty, or a slash and the operator's setting."""
    return "/".join(filter(None, ["", st.get_option("server.baseUrlPath").strip("/")]))


class Forwarded:
    """ASGI middleware that redirects the address of a page that does not exist to Start, before a page is made.

    Parameters
    ----------
    app : the application that answers all other requests
    pages : names of the pages
    query : query with which Start says that there is no such page
    """

    def __init__(self, app: ASGIApp, pages: Collection[str], query: str) -> None:
        self._app, self._pages, self._query = app, {"", *pages}, query

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect a request for a page, or let the app answer."""
        answer, base = self._app, f"{_base()}/"
        if scope["type"] == "http" and scope["path"].startswith(base):
            page = scope["path"].removeprefix(base)
            if page not in self._pages and page.replace("-", "").isalnum():
                answer = RedirectResponse(f"./?{self._query}", 307)
        await answer(scope, receive, send)


class Compressed:
    """ASGI middleware that compresses the scripts and styles of Streamlit's client on first request and caches them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        base = _base()
        self._files = {
            f"{base}/{file.relative_to(STATIC).as_posix()}": file
            for file in (STATIC / "static").rglob("*")
            if file.suffix in _TYPES
        }
        self._packed: dict[str, asyncio.Future[bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests for the files that may be compressed; pass everything else on."""
        file = self._files.get(scope.get("path", ""))
        if file is None or not _may_be_compressed(scope):
            await self._app(scope, receive, send)
            return
        response = Response(
            await self._pack(scope["path"], file),
            media_type=_TYPES[file.suffix],
            headers={
                "content-encoding": "gzip",
                "vary": "accept-encoding",
                "cache-control": _FOREVER,
            },
        )
        await response(scope, receive, send)

    async def _pack(self, path: str, file: Path) -> bytes:
        if path not in self._packed:
            work = asyncio.to_thread(lambda: gzip.compress(file.read_bytes(), _LEVEL, mtime=0))
            self._packed[path] = asyncio.ensure_future(work)
        return await asyncio.shield(self._packed[path])  # if a visitor leaves, the compression continues for the others


def _may_be_compressed(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    headers = dict(scope["headers"])
    return b"gzip" in headers.get(b"accept-encoding", b"") and b"range" not in headers
