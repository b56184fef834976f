"""Declare the controls of Explore: their words in an address, their keys, their allowed values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from dpviz.postprocessing.coresets import COSTS
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.attacker import who
from pages._ui.explore.attacker.setup import ASK, far_key, stops_of
from pages._ui.explore.form.budget import GIVEN_AS
from pages._ui.explore.form.fields import choice, layers_control, seed_control, switch
from pages._ui.explore.form.forms import fields_of, label_of, may_be_noiseless
from pages._ui.explore.form.picker import first, offered
from pages._ui.explore.workspace import trust
from pages._ui.frame import catalog, keys
from pages._ui.frame.address.data import FILE, MISSING, DataControl, any_data, file_word
from pages._ui.frame.address.scene import Control, Scene, number
from pages._ui.frame.session import session
from pages._ui.work.results import Result

_LOOKS = ("layers", "clouds", "who", "ask", "far", "seen", "axes")
SHORT = {"n_clusters": "k", "epsilon": "e", "delta": "delta", "rho_distance": "rho"}


class Columns(Control):
    """The control for the columns to draw, with None for the picture's own columns."""

    def from_widget(self, value: Any) -> Any:
        """Return the chosen columns, or None if none are chosen and the picture has no columns of its own."""
        return None if not value and self.key in session.unpinned else super().from_widget(value)


def explore(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Explore: the data, then the algorithm, then the controls that these two determine."""
    listed: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True)
    ]
    if "d" not in known:
        return listed
    method = first(own=known["d"].startswith(FILE))
    listed.append(Control("a", keys.EXPLORE_ALGORITHM, "Method", choice(method, offered(False)), always=True))
    if "a" not in known:
        return listed
    cls, name = ALGORITHMS[known["a"]], listed[0].to_widget(known["d"])
    if cls.PRESETS:
        choices = (None, *cls.PRESETS)
        listed.append(Control("preset", keys.PRESET(cls.slug), "Preset", choice(None, choices)))
        if "preset" not in known:
            return listed
    data = catalog.sample(SAMPLES[0] if name == MISSING else name)
    fields = fields_of(cls, name, {"n_clusters": data.n_clusters}, known.get("preset"))
    for param, spec in params.specs(cls).items():
        default, key = fields[param]
        listed.append(
            Control(
                SHORT.get(param, f"p.{param}"),
                key,
                label_of(param),
                dataclasses.replace(spec, default=default),
                always=param in ("n_clusters", "epsilon"),
                typed=spec.optional and spec.kind in ("int", "float"),
            )
        )
    listed += [Control("in", keys.BUDGET_IN, "Budget given as", choice("epsilon", tuple(GIVEN_AS)))]
    listed += [seed_control(keys.EXPLORE_SEED), layers_control(keys.EXPLORE_HIDDEN)]
    if may_be_noiseless(cls):
        listed.append(Control("exact", keys.EXPLORE_EXACT, "No noise", switch(False)))
    listed.append(Control("clouds", keys.EXPLORE_AGAIN_HOW, "Reruns", choice("all", ("all", "one"))))
    listed.append(Control("who", keys.ATTACKER_WHO, "Alex is", ParamSpec(who.FIRST), accepts=who.accepts))
    listed.append(Control("ask", keys.ATTACKER_ASK, "Ask", choice("in", tuple(ASK))))
    if stops := stops_of(data):
        listed.append(Control("far", far_key(data), "How far away", choice(stops[14], stops)))
    listed.append(Control("any", keys.ANY_K("explore"), "Any k afterwards", switch(False)))
    if known.get("any"):  # the run has a coreset, so its points are released
        own = COSTS[known.get("p.objective") == "medians"]
        own_k = number(int(known.get("k") or data.n_clusters), 1, 256)
        listed.append(Control("anyk", keys.CORESET_K("explore"), "Number of centers, from the released points", own_k))
        listed.append(Control("cost", keys.CORESET_COST("explore", own), "Cost", choice(own, COSTS)))
    if cls.notion is Notion.RHO:
        listed.append(Control("seen", keys.RHO_SEEN, "I understand", switch(False)))
    listed.append(Control("trust", keys.TRUST, "Whom do you trust", choice("curator", tuple(trust.TRUST))))
    if known.get("trust") == "clients":
        listed += trust.clients(known)
    if len(data.columns) > 2:
        columns = ParamSpec(None, choices=tuple(range(len(data.columns))), kind="choice")
        listed.append(
            Columns("axes", seen_from(data.dataset_id, cls.slug), "Columns to draw", columns, many=True, most=2)
        )
    return listed


def asked(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of the run itself, which all its views share, without those of single pictures."""
    return [control for control in explore(known) if control.word not in _LOOKS]


def seen_from(dataset_id: str, slug: str) -> str:
    """Return the key of the control for the drawn columns."""
    return keys.SEEN(dataset_id, slug)


def explored(result: Result) -> Scene:
    """Return the scene of Explore for a run on public data or a public file of this session."""
    name, trace = result.data.dataset_id.removeprefix("sample:"), result.trace
    word = file_word(result.data.columns) if name in catalog.own() else name
    values = {SHORT.get(param, f"p.{param}"): value for param, value in trace.parameters.items()}
    values["exact"] = trace.noiseless
    return Scene("explore", {"d": word, "a": trace.algorithm, **values, "s": trace.seed or 0})
