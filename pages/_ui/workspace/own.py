"""The controls of the pages about a file of one's own: none, for nothing of such a file is in an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.address.scene import Control


def own(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return no control."""
    return []
