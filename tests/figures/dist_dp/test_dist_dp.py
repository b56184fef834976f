"""Check figures of rho-distance privacy: tables match literals, titles name the promise, layers can stay hidden."""

import dataclasses
import functools
import json

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.dist_dp import dist_dp
from dpviz.figures.kit.theme import LIGHT
from dpviz.frozen import freeze
from dpviz.metrics import loss_path
from dpviz.trace import Step

FAMILY = ("dist-dp", "dist-dp-region-means", "dist-dp-random-points")


@functools.cache
def run(slug, rho_distance):
    data = load_sample("city")
    algorithm = ALGORITHMS[slug](n_clusters=4, rho_distance=rho_distance, delta=1e-5)
    return data, algorithm.run(data.X, domain=data.domain, seed=0)


def view(slug, *, hidden, axes=(0, 1), rho_distance=0.005):
    data, trace = run(slug, rho_distance)
    return View(
        trace, LIGHT, axes, data.columns, data.units, data.X if hidden else None, None,
        loss_path(trace, data.X) if hidden else None, 0.01 if hidden else None, hidden,
    )  # fmt: skip


def test_amount_frame_ranks_what_was_released():
    released = freeze({"noisy_counts": np.array([3.0, -2.0, 50.0]), "kept": np.array([False, False, True])})
    table = dist_dp.amount_table(Step("regions", "", released))
    assert table.to_dict("list") == {"rank": [1, 2, 3], "count": [50.0, 3.0, -2.0], "kept": [True, False, False]}


def test_lengths_are_said_in_the_unit_of_the_map():
    domain = load_sample("city").domain
    assert dataclasses.replace(domain, units=("km", "km")).length(0.03) == "300 m"
    assert dataclasses.replace(domain, units=("km", "km")).length(0.25) == "2.5 km"
    assert dataclasses.replace(domain, units=()).length(0.25) == "2.5 units"


def test_people_and_their_noisy_points_exist_in_demo_only_and_noise_is_as_far_as_said():
    trace = view("dist-dp-region-means", hidden=True).trace
    table = dist_dp.moves_table(trace)
    assert len(table) == dist_dp.MAX_PEOPLE and (table.rho == 0.005).all()
    sd = trace.steps[0].released["noise_sd"]
    assert 0.5 * sd < table.distance.mean() < 2.5 * sd
    data = load_sample("iris")
    secure = ALGORITHMS["dist-dp-random-points"](n_clusters=4).run(data.X, domain=data.domain, noise="secure")
    assert dist_dp.moves_table(secure).empty


@pytest.mark.parametrize("slug", FAMILY)
def test_the_promise_stands_in_the_figures_and_hidden_layers_only_when_asked(slug):
    for hidden in (True, False):
        found = pane((seen := view(slug, hidden=hidden)).trace).panels(seen)
        drawn = json.dumps([panel.figure.to_plotly_json() for panel in found], default=str)
        assert "Not hidden: who, and roughly where" in drawn and "rho 50 m" in drawn and "(rho-dist)" in drawn
        assert ("rho around a person" in drawn) == hidden and ("NOT PRIVATE" in drawn) == hidden
        titles = [panel.figure.layout.title.text for panel in found]
        assert sum(dist_dp.PROMISE in title for title in titles) == 2
    assert "weaker promise" in dist_dp.PANE.caution


def test_chosen_cells_are_squares_of_the_level_inside_the_bounds():
    seen = view("dist-dp", hidden=False)
    figure = dist_dp.PANE.panels(seen)[0].figure
    layer = [trace.name for trace in figure.data].index("chosen cell") - [*figure.frames[0].traces][0]
    for frame, step in zip(figure.frames, seen.trace.steps, strict=True):
        x = np.asarray(frame.data[layer].x, dtype=float)
        if step.kind != "level":
            assert np.isnan(x).all()
            continue
        corners = x[: len(x) // 6 * 6].reshape(-1, 6)[:, :5]
        if len(corners):
            widths = np.ptp(corners, axis=1)
            assert np.nanmax(widths) <= min(step.released["side"], 2) * 10 * (1 + 1e-5)
            assert np.nanmin(corners) >= -10 - 1e-3 and np.nanmax(corners) <= 10 + 1e-3


def test_far_points_are_drawn_as_such_after_the_split():
    seen = view("dist-dp", hidden=False, rho_distance=1e-4)
    figure = dist_dp.PANE.panels(seen)[0].figure
    far = [np.isfinite(np.asarray(frame.data[1].x, dtype=float)).sum() for frame in figure.frames]
    kinds = [step.kind for step in seen.trace.steps]
    share = np.mean(~next(s for s in seen.trace.steps if s.kind == "split").released["near"])
    assert share > 0.3 and far[kinds.index("split")] == pytest.approx(dist_dp.MAX_POINTS * share, rel=0.15)
    assert not any(far[: kinds.index("split")])


def test_losses_carry_their_promise_and_their_mean():
    table = pd.DataFrame(
        {
            "method": ["KMeans", "dist-DP", "dist-DP"],
            "promise": ["not private", "moves of up to 50 m", "moves of up to 50 m"],
            "loss": [0.01, 0.02, 0.04],
        }
    )
    panel = dist_dp.losses_panel(LIGHT, table)
    words = [annotation.text for annotation in panel.figure.layout.annotations]
    assert "<b>dist-DP</b>, moves of up to 50 m: 3 ×" in words and "dist-DP 3" in panel.alt
    assert panel.figure.layout.xaxis.title.text == "loss, × KMeans (log scale)"
    assert [trace.marker.symbol for trace in panel.figure.data] == ["circle", "diamond-open"]
