"""Check Start's story: every number is computed here again in another way."""

import base64
import json
import re

import numpy as np
import pytest
from scipy.stats import norm

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import averages, noised
from dpviz.atlas.cells import STOPS, Chapter, opened, yardstick
from dpviz.atlas.files import Chart, Stop, read
from dpviz.datasets import load_sample
from dpviz.lessons import story

FEW = STOPS[3:6]
WEB = 200_000  # maximum size of the record, in bytes


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), "<i2").reshape(-1, 2) / 1000


@pytest.fixture(scope="module")
def given():
    return averages.read()[0]  # tests/atlas/test_shipped.py checks that these facts can be reproduced


@pytest.fixture(scope="module")
def bets():
    return averages.read()[1]


@pytest.fixture(scope="module")
def reruns():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(story, "FEWER", 2)
        patched.setattr(story, "STOPS", FEW)
        return story.reruns(300)


@pytest.fixture(scope="module")
def record(given, bets, reruns):
    def at(people):
        promises = tuple(story._promise(people, stop) for stop in FEW)
        clouds = np.tile(reruns.centers[:, :1], (1, story.CLOUD, 1, 1))
        return story.StoryRuns(people, 5, promises, clouds, (4,) * 3, (11, 12, 13), 20)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(story, "STOPS", FEW)
        return story.record(given, bets, [at(people) for people in story.EDITIONS], noised.read())


def clusters(k):
    """Return each row's cluster in every round, computed from the centers that plain Lloyd publishes."""
    data = load_sample("town")
    run = ALGORITHMS["dp-lloyd"](n_clusters=k, epsilon=1.0, iterations=averages.ROUNDS, dead_cluster="keep")
    steps = run.run(data.X, domain=data.domain, seed=averages.DRAW, noise="none").steps
    Z = data.domain.clip(data.domain.normalize(data.X))
    starts = [np.asarray(step.released["start"]) for step in steps if step.kind == "noisy-iteration"]
    return [((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1) for centers in starts]


def test_25_rows_follow_from_the_averages_and_20_of_them_are_peoples(given):
    X = load_sample("town").X
    assert (given.count, given.candidates) == (20, 25)
    assert len(set().union(*given.rows)) == 20  # each row is counted once
    nobodys = np.vstack(given.wrong)
    gaps = np.linalg.norm(nobodys[:, None] - X, axis=2).min(axis=1)
    assert len(nobodys) == 5 and gaps.min() > 1e-4  # km


@pytest.mark.parametrize("k", [3, 5])
def test_who_is_given_away_has_moved_and_who_moves_alone_is_given_away(given, k):
    mine, upto = clusters(k), set().union(*given.rows[: k - 1])
    moves = [np.flatnonzero(before != after) for before, after in zip(mine, mine[1:], strict=False)]
    assert {int(rows[0]) for rows in moves if len(rows) == 1} <= upto
    assert set(given.rows[k - 2]) <= set(np.concatenate(moves).tolist())


def test_alex_is_one_of_those_given_away_and_the_farthest_from_the_crowd(given):
    X, kmeans = load_sample("town").X, yardstick("town", None).centers
    ids = sorted(set().union(*given.rows))
    gaps = {i: min(float(np.hypot(*(X[i] - center))) for center in kmeans) for i in ids}
    assert given.alex == max(gaps, key=gaps.get)


def test_an_exact_round_lies_on_a_mark_of_its_world_alone_and_a_noisy_one_far_from_all(given, bets):
    alex = load_sample("town").X[given.alex]

    def near(centers):
        return min(centers, key=lambda center: np.hypot(*(center - alex)))

    def gap(place, marks):
        return min(np.hypot(*(place - mark)) for mark in marks)

    for one in bets.exact:
        own, other = (bets.inside, bets.outside) if one.inside else (bets.outside, bets.inside)
        assert gap(near(one.centers), own) < 1e-9 < 1e-3 < gap(near(one.centers), other)
    assert min(gap(near(one.centers), [*bets.inside, *bets.outside]) for one in bets.private) > 0.02
    for rounds in (bets.exact, bets.private):
        assert sum(one.inside for one in rounds) * 2 == len(rounds)  # each visitor's browser tosses its own coin


def test_reruns_that_are_made_are_those_of_the_method_itself(reruns):
    data = opened("town", 300).data
    groups = yardstick("town", 300).groups
    for i, stop in enumerate(FEW):
        method = ALGORITHMS["pe-means"](n_clusters=5, epsilon=stop)
        found = []
        for seed in range(2):
            run = method.run(data.X, domain=data.domain, seed=seed)
            made, wanted = (sorted(map(tuple, one)) for one in (reruns.centers[i, seed], run.cluster_centers))
            np.testing.assert_allclose(made, wanted, atol=1e-4)
            found.append(int(groups.found_by(data.domain.normalize(run.cluster_centers)).sum()))
        assert (reruns.found[i], reruns.again[i]) == (found[0], found.count(len(groups.means)))
    assert reruns.runs == 2 and reruns.groups == 5


def test_stored_runs_and_made_ones_are_drawn_alike(monkeypatch, reruns):
    monkeypatch.setattr(story, "STOPS", FEW)
    stops = tuple(
        Stop(stop, 50, tuple(reruns.centers[i, :, ::-1]), (None, None), np.zeros(2), np.array([reruns.found[i], 5]))
        for i, stop in enumerate(FEW)
    )
    drawn = story.of_chart(Chart(Chapter("town", "pe-means"), 300, 5, 1.0, 2, stops))
    np.testing.assert_array_equal(drawn.centers, reruns.centers)  # the order of released centers does not matter
    assert drawn.promises == reruns.promises and drawn.found == reruns.found
    assert drawn.again == tuple(1 + (found == 5) for found in reruns.found)


def test_the_record_is_small_and_says_every_number(given, record):
    assert len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()) < WEB
    X = load_sample("town").X
    np.testing.assert_allclose(unpacked(record["people"]), X, atol=5.1e-4)
    assert [one["name"] for one in record["editions"]] == ["5,000", "1,000", "300"]
    assert [len(unpacked(one["people"] or record["people"])) for one in record["editions"]] == [5000, 1000, 300]
    assert [one["alex"] for one in record["editions"]] == [True, False, False]
    assert record["reruns"] == story.CLOUD - 1  # all runs but one are reruns
    assert "**25 rows** (ringed). **20 are people's**" in record["given"]["big"]
    steps = record["given"]["steps"]
    assert sum(len(step["rows"]) for step in steps) == 20 and sum(len(step["wrong"]) for step in steps) == 5
    for edition, n in zip(record["editions"], (5000, 1000, 300), strict=True):
        for i, (stop, said) in enumerate(zip(FEW, edition["stops"], strict=True)):
            promise = ALGORITHMS["pe-means"](n_clusters=5, epsilon=stop).guarantee(2, n)
            most = int(np.ceil(100 * norm.cdf(promise.mu / 2) - 1e-9))
            any_method = int(np.ceil(100 * (np.exp(stop) + promise.delta) / (1 + np.exp(stop)) - 1e-9))
            assert f"{most} times in 100" in said["epsilon"]["big"] and f"{most} times" in said["people"]["big"]
            assert (
                f": {any_method}; a coin: 50)" in said["epsilon"]["big"] and f"{11 + i} of 20" in said["people"]["big"]
            )
            assert "whether Alex is in the data" in said["epsilon"]["big"]
            of_all = ALGORITHMS["pe-means"](n_clusters=5, epsilon=stop).guarantee(2, 5000).odds
            assert (f"({of_all} with 5,000 people" in said["people"]["big"]) == (most != of_all)


@pytest.mark.parametrize(
    ("before", "again", "words"), [(96, 89, "but within the noise of 100"), (96, 60, "Fewer"), (80, 89, "")]
)
def test_a_larger_budget_that_finds_fewer_says_whether_that_is_noise(reruns, before, again, words):
    counts = (1, 2, 3, 4, 5, 6, 7, before, again)
    promises = tuple(story._promise(None, stop) for stop in STOPS)
    one = story.StoryRuns(None, 5, promises, np.tile(reruns.centers[:1], (len(STOPS), 1, 1, 1)), (4,) * 9, counts, 100)
    *earlier, last = (stop["epsilon"]["big"] for stop in story.record(reruns=[one])["editions"][0]["stops"])
    assert (
        words in last and ("noise" in last) == ("noise" in words) and ("Fewer than at ε\u00a04" in last) == bool(words)
    )
    assert not any("Fewer" in text for text in earlier)
    assert "**1 of 100** runs finds all" in earlier[0] and "**2 of 100** runs find all" in earlier[1]


def test_every_strength_of_the_noise_says_what_is_drawn(given, record):
    """The distances and ratios are computed here from the places that the picture receives."""
    stops, X = record["noise"]["stops"], load_sample("town").X
    assert [one["name"] for one in stops] == ["none", "1,100", "300", "100", "30", "10", "3", "1"]
    alex, there = X[given.alex], yardstick("town", None)
    domain = opened("town", None).data.domain
    for stop, one in zip(stops, noised.read(), strict=True):
        places = unpacked(stop["places"])
        averages_, guesses = places[:5], places[5:]
        assert len(guesses) == noised.CLOUD
        found = int(there.groups.found_by(domain.normalize(averages_)).sum())
        nearest_ = np.linalg.norm(X[:, None] - averages_, axis=2).min(axis=1)
        kmeans = np.linalg.norm(X[:, None] - there.centers, axis=2).min(axis=1)
        ratio = (nearest_**2).mean() / (kmeans**2).mean()
        assert f"**{found}\u00a0of\u00a05** neighborhoods" in stop["note"]
        assert float(re.search(r"loss \*\*([\d.]+)×", stop["note"])[1]) == pytest.approx(ratio, abs=0.06 * ratio)
        typical = float(np.median(np.linalg.norm(guesses - alex, axis=1)))
        if stop["exact"]:
            assert typical < 0.002 and "to the meter" in stop["big"]
            continue
        number_, unit = re.search(r"within \*\*([\d,.]+) (k?m)\*\*", stop["big"]).groups()
        said = float(number_.replace(",", "")) / (1 if unit == "km" else 1000)
        assert typical == pytest.approx(said, rel=0.35)  # 120 guesses stand for the whole belief
        assert said == pytest.approx(one.off[one.shown], rel=0.04)
        for words in (stop["big"], stop["say"]):
            assert f"{round(one.odds)}\u00a0of\u00a0100" in words


def test_the_smarter_publication_counts_its_stored_runs(given):
    chart = read("town", "pe-means")
    whole = story.of_chart(chart)
    smart = story.record(given, None, [whole], noised.read())["noise"]["smart"]
    again = int((chart.at(1.0).found == 5).sum())
    assert f"**{again} of 100** runs find all 5" in smart["smarter"] and again > 50
    assert f"{again} of 100 runs" in smart["told"] and "private clustering" in smart["why"]
    assert story.record(given, None, [], noised.read())["noise"]["smart"] is None


def test_a_weak_promise_is_not_called_one_that_holds_without_a_word(given):
    chart = story.of_chart(read("town", "pe-means", 300))
    stops = story.record(given, None, [chart])["editions"][0]["stops"]
    for promise, stop in zip(chart.promises, stops, strict=True):
        weak = promise.odds > story.LITTLE
        assert stop["weak"] == weak == ("it promises little" in stop["people"]["big"])
        assert ("The promise holds:" in stop["people"]["big"]) != weak
    assert {stop["weak"] for stop in stops} == {True, False}


def test_words_are_few_and_differential_privacy_is_on_the_first_screen(record):
    screens = [
        [record["texts"][0], record["given"]["big"], record["given"]["note"]],
        [record["texts"][1], record["noise"]["stops"][-1]["big"], record["noise"]["stops"][-1]["note"]],
        [record["texts"][2], record["bets"]["prompts"][0]],
        [record["texts"][3], record["editions"][0]["stops"][1]["epsilon"]["big"]],
        [record["texts"][4], record["editions"][2]["stops"][1]["people"]["big"]],
        [record["texts"][5]],
    ]
    screens = [" ".join(parts) for parts in screens]
    assert "Differential privacy" in screens[0]
    assert 150 < len(" ".join([*record["titles"], *screens]).split()) <= 240
    for words in (*screens, *record["bets"]["after"], *record["bets"]["coin"]):
        assert words.count("**") % 2 == 0 and "{" not in words


def test_parts_that_are_missing_are_none_and_the_others_are_there(given, record):
    bare = story.record()
    assert (bare["given"], bare["noise"], bare["bets"], bare["editions"]) == (None, None, None, [])
    assert bare["people"] == record["people"] and bare["texts"] == record["texts"]
    some = story.record(given)
    assert some["given"] == record["given"] and some["noise"] is None
