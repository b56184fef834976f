"""Check the registry of papers, and verdicts from numbers."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpviz.papers import registry
from dpviz.papers.overview import overview
from dpviz.papers.overview import table as table_of
from dpviz.papers.registry import Check, Item, Paper, PrintedNumber, item_of, papers
from dpviz.papers.results import COLUMNS
from dpviz.papers.verdicts import DOES_NOT, NOT_RUN, REPRODUCES, WITHIN, beside_printed, judge

ITEMS = [(paper.id, item.id) for paper in papers().values() for item in paper.items]


def test_all_23_items_of_the_five_papers_are_there():
    counts = {name: len(paper.items) for name, paper in papers().items()}
    assert counts == {"pe-means": 5, "fastlloyd": 9, "dist-dp": 2, "stemmer-kaplan": 1, "dpm": 6}


@pytest.mark.parametrize(("paper", "item"), ITEMS)
def test_every_item_can_be_planned_and_can_be_judged(paper, item):
    chosen = item_of(paper, item)
    assert chosen.claim.endswith(".") and chosen.checks and chosen.differs
    assert chosen.runner == "federated" or chosen.sweeps or chosen.uses
    quick, full = chosen.planned(quick=True), chosen.planned(quick=False)
    assert all(short.repeats <= long.repeats for short, long in zip(quick, full, strict=True))
    sources = [item_of(paper, name) for name in chosen.uses] + [chosen]
    curves = {v.label for one in sources for sweep in one.planned(quick=False) for v in sweep.variants}
    metrics = {m for one in sources for sweep in one.planned(quick=False) for m in sweep.metrics}
    for check in chosen.checks:
        if chosen.runner == "sweep" and check.kind != "printed":
            assert {check.better, *check.worse} <= curves
            assert check.metric in metrics | {"auc", "seconds"}


@pytest.mark.parametrize("paper", ["pe-means", "fastlloyd", "dist-dp", "dpm"])
def test_sweeps_of_these_papers_run_at_the_papers_own_delta(paper):
    deltas = {"pe-means": "n^-1.1", "fastlloyd": "1/(n ln n)", "dist-dp": 1e-6, "dpm": "1/(n sqrt n)"}
    for item in papers()[paper].items:
        for sweep in item.planned(quick=False):
            assert dict(sweep.axes)["delta"] == (deltas[paper],), item.id


def number(label, mean, half, data="a", point="", metric="loss", **columns):
    return dict.fromkeys(COLUMNS) | {
        "data": data, "label": label, "point": point, "metric": metric, "mean": mean, "half": half, "runs": 5,
        "full": True, **columns,
    }  # fmt: skip


def item(**values):
    return Item("x", "Figure x", "A claim.", **values)


BELOW = item(checks=(Check("below", better="good", worse=("bad",)),), because="of that")


@pytest.mark.parametrize(
    ("good", "bad", "word"), [(1.0, 2.0, REPRODUCES), (1.0, 1.05, WITHIN), (2.0, 1.0, DOES_NOT), (1.05, 1.0, WITHIN)]
)
def test_below_compares_means_beyond_both_intervals(good, bad, word):
    verdict = judge(BELOW, pd.DataFrame([number("good", good, 0.1), number("bad", bad, 0.1)]))
    assert verdict.word == word
    assert bool(verdict.against) == (word == DOES_NOT)


@pytest.mark.parametrize(("good", "word"), [(1.009, WITHIN), (1.011, DOES_NOT), (0.991, WITHIN), (0.98, REPRODUCES)])
def test_a_difference_below_the_tolerance_counts_for_neither(good, word):
    checks = (dataclasses.replace(BELOW.checks[0], within=0.01),)
    numbers = pd.DataFrame([number("good", good, 0.001), number("bad", 1.0, 0.001)])
    assert judge(dataclasses.replace(BELOW, checks=checks), numbers).word == word


def test_one_seed_has_no_interval_and_proves_nothing():
    assert judge(BELOW, pd.DataFrame([number("good", 1.0, np.nan), number("bad", 9.0, np.nan)])).word == WITHIN


def test_nothing_run_is_said_so():
    assert judge(BELOW, pd.DataFrame(columns=COLUMNS)).word == NOT_RUN


def test_printed_numbers_agree_within_the_interval_or_the_tolerance():
    printed = (PrintedNumber("a", "good", 1.0), PrintedNumber("b", "good", 1.0), PrintedNumber("c", "good", 1.0))
    one = item(checks=(Check("printed", within=0.1),), printed=printed)
    numbers = pd.DataFrame([number("good", 1.5, 0.6), number("good", 1.09, 0.01, data="b")])
    assert (judge(one, numbers).yes, judge(one, numbers).tie) == (1, 1) and judge(one, numbers).word == REPRODUCES
    assert beside_printed(printed, numbers).ours.isna().tolist() == [False, False, True]
    verdict = judge(one, pd.DataFrame([number("good", 1.3, 0.1)]))
    assert verdict.word == DOES_NOT and "printed 1, ours 1.3" in verdict.against[0]
    assert judge(one, pd.DataFrame([number("good", 1.15, 0.1)])).word == WITHIN  # beyond 1.1 by less than the interval


def test_grows_flat_and_trend():
    line = [number("x", mean, 0.1, alpha=alpha) for alpha, mean in ((1, 1.0), (2, 2.0))]
    assert judge(item(checks=(Check("grows", better="x", axis="alpha"),)), pd.DataFrame(line)).word == REPRODUCES
    assert judge(item(checks=(Check("grows", better="x", axis="alpha"),)), pd.DataFrame(
        [{**one, "mean": 3 - one["mean"]} for one in line]
    )).word == DOES_NOT  # fmt: skip
    dip = [{**line[0], "alpha": 0, "mean": 1.5}, *line]  # increases from first to last point, but not at every step
    verdict = judge(item(checks=(Check("grows", better="x", axis="alpha"),)), pd.DataFrame(dip))
    assert (verdict.word, verdict.yes, verdict.no) == (DOES_NOT, 1, 1) and "1.5 at 0" in verdict.against[0]
    flat = Check("flat", better="x", axis="alpha", within=0.1)
    assert judge(item(checks=(flat,)), pd.DataFrame(line)).word == DOES_NOT
    grid = [
        number("x", abs(level - best), 0.1, data=data, level=level, n_rows=n)
        for data, n, best in (("a", 10, 1), ("b", 20, 2), ("c", 30, 3))
        for level in (1, 2, 3)
    ]
    trend = Check("trend", better="x", axis="level", fact="n_rows")
    assert judge(item(checks=(trend,)), pd.DataFrame(grid)).word == REPRODUCES


def test_the_overview_counts_verdicts_and_printed_numbers_that_agree():
    printed = tuple(PrintedNumber("a", "good", value) for value in (1.0, 1.08, 1.15, 1.3, 2.0))
    exact = (PrintedNumber("a", "KMeans", 1.0), PrintedNumber("a", "KMeans", 1.4, rounding=0.5))
    one = item(checks=(Check("below", better="good", worse=("bad",)),), printed=(*printed[:4], *exact))
    two = dataclasses.replace(one, id="y", printed=(dataclasses.replace(printed[4], data="elsewhere"),))
    numbers = pd.DataFrame([number("good", 1.0, 0.2), number("bad", 2.0, 0.1), number("KMeans", 1.0, np.nan)])
    found = overview({"p": Paper("p", "P", "A paper", "p", (one, two))}, {("p", "x"): numbers})
    assert (found.count(REPRODUCES), found.count(NOT_RUN)) == (1, 1)
    assert (found.printed, found.beside, found.near, found.rounded, found.held, found.exact) == (7, 6, 3, 1, 1, 2)
    assert (
        "Of 2 figures and tables, 1 reproduce" in found.sentence
        and "1 were not run here" in found.sentence
        and "Of 7 printed numbers, 6 can be compared" in found.sentence
    )
    assert "| P | Figure x | reproduces | 1, 0, 0 | the full run |" in table_of(found)


def test_a_printed_number_agrees_with_what_rounds_to_it():
    path = registry.FOLDER / "pe-means-table1.csv"
    birch = next(one for one in registry._printed_file(path) if (one.data, one.label) == ("bench:birch2_25k", "KMeans"))
    assert birch.value == 0.0001 and birch.rounding == pytest.approx(0.00005)
    checks = (Check("printed", metric="auc", within=0.1),)
    for ours, word in ((0.000075, REPRODUCES), (0.00004, DOES_NOT)):
        mine = pd.DataFrame([number("good", ours, 0.0, data="bench:birch2_25k", metric="auc")])
        assert judge(item(checks=checks, printed=(dataclasses.replace(birch, label="good"),)), mine).word == word


def test_a_sentence_about_some_sets_is_judged_on_these_alone():
    check = Check("below", better="good", worse=("bad",), data=("a",))
    numbers = [number(*one) for one in (("good", 1.0, 0.1), ("bad", 2.0, 0.1))]
    numbers += [number(*one, data="b") for one in (("good", 2.0, 0.1), ("bad", 1.0, 0.1))]
    assert judge(item(checks=(check,)), pd.DataFrame(numbers)).word == REPRODUCES


def test_a_quick_run_may_leave_algorithms_out_with_their_tables():
    tiny = {"data": "sample:tiny", "algorithms": ["fastlloyd", "sulloyd"], "epsilon": [0.5, 2.0], "repeats": 3}
    sweep = {**tiny, "fastlloyd": {"alpha": 0.4}, "quick": {"algorithms": ["sulloyd"], "repeats": 1}}
    short, long = (item(sweeps=(sweep,)).planned(quick=quick)[0] for quick in (True, False))
    assert [one.label for one in short.variants] == ["sulloyd"] and short.repeats == 1
    assert dict(long.variants[0].values) == {"alpha": 0.4}


@pytest.mark.parametrize(
    ("file", "data", "label", "what", "value", "rounding"),
    [  # the papers print 0.20, 0.10, 0.00, 5.8e+05, 1.0e+08 and 1.00
        ("dpm-table3.csv", "bench:letters_dpm", "dpm", "accuracy", 0.2, 0.005),
        ("dpm-table3.csv", "bench:letters_dpm", "dpm", "kmeans_distance", 0.1, 0.005),
        ("dpm-table3.csv", "bench:letters_dpm", "KMeans", "kmeans_distance", 0.0, 0.005),
        ("dpm-table3.csv", "bench:letters_dpm", "KMeans", "inertia", 580_000.0, 5_000.0),
        ("dpm-table3.csv", "uci gas", "lsh-splits", "inertia", 1e8, 5e6),
        ("dpm-tables.csv", "bench:synth_10d", "KMeans", "accuracy", 1.0, 0.005),
    ],
)
def test_a_printed_number_keeps_the_digits_that_the_paper_prints(file, data, label, what, value, rounding):
    of = {(one.data, one.label, one.what): one for one in registry._printed_file(registry.FOLDER / file)}
    one = of[data, label, what]
    assert one.value == value and one.rounding == pytest.approx(rounding)


@pytest.mark.parametrize(("text", "half"), [("0.07", 0.005), ("5.8e+05", 5e3), ("580000", 0.0), ("2.0e-03", 5e-5)])
def test_half_a_unit_of_the_last_printed_digit(text, half):
    assert registry._rounding(text) == pytest.approx(half)


def test_where_a_claim_names_two_curves_the_lower_one_counts():
    check = Check("below", better="one", either=("two",), worse=("bad",))
    numbers = pd.DataFrame([number("one", 3.0, 0.1), number("two", 1.0, 0.1), number("bad", 2.0, 0.1)])
    assert judge(item(checks=(check,)), numbers).word == REPRODUCES
    assert judge(item(checks=(dataclasses.replace(check, either=()),)), numbers).word == DOES_NOT


def test_what_kmeans_prints_counts_for_no_claim():
    printed = tuple(PrintedNumber("d", label, 1.0, "loss") for label in ("KMeans", "good"))
    numbers = pd.DataFrame([number("KMeans", 9.0, np.nan, data="d"), number("good", 1.0, 0.1, data="d")])
    verdict = judge(item(checks=(Check("printed", within=0.1),), printed=printed), numbers)
    assert (verdict.yes, verdict.no) == (1, 0)
