"""Ledger's controls: the run whose releases it lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.address.scene import Control
from pages._ui.workspace.explore import explore

_LOOKS = ("in", "layers", "clouds", "again", "alex", "axes")  # how a run is looked at, and what is asked of it


def ledger(known: Mapping[str, Any]) -> Sequence[Control]:
    """Ledger: the run whose releases it lists, in Explore's words; how its picture is looked at does not matter."""
    return [control for control in explore(known) if control.word not in _LOOKS]
