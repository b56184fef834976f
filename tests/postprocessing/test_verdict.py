"""Check exported centers and verdicts: they must follow from released values or, in DEMO only, from the rows."""

import io
import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Painted
from dpviz.domain import Domain
from dpviz.numbers import chance
from dpviz.postprocessing.cards import centers_csv
from dpviz.postprocessing.released import (
    center_noise,
    centers_json,
    centers_table,
    centers_text,
    coreset_csv,
    coreset_table,
)
from dpviz.postprocessing.verdict import Groups, demo_verdict, groups_of, private_verdict
from dpviz.trace import Trace
from tests.luck import same_luck
from tests.tiers import tiers

DOMAIN = Domain.box(-10, 10, 2, scale="common", n_public=3000)
MIDDLES = np.array([[-6.0, -6.0], [6.0, -6.0], [0.0, 6.0]])


@pytest.fixture(scope="module")
def X():
    return np.repeat(MIDDLES, 1000, axis=0) + np.random.default_rng(0).normal(scale=0.5, size=(3000, 2))


@pytest.fixture(scope="module")
def kmeans(X):
    return ALGORITHMS["kmeans"](n_clusters=3).run(X, domain=DOMAIN, seed=0).cluster_centers


def run(slug, X, seed=0, **values):
    return ALGORITHMS[slug](**{"n_clusters": 3, **values}).run(X, domain=DOMAIN, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("slug", tiers(["glloyd", "sulloyd"], 1))
def test_the_noise_of_a_center_is_what_reruns_show(slug, X):
    """Run one round with one center, the average of all rows, whose only error is the noise of that release."""
    runs = [run(slug, X, seed, n_clusters=1, iterations=1, boundary="none") for seed in range(300)]
    seen = np.array([trace.cluster_centers[0] for trace in runs]).std(axis=0) / DOMAIN.half_width
    told = center_noise(runs[0])
    assert seen.mean() == pytest.approx(told.sd[0].mean(), rel=0.1)
    sizes = np.array([center_noise(trace).sizes[0] for trace in runs])
    assert sizes.mean() == pytest.approx(3000, abs=3 * told.sizes_sd / np.sqrt(300))
    assert sizes.std() == pytest.approx(told.sizes_sd, rel=0.15)


@pytest.mark.parametrize("slug", [slug for slug in ALGORITHMS if slug != "stemmer-kaplan-swap"])
def test_every_algorithm_hands_over_its_centers(slug, X):
    if slug.startswith("dist-dp"):
        trace = run(slug, X, rho_distance=0.05)
    else:
        trace = run(slug, X)
    table = centers_table(trace, ["east", "north"], ["km", "km"])
    assert np.array_equal(table[["east (km)", "north (km)"]].to_numpy(), trace.cluster_centers)
    first, text = centers_csv(trace, ["east", "north"], ["km", "km"]).split("\n", 1)
    assert first.startswith("# ") and trace.notice in first
    told = pd.read_csv(io.StringIO(text))
    assert [*zip(told.cluster, told.column, strict=True)] == [*product(table.center, ("east", "north"))]
    record = json.loads(centers_json(trace, ["east", "north"], ["km", "km"]), parse_constant=pytest.fail)
    assert np.array_equal(record["cluster_centers"], trace.cluster_centers)
    assert record["columns"] == ["east", "north"] and record["notice"] == trace.notice
    points = coreset_table(trace, ["east", "north"])
    assert (points is None) == (trace.coreset is None)


def test_a_file_for_people_rounds_to_a_tenth_of_the_noise_and_the_one_for_machines_does_not(X):
    trace = run("glloyd", X)
    exact, sd = centers_table(trace, ["east", "north"]), center_noise(trace).sd * DOMAIN.half_width
    told = pd.read_csv(io.StringIO(centers_csv(trace, ["east", "north"])), comment="#")
    told = told.pivot(index="cluster", columns="column", values="value").reset_index()
    for column, noise in (("east", sd[:, 0].min()), ("north", sd[:, 1].min())):
        off = np.abs(told[column] - exact[column]).max()
        assert 0 < off <= noise / 20  # half a rounding step, which is at most a tenth of the noise
        assert max(len(str(value).partition(".")[2]) for value in told[column]) == math.ceil(-math.log10(noise / 10))


def test_where_no_formula_gives_the_noise_the_spread_of_reruns_rounds_and_else_the_bounds(X):
    trace = run("pe-means", X)
    assert center_noise(trace).sd is None
    alone = centers_text(trace, ["east", "north"])["east"]
    beside = centers_text(trace, ["east", "north"], scatter=np.array([0.03, np.nan, 0.05]))["east"]
    width, spread = float(DOMAIN.high[0] - DOMAIN.low[0]), 0.03 * DOMAIN.half_width[0]
    exact = trace.cluster_centers[:, 0]
    assert np.abs(alone.str.replace(",", "").astype(float) - exact).max() <= width * 1e-4 / 2
    off = np.abs(beside.str.replace(",", "").astype(float) - exact).max()
    assert width * 1e-4 < off <= spread / 20
    with pytest.raises(ValueError, match="PE-means releases no weighted points"):
        coreset_csv(trace, ["east", "north"])


def test_weighted_points_round_to_a_tenth_of_their_noise(X):
    trace = run("nsm", X)
    points = coreset_table(trace, ["east", "north"])
    told = pd.read_csv(io.StringIO(coreset_csv(trace, ["east", "north"])), comment="#")
    assert list(told.columns) == list(points.columns) and len(told) == len(points)
    assert np.abs(told["noisy weight"] - points["noisy weight"]).max() <= points["noise of the weight"].max() / 20


def test_a_column_that_looks_like_a_formula_stays_text(X):
    text = centers_csv(run("glloyd", X), ["=cmd|' /C calc'!A0", "north"])
    assert text.count("'=cmd") == 3 and ",=cmd" not in text


def test_a_group_is_found_by_a_center_of_its_own_within_its_radius():
    groups = Groups(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.2, 0.2]), np.array([50, 50]))
    assert groups.found_by(np.array([[0.1, 0.0], [1.0, 0.1]])).tolist() == [True, True]
    assert groups.found_by(np.array([[0.1, 0.0], [0.15, 0.1]])).tolist() == [True, False]
    assert groups.found_by(np.array([[0.5, 0.0]])).tolist() == [False, False]
    assert groups.found_by(np.empty((0, 2))).tolist() == [False, False]
    wide = Groups(groups.means, np.array([5.0, 5.0]), groups.sizes)
    assert wide.found_by(np.array([[0.1, 0.0]])).tolist() == [True, False]  # one center never counts for two groups


def minority_painted():
    return Painted("AAA" * 20 + "." + "___" * 3 + "~a_a").make()


def test_the_groups_are_those_of_the_labels_and_one_person_is_not_a_group(X, kmeans):
    labels = np.repeat([0, 1, 2], 1000)
    assert groups_of(X, DOMAIN, kmeans).sizes.tolist() == [1000, 1000, 1000]
    labels[0] = 7
    assert groups_of(X, DOMAIN, kmeans, labels).sizes.tolist() == [999, 1000, 1000]
    labels[:5] = -1  # scattered people belong to no group
    assert groups_of(X, DOMAIN, kmeans, labels).sizes.tolist() == [995, 1000, 1000]
    assert minority_painted().groups.tolist() == [0] * 20 + [1] * 3 + [-1]


def test_a_good_run_is_called_good(X, kmeans):
    trace = run("nsm", X)
    verdict = demo_verdict(
        trace, groups_of(X, DOMAIN, kmeans), kmeans, (0.0051, 0.005), ["east", "north"], ["km", "km"]
    )
    assert verdict.good and not verdict.why and not verdict.help
    assert str(verdict).startswith("3 of 3 KMeans' clusters found · 1.02 × KMeans · off by ")
    assert str(verdict).endswith(
        f"m at most · for ε 1, δ {chance(trace.claimed.delta)}: an attacker wins at most {trace.claimed.odds} of 100 "
        "bets on whether one person is in the data"
    )


def test_a_missed_group_is_named_with_its_size_and_nobody_is_told_to_spend_more(X, kmeans):
    trace = run("nsm", X, n_clusters=2)
    verdict = demo_verdict(trace, groups_of(X, DOMAIN, kmeans), kmeans, (0.1, 0.005), ["east", "north"], ["km", "km"])
    assert not verdict.good and len(verdict.missed) in (1, 2)
    assert "2 centers cannot serve 3 clusters" in verdict.why and "1,000" in verdict.why
    assert verdict.help and not any("spend" in sentence.lower() for sentence in verdict.help)


def test_a_cluster_that_kmeans_does_not_find_again_is_no_alarm(X, kmeans):
    """If k = 4, KMeans splits one of three groups at random; a run may miss clusters that another start merges."""
    trace, east, north = run("nsm", X), ["east", "north"], ["km", "km"]
    four = np.vstack([kmeans, kmeans[0] + [0.4, 0.0]])
    clusters = groups_of(X, DOMAIN, four)
    assert not clusters.known and groups_of(X, DOMAIN, four, np.repeat([0, 1, 2], 1000)).known
    alarmed = demo_verdict(trace, clusters, four, (0.0051, 0.005), east, north)
    calm = demo_verdict(trace, clusters.doubted([DOMAIN.normalize(kmeans)]), four, (0.0051, 0.005), east, north)
    assert alarmed.parts[0] == calm.parts[0] == "3 of 4 KMeans' clusters found"
    assert len(alarmed.missed) == 1 and "cluster of" in alarmed.why and not alarmed.good
    assert calm.good and not calm.missed and not calm.help and "Another start" in calm.why
    sure = demo_verdict(trace, clusters.doubted([DOMAIN.normalize(four)]), four, (0.0051, 0.005), east, north)
    assert sure.missed == alarmed.missed and sure.why == alarmed.why


def test_a_whole_group_without_a_center_is_an_alarm_although_kmeans_divides_it(X, kmeans):
    """If another start covers two clusters with one center, a run may miss either of them, but not both."""
    four = np.vstack([kmeans, kmeans[0] + [0.4, 0.0]])
    clusters = groups_of(X, DOMAIN, four).doubted([DOMAIN.normalize(kmeans)])
    whole = int(clusters.found_by(DOMAIN.normalize(kmeans[1:])).sum())
    assert not clusters.missed_by(DOMAIN.normalize(kmeans)).any()
    assert whole == 2 and clusters.missed_by(DOMAIN.normalize(kmeans[1:])).sum() == 1


@pytest.mark.parametrize(("slug", "words"), [("nsm", "divides the noise by about 1.9"), ("eugkm", "lowers the noise")])
def test_what_twice_the_budget_buys_follows_from_the_noise_and_not_from_a_rule_of_thumb(slug, words, X, kmeans):
    """Gaussian noise depends on mu, which does not double with epsilon; the advice states the promise at 2 epsilon."""
    trace, twice = run(slug, X, n_clusters=2), ALGORITHMS[slug](n_clusters=2, epsilon=2.0).guarantee(2, DOMAIN.n_public)
    groups, units = groups_of(X, DOMAIN, kmeans), ["km", "km"]
    verdict = demo_verdict(trace, groups, kmeans, (0.1, 0.005), ["east", "north"], units, twice)
    *others, last = verdict.help
    assert last == (
        f"Twice the ε {words}, and an attacker wins up to {twice.odds} of 100 bets instead of {trace.claimed.odds}."
    )
    alone = demo_verdict(trace, groups, kmeans, (0.1, 0.005), ["east", "north"], units)
    assert alone.help == tuple(others)


def test_the_private_verdict_reads_released_values_only(X, monkeypatch):
    same_luck(monkeypatch)
    trace = ALGORITHMS["glloyd"](n_clusters=3, epsilon=8.0).run(X, domain=DOMAIN, noise="secure")
    verdict = private_verdict(trace, ["east", "north"], ["km", "km"])
    assert str(verdict).startswith("3 centers · noise of each center at most ±")
    assert "KMeans" not in str(verdict) and "groups" not in str(verdict)


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_every_algorithm_has_a_private_verdict_made_of_released_values(slug, X):
    """The private verdict depends on released values alone: removing the hidden parts does not change its sentence."""
    if slug == "kmeans":
        pytest.skip("not private")
    trace = run(slug, X, **({"rho_distance": 0.05} if slug.startswith("dist-dp") else {}))
    verdict = private_verdict(trace, ["east", "north"], ["km", "km"])
    first, *middle, bet = verdict.parts
    if ALGORITHMS[slug].regions:
        assert first.split()[1].startswith("region") and f" wins at most {trace.claimed.odds} of 100 bets on " in bet
        assert verdict == private_verdict(Trace.from_json(trace.to_json()), ["east", "north"], ["km", "km"])
        return
    assert first.split()[1].startswith("center") and len(middle) <= 1
    assert bet.startswith("for ε") and f" wins at most {trace.claimed.odds} of 100 bets on " in bet
    sd = center_noise(trace).sd
    assert bool(middle) == (sd is not None)
    assert all(part.startswith(("noise of each center at most ±", "noise of some centers as wide")) for part in middle)
    assert not any("spend" in sentence.lower() for sentence in verdict.help)
    shared = Trace.from_json(trace.to_json())
    assert private_verdict(shared, ["east", "north"], ["km", "km"]) == verdict
