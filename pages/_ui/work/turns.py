"""Decide which sessions count as one visitor when jobs of several visitors wait.

A visitor is a login, else the address forwarded by a proxy that the operator names, else the session. An
address may stand for a whole class, so the server shuts nobody out by address, and only decides who comes first.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping

import streamlit as st

from pages._ui.work.state import work_state

__all__ = ["PROXY", "check_settings", "turn", "turn_of"]

PROXY = "DPVIZ_PROXY"  # Addresses or networks of trusted proxies, separated by commas.
_LOGIN = "DPVIZ_OWNER_HEADER"  # The header in which a trusted proxy names each person.
_FORWARDED = "x-forwarded-for"


def check_settings() -> None:
    """Check the operator's settings.

    Raises
    ------
    ValueError
        If an entry of DPVIZ_PROXY is neither an address nor a network.
    """
    _proxies()


def turn() -> str:
    """Return the visitor of the running script's session."""
    connection = st.context
    headers = {name.lower(): value for name, value in connection.headers.items()}
    return turn_of(headers, connection.ip_address or "127.0.0.1", work_state.owner)


def turn_of(headers: Mapping[str, str], client: str, visit: str) -> str:
    """Return the name under which a session takes turns: a login, an address, or the session's own name.

    Parameters
    ----------
    headers : headers of the connection, with names in lower case
    client : address from which the connection came
    visit : name of the session
    """
    if login := headers.get(os.environ.get(_LOGIN, "").lower(), ""):
        return f"login {login}"
    proxies = _proxies()
    if not proxies:
        return visit
    way = [*headers.get(_FORWARDED, "").split(","), client]  # each proxy appends one entry
    for name in reversed(way):
        try:
            address = ipaddress.ip_address(name.strip())
        except ValueError:
            return visit  # no trusted proxy wrote this entry
        address = getattr(address, "ipv4_mapped", None) or address
        if not any(address in network for network in proxies):
            wide = isinstance(address, ipaddress.IPv6Address)  # one household has a whole network of IPv6 addresses
            return f"address {ipaddress.ip_network((address, 64), strict=False) if wide else address}"
    return visit


def _proxies() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    names = [name.strip() for name in os.environ.get(PROXY, "").split(",") if name.strip()]
    try:
        return [ipaddress.ip_network(name, strict=False) for name in names]
    except ValueError:
        raise ValueError(f"{PROXY} must hold addresses or networks, such as 10.0.0.0/8; got {names}.") from None
