"""Check plans: impossible facts are refused in a sentence, rehearsals equal real runs, and both directions agree."""

import dataclasses
import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.kmeans import KMeans
from dpviz.cli.main import main
from dpviz.datasets import load
from dpviz.metrics import normalized_loss
from dpviz.planning.facts import MOST_ROWS, Facts, numbers
from dpviz.planning.rehearsal import (
    EPSILONS,
    STOPS,
    Rehearsal,
    _louder,
    _make,
    memory,
    rehearse,
    same_run,
    stops_around,
)
from dpviz.planning.solver import epsilon_for, noise_at, span
from dpviz.planning.towns import FARTHEST, NEAREST, TOUCHING, Town, equal, shaped, towns
from dpviz.planning.words import amount, headline, judgment, matched, noise_ranges, ranked, tighter
from dpviz.postprocessing.at_bound import REACH
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import groups_of
from dpviz.runs.public import started
from dpviz.runs.reruns import rerun, spread

TOWN = (5000, [-12, -9], [12, 9], 5)


def declared(*values, **named):
    return Facts.declare(*values, **{"units": ["km"], "scale": "common", **named})


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        ((100, [], [], 3), {}, "declare the lowest and the highest"),
        ((100, [0, 0], [1], 3), {}, "2 lowest and 1 highest"),
        ((100, [0, 5], [1, 5], 3), {"columns": ["age", "pay"]}, "the lowest value of pay must be below its highest"),
        ((100, [0], [math.inf], 3), {}, "must be below its highest"),
        ((100, [-1e40], [1e40], 3), {}, "must have bounds within 1e"),
        ((10, [0], [1], 11), {}, "centers must be at most the number of people, 10; got 11"),
        ((100, [0], [1], 41), {}, "centers must be <= 40"),
        ((1, [0], [1], 1), {}, "people must be >= 2"),
        ((100, [0], [1], 2), {"like": "town"}, "has 2 columns, and 1 are declared"),
        ((100, [0, 0], [1, 1], 2), {"columns": ["a"]}, "1 names of columns, and bounds for 2"),
    ],
)
def test_facts_that_cannot_be_are_one_sentence(values, named, words):
    with pytest.raises(ValueError, match=words) as told:
        declared(*values, **named)
    assert str(told.value).count(".") - str(told.value).count("e+") <= 2 and "\n" not in str(told.value)


def test_numbers_are_read_as_people_type_them():
    assert numbers("-12, 9", "bounds") == numbers("−12  9", "bounds") == [-12, 9] and numbers(" ", "bounds") == []
    with pytest.raises(ValueError, match="the budgets must be numbers separated by commas; 'one' is not"):
        numbers("1, one", "the budgets")


def test_stand_ins_lie_in_the_declared_bounds_and_never_are_more_than_the_most():
    facts = declared(10**8, [100, -1], [200, 1], 3)
    people = facts.stand_in()
    assert len(people.X) == people.n_public == MOST_ROWS and not people.private
    assert (people.X >= facts.domain.low).all() and (people.X <= facts.domain.high).all()
    half = dataclasses.replace(facts, filled=0.5).stand_in().X
    np.testing.assert_allclose(half - facts.domain.middle, (people.X - facts.domain.middle) / 2)
    tight = dataclasses.replace(facts, filled=0.5).tight()
    np.testing.assert_allclose(tight.stand_in().X, half)
    assert declared(50, [0, 0], [1, 1], 3, like="town").stand_in().X.shape == (50, 2)


def test_a_rehearsal_is_the_formula_of_real_runs_in_the_data_units():
    facts = declared(*TOWN)
    found = rehearse(facts, "sulloyd", 1.0, 3)
    data, algorithm = facts.stand_in(), ALGORITHMS["sulloyd"](n_clusters=5, epsilon=1.0)
    runs = [algorithm.run(data.X, domain=data.domain, seed=seed) for seed in range(3)]
    sd = np.array([np.broadcast_to(center_noise(run).sd.reshape(5, -1), (5, 2)) for run in runs]) * 12
    np.testing.assert_allclose(found.sd, sd)
    np.testing.assert_allclose(found.noise, np.median(sd.max(axis=1), axis=0))
    np.testing.assert_allclose(span([found]), (sd.min(axis=(0, 1)), sd.max(axis=(0, 1))))
    losses = [normalized_loss(data.X, run.cluster_centers, data.domain) for run in runs]
    best = KMeans(n_clusters=5).run(data.X, domain=data.domain, seed=0).cluster_centers
    np.testing.assert_allclose(found.ratios, np.array(losses) / normalized_loss(data.X, best, data.domain))
    centers = rerun([data], algorithm, range(3)).centers
    np.testing.assert_allclose(found.scatter, np.tile(12 * spread(centers, centers[0], data.domain)[:, None], 2))


def test_a_method_that_takes_public_rows_is_rehearsed_with_some_of_the_stand_ins_and_the_command_says_so(capsys):
    facts = declared(*TOWN)
    (centers,) = rehearse(facts, "public-start", 1.0, 1).centers
    data = facts.stand_in()
    method = started(ALGORITHMS["public-start"](n_clusters=5, epsilon=1.0), data)
    np.testing.assert_array_equal(method.run(data.X, domain=data.domain, seed=0).cluster_centers, centers)
    for slug, said in (("public-start", 1), ("glloyd", 0)):
        assert plan("--algorithms", slug, "--epsilon", "1", "--repeats", "2") == 0
        assert capsys.readouterr().out.count("counts as published and gives the first centers") == said


def test_a_rehearsal_in_two_parts_is_the_whole_one():
    facts = declared(400, [-1, -1], [1, 1], 3)
    whole, parts = (
        rehearse(facts, "nsm", 1.0, 4),
        rehearse(facts, "nsm", 1.0, 1).extend(rehearse(facts, "nsm", 1.0, 3, 1)),
    )
    assert parts.runs == whole.runs == 4 and parts.whole == whole.whole
    for one, other in zip(whole.centers + whole.sd, parts.centers + parts.sd, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole.ratios, parts.ratios)


def test_more_people_than_stand_ins_see_the_same_noise_per_person():
    few, many = declared(MOST_ROWS, [-1, -1], [1, 1], 4), declared(10 * MOST_ROWS, [-1, -1], [1, 1], 4)
    cls, delta = ALGORITHMS["glloyd"], 1 / (100 * 10 * MOST_ROWS)
    assert _louder(_make(cls, few, 0.5), few, 0.5) == {}
    real = _make(cls, many, 0.5)
    louder = dataclasses.replace(real, **_louder(real, many, 0.5))
    mus = [one.guarantee(2, 10 * MOST_ROWS).mu for one in (real, louder)]
    assert mus[1] == pytest.approx(10 * mus[0], rel=1e-6) and louder.delta == delta
    pure = _make(ALGORITHMS["dpm"], many, 0.5)
    assert _louder(pure, many, 0.5)["epsilon"] > 0.5


def point(epsilon, noise):
    found, nothing = np.ones((1, 5), dtype=bool), np.zeros((5, 2))
    sd = np.tile([noise, noise / 2], (5, 1))
    return Rehearsal(declared(*TOWN), "nsm", epsilon, "", (nothing,), (sd,), found, np.full(5, 1000), np.ones(1), 0.1)


def test_both_directions_agree():
    curve = [point(epsilon, 0.8 / epsilon) for epsilon in (0.25, 0.5, 1, 2, 4)]
    for epsilon in (0.3, 1.0, 3.9):
        assert noise_at(curve, epsilon) == pytest.approx(0.8 / epsilon)
        assert epsilon_for(curve, noise_at(curve, epsilon)) == pytest.approx(epsilon)
    assert epsilon_for(curve, 0.1) == math.inf and epsilon_for(curve, 5.0) == 0.0
    assert math.isnan(noise_at(curve, 5.0)) and epsilon_for([], 1.0) == math.inf
    bumpy = [point(0.5, 1.0), point(1.0, 1.2), point(2.0, 0.5)]
    assert noise_at(bumpy, 1.0) == pytest.approx(1.2)  # at a point, the curve has the point's noise
    assert epsilon_for(bumpy, 1.1) == 0.0 and 1.0 < epsilon_for(bumpy, 0.6) < 2.0
    rising = [point(0.5, 1.0), point(1.0, 0.4), point(2.0, 0.5)]
    assert epsilon_for(rising, 0.45) == pytest.approx(0.92, abs=0.05)  # although noise exceeds .45 again at ε 2


def test_amounts_have_the_unit_of_the_widest_column():
    assert amount(0.5, declared(*TOWN)) == "500 m"
    mixed = Facts.declare(100, [0, 0], [100, 1], 2, columns=["age", "share"], units=["years", "of all"])
    assert amount(3.0, mixed) == "3 years in age" and amount(math.inf, mixed) == "unknown"
    full, wide = point(1.0, 0.8), point(1.0, 0.4)
    words = tighter(full, wide, point(1.0, 0.2), declared(*TOWN))
    assert words == "±400 m at ε 1 instead of ±800 m; bounds half as wide would halve the noise: ±200 m."
    assert "would change little (±390 m)" in tighter(full, wide, point(1.0, 0.39), declared(*TOWN))
    assert tighter(wide, wide, wide, declared(*TOWN)).startswith("±400 m at ε 1, as above; ")
    assert memory(declared(*TOWN)) < memory(declared(10**6, [-12, -9], [12, 9], 5))


def plan(*words):
    return main(["plan", "--rows", "200", "--low=-1,-1", "--high", "1,1", "--k", "2", *words])


@pytest.mark.slow
def test_the_command_plans_and_a_mistake_is_one_sentence(capsys):
    words = ("--algorithms", "sulloyd", "--epsilon", "1,2", "--repeats", "2", "--within", "0.05", "--units", "m")
    assert plan(*words) == 0
    out = capsys.readouterr().out
    assert (
        "noise of a center: column 1 ±" in out
        and "touching: 2 of 2 runs" in out
        and "ε" in out
        and "Nothing was read or spent." in out
    )
    for wrong, told in (
        (("--epsilon", "one"), "'one' is not"),
        (("--epsilon", "0"), "must be above 0"),
        (("--algorithms", "best"), "cannot be planned"),
        (("--like", "moon"), "no look-alike 'moon'"),
        (("--k", "300"), "must be <= 40"),
        (("--within", "-1"), "one number above 0"),
        (("--shares", "1,2,3"), "needs a share for each of its 2 groups; got 3"),
        (("--shares", "1,0"), "must be above 0"),
        (("--shares", "1,2", "--apart", "1"), "apart must be >= 2"),
    ):
        assert plan(*words, *wrong) == 2
        err = capsys.readouterr().err
        assert told in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_rehearsal_tells_how_often_every_group_has_a_center():
    facts = declared(4000, [-1, -1], [1, 1], 3)
    good, bad = (rehearse(facts, "nsm", epsilon, 3) for epsilon in (50.0, 0.01))
    assert good.whole == 3 and bad.whole < 3 and len(good.centers) == 3
    assert all(centers.shape == (3, 2) for centers in good.centers)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.25, 1.0, 4.0, 8.0, 100.0])
def test_the_curve_holds_every_epsilon_that_a_run_may_have(epsilon):
    curve = stops_around(epsilon)
    assert EPSILONS[0] <= min(curve) <= epsilon <= max(curve) <= EPSILONS[1] and len(curve) >= 3
    assert list(curve) == sorted(curve) and (curve == STOPS) == (0.25 <= epsilon <= 4)
    for slug in ("nsm", "dpm"):
        _make(ALGORITHMS[slug], declared(*TOWN), epsilon)  # raises if ε is out of the algorithm's range


def test_a_wide_table_is_rehearsed_and_a_crowd_that_few_cannot_stand_in_for_is_marked():
    wide = declared(300, [0] * 80, [1] * 80, 2)
    found = rehearse(wide, "sulloyd", 1.0, 1)
    assert len(found.noise) == 80 and found.centers[0].shape == (2, 80) and not found.capped
    assert rehearse(declared(10**9, [0], [1], 2), "sulloyd", 100.0, 1).capped


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_a_town_has_its_shares_and_distances_within_the_bounds(k, d):
    for town in [*towns(k), Town("any", (1 / k,) * k, NEAREST), Town("any", (1 / k,) * k, FARTHEST)]:
        Z, labels = town.people(3000, d)
        assert Z.shape == (3000, d) and np.abs(Z).max() <= 1 and np.abs(Z).max() > 0.6
        np.testing.assert_allclose(np.bincount(labels) / 3000, town.shares, atol=k / 3000)
        np.testing.assert_array_equal(Z, town.people(3000, d)[0])  # nothing but the arguments decides
        if k > 1:
            means = np.array([Z[labels == group].mean(axis=0) for group in range(k)])
            nearest = min(np.linalg.norm(means[a] - means[b]) for a in range(k) for b in range(a))
            own = np.mean([Z[labels == group].std(axis=0).mean() for group in range(k)])
            assert nearest / own == pytest.approx(town.apart, rel=0.15)


def test_uneven_shares_are_60_30_10_and_fall_geometrically():
    assert towns(3)[1].shares == pytest.approx((0.6, 0.3, 0.1)) and towns(3)[1].name == "60/30/10"
    assert towns(2)[1].shares == pytest.approx((0.6, 0.4)) and [town.name for town in towns(1)] == ["equal and apart"]
    rest = np.array(towns(6)[1].shares[1:])
    assert towns(6)[1].shares[0] == 0.6 and rest.sum() == pytest.approx(0.4)
    np.testing.assert_allclose(rest[1:] / rest[:-1], 3**-0.25)
    few = towns(9)[1].people(30, 2)[1]
    assert np.bincount(few).min() == 2  # no group is a single person, who would be no group
    mine = shaped([2, 1, 1], 4.0, 3)
    assert mine.shares == (0.5, 0.25, 0.25) and mine.name == "yours, 50/25/25" and mine.apart == 4


@pytest.mark.parametrize("d", [1, 2, 4, 8, 20])
def test_kmeans_finds_every_group_of_towns_that_touch(d):
    for k in (2, 3, 5, 8, 15):
        facts = declared(2000, [-1] * d, [1] * d, k)
        data = dataclasses.replace(facts, made=towns(k)[-1]).stand_in()
        assert towns(k)[-1].apart == TOUCHING
        kmeans = KMeans(n_clusters=k).run(data.X, domain=data.domain, seed=0).cluster_centers
        groups = groups_of(data.X, data.domain, kmeans, data.labels)
        assert groups.found_by(data.domain.normalize(kmeans)).all(), k


@pytest.mark.slow
def test_a_rehearsal_says_no_where_the_smallest_group_is_lost():
    facts = declared(300, [-1, -1], [1, 1], 3)
    looked = ranked(rehearse(town, "nsm", 0.5, 10) for town in facts.everywhere())
    worst = looked[0]
    assert [one.whole for one in looked] == sorted(one.whole for one in looked)
    assert worst.facts.title == "60/30/10" and worst.whole < 9
    assert (
        headline(looked) == f"All 3 groups are found in {worst.whole} of 10 runs at ε 0.5 in the worst town, 60/30/10"
    )
    lost = int((~worst.found[:, 2]).sum())
    assert worst.sizes.round().tolist() == [180, 90, 30]
    assert f"loses the smallest group (30 of 300 people) in {lost} of 10 runs: do not trust one run" in judgment(looked)
    crowd = declared(30, [-1, -1], [1, 1], 7)  # groups of 4, and one of 6 that takes the rest
    (even,) = (rehearse(town, "nsm", 0.1, 2) for town in crowd.everywhere()[:1])
    assert even.whole == 0 and "loses a group (4 of 30 people each) in 2 of 2 runs" in judgment([even])
    sure = ranked(rehearse(town, "nsm", 50.0, 3) for town in facts.everywhere())
    assert judgment(sure).startswith("NSM (ours) finds every group in all 3 runs of each town.")


def test_noise_is_written_from_the_least_to_the_most_of_all_centers_and_towns():
    facts = Facts.declare(100, [0, 0, 0], [100, 1000, 9], 2, columns=["age", "pay", "x"], units=["years", "€", ""])
    one = dataclasses.replace(rehearse(facts, "sulloyd", 1.0, 1), sd=(np.array([[0.1, 3.0, 2.0], [0.4, 3.0, 3.0]]),))
    two = dataclasses.replace(one, sd=(np.array([[16.4, 3.0, 1.6]]), np.array([[0.2, 999.0, 1.6]])))
    told = ["±0.1 to 16 years", "±3 € to as wide as its bounds", "as wide as its bounds"]
    assert noise_ranges([one, two]) == told
    map_ = Facts.declare(100, [0, 0, 0], [100, 1000, 9], 2, columns=["x", "y", "z"], units=["km", "km", "m"])
    near = dataclasses.replace(one, facts=map_, sd=(np.array([[0.0059, 0.2, 0.03], [0.12, 1.5, 0.03]]),))
    assert noise_ranges([near]) == ["±5.9 to 120 m", "±200 m to 1.5 km", "±3 cm"]
    assert noise_ranges([dataclasses.replace(one, sd=())])[0].startswith("~") or one.scatter is None


@pytest.mark.slow
def test_a_run_is_compared_with_its_own_rehearsal_alone():
    facts = declared(300, [-1, -1], [1, 1], 2)
    looked = [rehearse(facts, "nsm", 1.0, 2)]

    def run(slug="nsm", domain=facts.domain, **values):
        X = facts.stand_in().X
        trace = ALGORITHMS[slug](**{"n_clusters": 2, "epsilon": 1.0, **values}).run(X, domain=domain, seed=7)
        return trace, same_run(trace.algorithm, trace.parameters, trace.claimed, trace.domain)

    trace, key = run()
    assert key == looked[0].run
    assert matched(looked, trace)[0].startswith("column 1: rehearsed ±") and ", released ±" in matched(looked, trace)[1]
    others = [
        run("sulloyd")[1], run(epsilon=2.0)[1], run(n_clusters=3)[1], run(delta=1e-4)[1], run(near_share=0.11)[1],
        run(domain=dataclasses.replace(facts.domain, n_public=310))[1],
        run(domain=dataclasses.replace(facts.domain, radius=0.9))[1],
        run(domain=declared(300, [-1, -1], [1, 1.01], 2).domain)[1],
    ]  # fmt: skip
    assert looked[0].run not in others and len(set(others)) == len(others)
    silent = rehearse(facts, "pe-means", 1.0, 2)
    assert silent.by_formula or matched([silent], run("pe-means")[0]) == []


def test_an_other_number_of_centers_keeps_the_kind_of_town():
    facts = declared(300, [-1, -1], [1, 1], 3).everywhere(shaped([5, 1, 1], 4.0, 3))
    assert [one.with_centers(4).title for one in facts] == ["equal and apart", "60/21/12/7", "touching", "touching"]
    assert all(len(one.with_centers(k).town.shares) == k for one in facts for k in (1, 2, 9))
    like = declared(50, [0, 0], [1, 1], 3, like="town").everywhere()
    assert [one.title.startswith("as ") for one in like] == [False, False, False, True]
    assert like[-1].with_centers(5).like == "town"
    with pytest.raises(ValueError, match="a town of 2 groups needs as many centers"):
        dataclasses.replace(facts[0], made=equal(2))


@pytest.mark.slow
def test_the_noise_of_runs_on_public_samples_lies_within_the_rehearsed_range():
    """Rehearse from public facts alone, and then run 36 times; on rings and half-moons, most runs are outside."""
    inside = []
    for name in ("town", "overlap", "iris"):
        data = load(name)
        facts = Facts(dataclasses.replace(data.domain, n_public=data.n_public), data.n_clusters)
        width = facts.domain.high - facts.domain.low
        for slug in ("nsm", "fastlloyd"):
            for epsilon in (0.5, 2.0):
                low, high = span([rehearse(town, slug, epsilon, 10) for town in facts.everywhere()])
                high = np.where(2 * REACH * high > width, np.inf, high)  # "as wide as its bounds"
                for seed in range(100, 103):
                    algorithm = ALGORITHMS[slug](n_clusters=data.n_clusters, epsilon=epsilon)
                    trace = algorithm.run(data.X, domain=facts.domain, seed=seed)
                    sd = center_noise(trace).sd * facts.domain.half_width
                    inside.append(bool((sd.min(axis=0) >= low).all() and (sd.max(axis=0) <= high).all()))
    assert len(inside) == 36 and np.mean(inside) >= 0.9
