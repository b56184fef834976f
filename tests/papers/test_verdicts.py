"""Check the rule of verdicts on made-up numbers: each verdict, Holm's correction, KMeans' own cost, and full runs."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from dpviz.papers.overview import overview, table
from dpviz.papers.registry import Check, Paper, papers
from dpviz.papers.results import load_numbers
from dpviz.papers.verdicts import (
    DOES_NOT,
    NOT_RUN,
    PART,
    REPRODUCES,
    WITHIN,
    PaperVerdict,
    _chance,
    _error,
    _holm,
    behind,
    judge,
)
from dpviz.runs.averages import margin_of_error
from lab.benchmarks import verdicts
from lab.cli.reproduce import lines
from tests.papers.test_papers import item, number

RESULTS = Path(__file__).parents[2] / "dpviz" / "papers" / "results"
COMMITTED = [
    (paper.id, one, load_numbers(RESULTS / f"{paper.id}-{one.id}.csv"))
    for paper in papers().values()
    for one in paper.items
]
BELOW = item(checks=(Check("below", better="good", worse=("bad",)),), hours=31)


def places(pairs, half=0.1, **columns):
    """Return numbers of two curves, one place for each pair of means."""
    return pd.DataFrame(
        number(label, mean, half, data=f"set {place}", **columns)
        for place, pair in enumerate(pairs)
        for label, mean in zip(("good", "bad"), pair, strict=True)
    )


@pytest.mark.parametrize(
    ("pairs", "full", "word", "shares"),
    [
        ([(1, 2), (1, 2), (1, 1)], True, REPRODUCES, "2 hold, 1 open, 0 contradicted"),
        ([(1, 2), (1, 2), (1, 1)], False, REPRODUCES, "2 hold, 1 open, 0 contradicted"),
        ([(1, 2), (1, 1), (1, 1)], True, WITHIN, "1 hold, 2 open, 0 contradicted"),
        ([(1, 2), (1, 2), (2, 1)], True, DOES_NOT, "2 hold, 0 open, 1 contradicted"),
        ([(1, 2), (1, 2), (2, 1)], False, PART, "2 hold, 0 open, 1 contradicted"),
        ([], True, NOT_RUN, ""),
    ],
)
def test_each_verdict_has_a_case_and_its_shares(pairs, full, word, shares):
    verdict = judge(BELOW, places(pairs, full=full))
    assert (verdict.word, verdict.shares) == (word, shares)


def test_one_number_of_a_part_makes_the_runs_a_part():
    numbers = places([(2, 1), (2, 1)])
    numbers.loc[0, "full"] = False
    assert judge(BELOW, numbers).word == PART


def test_a_part_says_how_long_the_full_run_takes_wherever_the_verdict_stands():
    numbers = places([(2, 1)], full=False)
    words = "a part of the runs; the full run takes about 31 hours of one core"
    found = overview({"p": Paper("p", "P", "A paper", "p", (BELOW,))}, {("p", "x"): numbers})
    assert f"| {PART} | 0, 0, 1 | {words} |" in table(found)
    assert f"Figure x: {PART} (0 hold, 0 open, 1 contradicted; {words})" in "\n".join(lines(BELOW, numbers))
    assert "1 is contradicted in a part of the runs and 0 do not reproduce" in found.sentence
    assert "0 of these verdicts rest on the full run" in found.sentence
    assert (
        behind(BELOW, PaperVerdict(DOES_NOT, full=True)) == "the full run"
        and behind(BELOW, PaperVerdict(NOT_RUN)) == ""
    )


def test_a_contradiction_must_outlast_the_correction_for_the_number_of_comparisons():
    against = (1.12, 1.0)  # 5 seeds each; by itself its chance is 4%
    assert judge(BELOW, places([against])).no == 1
    assert judge(BELOW, places([against, (1, 1)])).no == 0
    verdict = judge(BELOW, places([(2, 1), *[(1, 1)] * 39]))
    assert (verdict.word, verdict.no) == (DOES_NOT, 1)  # a clear one outlasts 40 comparisons
    assert judge(BELOW, places([(1.0, 1.12), (1, 1)])).yes == 1  # support is not corrected


@pytest.mark.slow
def test_claims_that_are_true_are_seldom_contradicted():
    rng = np.random.default_rng(0)
    words = []
    for _ in range(100):  # 24 comparisons between curves of the same mean, 5 seeds each
        runs = rng.normal(1, 0.1, (24, 2, 5))
        halves = [[margin_of_error(one) for one in pair] for pair in runs]
        numbers = places(runs.mean(axis=2)).assign(half=np.ravel(halves))
        words.append(judge(BELOW, numbers).word)
    assert words.count(DOES_NOT) <= 8  # 2.5% expected; without the correction more than 40%


@pytest.mark.parametrize("metric", ["loss", "auc", "inertia", "median_cost"])
def test_an_order_at_kmeans_own_cost_means_nothing(metric):
    check = Check("below", metric=metric, better="good", worse=("bad",))
    for good, bad, share in ((1.019, 1.0, (0, 1, 0)), (1.0, 1.019, (0, 1, 0)), (1.021, 1.0, (0, 0, 1))):
        numbers = places([(good, bad)], half=1e-4, metric=metric)
        numbers.loc[2] = number("KMeans", 1.0, np.nan, data="set 0", metric=metric)
        verdict = judge(item(checks=(check,)), numbers)
        assert (verdict.yes, verdict.tie, verdict.no) == share
    grows = Check("grows", metric=metric, better="good", axis="alpha")
    line = [number("good", mean, 1e-4, alpha=alpha, metric=metric) for alpha, mean in ((1, 1.019), (2, 1.0), (3, 1.05))]
    verdict = judge(item(checks=(grows,)), pd.DataFrame([*line, number("KMeans", 1.0, np.nan, metric=metric)]))
    assert (verdict.yes, verdict.tie, verdict.no) == (1, 1, 0)


@pytest.mark.parametrize("metric", ["silhouette", "davies_bouldin", "seconds", "kmeans_distance"])
def test_other_measures_have_no_cost_of_kmeans(metric):
    check = Check("below", metric=metric, better="good", worse=("bad",))
    numbers = places([(0.9, 0.8)], half=1e-4, metric=metric)
    numbers.loc[2] = number("KMeans", 1.0, np.nan, data="set 0", metric=metric)
    assert judge(item(checks=(check,)), numbers).word == DOES_NOT


def test_kmeans_cost_at_the_same_point_goes_before_that_of_the_set():
    numbers = places([(1.019, 1.0)], half=1e-4, point="n_clusters 4")
    numbers.loc[2] = number("KMeans", 1.0, np.nan, data="set 0", point="n_clusters 4")
    numbers.loc[3] = number("KMeans", 0.5, np.nan, data="set 0", point="n_clusters 8")
    assert judge(BELOW, numbers).tie == 1
    assert judge(BELOW, numbers.drop(2)).no == 1


def test_holm_by_hand():
    assert _holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert _holm([0.6, 0.7]).tolist() == [1.0, 1.0] and _holm([]).tolist() == []


def test_the_chance_is_that_of_welchs_test():
    rng = np.random.default_rng(1)
    for _ in range(20):
        some, others = rng.normal(0, 1, 6), rng.normal(0.5, 3, 9)
        errors = [_error({"half": margin_of_error(one), "runs": len(one)}) for one in (some, others)]
        stats = [value for one in (some, others) for value in (one.mean(), one.std(ddof=1), len(one))]
        wanted = ttest_ind_from_stats(*stats, equal_var=False).pvalue
        assert _chance(others.mean() - some.mean(), errors, 0.0) == pytest.approx(wanted)
    assert _chance(0.1, [(0.05, 4.0)], 0.1) > 0.5  # no further apart than the tolerance
    assert _chance(0.5, [(np.nan, 4.0)], 0.0) == 1 and _chance(0.5, [(0.0, 4.0)], 0.0) == 0


def test_a_flat_curve_may_vary_by_noise_and_by_its_tolerance():
    flat = Check("flat", better="x", axis="alpha", within=0.1)

    def verdict(means, half, check=flat):
        line = [number("x", mean, half, alpha=alpha) for alpha, mean in enumerate(means)]
        return judge(item(checks=(check,)), pd.DataFrame(line)).word

    assert verdict([1.0, 1.05, 1.09], 0.001) == REPRODUCES
    assert verdict([1.0, 1.05, 1.2], 0.001) == DOES_NOT
    assert verdict([1.0, 1.05, 1.2], 0.1) == WITHIN
    some = dataclasses.replace(flat, where={"alpha": (0, 1)})
    assert verdict([1.0, 1.05, 1.2], 0.001, some) == REPRODUCES
    assert verdict([1.0], 0.001) == NOT_RUN  # one value does not vary


def test_a_method_that_scales_better_with_k_grows_less():
    check = Check("scales", better="good", worse=("bad",))

    def verdict(good, bad, kmeans=(0.5, 0.5), half=0.01):
        numbers = [
            number(label, mean, half, data=f"k {k}", k_found=k, n_features=2)
            for label, means in (("good", good), ("bad", bad), ("KMeans", kmeans))
            for k, mean in zip((4, 16), means, strict=True)
        ]
        return judge(item(checks=(check,)), pd.DataFrame(numbers))

    assert verdict((2, 1), (1, 1)).word == REPRODUCES  # higher at both k, but it falls where the other does not
    worse = verdict((1, 2), (3, 3))
    assert worse.word == DOES_NOT and worse.against == ("2 columns, k 4 to 16: good × 2, bad × 1",)
    assert verdict((1, 1), (1, 1.3), half=0.5).word == WITHIN
    assert verdict((1.01, 1.0), (1.0, 1.01), kmeans=(1, 1), half=1e-5).word == WITHIN
    assert verdict((1, 2), (3, 3), kmeans=(0.5, 0.5), half=np.nan).word == WITHIN


def test_a_falling_trend_needs_enough_sets_to_contradict():
    def verdict(n):
        grid = [
            number("x", abs(level - best), 0.1, data=f"set {best}", level=level, n_rows=10 * (n - best))
            for best in range(n)
            for level in range(n)
        ]
        return judge(item(checks=(Check("trend", better="x", axis="level", fact="n_rows"),)), pd.DataFrame(grid)).word

    assert verdict(4) == WITHIN and verdict(6) == DOES_NOT  # chances 2/24 and 2/720


@pytest.mark.parametrize(("paper", "one", "numbers"), COMMITTED, ids=lambda one: getattr(one, "id", None))
def test_the_committed_runs_are_what_they_say(paper, one, numbers):
    """A full run has all planned repeats and rows; a part that contradicts an item comes with the hours of the rest."""
    verdict = judge(one, numbers)
    assert verdict.word != PART or one.hours > 0
    assert verdict.word not in (PART, DOES_NOT) or one.because
    if not verdict.full or one.runner == "federated":
        return
    every = {other.id: other for other in papers()[paper].items}
    for sweep in (plan for name in (*one.uses, one.id) for plan in every[name].planned(quick=False)):
        for data in sweep.data:
            for variant in sweep.variants:
                mine = numbers[(numbers.data == data) & (numbers.label == variant.label)]
                assert (mine.runs == sweep.repeats).all() and len(mine), (data, variant.label)
                assert sweep.n_rows == (None,) or set(mine.n_rows) == set(sweep.n_rows)


@pytest.mark.slow
def test_the_readme_shows_what_its_own_tool_writes():
    shown = verdicts.README.read_text(encoding="utf-8").partition(verdicts.BEGIN)[2].partition(verdicts.END)[0]
    assert shown.strip() == verdicts.block()
