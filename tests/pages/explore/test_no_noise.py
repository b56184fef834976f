"""Check runs without noise on Explore: for DEMO only, marked as such, with an address, and in no private comparison."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures import View, pane, printed
from dpviz.figures.kit.theme import theme
from dpviz.postprocessing.verdict import private_verdict
from dpviz.runs.single import replay
from pages._ui.explore.form.forms import may_be_noiseless
from tests.pages.visitor import visit, wait, words
from tests.tiers import tiers

OFFERED = [slug for slug, cls in ALGORITHMS.items() if may_be_noiseless(cls)]


def drawn(app, ready):
    wait(app, ready)
    assert ready(app) and not app.exception and not app.error
    return app


BADGE = '<span class="dp-badge other">NO PRIVACY</span>'


def test_a_link_opens_a_run_without_noise_which_says_so():
    app = drawn(visit("explore", "v=1&d=tiny&a=sulloyd&k=2&e=1&s=0&exact=1"), lambda app: BADGE in words(app))
    assert app.toggle(key="explore_exact").value
    app.toggle(key="explore_exact").set_value(False).run()
    drawn(app, lambda app: BADGE not in words(app))
    assert BADGE not in words(app) and not app.exception


def test_reports_of_the_local_model_have_no_switch():
    app = visit("explore", "v=1&d=tiny&a=stemmer-kaplan-local&k=2&e=1&s=0")
    assert not app.exception and "explore_exact" not in [toggle.key for toggle in app.toggle]


def test_private_data_are_never_run_without_noise():
    data = dataclasses.replace(load("tiny"), private=True)
    with pytest.raises(PermissionError, match="DEMO only; nothing was read"):
        replay(data, ALGORITHMS["pe-means"](n_clusters=2), None, noiseless=True)


@pytest.mark.parametrize("slug", tiers(OFFERED, ("pe-means", "dpm", "nsm", "stemmer-kaplan")))
def test_every_algorithm_can_be_drawn_without_noise(slug):
    data = load("iris")
    trace = replay(data, ALGORITHMS[slug](n_clusters=3), 0, noiseless=True).trace
    assert trace.noiseless and not trace.claimed.private and not any(entry.scale for entry in trace.ledger)
    private_verdict(trace, data.columns, data.units)
    pane(trace).warning(trace)
    view = View(trace, theme("light"), data.view, data.columns, data.units, people=data.X, hidden=True)
    with np.errstate(all="raise"):
        drawn = [panel.figure.to_json() for panel in printed(view)]
    assert drawn and not any("Infinity" in text for text in drawn)
