"""Find the address under which other devices reach this server, for links that leave the computer."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

import streamlit as st

from pages._ui.frame.inside.patches import is_set

__all__ = ["HERE_ONLY", "elsewhere"]

HERE_ONLY = "This address works on this computer only: other devices need one with the server's name."
_OUTSIDE = ("192.0.2.1", 9)  # kept free for documents (RFC 5737), so nobody answers there


def elsewhere(link: str) -> tuple[str, str]:
    """Return a link for other devices, and "" or a sentence that says that only this computer can open it.

    A link that names this computer's loopback is given the configured `browser.serverAddress` or, if the server listens
    beyond the loopback, its own address in the local network.
    """
    parts = urlsplit(link)
    if not parts.hostname or not _near(parts.hostname):
        return link, ""
    host, port = _named() or (_listening(), parts.port)
    if not host or _near(host):
        return link, HERE_ONLY
    name = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{name}:{port}" if port else name).geturl(), ""


def _near(host: str) -> bool:
    """Return whether a host is this computer's loopback, or stands for all of its addresses."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _named() -> tuple[str, int | None] | None:
    """Return the configured host and port of the server as browsers see it, or None if no host is configured."""
    if not is_set("browser.serverAddress"):
        return None
    port = st.get_option("browser.serverPort" if is_set("browser.serverPort") else "server.port")
    return st.get_option("browser.serverAddress"), port


def _listening() -> str:
    """Return the address at which the server listens or, if it listens at all of them, the one that leads outside."""
    bound = st.get_option("server.address") or "0.0.0.0"
    if bound.startswith("unix") or not _near(bound):
        return "" if bound.startswith("unix") else bound
    if bound == "localhost" or ipaddress.ip_address(bound).is_loopback:
        return ""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.connect(_OUTSIDE)  # chooses a route and sends nothing
            return str(out.getsockname()[0])
    except OSError:  # this computer has no network
        return ""
