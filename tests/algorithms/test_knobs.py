"""Check all parameters that papers vary: defaults are the papers'; other values keep the budget and change the run."""

import dataclasses
import math

import numpy as np
import pytest

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.privacy.guarantee import Notion
from dpviz.trace import Trace

KNOBS = {
    "pe-means": {
        "rounds": 3, "variations_each": 20, "step_size": 0.1, "levy_beta": 1.2, "keep": "positive", "halving": False,
        "start": "uniform", "selection": "top-k", "selection_starts": 4,
    },
    "hdpe-means": {"rounds": 5, "projected_features": 2, "final_share": 0.5},
    "dpm": {
        "centreness": 0.9, "quantile": 0.02, "emptiness_weight": 0.5, "smallest_share": 0.2, "count_share": 0.4,
        "split_share": 0.1, "max_depth": 4, "interval": 0.2,
    },
    "fastlloyd": {"radius_clipping": False, "init": "random", "alpha": 0.3, "strategy": "constant", "boundary": "clip"},
    "choose-k": {
        "k_min": 5, "k_max": 3, "exactly_k": True, "tries": 4, "rounds": 2, "cost_share": 0.5, "reach": 0.1,
    },
    "public-start": {"iterations": 1, "radius_share": 0.1},
    "dist-dp": {"threshold": 1.0, "near": 0.5, "trees": 2, "coarse_levels": 8, "small_regions": "drop"},
}  # fmt: skip
PAPER = {  # values printed in the papers
    "pe-means": {"step_size": 0.01, "levy_beta": 1.75, "keep": "n votes", "halving": True, "start": "packing"},
    "dpm": {"centreness": 0.3, "quantile": 1 / 12, "emptiness_weight": 5.0},
    "fastlloyd": {"radius_clipping": True, "alpha": 0.8, "strategy": "step", "boundary": "fold"},
    "dist-dp": {"trees": 5, "coarse_levels": 5},
}
TURNED = [(slug, name) for slug, knobs in KNOBS.items() for name in knobs]


def rows(n=400):
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.8, 0.8, (4, 3))[rng.integers(4, size=n)] + rng.normal(0, 0.08, (n, 3))
    return np.clip(X, -1, 1)


def run(slug, noise="seeded", **values):
    settings = {
        "n_clusters": 4,
        "epsilon": 0.7,
        "delta": 1e-4,
        "rho_distance": 0.02,
        "small_regions": "points",
        **values,
    }
    known = params.specs(ALGORITHMS[slug])
    algorithm = ALGORITHMS[slug](**{name: value for name, value in settings.items() if name in known})
    return algorithm.run(rows(), domain=Domain.box(-1, 1, 3, n_public=400, scale="common"), seed=3, noise=noise)


@pytest.mark.parametrize(("slug", "name"), TURNED)
def test_a_changed_parameter_changes_the_run_and_stays_within_the_budget(slug, name):
    plain, turned = run(slug), run(slug, **{name: KNOBS[slug][name]})
    assert turned.claimed.epsilon <= 0.7 * (1 + 1e-9)
    assert 0 < turned.spent.epsilon <= turned.claimed.epsilon * (1 + 1e-9)
    assert turned.spent.delta <= turned.claimed.delta * (1 + 1e-9)
    assert [str(s.released) for s in plain.steps] != [str(s.released) for s in turned.steps]


@pytest.mark.parametrize("slug", PAPER)
def test_defaults_are_the_papers(slug):
    found = {name: params.specs(ALGORITHMS[slug])[name].default for name in PAPER[slug]}
    assert found == PAPER[slug]


@pytest.mark.parametrize(("slug", "name"), TURNED)
def test_every_parameter_is_refused_outside_its_range_in_one_sentence(slug, name):
    spec = params.specs(ALGORITHMS[slug])[name]
    wrong = "nothing" if spec.kind in ("choice", "bool") else spec.high * 2
    with pytest.raises(ValueError, match=name):
        ALGORITHMS[slug](**{name: wrong})


def test_centreness_below_twice_the_quantile_is_refused():
    with pytest.raises(ValueError, match="centreness must be >= 2 quantile"):
        ALGORITHMS["dpm"](centreness=0.1, quantile=0.2)


def test_rounds_of_pe_are_the_releases_that_are_paid():
    plan = ALGORITHMS["pe-means"](rounds=3, epsilon=1.0).plan(2, 1000)
    assert len(plan.costs["votes"]) == 3 and plan.costs["votes"][0].mu > 0


def test_with_top_k_selection_pe_means_is_aug_pe():
    ours, theirs = run("pe-means", selection="top-k"), run("aug-pe")
    np.testing.assert_array_equal(ours.cluster_centers, theirs.cluster_centers)


CENTRAL = [slug for slug, cls in ALGORITHMS.items() if cls.notion not in (Notion.NONE, Notion.LOCAL, Notion.SHUFFLE)]


@pytest.mark.parametrize("slug", CENTRAL)
def test_without_noise_releases_are_true_and_nothing_is_claimed(slug):
    trace = run(slug, noise="none")
    assert not trace.claimed.private and trace.claimed.epsilon == math.inf == trace.spent.epsilon
    assert {(entry.mechanism, entry.scale) for entry in trace.ledger} == {("Exact", 0.0)}
    assert "NOT PRIVATE" in trace.notice
    again = Trace.from_json(trace.to_json(include_hidden=True))
    np.testing.assert_array_equal(again.cluster_centers, trace.cluster_centers)
    quiet = Trace.from_json(trace.to_json())
    assert len(quiet.cluster_centers) == 0 and quiet.coreset is None and not any(s.released for s in quiet.steps)


def test_without_noise_the_votes_of_pe_are_whole_and_add_up():
    votes = run("pe-means", noise="none").steps[0].released["noisy_votes"]
    assert votes.sum() == 400 and (votes == np.rint(votes)).all()


@pytest.mark.parametrize("slug", ["stemmer-kaplan-local", "stemmer-kaplan-shuffle", "kmeans"])
def test_without_noise_is_refused_where_reports_are_the_rows(slug):
    with pytest.raises(ValueError, match="noise must"):
        ALGORITHMS[slug](n_clusters=2).run(rows(), domain=Domain.box(-1, 1, 3, n_public=400), seed=0, noise="none")


def test_without_noise_needs_a_seed_so_it_is_never_a_private_run():
    with pytest.raises((ValueError, TypeError), match="seed"):
        dataclasses.replace(ALGORITHMS["pe-means"](), n_clusters=2).run(
            rows(), domain=Domain.box(-1, 1, 3, n_public=400), noise="none"
        )
