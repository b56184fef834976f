"""Declare no controls for the pages about a visitor's file: an address contains nothing from such a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.frame.address.control import Control


def own(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return no controls."""
    return []
