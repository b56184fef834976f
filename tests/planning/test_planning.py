"""Check plans: impossible facts are refused in a sentence, rehearsals equal real runs, and both directions agree."""

import dataclasses
import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.kmeans import KMeans
from dpviz.cli.main import main
from dpviz.metrics import normalized_loss
from dpviz.planning.facts import MOST_ROWS, Facts, numbers
from dpviz.planning.rehearsal import EPSILONS, STOPS, Rehearsal, _louder, _make, memory, rehearse, stops_around
from dpviz.planning.solver import epsilon_for, noise_at
from dpviz.planning.words import amount, compact, tighter
from dpviz.postprocessing.released import center_noise
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
    sd = np.concatenate([np.broadcast_to(center_noise(run).sd.reshape(5, -1), (5, 2)) for run in runs])
    np.testing.assert_allclose(found.noise, np.median(sd, axis=0) * 12)
    assert found.ratio_low <= found.ratio <= found.ratio_high and 0.9 < found.ratio < 3
    losses = [normalized_loss(data.X, run.cluster_centers, data.domain) for run in runs]
    best = KMeans(n_clusters=5).run(data.X, domain=data.domain, seed=0).cluster_centers
    known = np.array(losses) / normalized_loss(data.X, best, data.domain)  # the range ends at losses of runs
    np.testing.assert_allclose((found.ratio_low, found.ratio_high), (known.min(), known.max()))
    centers = rerun([data], algorithm, range(3)).centers
    moved = np.nanmedian(spread(centers, centers[0], data.domain))
    np.testing.assert_allclose(found.scatter, [12 * moved, 12 * moved])


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
    return Rehearsal("nsm", epsilon, (noise, noise / 2), None, 1.0, 1.0, 1.0, 0.1)


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
    assert compact(declared(*TOWN)) and not compact(declared(50, [0, 0], [1, 1], 3, like="town"))
    assert memory(declared(*TOWN)) < memory(declared(10**6, [-12, -9], [12, 9], 5))


def plan(*words):
    return main(["plan", "--rows", "200", "--low=-1,-1", "--high", "1,1", "--k", "2", *words])


def test_the_command_plans_and_a_mistake_is_one_sentence(capsys):
    words = ("--algorithms", "sulloyd", "--epsilon", "1,2", "--repeats", "2", "--within", "0.05", "--units", "m")
    assert plan(*words) == 0
    out = capsys.readouterr().out
    assert "noise per center ±" in out and "ε" in out and "Nothing was read or spent." in out
    for wrong, told in (
        (("--epsilon", "one"), "'one' is not"),
        (("--epsilon", "0"), "must be above 0"),
        (("--algorithms", "best"), "cannot be planned"),
        (("--like", "moon"), "no look-alike 'moon'"),
        (("--k", "300"), "must be <= 40"),
        (("--within", "-1"), "one number above 0"),
    ):
        assert plan(*words, *wrong) == 2
        err = capsys.readouterr().err
        assert told in err and err.count("\n") == 1


def test_a_rehearsal_tells_how_often_every_group_has_a_center():
    facts = declared(4000, [-1, -1], [1, 1], 3)
    good, bad = (rehearse(facts, "nsm", epsilon, 3) for epsilon in (50.0, 0.01))
    assert good.found == 3 and bad.found < 3 and len(good.centers) == 3
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
    assert len(found.best) == 80 and found.centers[0].shape == (2, 80) and not found.capped
    assert rehearse(declared(10**9, [0], [1], 2), "sulloyd", 100.0, 1).capped
