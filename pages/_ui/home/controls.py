"""Home's controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.address.scene import Control
from pages._ui.form.fields import epsilon_control
from pages._ui.frame import keys


def home(known: Mapping[str, Any]) -> Sequence[Control]:
    """Home has one control."""
    return [epsilon_control(keys.HOME_EPSILON, 1.0)]
