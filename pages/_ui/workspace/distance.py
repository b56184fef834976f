"""Distance's controls: its data decide what rho and k may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from pages._ui.address.data import FILE, MISSING, DataControl, any_data
from pages._ui.address.scene import Control, number
from pages._ui.distance import methods
from pages._ui.form.fields import choice, epsilon_control, layers_control, switch
from pages._ui.form.forms import label_of
from pages._ui.frame import catalog, keys


def rho(known: Mapping[str, Any]) -> Sequence[Control]:
    """Distance: its data decide what rho and k may be."""
    data_control = DataControl("d", keys.RHO_DATA, "Data", ParamSpec("city"), accepts=_flat, always=True)
    found: list[Control] = [
        data_control,
        Control("a", keys.RHO_METHOD, "Method", choice(methods.FAMILY[0], methods.FAMILY), always=True),
        epsilon_control(keys.RHO_EPSILON, 1.0),
        layers_control(keys.RHO_HIDDEN),
        Control("seen", keys.RHO_SEEN, "I understand", switch(False)),
    ]
    if "d" in known:
        name = data_control.to_widget(known["d"])
        name = SAMPLES[0] if name == MISSING else name
        data = catalog.sample(name)
        most, stops = min(40, data.n_public), methods.stops(data)
        found += [
            Control("k", keys.RHO_K(name), label_of("n_clusters"), number(data.n_clusters, 1, most), always=True),
            Control("rho", keys.RHO(name), label_of("rho_distance"), choice(methods.first(data), stops), always=True),
        ]
    return found


def _flat(text: str) -> str:
    name = any_data(text)
    if not name.startswith(FILE) and not methods.fits(name):
        raise ValueError("rho is not one distance there")
    return name
