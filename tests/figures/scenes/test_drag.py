"""Check the record used when ε is dragged: its curve, the data sent to the browser, and the data withheld."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.scenes.drag import CLOUD, MARKS, Edition, curve_table, film, record


def stop(epsilon, losses, found, centers=None):
    centers = centers or tuple(np.full((2, 2), float(run)) for run in range(len(losses)))
    return SimpleNamespace(
        epsilon=epsilon, bet=57, centers=centers, losses=np.array(losses, float), found=np.array(found)
    )


def edition(*stops, **more):
    return Edition("tiny", 40, stops, [74] * len(stops), 2, 2.0, **more)


@pytest.fixture
def view():
    data = load("tiny")
    trace = ALGORITHMS["fastlloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    return View(trace, LIGHT, (0, 1), data.columns, data.units, hidden=True)


def test_the_curve_is_the_loss_over_the_references_and_counts_whole_finds():
    table = curve_table(edition(stop(1.0, [2, 4, 6, 8, 10], [2, 2, 1, 2, 0])))
    (row,) = table.itertuples()
    assert (row.low, row.median, row.high) == pytest.approx((1.4, 3.0, 4.6))
    assert (row.epsilon, row.again, row.runs, row.noise) == (1.0, 3, 5, False)


@pytest.mark.parametrize(
    ("losses", "found", "noise"),
    [
        ([2.0] * 20, [2] * 20, False),  # Equally good.
        ([2.4] * 20, [2] * 20, False),  # Worse in every run, which is more than chance.
        ([2.0] * 8 + [2.2] * 12, [2] * 20, True),  # The median is higher because of two runs.
        ([2.004] * 20, [2] * 20, False),  # No displayed digit differs.
        ([2.0] * 20, [2] * 19 + [1], True),  # One run fewer finds all groups.
        ([2.0] * 20, [2] * 5 + [1] * 15, False),  # Many fewer runs find all groups.
    ],
)
def test_a_stop_that_looks_worse_than_the_one_before_is_noise_unless_the_runs_can_tell(losses, found, noise):
    table = curve_table(edition(stop(0.5, [2.0] * 11 + [2.2] * 9, [2] * 20), stop(1.0, losses, found)))
    assert table.noise.tolist() == [False, noise]


def test_one_run_alone_has_a_curve():
    assert curve_table(edition(stop(1.0, [3], [2]), stop(2.0, [4], [2])))["median"].tolist() == [1.5, 2.0]


def test_a_frame_has_the_seeds_centers_and_the_cloud_of_the_others(view):
    panel = film(view, edition(stop(0.5, [1] * 30, [2] * 30), stop(1.0, [1] * 30, [2] * 30)), 3)
    assert len(panel.figure.frames) == 2
    names = [trace.name for trace in panel.figure.data]
    for frame in panel.figure.frames:
        cloud, one = (
            frame.data[list(frame.traces).index(names.index(n))] for n in names if n.endswith(("rerun", "d center"))
        )
        assert list(one.x) == [3, 3] and set(cloud.x) == {*range(CLOUD)} - {3}


def test_a_record_is_bounded_however_many_runs_and_centers_there_are(view):
    many = tuple(np.random.default_rng(run).normal(size=(900, 2)) for run in range(CLOUD))
    text = json.dumps(record(view, [edition(stop(1.0, [1] * CLOUD, [2] * CLOUD, many))], 0, "that"))
    assert len(text) < 2 * (MARKS + 900) * 8 * 4 / 3 + 30_000  # the last frame is stored twice


def test_every_stop_has_words_for_eyes_and_ears(view):
    told = record(
        view, [edition(stop(0.5, [2, 2, 2, 2.2], [2] * 4), stop(1.0, [2, 2.1, 2.1, 2.1], [2, 2, 1, 2]))], 2, "that"
    )
    first, second = told["editions"][0]["stops"]
    assert first["label"] == "½" and first["truth"][1] == "4 of 4" and second["truth"][1] == "3 of 4"
    assert "57 times in 100" in second["promise"] and "74" in second["promise"][-1]
    assert second["truth"][0].startswith("1 of 2 groups, 1.05 ×") and "noise of 4 runs" in second["truth"][-1]
    assert second["spoken"] == "ε 1: bet ≤ 57 of 100. 1 of 2 groups found."  # a few words, at every press of an arrow


def test_without_hidden_layers_nothing_that_the_rows_alone_know_is_sent(view):
    data = load("tiny")
    one = edition(stop(1.0, [2.5] * 4, [1] * 4), people=data.X, reference=data.X[:2])
    bare, full = (record(dataclasses.replace(view, hidden=hidden), [one], 0, "that") for hidden in (False, True))
    (about,) = bare["editions"][0]["stops"]
    assert about["truth"] == [] and not about.keys() & {"low", "median", "high", "own"}
    assert "NOT PRIVATE" in full["editions"][0]["figure"] and "NOT PRIVATE" not in bare["editions"][0]["figure"]
    assert len(json.loads(bare["editions"][0]["figure"])["data"]) == 2  # layers for the cloud and for the centers


def test_fewer_people_say_which_bet_more_people_have_at_the_same_epsilon(view):
    few, whole = stop(1.0, [2.0] * 2, [2] * 2), stop(1.0, [2.0] * 2, [2] * 2)
    few.bet = 59
    editions = record(view, [edition(few), dataclasses.replace(edition(whole), n=5000)], 0, "that")["editions"]
    ends = [one["stops"][0]["promise"][-1] for one in editions]
    assert ends[0].startswith(" (57 with 5,000 people") and "57" not in ends[1]
    assert all(end.endswith("at most 74.") for end in ends)
