"""Check that no panel of a player is ever empty: a note says when its content appears."""

import dataclasses

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.runs.single import reference, replay


def shown(update):
    """Return whether an update of a trace shows anything: a mark, a bar with a length, or a word."""
    update = update.to_plotly_json()
    words = [word for word in update.get("text", ()) if word]
    xs = [x for x in update.get("x", ()) if x is not None]
    lengths = [x for x in xs if x] if update["type"] == "bar" and 0 in xs else xs
    return bool(words) or (bool(lengths) and "text" not in update)


@pytest.mark.parametrize("slug", ["nsm", "pe-means", "fastlloyd", "dpm", "stemmer-kaplan"])
def test_every_side_panel_shows_something_at_every_step(slug):
    data = load_sample("tiny")
    found, best = replay(data, ALGORITHMS[slug](n_clusters=2), 0), reference(data, 2, 0)
    view = View(
        found.trace, LIGHT, (0, 1), data.columns, data.units, people=data.X, hidden=True, losses=found.losses,
        reference=best.trace.cluster_centers, reference_loss=best.loss,
    )  # fmt: skip
    for panel in pane(found.trace).panels(view):
        if panel.name != "side":
            continue
        static = set(range(len(panel.figure.data))) - {i for frame in panel.figure.frames for i in frame.traces}
        always = any(shown(panel.figure.data[i]) for i in static)
        empty = [frame.name for frame in panel.figure.frames if not (always or any(map(shown, frame.data)))]
        assert not empty, (
            f"{panel.figure.layout.title.text} is empty at pictures {empty}: say when more comes (as votes_panel)"
        )


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_three_rows_are_drawn(slug):
    """So few rows leave groups of people and cells empty; a side panel that shows nothing would be refused."""
    data = load_sample("tiny")
    domain = dataclasses.replace(data.domain, n_public=3)
    trace = ALGORITHMS[slug](n_clusters=1).run(data.X[:3], domain=domain, seed=0)
    for hidden in (True, False):
        people = {"people": data.X[:3], "hidden": True} if hidden else {}
        assert pane(trace).panels(View(trace, LIGHT, (0, 1), data.columns, data.units, **people))
