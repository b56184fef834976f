"""Controls in Trade-off's address that depend on the shown sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from dpviz.sweeps.sweep import Sweep
from pages._ui.explore.tradeoff import archive, sweeps, tables, view
from pages._ui.explore.tradeoff.form import sweep_of
from pages._ui.explore.tradeoff.sweeps import Progress
from pages._ui.frame import keys
from pages._ui.frame.address.scene import Control, number


def looks(known: Mapping[str, Any]) -> list[Control]:
    """Return the controls of the shown sweep's view; axes, metrics and data sets have one if there are several."""
    identity = known.get("sweep", "")
    progress = sweeps.shelf().get(identity) if identity else _formed(known)
    if progress is None:
        return []
    runs, stops = progress.sweep.repeats, view.stops_of(progress.sweep)
    choices = {
        "along": (keys.SWEEP_ALONG, "Along", view.axes_of(progress.sweep)),
        "metric": (keys.SWEEP_METRIC, "Metric", progress.sweep.metrics),
        "of": (keys.SWEEP_OF, "Tables for", progress.data if archive.is_public(progress.sweep) else ()),
    }
    listed = [Control(word, key(identity), title, _choice(of)) for word, (key, title, of) in choices.items() if of[1:]]
    listed.append(Control("good", keys.SWEEP_GOOD(runs), "Runs good enough", number(tables.most_of(runs), 1, runs)))
    if len(stops) > 1 and "along" not in known:
        return listed  # the axis comes first, because the other controls depend on it
    axis = known.get("along", next(iter(stops)))
    if (many := stops[axis]) > 1:
        listed.append(Control("at", keys.SWEEP_AT(identity, axis), "Runs at one value", number(many // 2, 0, many - 1)))
    if (others := view.against_of(progress.sweep, axis))[1:]:
        listed.append(Control("against", keys.SWEEP_AGAINST(identity, axis), "Against", _choice(others)))
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


def _choice(choices: Sequence[Any]) -> ParamSpec:
    return ParamSpec(choices[0], choices=tuple(choices), kind="choice")
