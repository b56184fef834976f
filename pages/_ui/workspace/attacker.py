"""Alex's controls: the run's, and who Alex is; the data decide where a pin and a distance may lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.datasets import SAMPLES
from pages._ui.address.data import MISSING
from pages._ui.address.scene import Control, number
from pages._ui.attacker import setup
from pages._ui.form.fields import choice
from pages._ui.frame import catalog, keys
from pages._ui.workspace.explore import asked


def attacker(known: Mapping[str, Any]) -> Sequence[Control]:
    """Alex: the run that is attacked, and about whom and what somebody bets."""
    found = [
        *asked(known),
        Control("who", keys.ATTACKER_WHO, "Alex is", choice("typical", tuple(setup.WHO)), always=True),
        Control("ask", keys.ATTACKER_ASK, "Ask", choice("in", tuple(setup.ASK))),
    ]
    if "d" not in known:
        return found
    kept = found[0].to_widget(known["d"])
    name = SAMPLES[0] if kept == MISSING else kept
    data = catalog.sample(name)
    if stops := setup.stops_of(name):
        found.append(Control("far", keys.ATTACKER_FAR(name), "How far away", choice(stops[14], stops)))
    axes = data.view if len(data.columns) > 1 else (0,)
    for word, key, column in zip(("x", "y"), setup.pin_keys(name), axes, strict=False):
        low, high = float(data.domain.low[column]), float(data.domain.high[column])
        found.append(Control(word, key, data.columns[column], number(setup.corner(low, high), low, high)))
    return found
