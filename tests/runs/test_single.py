import numpy as np
import pytest

from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.postprocessing.verdict import groups_of
from dpviz.runs import single
from dpviz.runs.single import reference, rivals

PLACES = np.array([[-0.6, -0.6], [0.6, 0.6], [-0.6, 0.6], [0.6, -0.6]])


def four_groups(n=1200):
    rng = np.random.default_rng(0)
    X = np.clip(PLACES[np.arange(n) % 4] + rng.normal(0, 0.08, (n, 2)), -1, 1)
    return Dataset(X, ("x", "y"), ("", ""), Domain.box(-1, 1, 2), None, "four", "Four groups")


@pytest.mark.parametrize("k", [5, 6])
def test_no_run_has_to_divide_the_same_groups_as_kmeans(k):
    """With more centers than groups, KMeans divides some groups, and a run that divides others raises no alarm."""
    data = four_groups()
    trace = reference(data, k, 0).trace
    there = groups_of(data.X, data.domain, trace.cluster_centers)
    others = rivals(data, trace)
    there = there.doubted(map(data.domain.normalize, others))
    assert there.merged
    for seed in range(1, 13):
        centers = single._OneStart(n_clusters=k).run(data.X, domain=data.domain, seed=100 + seed).cluster_centers
        missed = there.missed_by(data.domain.normalize(centers))
        lost = there.missed_by(data.domain.normalize(centers[np.linalg.norm(centers - PLACES[0], axis=1) > 0.5]))
        assert not missed.any() and lost.any()  # a group without any center still raises an alarm


def test_as_many_centers_as_groups_have_no_rival_division():
    data = four_groups()
    trace = reference(data, 4, 0).trace
    there = groups_of(data.X, data.domain, trace.cluster_centers)
    assert not there.doubted(map(data.domain.normalize, rivals(data, trace))).merged


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(single, "ROWS", 100)
    seen = []
    run = single._OneStart.run
    monkeypatch.setattr(single._OneStart, "run", lambda self, X, **more: seen.append(len(X)) or run(self, X, **more))
    data = four_groups()
    assert rivals(data, reference(data, 4, 0).trace) and set(seen) == {100}
