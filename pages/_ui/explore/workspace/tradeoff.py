"""Declare the controls of Trade-off, where the algorithms determine which parameters can vary."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.params import ParamSpec
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import REFERENCE
from pages._ui.explore.form.fields import choice, seed_control, switch
from pages._ui.explore.form.forms import label_of
from pages._ui.explore.tradeoff import form, tables, vary, view
from pages._ui.explore.tradeoff.charts import PICTURES
from pages._ui.explore.tradeoff.looks import looks
from pages._ui.frame import keys
from pages._ui.frame.address.data import SweepData, any_data
from pages._ui.frame.address.scene import Control, number


def tradeoff(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of the form, in which the algorithms determine what can vary, and of the sweep's view."""
    slugs = [slug for slug in ALGORITHMS if slug != REFERENCE]
    listed = [
        Control("sweep", keys.SWEEP, "sweep", ParamSpec(""), accepts=_token),
        SweepData("d", keys.SWEEP_DATA, "Data", ParamSpec(("town",)), many=True, accepts=any_data, always=True, most=4),
        Control("a", keys.SWEEP_ALGORITHMS, "Algorithms", choice(form.FIRST, slugs), many=True, always=True),
        Control("e", keys.SWEEP_EPSILON, "Privacy budgets ε", choice(form.STOPS, form.EPSILONS), many=True),
        Control("runs", keys.SWEEP_REPEATS, "Runs per point", number(form.SEEDS, 2, 50)),
        Control("n", keys.SWEEP_ROWS, "People in the data", choice((None,), form.ROWS), many=True),
        Control("delta", keys.SWEEP_DELTA, label_of("delta"), ParamSpec(""), accepts=partial(_list, vary.deltas)),
        Control("own", keys.SWEEP_FREE, "Let methods choose their own number of centers", switch(False)),
        Control("m", keys.SWEEP_METRICS, "Metrics", choice(("loss",), tuple(METRICS)), many=True),
        seed_control(keys.SWEEP_SEED),
        Control("scale", keys.SWEEP_SCALE, "Scale", choice("log", view.SCALES)),
        Control("single", keys.SWEEP_SINGLE, "Single runs", switch(True)),
        Control("within", keys.SWEEP_WITHIN, "Within % of KMeans", choice(10, tables.WITHIN)),
        Control("camera", keys.SWEEP_PICTURE, "Camera", choice(PICTURES[0], PICTURES)),
    ]
    if "a" in known:
        chosen = list(known["a"])
        fits = partial(_list, partial(_clusters, chosen))
        listed.append(Control("k", keys.SWEEP_K, label_of("n_clusters"), ParamSpec(""), accepts=fits))
        if any("rho_distance" in params.specs(ALGORITHMS[slug]) for slug in chosen):
            rho = choice((0.05,), form.RHOS)
            listed.append(Control("rho", keys.SWEEP_RHO, label_of("rho_distance"), rho, many=True))
        names, curves = vary.names_of(chosen), vary.curves_of(chosen)
        varied = Control("vary", keys.SWEEP_VARY, "Vary parameters", choice((), [*names]), many=True, most=vary.MOST)
        listed += [varied, Control("curves", keys.SWEEP_PRESETS, "Presets", choice((), [*curves]), many=True)]
        for name in known.get("vary", ()):
            check = partial(_list, partial(vary.values_of, chosen, name))
            listed.append(Control(f"p.{name}", keys.SWEEP_VARIED(name), label_of(name), ParamSpec(""), accepts=check))
    return [*listed, *looks(known)]


def _list(check: Callable[[str], Any], text: str) -> str:
    """Return a list of comma-separated values as text; raise ValueError if it is empty or too long."""
    if len(text) > 200 or not text.isprintable() or not check(text):
        raise ValueError("not a list of values")
    return text


def _clusters(slugs: Sequence[str], text: str) -> tuple[int, ...]:
    """Return the numbers of centers; raise ValueError if a chosen algorithm does not accept one of them."""
    values: tuple[int, ...] = vary.numbers("centers k", text, int)
    specs = [params.specs(ALGORITHMS[slug]).get("n_clusters") for slug in slugs]
    for value, spec in itertools.product(values, filter(None, specs)):
        params.check_one("sweep", "n_clusters", spec, value)
    return values


def _token(text: str) -> str:
    if len(text) > 40 or not all(c.isalnum() or c in "-_" for c in text):
        raise ValueError("not the name of a sweep")
    return text
