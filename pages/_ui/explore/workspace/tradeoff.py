"""Declare the controls of Trade-off, where the algorithms determine which parameters can vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pages._ui.explore.tradeoff import form, sweeps, tables, vary, view
from pages._ui.explore.tradeoff.charts import CAMERA
from pages._ui.explore.tradeoff.looks import looks
from pages._ui.frame.address.control import Control


def tradeoff(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of the form, in which the algorithms determine what can vary, and of the sweep's view."""
    listed = [
        sweeps.SHOWN, form.SWEEP_DATA, form.methods(), form.BUDGETS, form.REPEATS, form.PEOPLE, form.DELTAS, form.OWN_K,
        form.MEASURES, form.FIRST_SEED, view.SCALE, view.SINGLE, tables.WITHIN, CAMERA,
    ]  # fmt: skip
    if "a" in known:
        chosen = list(known["a"])
        listed += [form.centers(chosen), *([form.RHO] if form.moving(chosen) else [])]
        listed += [vary.varied(chosen), vary.presets(chosen)]
        for name in known.get("vary", ()):
            listed.append(vary.values_field(name, partial(form.listed, partial(vary.values_of, chosen, name))))
    return [*listed, *looks(known)]
