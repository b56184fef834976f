"""Check coresets: released points alone give centers for any k, and their cost is close to that of the rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes import coreset as figures
from dpviz.postprocessing import coresets
from dpviz.trace import Coreset


@pytest.fixture(scope="module")
def data():
    X, _ = make_blobs(8000, 2, centers=8, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)
    return np.clip(X, -1, 1)


def run(slug, X, **values):
    domain = Domain.box(-1, 1, X.shape[1], n_public=len(X))
    return ALGORITHMS[slug](n_clusters=8, **values).run(X, domain=domain, seed=0)


DOMAIN = Domain.box(-10, 10, 2)
LINE = Coreset(np.array([[-4.0, 0.0], [-5.0, 0.0], [5.0, 0.0], [9.0, 0.0]]), np.array([1.0, 1.0, 8.0, 2.0]), np.ones(4))


def test_two_means_and_two_medians_by_hand():
    means = coresets.resolve(LINE, DOMAIN, 2)
    np.testing.assert_allclose(means[np.argsort(means[:, 0])], [[-4.5, 0], [5.8, 0]], atol=1e-9)
    medians = coresets.resolve(LINE, DOMAIN, 2, cost="k-median")
    right = medians[np.argmax(medians[:, 0])]
    assert right[0] == pytest.approx(5.0, abs=0.05), "eight of ten weigh more than the outlier's distance"
    assert coresets.price(LINE.points, LINE.weights, means, DOMAIN, cost="k-means") == pytest.approx(
        (0.5 + 8 * 0.64 + 2 * 10.24) / 12 / 100
    )
    assert coresets.price(LINE.points, LINE.weights, means, DOMAIN, cost="k-median") == pytest.approx(
        (1.0 + 8 * 0.8 + 2 * 3.2) / 12 / 10
    )


def test_more_centers_than_points_is_one_sentence():
    with pytest.raises(ValueError, match="coreset: n_clusters must be <= 4; got 5"):
        coresets.resolve(LINE, DOMAIN, 5)
    with pytest.raises(ValueError, match="cost must be one of k-means, k-median"):
        coresets.resolve(LINE, DOMAIN, 2, cost="means")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "cost"),
    [
        ("stemmer-kaplan", "k-means"),
        ("stemmer-kaplan", "k-median"),
        ("stemmer-kaplan-local", "k-median"),
        ("nsm", "k-means"),
    ],
)
def test_every_k_is_free_and_priced_like_the_rows(slug, cost, data):
    trace = run(slug, data, epsilon=4.0)
    spent, entries, before = trace.spent, len(trace.ledger), trace.to_json()
    table = coresets.elbow(trace.coreset, trace.domain, 10, cost=cost, rows=data)
    assert table.k.tolist() == list(range(1, 11))
    assert (table.coreset.diff().dropna() < 0.02 * table.coreset[0]).all()
    wide = table[table.k <= 4]
    assert ((wide.coreset / wide.rows).between(0.5, 2)).all()
    assert (trace.spent, len(trace.ledger), trace.to_json()) == (spent, entries, before)


def test_the_elbow_reads_no_rows_unless_they_are_given(data):
    trace = run("stemmer-kaplan", data)
    assert list(coresets.elbow(trace.coreset, trace.domain, 3)) == ["k", "coreset"]


@pytest.mark.slow
def test_panels_show_rows_only_when_asked(data):
    trace = run("stemmer-kaplan", data)
    table = pd.DataFrame({"k": [1, 2], "coreset": [0.2, 0.1], "rows": [0.21, 0.12]})
    centers = coresets.resolve(trace.coreset, trace.domain, 2)
    for hidden in (True, False):
        view = View(trace, LIGHT, (0, 1), ["x", "y"], ["", ""], data if hidden else None, None, None, None, hidden)
        text = figures.elbow_panel(view, table, 2, "k-means").figure.to_json()
        text += figures.plane_panel(view, trace.coreset, centers).figure.to_json()
        assert ("NOT PRIVATE" in text) == hidden and ("on the rows" in text) == hidden
