"""Attacker's controls: the data decide where a pin and a distance may lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.algorithms import RECOMMENDED
from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from pages._ui.address.data import MISSING, DataControl, any_data
from pages._ui.address.scene import Control, number
from pages._ui.attacker import setup
from pages._ui.form.fields import choice, epsilon_control
from pages._ui.form.forms import label_of
from pages._ui.form.picker import offered
from pages._ui.frame import catalog, keys


def attacker(known: Mapping[str, Any]) -> Sequence[Control]:
    """Attacker: the data decide where a pin and a distance may lie."""
    found: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("a", keys.ATTACKER_ALGORITHM, "Algorithm", choice(RECOMMENDED, offered(False)), always=True),
        epsilon_control(keys.ATTACKER_EPSILON, 1.0),
        Control("who", keys.ATTACKER_WHO, "Alex is", choice("typical", tuple(setup.WHO)), always=True),
        Control("ask", keys.ATTACKER_ASK, "Ask", choice("in", tuple(setup.ASK))),
    ]
    if "d" not in known:
        return found
    kept = found[0].to_widget(known["d"])
    name = SAMPLES[0] if kept == MISSING else kept
    data = catalog.sample(name)
    if stops := setup.stops_of(name):
        found += [
            Control("rho", keys.ATTACKER_RHO(name), label_of("rho_distance"), choice(stops[14], stops)),
            Control("far", keys.ATTACKER_FAR(name), "How far away", choice(stops[14], stops)),
        ]
    axes = data.view if len(data.columns) > 1 else (0,)
    for word, key, column in zip(("x", "y"), setup.pin_keys(name), axes, strict=False):
        low, high = float(data.domain.low[column]), float(data.domain.high[column])
        found.append(Control(word, key, data.columns[column], number(setup.corner(low, high), low, high)))
    return found
