"""Federated's controls: the number of clients decides who may fall silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.federated import CLIENTS, DRAWN_BY, SPREADS
from dpviz.params import ParamSpec
from pages._ui.address.data import FILE, DataControl, any_data
from pages._ui.address.scene import Control, number
from pages._ui.federated import wire
from pages._ui.form.fields import choice, epsilon_control, seed_control, switch
from pages._ui.frame import keys


def _small(text: str) -> str:
    name = any_data(text)
    if not name.startswith(FILE) and not wire.fits(name):
        raise ValueError("too large for this page")
    return name


def clients(known: Mapping[str, Any]) -> Sequence[Control]:
    """Federated: the number of clients decides who may fall silent."""
    slugs = wire.offered()[0]
    found = [
        DataControl("d", keys.FED_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=_small, always=True),
        Control("a", keys.FED_SLUG, "Algorithm", choice("fastlloyd", slugs), always=True),
        epsilon_control(keys.FED_EPSILON, 1.0),
        Control("clients", keys.FED_CLIENTS, "Clients", number(4, 2, 32), always=True),
        Control("spread", keys.FED_SPREAD, "Rows are spread", choice("even", SPREADS)),
        Control("noise", keys.FED_NOISE, "The noise is drawn by", choice(CLIENTS, DRAWN_BY)),
        Control("exact", keys.FED_EXACT, "What if nobody drew noise?", switch(False)),
        Control("ring", keys.FED_RING, "Ring", choice("64", ("64", "32"))),
        Control("delay", keys.FED_DELAY, "Network delay", number(0.25, 0, 10_000)),
        seed_control(keys.FED_SEED),
    ]
    if "clients" in known:
        who = range(known["clients"])
        found += [
            Control("silent", keys.FED_SILENT, "A client falls silent", choice(None, (None, *who))),
            Control("from", keys.FED_CLIENT, "Seen from", choice(0, who)),
            Control("round", keys.FED_ROUND, "Round", number(1, 1, 10_000)),
        ]
    return found
