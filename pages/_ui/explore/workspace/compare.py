"""Declare the controls of Compare: the data and the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from pages._ui.explore.compare.sides import RunsControl
from pages._ui.explore.form.fields import choice, layers_control, switch
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import keys
from pages._ui.frame.address.data import DataControl, any_data
from pages._ui.frame.address.scene import Control


def compare(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Compare; the data determine the initial values of the runs' parameters."""
    listed: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("by", keys.COMPARE_BY, "Match by", choice("step", ("step", "spent"))),
        layers_control(keys.COMPARE_HIDDEN),
        Control("whole", keys.COMPARE_WHOLE, "Other lines", switch(False)),
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
