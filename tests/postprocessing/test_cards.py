"""Check the cards of a release: every number is the release's own, for any k, and no secret changes a byte."""

import csv
import dataclasses
import io
import re

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Dataset, load
from dpviz.datasets.readers.recode import DAYS
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.at_bound import HIGH, LOW, WIDE, at_bounds
from dpviz.postprocessing.cards import cards, centers_csv, noise_words, widest
from dpviz.postprocessing.coresets import at_k, further_releases, numbers_of_centers, resolve
from dpviz.postprocessing.explain import NO_SIZE
from dpviz.postprocessing.released import center_noise
from dpviz.takeaway.cards import cards_html
from dpviz.takeaway.page import page
from tests.postprocessing.test_at_bound import COLUMNS, DOMAIN, UNITS, customers
from tests.traces import on_two_groups


@pytest.fixture(scope="module")
def trace():
    return ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(customers(), domain=DOMAIN, seed=0)


def any_release(seed):
    """Return a trace that ends in random centers, sizes and noise, within random bounds."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    low = rng.normal(0, 10.0 ** rng.integers(-3, 6), d)
    high = low + 10.0 ** rng.uniform(-3, 6, d)
    names = tuple(f"c{j}" for j in range(d))
    domain = Domain.box(low, high, n_public=1000, columns=names, units=("",) * d)
    run = ALGORITHMS["glloyd"](n_clusters=k, epsilon=1.0).run(rng.uniform(low, high, (50, d)), domain=domain, seed=0)
    centers = np.where(rng.random((k, d)) < 0.1, high, rng.uniform(low, high, (k, d)))
    released = {
        **run.steps[-1].released,
        "centers": domain.normalize(centers),
        "noisy_counts": rng.normal(300, 300, k),
        "kept": np.ones(k, dtype=bool),
        "center_sd": 10.0 ** rng.uniform(-4, 0, (k, d)),
    }
    last = dataclasses.replace(run.steps[-1], released=freeze(released))
    return dataclasses.replace(run, steps=(*run.steps[:-1], last), cluster_centers=freeze(centers)), names


@pytest.mark.parametrize("seed", range(40))
def test_the_numbers_of_cards_and_file_are_those_of_the_release(seed):
    run, names = any_release(seed)
    some, sd = cards(run, names), center_noise(run).sd * run.domain.half_width
    sizes, marks = np.asarray(run.steps[-1].released["noisy_counts"]), at_bounds(run)
    assert [[fact.value for fact in card.facts] for card in some] == run.cluster_centers.tolist()
    assert [[fact.sd for fact in card.facts] for card in some] == sd.tolist()
    assert [card.size for card in some] == sizes.tolist() and [card.number for card in some] == [
        *range(1, len(some) + 1)
    ]
    for card, row in zip(some, marks, strict=True):
        assert [bool(fact.flag) for fact in card.facts] == (row != 0).tolist()
        assert [fact.wide for fact in card.facts] == (row == WIDE).tolist()
        assert bool(card.note) == bool(np.isin(row, (LOW, HIGH)).any())
        told = NO_SIZE.casefold() == card.words.casefold()
        assert told == (card.size <= norm_of(run) * card.size_sd) == (card.share is None)
    card, fact = widest(some)
    assert fact.sd / (fact.high - fact.low) == (sd / (run.domain.high - run.domain.low)).max()
    _, *lines = csv.reader(io.StringIO(centers_csv(run, names).split("\n", 1)[1]))
    assert [(int(line[0]), line[3]) for line in lines] == [(card.number, name) for card in some for name in names]
    for line, fact, noise in zip(lines, [fact for card in some for fact in card.facts], sd.ravel(), strict=True):
        assert abs(float(line[4]) - fact.value) <= noise / 20 * (1 + 1e-9)
        assert float(line[5]) == pytest.approx(noise, rel=0.06) and line[7] == fact.flag
        assert abs(float(line[1]) - sizes[int(line[0]) - 1]) <= max(0.05, center_noise(run).sizes_sd / 20) * (1 + 1e-9)
    drawn = cards_html(some)
    assert re.findall('class="value">([^<]*)<', drawn) == [fact.text for card in some for fact in card.facts]
    left = [float(text) for text in re.findall('<u style="left:([0-9.]+)%', drawn)]
    where = (run.cluster_centers - run.domain.low) / (run.domain.high - run.domain.low)
    assert np.allclose(left, 100 * where.ravel(), atol=0.006)


def norm_of(run):
    from scipy.stats import norm

    return norm.isf(0.025 / (2 * run.cluster_centers.size))


@pytest.mark.parametrize("slug", ["nsm", "eugkm", "pe-means", "dpm", "dp-dbscan"])
def test_a_neighbor_s_secrets_change_no_byte(slug):
    """The same releases beside the secrets and rows of a neighbor give the same cards, CSV and page, for every k."""
    run = on_two_groups(slug, 2)
    columns = ["a", "b"]

    def all_of(trace, X):
        data = Dataset(X, ("a", "b"), ("", ""), trace.domain, None, "own", "mine", private=True)
        readings = [at_k(trace, k) for k in numbers_of_centers(trace)]
        return [
            text
            for one in readings
            for text in (
                centers_csv(one, columns), page(one, data), cards_html(cards(one, columns)),
                noise_words(one, cards(one, columns)),
            )
        ]  # fmt: skip

    X = np.random.default_rng(0).uniform(run.domain.low, run.domain.high, (500, 2))
    assert any(step.hidden for step in run.steps)
    steps = [
        dataclasses.replace(step, hidden=tuple(one._replace(statistic={}) for one in step.hidden)) for step in run.steps
    ]
    assert all_of(run, X) == all_of(dataclasses.replace(run, steps=tuple(steps)), X[1:])


def test_another_k_reads_the_released_points_alone_and_leaves_promise_and_ledger(trace):
    numbers = numbers_of_centers(trace)
    assert list(numbers) == list(range(1, 13)) and further_releases(trace) > 0
    points = np.asarray(trace.coreset.points)
    for k in numbers:
        one = at_k(trace, k)
        assert (one.claimed, one.spent, one.ledger, one.plan) == (trace.claimed, trace.spent, trace.ledger, trace.plan)
        assert len(one.cluster_centers) == len(cards(one, COLUMNS, UNITS)) == k
        if k == 3:
            assert one is trace
            continue
        assert np.array_equal(one.cluster_centers, resolve(trace.coreset, trace.domain, k))
        assert sum(card.size for card in cards(one, COLUMNS, UNITS)) == pytest.approx(trace.coreset.weights.sum())
        assert all(fact.sd is None for card in cards(one, COLUMNS, UNITS) for fact in card.facts)
        assert "No ± is known" in noise_words(one, cards(one, COLUMNS, UNITS))
    losses = [normalized_loss(points, at_k(trace, k).cluster_centers, trace.domain) for k in (1, 4, 12)]
    assert losses == sorted(losses, reverse=True)


def test_a_center_for_another_k_is_at_a_bound_within_the_noise_of_the_run_s_own(trace):
    own = center_noise(trace).sd.max(axis=0) * DOMAIN.half_width
    one, seen = at_k(trace, 5), False
    for center, row in zip(one.cluster_centers, at_bounds(one), strict=True):
        assert (row[1] == HIGH) == (1000 - center[1] <= 3 * own[1])
        seen |= row[1] == HIGH and center[1] < 999.9
    assert seen


def test_a_release_without_points_keeps_its_k():
    run = on_two_groups("pe-means", 2)
    assert list(numbers_of_centers(run)) == [len(run.cluster_centers)]
    with pytest.raises(ValueError, match="released no weighted points, so its number of centers is fixed"):
        at_k(run, 2 + len(run.cluster_centers))


def test_words_say_who_is_higher_between_or_the_other(trace):
    words = [card.words for card in cards(trace, COLUMNS, UNITS)]
    assert sorted(words) == [
        "Between the others in age and basket_eur.",
        "Higher basket_eur and age than most.",
        "Lower basket_eur and age than most.",
    ]
    two = [card.words for card in cards(at_k(trace, 2), COLUMNS, UNITS)]
    assert sorted(two) == ["Higher basket_eur and age than the other.", "Lower basket_eur and age than the other."]
    assert [card.words for card in cards(at_k(trace, 1), COLUMNS, UNITS)] == ["The middle of all rows."]


def test_days_are_dates_with_noise_in_days(trace):
    days = dataclasses.replace(trace, domain=dataclasses.replace(trace.domain, units=("years", DAYS)))
    fact = cards(days, COLUMNS, ("years", DAYS))[1].facts[1]
    assert re.fullmatch(r"197[0-2]-\d\d-\d\d ± [\d.]+ days", fact.text) and fact.written_bound(0) == "1970-01-01"
    assert re.search(r"basket_eur,197[0-2]-\d\d-\d\d,[\d.]+,days,", centers_csv(days, COLUMNS, ("years", DAYS)))


def test_many_columns_show_those_that_tell_clusters_apart():
    data = load("digits")
    run = ALGORITHMS["nsm"](n_clusters=4, epsilon=8.0).run(data.X, domain=data.domain, seed=0)
    some = cards(run, data.columns, data.units)
    drawn = cards_html(some)
    shown = re.findall("<dt>([^<]*)</dt>", drawn)[:12]
    widths = np.ptp(run.cluster_centers, axis=0) / (run.domain.high - run.domain.low)
    assert set(shown) == {data.columns[j] for j in np.argsort(-widths, kind="stable")[:12]}
    assert f"{len(data.columns) - 12} more columns are in the CSV" in drawn
