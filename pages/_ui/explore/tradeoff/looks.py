"""Controls in Trade-off's address that depend on the shown sweep."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.sweeps.sweep import Sweep
from pages._ui.explore.tradeoff import archive, details, sweeps, tables, view
from pages._ui.explore.tradeoff.form import sweep_of
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.frame.address.control import Control


def looks(known: Mapping[str, Any]) -> list[Control]:
    """Return the controls of the shown sweep's view; axes, metrics and data sets have one if there are several."""
    identity = known.get("sweep", "")
    progress = sweeps.shelf().get(identity) if identity else _formed(known)
    if progress is None:
        return []
    runs, stops = progress.sweep.repeats, view.stops_of(progress.sweep)
    tabled = progress.data if archive.is_public(progress.sweep) else ()
    choices = {view.along: stops, view.measure: progress.sweep.metrics, tables.data_of: tabled}
    listed = [control(progress) for control, offered in choices.items() if len(offered) > 1]
    listed.append(tables.good_enough(runs))
    if len(stops) > 1 and "along" not in known:
        return listed  # the axis comes first, because the other controls depend on it
    axis = known.get("along", next(iter(stops)))
    if (many := stops[axis]) > 1:
        listed.append(details.at_one(progress, axis, many))
    if (others := view.against_of(progress.sweep, axis))[1:]:
        listed.append(details.against(progress, axis, others))
    return listed


def _formed(known: Mapping[str, Any]) -> Progress | None:
    """Return the sweep on samples that the form's values describe, or None if they do not (yet) describe one."""
    words = [*(f"p.{name}" for name in known.get("vary", ())), "camera", "curves"]
    if not set(known.get("d", ("",))) <= set(SAMPLES) or not set(words) <= set(known) or known["curves"]:
        return None
    try:
        pairs = ((name, tuple(one) if isinstance(one, list) else one) for name, one in known.items())
        return Progress("", "", _sweep(tuple(pairs)), 0)
    except (ValueError, TypeError):
        return None


@lru_cache(maxsize=16)
def _sweep(words: tuple[tuple[str, Any], ...]) -> Sweep:
    return sweep_of(dict(words), "sample:{}".format)
