"""Declare the controls of Compare: the data and the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.params import ParamSpec
from pages._ui.explore.compare.sides import RunsControl
from pages._ui.explore.compare.view import BY, HIDDEN, WHOLE
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import keys
from pages._ui.frame.address.control import Control
from pages._ui.frame.address.data import DATA


def compare(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Compare; the data determine the initial values of the runs' parameters."""
    listed: list[Control] = [
        DATA,
        BY,
        HIDDEN,
        WHOLE,
    ]
    if "d" in known:
        word = known["d"]
        listed.append(
            RunsControl(
                "run",
                keys.COMPARE_RUNS,
                "Runs",
                ParamSpec(()),
                many=True,
                always=True,
                data_word=word,
                vocabulary=explore,
            )
        )
    return listed
