"""Check DPM: tables match hand-made trees and true scores, panels step together, and hidden values stay out."""

import json

import numpy as np
import pytest

from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.tree import tree_table
from dpviz.figures.trees import dpm
from dpviz.figures.trees.dpm_scores import margins, scores_table
from tests.traces import trace as run_of


def view(sample="town", *, hidden=True, axes=None, **values):
    data = load_sample(sample)
    trace = run_of("dpm", sample, **values)
    people = data.X if hidden else None
    return View(trace, LIGHT, axes, data.columns, data.units, people, data.X[:3] if hidden else None, hidden=hidden)


def regions(trace):
    return [step.released for step in trace.steps if step.kind == "region"]


def test_tree_frame_gives_every_node_the_width_of_its_count_within_its_parent():
    table = tree_table([1, 2, 3, 6, 7], [100.0, 59.0, 41.0, 30.0, -5.0]).set_index("node")
    assert table.final.to_dict() == {1: False, 2: True, 3: False, 6: True, 7: True}
    assert table.depth.tolist() == [0, 1, 1, 2, 2]
    least = 0.03 * 89  # noisy counts of the leaves, negative ones as 0
    left = 59 + (41 - 30 - least) / 2
    assert table.x.to_dict() == pytest.approx({1: 50, 2: 29.5, 3: 79.5, 6: left + 15, 7: left + 30 + least / 2})
    assert table.width[2] == pytest.approx(0.94 * 59) and table.width[7] == pytest.approx(0.3 * least)
    assert tree_table([1], [-3.0]).width.iloc[0] > 0
    noisy = tree_table([1, 2, 3, 4, 5, 6, 7], [100.0, 59.0, 30.0, 48.0, 20.0, 3.0, 5.0]).set_index("node")
    np.testing.assert_allclose(noisy.width / noisy.noisy_count, 0.94)  # noise made children larger, or smaller
    left, right = noisy.x - noisy.width / 2, noisy.x + noisy.width / 2
    for level in ([2, 3], [4, 5, 6, 7]):
        assert (right[level].to_numpy()[:-1] <= left[level].to_numpy()[1:]).all()


def test_tree_frame_takes_trees_with_single_children():
    table = tree_table([1, 2, 5, 11], [10.0, 8.0, 8.0, 7.0])
    assert table.final.tolist() == [False, False, False, True] and np.ptp(table.x) == 0


def test_regions_frame_is_the_released_boxes_in_original_units():
    seen = view()
    table, said = dpm.regions_table(seen.trace, (0, 1)), regions(seen.trace)
    domain = seen.trace.domain
    assert table.node.tolist() == [region["node"] for region in said]
    np.testing.assert_allclose(table[["x0", "y0"]], [domain.denormalize(region["low"]) for region in said])
    np.testing.assert_allclose(table[["x1", "y1"]], [domain.denormalize(region["high"]) for region in said])
    finals = table[table.final]
    area = ((finals.x1 - finals.x0) * (finals.y1 - finals.y0)).sum()
    assert area == pytest.approx(np.prod(domain.high - domain.low), rel=1e-6)


def test_scores_frame_is_the_true_score_and_the_chance_of_the_cut():
    seen = view()
    said, table = seen.trace.steps[0].released, scores_table(seen, 0)
    x = load_sample("town").X
    row = table[(table.column == 1)].iloc[17]
    n = said["noisy_count"]
    below = (x[:, 1] < row.position).sum()
    half = (seen.trace.domain.high - seen.trace.domain.low)[1] / said["intervals"] / 2
    near = ((x[:, 1] >= row.position - half) & (x[:, 1] < row.position + half)).sum()
    assert row.emptiness == pytest.approx(5 * min(1 - near / n, 1), abs=2 / n * 5)
    m = min(below, n - below)
    outer, inner = m * 3.6 / n, 0.16 + m * 1.68 / n  # t = .3, q = 1/12
    assert row.centreness == pytest.approx(outer if m <= n / 12 else inner, abs=8 / n)
    assert row.score == pytest.approx(row.emptiness + row.centreness)
    assert table.probability.sum() == pytest.approx(1) and table.probability.idxmax() == table.score.idxmax()
    assert scores_table(seen, len(seen.trace.steps) - 1).empty
    assert scores_table(view(hidden=False), 0).empty is False  # the trace has true scores, so the panel must hide them


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "axes"), [("town", (0, 1)), ("iris", (0, 2))])
def test_scores_stand_at_the_margins_over_their_cuts(sample, axes):
    seen = view(sample, axes=axes, epsilon=4.0)
    low, high = seen.bounds()
    met = 0
    for t, step in enumerate(seen.trace.steps):
        curves, ticks = margins(seen, t)
        outside = np.isnan(curves).any(axis=1) | (curves > high).any(axis=1)
        assert outside.all()  # the scores lie outside the public box, and so never cover data
        if step.kind != "region" or step.released["column"] not in axes:
            continue
        i, table = axes.index(step.released["column"]), scores_table(seen, t)
        at = step.released["position"] * seen.trace.domain.half_width[axes[i]] + seen.trace.domain.middle[axes[i]]
        np.testing.assert_allclose(ticks[:2, i], at)
        own = table[(table.column == axes[i]) & table.score.notna()]
        curve = curves[curves[:, 1 - i] > high[1 - i]]
        np.testing.assert_allclose(curve[:, i], own.position, atol=1e-5)
        assert np.corrcoef(curve[:, 1 - i], own.score)[0, 1] > 0.999
        met += 1
    made = sum(region["accepted"] and region["column"] in axes for region in regions(seen.trace))
    assert met and len(margins(seen, len(seen.trace.steps) - 1)[1]) == 3 * made  # the last picture shows all cuts
    plane = dpm.PANE.panels(seen)[0].figure
    assert plane.layout.yaxis.range[1] > high[1] + 0.1 * (high - low)[1]
    bare = dpm.PANE.panels(view(sample, axes=axes, epsilon=4.0, hidden=False))[0].figure
    assert "score" not in [data.name for data in bare.data] and bare.layout.yaxis.range[1] < plane.layout.yaxis.range[1]


def test_budget_frame_ends_at_what_was_spent_and_follows_the_path():
    seen = view(max_depth=3)
    table, trace = dpm.budget_table(seen.trace), seen.trace
    assert sorted(table.frame.unique()) == list(range(len(trace.steps)))
    assert table.total.max() == pytest.approx(trace.spent.epsilon)
    first = table[table.frame == 0].set_index("level")
    plan = trace.plan.costs
    assert first["count"][0] == pytest.approx(plan["count"][0].epsilon, rel=1e-6)
    assert first.split[0] == pytest.approx(plan["split"][0].epsilon, rel=1e-4)
    deep = next(t for t, region in enumerate(regions(trace)) if region["depth"] == 3)
    path = table[table.frame == deep].set_index("level")
    assert path["count"][3] == pytest.approx(plan["count"][3].epsilon, rel=1e-6) and path.split[3] == 0
    assert (path.average == 0).all() and table[table.frame == len(trace.steps) - 1].average.max() > 0


def test_the_drawn_pair_is_the_cut_and_the_one_before_it_unless_two_columns_are_chosen():
    seen = view("digits", epsilon=4.0)
    pairs = dpm.pairs(seen)
    by_node = {region["node"]: (t, region["column"]) for t, region in enumerate(regions(seen.trace))}
    checked = 0
    for node, (t, column) in by_node.items():
        before = by_node[node // 2][1] if node > 1 else -1
        if column >= 0:
            assert column in pairs[t]
        if column >= 0 and before >= 0 and before != column:
            assert set(pairs[t]) == {column, before}
            checked += 1
    assert checked and len(pairs) == len(seen.trace.steps) and all(a < b for a, b in pairs)
    assert set(dpm.pairs(view("digits", epsilon=4.0, axes=(2, 5)))) == {(2, 5)}


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "axes"), [("town", None), ("iris", None), ("iris", (0, 2)), ("digits", None)])
def test_all_panels_step_together_and_end_as_their_last_frame(sample, axes):
    seen = view(sample, axes=axes, epsilon=4.0)
    how = pane(seen.trace)
    found = how.panels(seen)
    frames = len(how.shots(seen.trace))
    assert found[0].name == "plane" and {panel.name for panel in found} == {"plane", "side", "wide"}
    assert all(len(panel.figure.frames) == frames for panel in found)
    assert sum(len(panel.figure.to_json()) for panel in found) < 2_000_000
    for panel in found:
        for index, data in zip(panel.figure.frames[-1].traces, panel.figure.frames[-1].data, strict=True):
            if data.x is not None:
                np.testing.assert_array_equal(data.x, panel.figure.data[index].x)


@pytest.mark.slow
def test_clicks_on_the_plane_find_the_region_that_is_drawn_there():
    seen = view()
    figure = dpm.PANE.panels(seen)[0].figure
    (boxes,) = figure.layout.meta["regions"]
    finals = {t for t, region in enumerate(regions(seen.trace)) if not region["accepted"]}
    assert {box[4] for box in boxes} == finals
    deep = dpm.PANE.panels(view("digits", epsilon=4.0))[0].figure.layout.meta["regions"]
    assert len(deep) > 1 and deep[-1] == [] and all(box[4] <= t for t, boxes in enumerate(deep) for box in boxes)


@pytest.mark.slow
def test_scores_people_and_kmeans_are_absent_unless_asked_for():
    shown, private = (
        json.dumps([p.figure.to_plotly_json() for p in dpm.PANE.panels(view(hidden=h))], default=str)
        for h in (True, False)
    )
    for word in ("NOT PRIVATE", "emptiness", '"name": "person"', "KMeans"):
        assert word in shown and word not in private


def test_the_page_is_told_when_only_one_region_remains():
    assert any("no cut was accepted" in sentence for sentence in view("tiny").trace.warnings)
    assert view("town").trace.warnings == ()


def test_sentences_name_the_cut_in_original_units():
    trace = view().trace
    said, line = trace.steps[0].released, dpm.PANE.shots(trace)[0].sentence
    at = trace.domain.denormalize(np.full(2, said["position"]))[said["column"]]
    words = trace.domain.place(said["column"], said["position"])
    assert line.startswith(f"Region 1 of {len(regions(trace))} · ")
    assert f"cut across {('east', 'north')[said['column']]} at {words} leaves " in line
    assert float(words.removesuffix(" km")) == pytest.approx(at, abs=0.005)
