"""Check clouds and dots of several runs: their table, and what their pictures omit without hidden layers."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.scenes.reruns import Cloud, clouds, dots_table, one_by_one


def test_every_run_is_one_dot_and_better_runs_stand_lower():
    table = dots_table(np.array([1.0, 2.0, 1.001, 1.0, np.inf]), 0.95, 2.03)
    assert table.run.tolist() == [1, 2, 3, 4, 5] and table.height.tolist() == [1, 1, 3, 2, 2]
    assert table.x[0] == table.x[2] == table.x[3] and table.x[1] == table.x[4]  # dots beyond the axis stand at its end
    assert abs(np.log(table.x[1] / 2.0)) < np.log(2.03 / 0.95) / 34


@pytest.fixture
def view():
    data = load("tiny")
    trace = ALGORITHMS["fastlloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    return View(trace, LIGHT, (0, 1), data.columns, data.units)


def test_a_cloud_is_a_frame_and_a_missing_one_is_empty(view):
    centers = tuple(np.full((2, 2), float(i)) for i in range(3))
    found = [Cloud("ε 1", centers, np.array([1.0, 1.2, 3.0])), Cloud("ε 2", ())]
    plane, dots = clouds(view, found, "Centers", "simulated")
    assert [len(panel.figure.frames) for panel in (plane, dots)] == [2, 2]
    first, second = plane.figure.frames
    assert list(first.data[1].x) == [0, 0, 1, 1, 2, 2] and list(second.data[1].x) == [None]
    assert "simulated" in plane.figure.layout.annotations[0].text
    assert list(dots.figure.frames[1].data[0].x) == [None]


def test_one_after_the_other_marks_each_run_once(view):
    centers = tuple(np.full((2, 2), float(i)) for i in range(3))
    plane, dots = one_by_one(view, Cloud("ε 1", centers, np.array([1.0, 1.2, 3.0])), "Centers")
    assert [list(frame.data[2].x) for frame in plane.figure.frames] == [[0, 0], [1, 1], [2, 2]]
    marked = [frame.data[1].x[0] for frame in dots.figure.frames]
    assert marked == sorted(marked) and len(set(marked)) == 3
    assert len(one_by_one(view, Cloud("ε 1", centers), "Centers")) == 1  # without losses there are no dots


def test_one_title_is_true_of_every_cloud_that_it_stands_over(view):
    centers = (view.trace.cluster_centers,) * 3
    found = [Cloud("ε ½", centers, np.array([1.3, 1.2, 3.0])), Cloud("ε 1", centers, np.array([1.0, 1.05, 3.0]))]
    _, dots = clouds(view, [*found, found[0]], "Centers")
    title = dots.figure.layout.title.text
    assert title == "Depending on ε, 0 to 2 of 3 runs are within 10% of KMeans" and "0 to 2 of 3" in dots.alt


def test_losses_of_another_number_of_centers_are_not_compared(view):
    view = dataclasses.replace(view, reference=view.trace.cluster_centers)
    found = Cloud("ε 1", (np.zeros((2, 2)), np.zeros((5, 2))), np.array([1.0, 0.5]))
    for dots in (clouds(view, [found], "Centers")[1], one_by_one(view, found, "Centers")[1]):
        assert dots.figure.layout.title.text == "2 to 5 centers where KMeans has 2: not comparable"
