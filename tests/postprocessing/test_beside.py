"""Check comparisons of runs against literals: matched centers, differences, words about promises, trade-off curves."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.postprocessing.beside import budgets, curves, facts, kinds, matched, partners, promises
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.bound import Bound
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion

IRIS = load_sample("iris")
TOWN = load_sample("town")


def run(slug, data=IRIS, **values):
    algorithm = ALGORITHMS[slug](**{"n_clusters": 3, **values})
    return algorithm.run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)


def test_centers_are_matched_one_to_one_with_the_least_total_distance():
    first = np.array([[0.0, 0], [1, 0], [0, 1]])
    assert matched(first, first[[2, 0, 1]] + 0.01) == [(0, 1), (1, 2), (2, 0)]
    assert matched(first, np.array([[0.9, 0.1]])) == [(1, 0)]
    assert matched(first, np.empty((0, 2))) == []


def test_centers_paired_for_lack_of_other_partners_are_no_pair():
    first = np.array([[0.0, 0], [10, 0]])
    second = np.array([[0.0, 0.1], [0.2, 0]])  # both centers are near (0, 0), so (10, 0) has no partner
    assert matched(first, second) == [(0, 0)]
    assert matched(second, first) == [(0, 0)]


def test_a_shifted_run_still_has_its_pairs():
    first = np.array([[0.0, 0], [1, 0], [2, 0]])
    assert matched(first, first + [0.6, 0]) == [(0, 0), (1, 1), (2, 2)]


def test_numbers_and_rings():
    far, near = np.array([[-0.5, -0.5], [0.5, 0.5]]), np.array([[0.5, 0.49], [-0.5, -0.45], [-0.51, 0.5]])
    one, other = (dataclasses.replace(run("kmeans", TOWN, n_clusters=2), cluster_centers=c) for c in (far, near))
    one, other = (dataclasses.replace(t, cluster_centers=t.domain.denormalize(t.cluster_centers)) for t in (one, other))
    assert partners([one, other]) == [(["1", "2"], ["", ""]), (["2", "1", ""], ["", "", "only in B"])]
    numbers, words = partners([other, one, other])[0]
    assert numbers == ["1", "2", "3"] and words == ["", "", "not in B"]
    assert partners([other, one])[0][1] == ["", "", "only in A"]


def test_the_table_of_differences_is_what_was_changed():
    one, other = run("nsm", epsilon=2.0), run("nsm", epsilon=0.25)
    rows = {row.name: row.values for row in facts([one, other]) if row.differs}
    assert rows == {
        "ε": ("2", "0.25"),
        "μ": ("0.561", "0.0881"),
        "An attacker wins at most, by its promise": ("62 of 100 bets", "52 of 100 bets"),
        "An attacker wins at most, by its curve": ("62 of 100 bets", "52 of 100 bets"),
        "Releases": ("10", "8"),  # NSM also releases a noisy mean if the budget allows it
    }
    same = {row.name: row.values for row in facts([one, other]) if not row.differs}
    assert same["centers k"] == ("3", "3") and same["Seed"] == ("0", "0") and same["Centers released"] == ("3", "3")
    assert facts([one, one]) and not any(row.differs for row in facts([one, one]))
    mixed = {row.name: row.values for row in facts([one, run("kmeans")])}
    assert mixed["ε"] == ("2", "–") and mixed["Hides"] == ("one row added or removed", "nothing")


def test_promises_that_are_the_same_need_no_sentence():
    assert promises([run("nsm"), run("pe-means")]) == []


@pytest.mark.parametrize(
    ("slugs", "words"),
    [
        (("nsm", "kmeans"), "B promises nothing"),
        (("dist-dp", "nsm"), "A hides only that a row moved by up to"),
        (("stemmer-kaplan-local", "nsm"), "A trusts nobody, while B trusts a curator who sees the raw rows"),
        (("stemmer-kaplan-local", "nsm"), "A hides a row changed to any value, and B a row added or removed"),
        (("nsm", "dpm"), "B has no μ"),
    ],
)
def test_promises_that_differ_say_so(slugs, words):
    told = promises([run(slug, TOWN) for slug in slugs])
    assert any(sentence.startswith(words) for sentence in told), told


def test_a_run_without_a_promise_hides_no_row():
    told = promises([run(slug, TOWN) for slug in ("stemmer-kaplan-local", "nsm", "kmeans")])
    assert any("and B a row added or removed: at the same ε, a changed row may cost B twice" in one for one in told)


def test_another_budget_is_no_other_kind_of_promise():
    same, weak = [run("nsm", TOWN), run("nsm", TOWN, epsilon=4.0)], [run("dist-dp", TOWN), run("nsm", TOWN)]
    assert kinds(same) == [] and budgets(same) == promises(same) != []
    assert kinds(weak) and promises(weak) == kinds(weak) + budgets(weak)


def test_the_sentence_about_budgets_has_the_bets_of_the_verdicts():
    traces = [run("stemmer-kaplan", TOWN), run("stemmer-kaplan", TOWN, epsilon=0.25)]
    bets = [bet_of(trace.claimed).odds for trace in traces]
    assert Bound.of_run(traces[0]).odds < bets[0]  # the composed curve is a tighter bound than one ε and δ
    assert f"at most {bets[0]} on A and {bets[1]} on B" in budgets(traces)[0]


def test_a_weaker_promise_says_that_it_is_no_better():
    weak, far = run("dist-dp", TOWN), run("dist-dp", TOWN, rho_distance=0.2)
    assert "does not make it better" in " ".join(promises([weak, run("nsm", TOWN)]))
    assert "the shorter the move, the weaker the promise" in " ".join(promises([weak, far]))


def test_budgets_that_differ_are_named_as_bets():
    assert promises([run("nsm"), run("nsm", epsilon=4.0)]) == [
        "Their budgets differ: of 100 bets on whether one person is in the data, an attacker wins at most 57 on A and "
        "70 on B."
    ]
    mixed = promises([run("nsm", TOWN), run("stemmer-kaplan-local", TOWN, epsilon=4.0)])
    assert any("of 100 bets on what each run hides, an attacker wins at most" in sentence for sentence in mixed)


def test_a_curve_is_a_persons():
    """Five rows per person multiply mu by five, on the curve and in the numbers."""
    five = dataclasses.replace(run("nsm"), claimed=dataclasses.replace(run("nsm").claimed, rows_per_person=5))
    assert Bound.of_run(five).mu == pytest.approx(5 * five.claimed.mu)
    rows = {row.name: row.values for row in facts([five])}
    assert rows["Bets are on"] == ("whether one person, with up to 5 rows, is in the data",)
    assert (
        rows["An attacker wins at most, by its promise"]
        == rows["An attacker wins at most, by its curve"]
        == (f"{five.claimed.person.odds} of 100 bets",)
    )


def promise(**values):
    return Guarantee(Notion.CENTRAL, Neighboring.ADD_REMOVE, **{"epsilon": 1.0, "delta": 1e-3, **values})


def test_the_curve_of_gaussian_dp_and_of_epsilon_delta():
    alarm = np.array([0.0, 0.1, 0.5, 1.0])
    gaussian = Bound(mu=1.0)
    assert np.allclose(gaussian.miss(alarm), [1, ndtr(1.2815515655446004 - 1), ndtr(-1), 0])
    lines = Bound(lines=((1.0, 0.01),))
    e = np.e
    assert np.allclose(lines.miss(alarm), [0.99, 0.99 - 0.1 * e, 0.49 / e, 0])
    assert np.array_equal(Bound().miss(alarm), np.zeros(4)) and Bound().odds == 100


@pytest.mark.parametrize("bound", [Bound(mu=0.7), Bound(lines=((1.0, 0.01),)), Bound(lines=((1.0, 0.0), (0.3, 0.1)))])
def test_the_best_bet_is_the_best_point_of_the_curve(bound):
    alarm = np.linspace(0, 1, 20_001)
    best = 1 - (alarm + bound.miss(alarm)).min() / 2
    assert best <= bound.best_bet <= best + 1e-4


def test_a_promise_and_its_curve_give_the_same_bet():
    for claim in (promise(mu=0.4), promise(), promise(pure_epsilon=1.0, delta=0.0), Guarantee.none()):
        assert Bound.of_promise(claim).best_bet == pytest.approx(claim.best_bet)


def test_a_plan_is_never_read_as_less_than_its_promise_and_often_as_more():
    for slug in ("dpm", "stemmer-kaplan", "nsm"):
        trace, alarm = run(slug, TOWN), np.linspace(0, 1, 101)
        plan, claim = Bound.of_run(trace), Bound.of_promise(trace.claimed)
        assert (plan.miss(alarm) >= claim.miss(alarm) - 1e-12).all()
        assert plan.best_bet <= claim.best_bet + 1e-12
    private = run("stemmer-kaplan", TOWN)  # no zCDP: its curve, composed at many deltas, is tighter than ε and δ
    assert Bound.of_run(private).odds < private.claimed.odds


def test_every_line_of_a_plans_curve_is_a_statement_of_the_plan():
    trace = run("dpm", TOWN)
    for epsilon, delta in Bound.of_run(trace).lines:
        stated = delta == trace.claimed.delta or (epsilon, delta) == (0.0, math.sqrt(trace.claimed.zcdp / 2))
        assert stated or epsilon >= trace.plan.total(delta).epsilon - 1e-9


def test_curves_of_an_added_and_of_a_changed_row_are_compared_for_a_changed_row():
    add, replace = run("nsm"), run("stemmer-kaplan-local")
    found = curves([add, replace, add])
    assert found.bounds == {letter: Bound.of_run(add).steps(2) for letter in "AC"} | {"B": Bound.of_run(replace)}
    assert found.bounds["A"].odds > Bound.of_run(add).odds and found.doubled == ("A", "C")
    assert found.on == bet_of(replace.claimed).on == "which of two values one person's row has"
    assert found.note.startswith("A and C promised") and found.note.endswith("which is two such changes.")
    (one,) = {curves(runs).note for runs in ([add, add], [replace, replace], [add, run("kmeans")])}
    assert one == "" and curves([add, add]).bounds["A"] == Bound.of_run(add)
