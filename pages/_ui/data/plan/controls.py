"""Declare the controls of Plan: public facts and questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.data.plan import form
from pages._ui.frame.address.control import Control


def plan(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls for the declared facts and the questions, which default to the town's declaration."""
    return form.controls()
