"""Declare the controls of Compare: the data and the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.explore.compare.sides import RunsControl
from pages._ui.explore.compare.view import BY, HIDDEN, WHOLE
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address.control import Control
from pages._ui.frame.address.data import DATA


def compare(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Compare; the data determine the initial values of the runs' parameters."""
    listed: list[Control] = [DATA, BY, HIDDEN, WHOLE]
    return [*listed, RunsControl.of(known["d"], explore)] if "d" in known else listed
