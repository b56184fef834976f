"""Hold what every lesson claims over all draws that a visitor can get, or over all stored runs.

`test_lessons.py` compares sentences with pictures and the meant answer with the facts; here the facts are compared with
what the sentences say about them.
"""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import STORY
from dpviz.atlas.files import read
from dpviz.figures.kit.theme import LIGHT
from dpviz.lessons import (
    LESSONS,
    SEEDS,
    bounds,
    choice,
    glossary,
    legend,
    looks,
    lottery,
    noise,
    panels,
    person,
    rho,
    rounds,
    screen,
    trust,
)
from dpviz.lessons.ground import ground
from dpviz.numbers import number
from dpviz.postprocessing.verdict import FAR
from tests.lessons.exhibits import exhibit
from tests.tiers import tiers

every_draw = pytest.mark.parametrize("seed", tiers(SEEDS, 2))


@pytest.mark.slow
def test_right_answers_stand_in_different_places_from_lesson_to_lesson():
    places = [min(exhibit(name, 0).right) for name, lesson in LESSONS.items() if not lesson.several]
    assert all(one != other for one, other in itertools.pairwise(places)), places
    assert max(Counter(places).values()) <= 3 and len(set(places)) >= 3, places


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_one_right_answer_and_the_same_one_in_every_draw(name):
    rights = {exhibit(name, seed).right for seed in SEEDS}
    assert len(rights) == 1 and (LESSONS[name].several or len(*rights) == 1)


# Lesson 2


def test_every_larger_epsilon_finds_all_neighborhoods_in_more_of_the_stored_runs_and_the_largest_scatters_least():
    chart, shown = read(*STORY), exhibit("noise", 0)
    whole = [int((chart.at(epsilon).found == chart.groups).sum()) for epsilon in noise.EPSILONS]
    assert chart.seeds == 100 and shown.runs.every.whole.sum(axis=1).tolist() == whole and whole == sorted(set(whole))
    assert [int(re.search(r"found in (\d+) of 100", title)[1]) for title in shown.titles] == whole
    scatter = shown.runs.every.scatter  # the lesson compares only its ends: from ε 1 to 2 it stays the same
    assert scatter[0] == max(scatter) > 4 * min(scatter) == 4 * scatter[-1]


@pytest.mark.slow
def test_the_first_draw_of_lesson_2_shows_its_claim_and_every_draw_is_another_part_of_the_stored_runs():
    first, parts = exhibit("noise", 0).runs, [exhibit("noise", seed).runs.shown for seed in SEEDS]
    seen = first.every.whole[:, first.shown].sum(axis=1).tolist()
    assert seen == sorted(seen) and seen[0] < seen[-1] and len({part.start for part in parts}) == len(SEEDS)
    assert all(part.stop - part.start == noise.DRAWN for part in parts)


def test_how_far_centers_scatter_with_fewer_people_is_measured_on_stored_runs():
    shown = exhibit("noise", 0)
    fewer, whole = read(*STORY, noise.FEWER), read(*STORY)
    for word, epsilon in (("farther_one", 1.0), ("farther_many", noise.EPSILONS[-1])):
        far = [
            np.median(noise.spread(chart.at(epsilon).centers, ground("town").reference, ground("town").data.domain))
            for chart in (fewer, whole)
        ]
        assert shown.facts[word] == number(far[0] / far[1], 2) and far[0] > 1.5 * far[1]
    assert "{farther_one} times" in LESSONS["noise"].fool and "a tenth" not in LESSONS["noise"].fool


# Lesson 3


@every_draw
def test_only_the_seed_is_secret_without_being_computed_from_rows(seed):
    """Draw the run again on other rows: public items stay, the items computed from raw rows change, the seed stays."""
    run = exhibit("screen", seed).runs
    town, trace = run.ground, run.trace
    rows = town.data.X[np.arange(len(town.data.X)) % 2 == 0]
    other = ALGORITHMS["pe-means"](**trace.parameters).run(rows, domain=town.data.domain, seed=seed)
    same = {
        "promise": other.claimed.epsilon == trace.claimed.epsilon,
        "bounds": other.domain.low.tolist() == trace.domain.low.tolist(),
        "seed": other.seed == trace.seed,
        "people": len(rows) == len(town.data.X),
        "loss": town.ratio(other.cluster_centers) == town.ratio(trace.cluster_centers),
    }
    assert [item for item, stays in same.items() if stays] == ["promise", "bounds", "seed"]
    assert [item for item, stays in same.items() if stays and not screen.ITEMS[item]] == ["seed"]
    assert "all of it but the seed was" in LESSONS["screen"].explain and "take the noise away" in LESSONS["screen"].hint


# Lesson 4


@every_draw
def test_only_the_width_of_the_town_serves_every_neighborhood(seed):
    runs = exhibit("bounds", seed).runs
    found = [runs.ground.found(trace.cluster_centers) for trace in runs.traces]
    meant = bounds.FACTORS.index(1.0)
    assert found[meant] == 5 and max(found[:meant] + found[meant + 1 :]) < 5, found
    others = runs.ratios[:meant] + runs.ratios[meant + 1 :]
    assert runs.ratios[meant] < FAR < 1.5 < min(others), runs.ratios
    assert runs.noise == sorted(runs.noise)  # so the narrow bounds lose by clipping, not by noise


# Lesson 5


@every_draw
def test_split_votes_lose_neighborhoods_that_pooled_votes_keep(seed):
    facts = exhibit("votes", seed).facts
    assert facts["left"] < facts["right"] >= 4 and float(facts["sd"]) < 0.05 * int(facts["smallest"])
    assert float(facts["left_loss"]) > 2 > FAR >= float(facts["right_loss"])


# Lesson 6


@every_draw
def test_kmeans_finds_the_small_group_and_noise_alone_loses_it_unseen_by_the_loss(seed):
    shown = exhibit("small", seed)
    there = shown.runs.ground
    small = int(there.groups.sizes.argmin())
    assert there.mask(there.reference).all() and there.groups.sizes[small] < 100 and len(there.data.X) == 5_000
    masks = [there.mask(trace.cluster_centers) for trace in shown.runs.traces]
    lost = [i for i, mask in enumerate(masks) if not mask[small]]
    assert lost and masks[-1].all() and all(np.delete(mask, small).all() for mask in masks)
    assert all(1.02 < shown.runs.ratios[i] <= FAR for i in lost)
    assert shown.hint in lost and LESSONS["small"].explore["d"] == there.data.dataset_id


# Lesson 7


@every_draw
def test_the_title_of_lesson_7_is_its_own_total(seed):
    shown = exhibit("looks", seed)
    total = shown.runs.spent[-1].epsilon
    assert (
        shown.facts["total"] == looks.TITLE["total"] == number(total) and len(shown.runs.ground.data.X) == looks.PEOPLE
    )
    assert LESSONS["looks"].title == f"Ten looks cost ε\N{NO-BREAK SPACE}{number(total)}" and looks.LOOKS == 10
    assert looks.EPSILON < total < looks.LOOKS * looks.EPSILON / 2  # far from "ten times as much"


@every_draw
def test_the_mean_of_all_looks_is_nearer_than_a_single_look_by_more_than_half(seed):
    facts = exhibit("looks", seed).facts
    single, mean = (int(facts[name].removesuffix(" m")) for name in ("single", "mean"))
    assert 2 < float(facts["times"]) and mean < single / 2
    whole = int(facts["whole"].removesuffix(" m"))
    assert whole < single / 1.9 and mean / 2 < whole < 2 * mean, facts


def test_the_one_who_looks_may_ask_but_not_read():
    lesson = LESSONS["looks"]
    assert "may not read the file, but may ask" in lesson.setting and "analyst has seen" in lesson.question
    assert "with a file" not in " ".join([lesson.setting, lesson.explain, *lesson.errors, *lesson.talk])


# Lesson 8


@every_draw
def test_one_step_of_lesson_8_is_the_first_at_which_the_attacker_wins_as_often_as_the_task_asks(seed):
    shown = exhibit("rho", seed)
    odds = shown.runs.odds
    assert odds == sorted(set(odds)) and odds[1] < rho.WINS <= odds[-2] and odds[0] > 50
    assert f"win {rho.WINS} of 100" in LESSONS["rho"].fill(LESSONS["rho"].task, shown)
    far = shown.runs.promises[-1]
    assert far.person.epsilon > far.rows_per_person * far.epsilon and far.person.delta == far.delta


@every_draw
def test_noisy_points_give_away_the_district_but_not_the_place(seed):
    facts = exhibit("rho", seed).facts
    assert int(facts["same"]) > 80 > 2 * int(facts["largest"]) and float(facts["thrown"].split()[0]) > 1


# Lesson 9


@every_draw
def test_only_the_local_model_loses_groups(seed):
    runs = exhibit("trust", seed).runs
    found = dict(zip(trust.MODELS, (runs.ground.found(trace.cluster_centers) for trace in runs.traces), strict=True))
    assert found.pop("Local") < 6 and set(found.values()) == {6}
    assert max(runs.ratios[:3]) < 1.5 < 2 < runs.ratios[3]


# Lesson 10


@every_draw
def test_a_step_of_alex_moves_the_sum_as_far_and_the_centers_across_the_town_however_many_people(seed):
    runs, larger = exhibit("person", seed).runs, person.walked(seed, person.TIMES)
    n, passing = len(runs.X), person.AFTER
    step = float(np.linalg.norm(runs.places[passing] - runs.places[passing - 1]))
    assert step < 0.4 and person.steps(runs.sums)[passing] == pytest.approx(step)
    assert person.steps(runs.means)[passing] == pytest.approx(step / (n + 1))
    assert len(larger.X) == person.TIMES * n and person.steps(larger.means)[passing] == pytest.approx(
        step / (10 * n + 1)
    )
    for one in (runs, larger):  # both centers, in a town of 24 km
        jumps = np.linalg.norm(one.centers[passing + 1] - one.centers[passing], axis=1)
        assert jumps.max() > 8 and jumps.min() > 7.5 > 20 * step
        assert np.delete(person.steps(one.centers)[1:], passing - 1).max() < 0.5  # no other step does that


@every_draw
def test_alex_outside_the_bounds_counts_at_their_edge_and_moves_a_sum_by_at_most_their_corner(seed):
    shown = exhibit("person", seed)
    runs, corner = shown.runs, shown.runs.without.domain.radius * person.HALF
    outside = np.abs(runs.places).max(axis=1) > person.HALF
    assert outside.sum() == 2 and (runs.counted[outside] == [0.0, person.HALF]).all()
    assert all(person.steps(values)[-2:].max() == 0 for values in (runs.sums, runs.means, runs.centers))
    assert all("outside the bounds moves nothing" in title for title in shown.titles[-2:])
    assert np.linalg.norm(runs.counted, axis=1).max() <= corner == pytest.approx(person.HALF * math.sqrt(2))
    assert shown.facts["edge"] == f"{corner:.0f} km"


# Lesson 11


@every_draw
def test_the_loss_falls_and_rises_with_the_rounds_and_one_table_beats_all_of_them(seed):
    runs = exhibit("rounds", seed).runs
    losses, best = runs.losses, int(np.argmin(runs.losses))
    assert rounds.ROUNDS[best] in (4, 8) and losses[0] > 1.5 * losses[best] and losses[-1] > 2 * losses[best]
    assert runs.table < 1.1 < losses[best] and min(losses[:best]) > losses[best] < min(losses[best + 1 :])
    promises = [trace.claimed for traces in (*runs.loops, runs.tables) for trace in traces]
    assert [promise.pure_epsilon for promise in promises] == pytest.approx([rounds.EPSILON] * len(promises))
    assert all(len(trace.ledger) == 1 for trace in runs.tables)  # one table
    assert [sd / runs.sds[0] for sd in runs.sds] == pytest.approx(rounds.ROUNDS)  # each round has its share of epsilon


# Lesson 12


@every_draw
def test_the_lottery_prefers_good_cuts_at_every_epsilon_and_draws_as_often_as_expected(seed):
    runs = exhibit("lottery", seed).runs
    best, asked = runs.best, runs.tables[lottery.ASKED]
    assert best == sorted(best) and 0.1 < best[lottery.ASKED] < 0.4 and best[-1] > 0.95  # steeper with epsilon
    for trace, table in zip(runs.traces, runs.tables, strict=True):
        assert table.probability.sum() == pytest.approx(1) and table.drawn.sum() == lottery.DRAWS and len(table) == 80
        assert table.probability.is_monotonic_decreasing and table.score.is_monotonic_decreasing
        points = table.score * trace.steps[0].released["noisy_count"]  # e times the tickets for `scale` points more
        odds = table.probability[0] / table.probability[5]
        assert math.log(odds) == pytest.approx((points[0] - points[5]) / lottery.scale(trace), rel=1e-6)
        low, high = binom.ppf([5e-6, 1 - 5e-6], lottery.DRAWS, table.probability[0])
        assert low <= table.drawn[0] <= high
    assert (asked.drawn > 0).sum() >= 5 and asked.drawn[40:].sum() == 0 and asked.drawn[:10].sum() >= 85
    (entry,) = (entry for entry in runs.traces[0].ledger if entry.label == "split")
    assert entry.sensitivity / entry.scale == pytest.approx(dict(entry.cost)["epsilon"])
    assert exhibit("lottery", seed).facts["range"] == "12.2"


# Lesson 13


@every_draw
def test_the_elbow_over_rows_tells_whether_alex_is_there_and_the_elbow_over_a_table_is_free(seed):
    shown = exhibit("choice", seed)
    runs = shown.runs
    assert runs.found[:2] == (4, 5) and runs.found[4] == 4
    assert (np.linalg.norm(runs.centers[1] - choice.ALEX, axis=1) == 0).any()  # a center for Alex alone
    assert len(runs.small) == 40 and len(runs.large) == 4_000 and len(runs.ks[0]) == len(runs.ks[1]) == choice.RUNS
    assert sum(k == 4 for k in runs.ks[1]) >= 7 and 4 in runs.ks[0] and set(runs.ks[0]) <= set(range(3, 9))
    assert all(f"k = {k} in {n}" in shown.facts["dpm"] for k, n in Counter(runs.ks[0]).items())
    assert shown.facts["chosen"] in range(2, choice.MOST + 1)
    plan = runs.trace.plan.total(runs.trace.claimed.delta)
    assert shown.facts["spent"] == "50" and plan.epsilon == pytest.approx(choice.EPSILON)


def test_the_elbow_stops_where_one_more_center_saves_less_than_a_third():
    assert choice.elbow(np.array([90.0, 50.0, 30.0, 25.0, 10.0])) == 3
    assert choice.elbow(np.array([90.0, 80.0, 30.0])) == 1 and choice.elbow(np.array([90.0, 50.0, 30.0])) == 3


# Words and marks of all lessons


def test_no_lesson_invents_what_classes_or_people_answer():
    for lesson in LESSONS.values():
        said = " ".join([*lesson.talk, *lesson.errors, lesson.goal, lesson.fool, lesson.keep])
        assert not re.search(r"\b[Mm]ost (classes|people|students|pupils|visitors)\b", said), lesson.name


@pytest.mark.slow
def test_a_diamond_stands_for_kmeans_alone_and_a_square_for_the_same_method_without_noise():
    for name in LESSONS:
        for symbol, word in legend(name):
            assert symbol != "diamond" or "KMeans" in word, (name, word)
            assert symbol != "square" or "without noise" in word or "exact" in word, (name, word)
        for panel in panels(name, exhibit(name, 0), LIGHT):
            for trace in panel.figure.to_dict()["data"]:
                diamond = trace.get("marker", {}).get("symbol") == "diamond-open"
                assert not diamond or "KMeans" in trace.get("name", ""), (name, trace.get("name"))


def test_the_glossary_says_which_promises_have_no_delta_and_no_mu():
    pure = [one for one in ALGORITHMS.values() if one.slug in ("sulloyd", "dp-lloyd", "eugkm", "privtree")]
    promises = [one(n_clusters=5).guarantee(2, 5_000) for one in pure]
    assert len(pure) == 4 and all(promise.delta == 0 and promise.mu is None for promise in promises)
    assert "δ is 0" in glossary()["ε"] and "always" not in glossary()["ε"]
    assert "implies a μ" in glossary()["μ"] and "exists only" not in glossary()["μ"]
