"""Declare the controls of Limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.explore.federated import reconstruction
from pages._ui.frame.address.control import Control


def limits(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Limits' one picture, which shows the rows that can be read off exact centers."""
    return [reconstruction.DATA, reconstruction.PUBLISHED]
