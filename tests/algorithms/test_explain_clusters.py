"""Check explanations of clusters: sentences from paid counts or released points hold up to the stated noise."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.explain_clusters import ExplainClusters
from dpviz.audits.audit import audit, pairs
from dpviz.audits.wide import wide_pairs
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.postprocessing.explain import Explanation, _drowned, edges_between, of_centers, of_trace
from dpviz.postprocessing.explain_cells import of_cells, sentences
from dpviz.postprocessing.regions import labels_of
from dpviz.privacy.accounts import Claim
from dpviz.trace import Trace

IRIS = load_sample("iris")


def _asked(epsilon=5.0, seed=0, noise="seeded"):
    run = ALGORITHMS["nsm"](n_clusters=3, epsilon=5.0).run(IRIS.X, domain=IRIS.domain, seed=0)
    question = ExplainClusters.after(run, epsilon)
    return question.run(IRIS.X, domain=IRIS.domain, seed=None if noise == "secure" else seed, noise=noise)


def test_the_counts_are_the_rows_of_each_cluster_between_the_edges():
    trace = _asked()
    centers, edges = trace.cluster_centers, of_trace(trace).edges
    labels = ((IRIS.X[:, None] - centers) ** 2 / IRIS.domain.half_width**2).sum(axis=2).argmin(axis=1)
    true = trace.steps[0].hidden[0].statistic["bins"]
    for c in range(3):
        for j in range(4):
            wanted = np.histogram(IRIS.X[labels == c, j], [-np.inf, *edges[j], np.inf])[0]
            np.testing.assert_array_equal(true[c, j], wanted)
    assert trace.spent.epsilon == pytest.approx(5.0, rel=1e-6) and len(trace.ledger) == 1
    assert trace.ledger[0].sensitivity == pytest.approx(2.0)  # sqrt(4), for four columns


def test_petals_set_the_small_irises_apart_and_little_budget_cannot_tell():
    sentences = of_trace(_asked(50.0)).sentences(IRIS.columns, IRIS.units)
    assert len(sentences) == 3 and sum("petal" in sentence for sentence in sentences) == 3
    assert all("%" in sentence and "±" in sentence for sentence in sentences)
    assert all("cannot tell" in sentence for sentence in of_trace(_asked(0.05)).sentences(IRIS.columns))


def test_the_intervals_hold_together():
    """In at least 95% of runs, all shares of clusters and of the other rows lie within their stated intervals."""
    rng, true = (
        np.random.default_rng(0),
        np.array([[[400.0, 80, 20], [10, 240, 250]], [[30, 300, 500], [400, 400, 30]]]),
    )
    exact = Explanation(true, np.full(true.shape, 1e-12), np.zeros((2, 2))).shares[0]
    missed = 0
    for _ in range(200):
        noisy = Explanation(true + rng.normal(0, 15, true.shape), np.full(true.shape, 225.0), np.zeros((2, 2)))
        share, sd = noisy.shares
        missed += bool((np.abs(share - exact) > noisy.z * sd).any())
        told = noisy.clearest()
        for row in told[told.told].itertuples():
            assert row.least <= np.abs(exact[0] - exact[1])[row.cluster - 1, row.column].max() + 1e-9 or missed
    assert missed <= 18, "5% of 200 are 10"


@pytest.mark.parametrize("wide", [False, True])
def test_no_neighbor_tells_more_than_is_claimed(wide):
    d = 6 if wide else 2
    rng = np.random.default_rng(1)
    k = 5 if wide else 2
    centers = tuple(map(tuple, rng.uniform(-1, 1, (k, d)).tolist()))
    question = ExplainClusters(n_clusters=k, centers=centers, epsilon=1.0, delta=0.2)
    tried = wide_pairs(question.neighboring) if wide else [(pair, None) for pair in pairs(question.neighboring)]
    for pair, n_public in tried[:3]:
        finding = audit(question, pair, runs=60, n_public=n_public)
        assert finding.holds, finding
        assert finding.reach <= 1 + 1e-9 and finding.realized <= finding.claimed * (1 + 1e-9)


def test_the_edges_follow_from_released_values_alone():
    domain = Domain.box(0, 10, 2, n_public=9)
    edges = edges_between(np.array([[2.0, 5.0], [6.0, 5.0]]), domain)
    np.testing.assert_allclose(edges[0], [2, 3, 4, 5, 6])
    assert edges[1, 0] > 0 and edges[1, -1] < 10  # the centers agree in this column, so its bounds are divided


@pytest.mark.parametrize(("slug", "told"), [("nsm", True), ("sulloyd", True), ("eugkm", False), ("aug-pe", False)])
def test_centers_with_declared_noise_explain_at_no_cost(slug, told):
    run = ALGORITHMS[slug](n_clusters=3, epsilon=50.0).run(IRIS.X, domain=IRIS.domain, seed=0)
    sentences = of_centers(run, IRIS.columns, IRIS.units)
    assert (sentences is not None) == told
    if sentences is not None:
        assert len(sentences) == 3 and "petal length" in sentences[0] + sentences[1] + sentences[2]
        little = ALGORITHMS[slug](n_clusters=3, epsilon=0.05).run(IRIS.X, domain=IRIS.domain, seed=0)
        assert all("cannot tell" in sentence for sentence in of_centers(little, IRIS.columns))


def test_the_noise_of_a_question_is_not_that_of_the_run_with_its_seed():
    run = ALGORITHMS["glloyd"](n_clusters=3, epsilon=1.0).run(IRIS.X, domain=IRIS.domain, seed=7)
    answer = ExplainClusters.after(run, 1.0).run(IRIS.X, domain=IRIS.domain, seed=7)
    own = (answer.steps[0].released["bin_counts"] - answer.steps[0].hidden[0].statistic["bins"]) / answer.ledger[
        0
    ].scale
    first, hidden = run.steps[1].released, run.steps[1].hidden[0].statistic
    theirs = (first["noisy_counts"] - hidden["counts"]) / first["counts_sd"]
    assert np.abs(own.ravel()[:, None] - theirs).min() > 1e-6, "the question reuses the run's noise"


@pytest.mark.parametrize(("slug", "words"), [("nsm", ""), ("stemmer-kaplan-local", "In the run: nobody")])
def test_a_question_that_trusts_more_than_its_run_says_so(slug, words):
    run = ALGORITHMS[slug](n_clusters=3, epsilon=1.0).run(IRIS.X, domain=IRIS.domain, seed=0)
    sentence = ExplainClusters.after(run, 1.0).trusts(run)
    assert words in sentence and bool(sentence) == bool(words)


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "sample", "epsilon"), [("eugkm", "town", 0.1), ("dp-dbscan", "moons", 1.0)])
def test_counts_of_cells_explain_at_no_cost_and_their_intervals_hold(slug, sample, epsilon):
    data, missed = load_sample(sample), 0
    for seed in range(20):
        trace = ALGORITHMS[slug](n_clusters=5, epsilon=epsilon).run(data.X, domain=data.domain, seed=seed)
        counts = trace.steps[0].hidden[0].statistic["cells"]
        exact = dataclasses.replace(trace.steps[0], released={**trace.steps[0].released, "noisy_counts": counts})
        true = of_cells(dataclasses.replace(trace, steps=(exact, *trace.steps[1:])))
        true_share = dataclasses.replace(true, variances=np.full(true.counts.shape, 1e-12)).shares[0]
        found = of_cells(trace)
        share, sd = found.shares
        missed += bool((np.abs(share - true_share) > found.z * sd + 1e-9).any())
        assert true.counts.sum() == pytest.approx(len(data.X) * len(data.columns))
        told = sentences(trace, data.columns, data.units)
        assert len(told) == len(trace.cluster_centers) and any("%" in sentence for sentence in told)
    assert missed <= 3, "5% of 20 are 1"


def test_a_region_is_explained_by_its_own_rows():
    data = load_sample("moons")
    trace = ALGORITHMS["dp-dbscan"](epsilon=4.0).run(data.X, domain=data.domain, seed=0)
    found, of = of_cells(trace), labels_of(trace, data.X)
    for c in range(2):
        for j in range(2):
            true = np.histogram(data.X[of == c, j], [-np.inf, *found.edges[j], np.inf])[0]
            assert np.abs(found.counts[c, j] - true).max() < 30  # the sum of a few hundred cells, with noise of sd .35


def test_a_private_question_leaves_released_values_only_and_is_booked():
    trace = _asked(1.0, noise="secure")
    assert trace.seed is None and not any(step.hidden for step in trace.steps)
    again = Trace.from_json(trace.to_json())
    assert of_trace(again).sentences(IRIS.columns) == of_trace(trace).sentences(IRIS.columns)
    claim = Claim.of(ExplainClusters.after(trace, 0.2), IRIS.domain)
    assert claim.total.epsilon == pytest.approx(0.2, rel=1e-6)


def test_an_impossible_question_is_one_sentence():
    with pytest.raises(ValueError, match="centers must be"):
        ExplainClusters(epsilon=1.0).guarantee(2, 100)
    with pytest.raises(ValueError, match="centers have 2 columns, but the data have 4"):
        ExplainClusters(n_clusters=1, centers=((0.0, 1.0),)).run(IRIS.X, domain=IRIS.domain, seed=0)
    with pytest.raises(ValueError, match="counts no columns by cluster"):
        of_trace(ALGORITHMS["nsm"](n_clusters=3).run(IRIS.X, domain=IRIS.domain, seed=0))


def test_a_row_on_an_edge_lies_above_it():
    domain = Domain.box(0, 10, 2, n_public=20)
    rows = np.tile([[3.0, 5.0], [5.0, 5.0]], (10, 1))
    question = ExplainClusters(n_clusters=2, centers=((2.0, 5.0), (6.0, 5.0)), epsilon=1.0)
    trace = question.run(rows, domain=domain, seed=0)
    assert of_trace(trace).edges[0] == pytest.approx([2, 3, 4, 5, 6], abs=1e-5)
    true = trace.steps[0].hidden[0].statistic["bins"][:, 0]
    assert true[0].tolist() == [0, 0, 10, 0, 0, 0] and true[1].tolist() == [0, 0, 0, 0, 10, 0]


def test_a_size_within_its_noise_is_unknown():
    counts = np.array([[[4.0, 3.0]], [[900.0, 800.0]]])
    some = Explanation(counts, np.full(counts.shape, 100.0), np.zeros((1, 1)))
    assert some.sizes_known.tolist() == [False, True]


def test_a_center_whose_points_may_all_be_noise_is_not_explained():
    domain = Domain.box(-1, 1, 2, n_public=100)
    points = np.array([[-0.5, 0.0], [-0.4, 0.1], [0.5, 0.0]])
    coreset = SimpleNamespace(points=points, weights=np.array([9.0, 8.0, 90.0]), sd=np.full(3, 10.0))
    trace = SimpleNamespace(cluster_centers=np.array([[-0.5, 0.0], [0.5, 0.0]]), coreset=coreset, domain=domain)
    unsized = SimpleNamespace(sizes=None, sizes_sd=None)
    assert _drowned(trace, unsized, 2.0).tolist() == [True, False]
