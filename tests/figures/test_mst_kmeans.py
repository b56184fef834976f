"""Check the picture of MST-KMeans: bars and cells at their places, true values only with hidden layers, its events."""

import dataclasses

import numpy as np
import pytest

from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.mst_kmeans import bars_table, cells_table, pairs_table
from tests.traces import MADE, trace

WIDE = "two groups, 6 columns"


def seen(sample, axes=(0, 1), *, hidden=False, **values):
    run = trace("mst-kmeans", sample, n_clusters=3, epsilon=4.0, **values)
    names = [f"c{i}" for i in range(run.domain.n_features)]
    return View(run, LIGHT, axes, names, [""] * len(names), people=MADE[sample] if hidden else None, hidden=hidden)


def test_bars_stand_at_their_bins_and_are_as_tall_as_their_counts():
    view = seen("blobs", bins=4, hidden=True)
    noisy = view.trace.steps[0].released["noisy_counts"]
    table = bars_table(view)
    assert table["at"].tolist() == [-0.75, -0.25, 0.25, 0.75] * 2 and table["column"].tolist() == [0] * 4 + [1] * 4
    np.testing.assert_array_equal(table["noisy_count"], noisy.ravel())
    assert table["height"].max() == 1 and (table["height"] >= 0).all()
    wanted = [np.histogram(column, 4, (-1, 1))[0] for column in MADE["blobs"].T]
    np.testing.assert_array_equal(table["count"], np.concatenate(wanted))
    assert "count" not in bars_table(seen("blobs", bins=4))


@pytest.mark.parametrize("axes", [(0, 1), (1, 0)])
def test_cells_lie_where_the_rows_are_whichever_column_is_drawn_first(axes):
    table = cells_table(seen("blobs", axes, bins=5, hidden=True))
    wanted = np.histogram2d(*MADE["blobs"][:, list(axes)].T, 5, [[-1, 1]] * 2)[0]
    assert set(table.columns) == {"x", "y", "noisy_count", "count"} and (table.noisy_count > 0).all()
    for x, y, count in table[["x", "y", "count"]].to_numpy():
        assert wanted[round((x + 0.8) / 0.4), round((y + 0.8) / 0.4)] == count
    assert table["count"].sum() > 200


def test_a_pair_that_the_tree_lacks_has_no_cells_and_its_film_shakes_the_tree():
    view = seen(WIDE)
    tree = [tuple(pair) for pair in pairs_table(view.trace).to_numpy().tolist()]
    assert len(tree) == 5
    inside, outside = tree[0], next((i, j) for i in range(6) for j in range(i + 1, 6) if (i, j) not in tree)
    assert len(cells_table(seen(WIDE, inside))) and not len(cells_table(seen(WIDE, outside)))
    for axes, kinds in ((inside, ["count", "noise"]), (outside, ["noise"])):
        one = dataclasses.replace(view, axes=axes)
        told = pane(one.trace).events(one, pane(one.trace).shots(one.trace))
        assert [event.kind for event in told[2]] == kinds
        assert [event.kind for events in told for event in events if event not in told[2]] == [
            "count", "noise", "pick", "draw", "search",
        ]  # fmt: skip


def test_tickets_are_true_scores_and_only_hidden_layers_show_them():
    for hidden in (False, True):
        view = seen(WIDE, hidden=hidden)
        shots = pane(view.trace).shots(view.trace)
        (pick,) = pane(view.trace).events(view, shots)[1]
        tickets = [act for act in pick.acts if act.get("look", {}).get("name") == "ticket"]
        assert len(tickets) == hidden
    scores = view.trace.steps[1].hidden[0].statistic["utility"]
    rise = tickets[0]["to"]["y"] - tickets[0]["from"]["y"]
    np.testing.assert_allclose(rise / rise.max(), (scores - scores.min()) / np.ptp(scores), atol=1e-4)


def test_one_column_has_bars_and_rows_alone():
    view = seen("one feature", None)
    assert cells_table(view).empty and pairs_table(view.trace).empty and set(bars_table(view)["column"]) == {0}
    assert [panel.name for panel in pane(view.trace).panels(view)][0] == "plane"
