"""Check continual release: the binary tree of periods, arrival days that depend on the row alone, and the picture."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dpviz.algorithms.grids.continual import Continual, _used
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.grids import continual
from dpviz.figures.kit.theme import LIGHT
from dpviz.geometry import snap
from dpviz.metrics import normalized_loss
from dpviz.privacy.block import Block
from dpviz.privacy.queries import ArrivesBefore
from dpviz.privacy.queries.days import arrival_days

X = snap(np.random.default_rng(0).uniform(-1, 1, (4000, 3)))


@pytest.mark.parametrize("arrivals", ["scattered", "by first column"])
def test_the_day_of_a_row_follows_from_the_row_alone(arrivals):
    days = arrival_days(X, 1.0, 13, arrivals)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(arrival_days(X[order], 1.0, 13, arrivals), days[order])
    np.testing.assert_array_equal([arrival_days(row[None], 1.0, 13, arrivals)[0] for row in X[:50]], days[:50])
    assert set(days) == set(range(13)) and np.bincount(days).max() < 1.4 * len(X) / 13
    part = ArrivesBefore(4, 13, 1.0, arrivals).assign(Block(X))
    np.testing.assert_array_equal(part, days >= 4)
    if arrivals == "by first column":
        assert (np.diff(days[np.argsort(X[:, 0])]) >= 0).all()
    else:  # if the last bit of a column changes, the row usually moves to another day
        other = X + np.array([0, 2.0**-24, 0])
        assert (arrival_days(other, 1.0, 13, arrivals) == days).mean() < 0.15


@pytest.mark.parametrize("days", [2, 5, 8, 13, 16])
def test_every_row_is_in_few_tables_and_every_evening_has_all_rows_so_far(days):
    """Count the periods that contain a day; their maximum must be the number of prices that a row may pay."""
    algorithm = Continual(n_clusters=2, days=days)
    runs = [range(t - (t & -t) + 1, t + 1) for t in range(1, days + 1)]
    assert max(sum(s in run for run in runs) for s in range(1, days + 1)) == algorithm.levels
    for t in range(1, days + 1):
        assert sorted(s for end in _used(t) for s in runs[end - 1]) == list(range(1, t + 1))
    trace = algorithm.run(X, domain=Domain.box(-1, 1, 3, n_public=4000), seed=0)
    counted = [step.hidden[0].statistic["counts"].sum() for step in trace.steps[1:]]
    by_day = np.bincount(arrival_days(X, 1.0, days, "scattered"), minlength=days)
    assert counted == [by_day[run.start - 1 : run.stop - 1].sum() for run in runs]
    assert trace.spent.epsilon == pytest.approx(1.0, rel=1e-6)
    assert len(trace.ledger) == algorithm.releases(3, 4000) == 2 * days


def test_a_row_of_a_later_day_changes_no_earlier_evening():
    domain = Domain.box(-1, 1, 3, n_public=4000)
    algorithm = Continual(n_clusters=2, days=8)
    day = arrival_days(X, 1.0, 8, "scattered")
    later = int(np.flatnonzero(day == 5)[0])
    whole, without = (algorithm.run(rows, domain=domain, seed=0) for rows in (X, np.delete(X, later, axis=0)))
    same = [
        np.array_equal(a.released["cell_counts"], b.released["cell_counts"])
        for a, b in zip(whole.steps[1:], without.steps[1:], strict=True)
    ]
    assert same == [True] * 5 + [False] * 3


@pytest.mark.slow
def test_the_declared_noise_is_the_noise_of_reruns():
    domain, algorithm = Domain.box(-1, 1, 3, n_public=4000), Continual(n_clusters=2, days=7, epsilon=2.0)
    errors = []
    for seed in range(12):
        trace = algorithm.run(X, domain=domain, seed=seed)
        true = [step.hidden[0].statistic["counts"] for step in trace.steps[1:]]
        for t in range(1, 8):
            released = trace.steps[t].released
            exact = np.sum([true[end - 1] for end in _used(t)], axis=0)
            errors.append((released["cell_counts"] - exact) / released["counts_sd"])
    assert np.std(np.concatenate(errors)) == pytest.approx(1, abs=0.05)


def test_the_last_evening_is_near_what_one_release_would_give_and_cheaper_than_running_anew():
    data = load_sample("town")
    best = normalized_loss(data.X, KMeans(5, n_init=4, random_state=0).fit(data.X).cluster_centers_)
    trace = Continual(n_clusters=5, epsilon=2.0).run(data.X, domain=data.domain, seed=0)
    assert normalized_loss(data.X, trace.cluster_centers) < 1.5 * best
    table = continual.days_table(trace)
    assert list(table.day) == list(range(1, 17))
    assert table.epsilon.iloc[-1] == pytest.approx(2.0, rel=1e-6) and table.anew.iloc[-1] > 1.4 * 2.0
    # on day 15, counts are sums over four tables; on day 16, over one table
    assert table.counts_sd.iloc[14] == pytest.approx(2 * table.counts_sd.iloc[15])


def test_the_picture_has_a_frame_a_day():
    data = load_sample("iris")
    trace = Continual(n_clusters=3, days=4).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    panels = continual.PANE.panels(View(trace, LIGHT, (0, 1), data.columns, data.units))
    assert all(len(panel.figure.frames) == 5 for panel in panels)
    assert "a new run every evening" in panels[1].alt
    few = Continual(n_clusters=3, epsilon=0.02, cells=64).run(data.X, domain=data.domain, seed=0)
    assert "Too little data" in continual.warning(few)
