"""Check the rules that every registered algorithm must obey."""

import itertools

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.base import Algorithm
from dpviz.domain import Domain
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Count
from dpviz.privacy.rows import Rows
from dpviz.testing import parametrize_with_checks
from dpviz.testing.runs import ASKED, N, blobs, built, declared, same
from dpviz.trace import Trace

# Methods that the quick tests do not run in parts.
DEAR = {"aug-pe", "continual", "dpm", "hdpe-means", "lsh-splits", "privtree"}
# Methods that the quick tests attack.
ATTACKED = {"pe-means", "glloyd", "dp-em", "dpm", "nsm", "stemmer-kaplan", "stemmer-kaplan-local"}


def slow(cls, name):
    if name.startswith("nothing_more"):
        return cls.slug not in ATTACKED or name.endswith("does_not_go")
    return name.startswith("runs_in_parts") and cls.slug in DEAR


def make(slug, **values):
    return built(ALGORITHMS[slug], **{**ASKED, **values})


@parametrize_with_checks(ALGORITHMS.values(), slow)
def test_contract(algorithm, check):
    check(algorithm)


def test_a_projected_center_is_farther_from_no_row():
    rng, X = np.random.default_rng(0), blobs(d=4)
    domain = Domain.box(-1, 1, 4, radius=1.2)
    rows, far = domain.clip(domain.normalize(X)), rng.normal(0, 2, (50, 4))
    inside = domain.normalize(domain.inside(far))
    before, after = (np.linalg.norm(rows[:, None] - points, axis=2) for points in (far, inside))
    assert (after <= before + 1e-12).all() and (after < before - 0.1).any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("slug", ALGORITHMS)
def test_unlucky_declarations_end_in_finite_centers_inside_the_domain(slug):
    """Try heavy tails, a constant column, bounds that are far too wide or too narrow, and an n that is 10 times off."""
    X = np.column_stack([np.random.default_rng(0).lognormal(0, 2, (200, 2)), np.ones(200)])
    high = X.max()
    boxes = [
        Domain.box(low * np.ones(3), top * np.ones(3), scale="common", n_public=n)
        for low, top, n in ((0, high, 20), (0, high, 2000), (-1e4 * high, 1e4 * high, 200), (0.0, 1e-3 * high, 200))
    ]
    for domain, epsilon in itertools.product(boxes, (0.1, 10.0)):
        trace = make(slug, epsilon=epsilon).run(X, domain=domain, seed=0)
        assert np.isfinite(trace.cluster_centers).all()
        if trace.claimed.private:  # KMeans reads raw rows
            assert (trace.cluster_centers >= domain.low).all() and (trace.cluster_centers <= domain.high).all()
            drawn = domain.denormalize(trace.steps[-1].released["centers"])  # as pictures do
            assert np.allclose(drawn, trace.cluster_centers, rtol=0, atol=1e-9 * domain.half_width.max())


@pytest.mark.parametrize("slug", ["pe-means", "mst-kmeans", "nsm", "sulloyd", "dpm", "lsh-splits", "stemmer-kaplan"])
def test_a_declared_n_that_is_ten_times_off_is_one_warning(slug):
    X = np.tile(blobs(), (10, 1))
    for told, wrong in ((len(X), False), (3 * len(X) // 2, False), (10 * len(X), True), (len(X) // 10, True)):
        trace = make(slug, epsilon=5.0).run(X, domain=declared(X, n_public=told), seed=0)
        assert len(trace.warnings) == wrong
        assert all("the noisy counts suggest" in words and f"{told:,}" in words for words in trace.warnings)
    assert Trace.from_json(trace.to_json()).warnings == trace.warnings


BLURRED = ("fastlloyd", "dp-lloyd", "sulloyd", "hdpe-means", "em-mc", "balcan", "pe-means", "stemmer-kaplan")


@pytest.mark.parametrize("slug", [*BLURRED, "dp-em", "continual"])
def test_centers_no_better_than_one_are_one_warning(slug):
    groups = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 1000, axis=0)
    clear = make(slug, epsilon=8.0).run(groups, domain=declared(groups), seed=0)
    wide = Domain.box(-500, 500, 2, n_public=50)
    traces = [clear, *(make(slug, epsilon=0.1).run(groups[::40], domain=wide, seed=seed) for seed in range(6))]
    words = [sum("a single center may do as well" in words for words in trace.warnings) for trace in traces]
    assert words[0] == 0 and max(words) == 1 and sum(words) >= 4  # FastLloyd warns in four of six runs


@pytest.mark.parametrize("slug", [slug for slug, cls in ALGORITHMS.items() if cls.notion.private])
def test_every_private_method_warns_before_or_after_a_weak_run(slug):
    cls = ALGORITHMS[slug]
    assert cls.advice is not Algorithm.advice or cls.doubts is not Algorithm.doubts


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["kmeans", "dist-dp-random-points"])
def test_the_number_of_threads_changes_no_digit(slug):
    X = np.random.default_rng(0).normal(0, 0.2, (6000, 16))
    traces = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            traces.append(make(slug, n_clusters=6).run(X, domain=declared(X), seed=0))
            assert {library["num_threads"] for library in threadpool_info()} == {threads}
    assert same(*traces)


@pytest.mark.parametrize("relation", Neighboring)
def test_a_release_outside_the_plan_is_refused_before_the_draw(relation):
    draws = []

    class Spy(Seeded):
        def gaussian(self, sd, shape):
            draws.append(sd)
            return super().gaussian(sd, shape)

    rows, noise = Rows(blobs(), declared(blobs())), Spy(np.random.default_rng(0))
    curator = Curator(rows, Plan({"nothing": ()}), noise, neighboring=relation, n_public=N, hidden=[])
    for label in ("nothing", "unknown"):
        with pytest.raises(PermissionError, match="is not in the plan"):
            curator.release(label, Count())
    assert draws == [] and curator.ledger == ()


@pytest.mark.parametrize("slug", ["stemmer-kaplan-local", "stemmer-kaplan-shuffle", "dist-dp", "dist-dp-random-points"])
def test_a_kept_n_hides_whether_the_declared_n_is_true(slug):
    """Rows beyond the declared n are dropped; missing and non-finite rows are placed in the middle of the domain."""
    domain = Domain.box(-1, 1, 2, n_public=50, scale="common")
    X = np.random.default_rng(0).uniform(-0.9, 0.9, (60, 2))
    algorithm = ALGORITHMS[slug](n_clusters=2)

    def centers(rows):
        return algorithm.run(rows, domain=domain, seed=0).cluster_centers

    np.testing.assert_array_equal(centers(X), centers(X[:50]))
    middle = np.concatenate([X[:47], np.zeros((3, 2))])
    np.testing.assert_array_equal(centers(X[:47]), centers(middle))
    for cell in (np.nan, np.inf, -np.inf):
        broken = middle.copy()
        broken[47, 1] = cell
        np.testing.assert_array_equal(centers(broken), centers(middle))
    for rows in (X[:0], X[:1], X, np.full((50, 2), np.nan)):
        assert np.isfinite(algorithm.run(rows, domain=domain, noise="secure").cluster_centers).all()


@pytest.mark.parametrize("n", [0, 1, 46, 49, 50, 51, 60])
def test_a_kept_n_moves_no_row(n):
    """Row i in use is either row i of the data or the middle of the domain, so neighbors stay neighbors."""
    domain = Domain.box(-1, 1, 2, n_public=50)
    X = np.random.default_rng(1).uniform(-0.9, 0.9, (n, 2))
    if n > 3:
        X[3, 0] = np.nan
    seen = Rows(X, domain)._block(50).x
    wanted = np.zeros((50, 2))
    wanted[: min(n, 50)] = X[:50]
    if n > 3:
        wanted[3] = 0
    assert seen.shape == (50, 2) and np.abs(seen - wanted).max() < 2**-23
    for i in range(n):
        other = X.copy()
        other[i] = [0.5, -0.5]
        changed = (Rows(other, domain)._block(50).x != seen).any(axis=1)
        assert not np.delete(changed, i).any() if i < 50 else not changed.any()
