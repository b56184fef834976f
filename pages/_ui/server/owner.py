"""Determine the owner, whose accounts a visit uses, once per connection and before any script runs.

On a server that only this machine can reach, this machine's user is the owner. Elsewhere the operator's proxy names
each person in a header, or the browser keeps a key in a cookie; the key can be downloaded and moved to another browser.
A shared login does not identify a person, so it is never an owner.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpviz.privacy.accounts import KEY, LOCAL, owner_by_key, owner_by_login
from pages._ui.frame.inside.patches import set_option
from pages._ui.frame.session import Held, nothing

__all__ = [
    "HEADER",
    "WHO",
    "Owned",
    "Owner",
    "bind_visits",
    "check_settings",
    "keep_in_browser",
    "keeping",
    "owner",
    "owner_of",
    "take",
]

WHO = "DPVIZ_OWNER"  # "local": every visitor counts as this machine's user; "visitor": no visitor does.
HEADER = "DPVIZ_OWNER_HEADER"  # The header in which the operator's proxy names each person.
_INTERNAL = b"x-dpviz-owner"  # Header from the middleware to the script; the same header from outside is removed.
_BOUND = b"x-dpviz-visit"  # Header to Streamlit with the visit's owner; empty without a cookie.
_TRUSTED = "server.trustedUserHeaders"
# names of the cookie with TLS (no other site of the domain can set it) and without TLS
_COOKIES = ("__Host-dpviz-key", "dpviz-key")
_AGE = 400 * 86_400  # lifetime in seconds, counted from the last visit: the maximum that browsers allow
_FORWARDED = re.compile(rb"(x-)?forwarded(-.+)?|x-(real|client|cluster-client)-ip|via|true-client-ip|cf-connecting-ip")
_KEPT_FOR = 300.0  # Number of seconds in which a browser may fetch a key that was added as a file.
_LINE = "dpviz key: "  # Start of the line of a key file that holds the key.
_MOST_BYTES = 4_000


@dataclasses.dataclass(frozen=True)
class Owner:
    """A person. `value` is a login or a SECRET key; show and log only `name`."""

    kind: Literal["local", "login", "key"]
    value: str = dataclasses.field(default="", repr=False)

    @property
    def name(self) -> str:
        """Return the owner's name in accounts, which is not secret."""
        if self.kind == "local":
            return LOCAL
        return owner_by_login(self.value) if self.kind == "login" else owner_by_key(self.value)

    @property
    def key_file(self) -> str:
        """Return the file with the owner's key, for another browser; only owners with a key have one."""
        return (
            "Anyone who has this file owns your accounts on the dpviz server that issued it.\n"
            f"The file cannot be recreated.\n{_LINE}{self.value}\n"
        )


class _Mine:
    account_owner: Held[Owner | None] = Held(nothing)  # owner of this visit's accounts, stored when first needed


_mine = _Mine()


def check_settings() -> None:
    """Check the operator's settings.

    Raises
    ------
    ValueError
        If a setting is unknown, the settings contradict each other, or the header does not name a person.
    """
    who, header = os.environ.get(WHO, ""), os.environ.get(HEADER, "")
    if who not in ("", "local", "visitor"):
        raise ValueError(f"{WHO} must be local or visitor, or not set; got {who!r}.")
    if who == "local" and header:
        raise ValueError(f"Set {WHO}=local for one person, or {HEADER} for several, not both.")
    if header and not re.fullmatch(r"[A-Za-z0-9-]+", header):
        raise ValueError(f"{HEADER} must be the name of a header, such as X-Dpviz-Login; got {header!r}.")
    if header.lower() in ("authorization", "proxy-authorization", "cookie", _INTERNAL.decode()):
        raise ValueError(f"{HEADER}={header} does not name a person; use a header that the proxy sets.")


def bind_visits() -> None:
    """Make Streamlit resume a visit only for the person who began it, and begin a new visit for everybody else.

    A page reconnects with the id of its visit, but another person might have logged in meanwhile.
    """
    set_option(_TRUSTED, {**st.get_option(_TRUSTED), _BOUND.decode(): "owner"})


def owner_of(scope: Scope) -> Owner:
    """Return the owner behind an ASGI scope (http or websocket), given the operator's settings.

    A person who cannot be identified is a new owner with a new random key.
    """
    if os.environ.get(WHO) == "local":
        return Owner("local")
    header = os.environ.get(HEADER, "").lower().encode()
    if header:
        logins = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == header]
        if len(logins) == 1 and logins[0]:
            return Owner("login", logins[0])
    elif os.environ.get(WHO) != "visitor" and _on_this_machine(scope):
        return Owner("local")
    return Owner("key", _cookie(scope) or secrets.token_urlsafe(32))


def _on_this_machine(scope: Scope) -> bool:
    """Return whether a browser on this machine connects directly; a proxy on this machine does not count.

    A proxy that sends no headers of its own is recognized by the public host name that browsers request.
    """
    headers = scope["headers"]
    hosts = [b"//" + value for name, value in headers if name == b"host"]
    origins = [value for name, value in headers if name == b"origin"]
    return (
        _loopback((scope.get("client") or ("",))[0])
        and len(hosts) == 1
        and all(_loopback(_hostname(value)) for value in (*hosts, *origins))
        and not any(_FORWARDED.fullmatch(name) for name, _ in headers)
    )


def _hostname(address: bytes) -> str:
    try:
        return urlsplit(address.decode("latin-1")).hostname or ""
    except ValueError:
        return ""


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _cookie(scope: Scope) -> str:
    """Return the key that a browser keeps, or "" if it keeps none."""
    cookies: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            cookies |= cookie_parser(
                value.decode("latin-1")
            )  # parsed as browsers do, so that an odd value in another cookie does no harm
    names = _COOKIES[:1] if _secure(scope) else _COOKIES[1:]
    return next((cookies[name] for name in names if KEY.fullmatch(cookies.get(name, ""))), "")


def _secure(scope: Scope) -> bool:
    """Return whether the browser speaks TLS, with this server or with the proxy in front of it."""
    forwarded = [value.lower() for name, value in scope["headers"] if name == b"x-forwarded-proto"]
    return scope.get("scheme") in ("https", "wss") or forwarded in ([b"https"], [b"wss"])


def _set_cookie(scope: Scope, key: str) -> tuple[bytes, bytes]:
    secure = _secure(scope)
    name = _COOKIES[0] if secure else _COOKIES[1]
    words = f"{name}={key}; Path=/; Max-Age={_AGE}; HttpOnly; SameSite=Lax{'; Secure' * secure}"
    return b"set-cookie", words.encode()


class Owned:
    """ASGI middleware that sets the cookie with a visitor's key and tells scripts who has connected."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, without the headers that only this middleware may set."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        who = owner_of(scope)
        headers = [(name, value) for name, value in scope["headers"] if name not in (_INTERNAL, _BOUND)]
        if scope["type"] == "websocket":
            known = who.kind != "key" or who.value == _cookie(scope)
            headers.append((_INTERNAL, f"{who.kind}:{who.value}".encode("latin-1")))
            headers.append((_BOUND, who.name.encode("latin-1") if known else b""))

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and who.kind == "key" and _is_page(scope, message["headers"]):
                headers = [(name, value) for name, value in message["headers"] if name.lower() != b"cache-control"]
                headers += [(b"cache-control", b"private, no-cache"), _set_cookie(scope, who.value)]
                message = {**message, "headers": headers}
            await send(message)

        await self._app({**scope, "headers": headers}, receive, answer if scope["type"] == "http" else send)


def _is_page(scope: Scope, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a response is a page that fills a tab of the browser.

    Browsers request a page in another site's frame without the cookie; a new cookie must not replace the old one.
    """
    sent = [value for name, value in scope["headers"] if name == b"sec-fetch-dest"]
    kinds = [value for name, value in headers if name.lower() == b"content-type"]
    return scope["method"] == "GET" and sent in ([], [b"document"]) and any(k.startswith(b"text/html") for k in kinds)


def owner() -> Owner:
    """Return the owner of the running script's session; a visit has one owner (`bind_visits`)."""
    if _mine.account_owner is None:
        kind, _, value = st.context.headers.get(_INTERNAL.decode(), "").partition(":")
        if os.environ.get(WHO) == "local":
            kind, value = "local", ""
        if kind not in ("local", "login", "key"):  # the connection is gone, or there never was one
            kind, value = "key", secrets.token_urlsafe(32)
        _mine.account_owner = Owner(kind, value)  # type: ignore[arg-type]
    return _mine.account_owner


def take(content: bytes) -> Owner:
    """Make the visitor of this session the owner to whom this key file belongs.

    Raises
    ------
    ValueError
        If the file is not a key file.
    """
    lines = content[:_MOST_BYTES].decode("latin-1").splitlines()
    key = next((line.removeprefix(_LINE).strip() for line in lines if line.startswith(_LINE)), "")
    if not KEY.fullmatch(key):
        raise ValueError("This is not a dpviz key file; add the one that you downloaded from this page.")
    _mine.account_owner = Owner("key", key)
    return _mine.account_owner


# A browser accepts a cookie only in a response, so an added key waits here until the browser fetches it.

_waiting: dict[str, tuple[float, str, str]] = {}  # ticket -> time of expiry, the browser's current key, its new key
_lock = threading.Lock()


def keep_in_browser(before: Owner, after: Owner) -> str:
    """Return the address, relative to a page, at which the browser with the key `before` receives the key `after`."""
    ticket, now = secrets.token_urlsafe(32), time.monotonic()
    with _lock:
        for old in [old for old, (until, *_) in _waiting.items() if until < now]:
            del _waiting[old]
        _waiting[ticket] = (now + _KEPT_FOR, before.value, after.value)
    return f"./_dpviz/key/{ticket}"


def keeping() -> Route:
    """Return the route at which a browser receives a key once; the link does nothing in other browsers."""

    async def answer(request: Request) -> Response:
        with _lock:
            until, before, after = _waiting.pop(request.path_params["ticket"], (0.0, "", ""))
        response = Response(status_code=204, headers={"cache-control": "no-store"})
        if time.monotonic() < until and secrets.compare_digest(_cookie(request.scope), before):
            response.raw_headers.append(_set_cookie(request.scope, after))
        return response

    base = st.get_option("server.baseUrlPath").strip("/")
    return Route(f"/{base}/_dpviz/key/{{ticket}}".replace("//", "/"), answer, methods=["GET"])
