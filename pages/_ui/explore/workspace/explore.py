"""Declare the controls of Explore: all that determines a picture of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.attacker import setup
from pages._ui.explore.distance import view as moves
from pages._ui.explore.federated import view as federated
from pages._ui.explore.form.budget import GIVEN_AS
from pages._ui.explore.form.fields import EXACT, SEED
from pages._ui.explore.form.forms import SHORT, fields_of, may_be_noiseless, preset
from pages._ui.explore.form.picker import method
from pages._ui.explore.form.public_rows import OPEN
from pages._ui.explore.player import how
from pages._ui.explore.workspace import trust
from pages._ui.frame import catalog
from pages._ui.frame.address.control import Control
from pages._ui.frame.address.data import DATA, FILE, MISSING, file_word
from pages._ui.frame.address.scene import Scene
from pages._ui.work.results import Result


def explore(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Explore: the data, then the algorithm, then the controls that these two determine."""
    listed: list[Control] = [DATA]
    if "d" not in known:
        return listed
    listed.append(method(own=known["d"].startswith(FILE)))
    if "a" not in known:
        return listed
    cls, name = ALGORITHMS[known["a"]], DATA.to_widget(known["d"])
    if cls.PRESETS:
        listed.append(preset(cls))
        if "preset" not in known:
            return listed
    data = catalog.sample(SAMPLES[0] if name == MISSING else name)
    listed += fields_of(cls, name, {"n_clusters": data.n_clusters}, known.get("preset")).values()
    listed += [GIVEN_AS, SEED]
    if may_be_noiseless(cls):
        listed.append(EXACT)
    if cls.takes_public_rows:
        listed.append(OPEN)
    listed += [*how.controls(known, data, cls.slug), *setup.controls(data)]
    if cls.notion is Notion.RHO:
        listed.append(moves.SEEN)
    listed.append(trust.TRUST)
    if known.get("trust") == "clients":
        listed += federated.controls(known)
    return listed


def asked(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of the run itself, which all its views share, without those of single pictures."""
    return [control for control in explore(known) if not control.look]


def explored(result: Result) -> Scene:
    """Return the scene of Explore for a run on public data or a public file of this session."""
    name, trace = result.data.dataset_id.removeprefix("sample:"), result.trace
    word = file_word(result.data.columns) if name in catalog.own() else name
    values = {SHORT.get(param, f"p.{param}"): value for param, value in trace.parameters.items()}
    values |= {"exact": trace.noiseless, "open": values.pop("p.public_centers", None) is not None}
    return Scene("explore", {"d": word, "a": trace.algorithm, **values, "s": trace.seed or 0})
