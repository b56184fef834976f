"""Check forecasts of time: their words, what they learn from runs, and that they depend only on public values."""

from pathlib import Path

import pandas as pd
import pytest

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import STOPS
from dpviz.atlas.fill import RUNS
from dpviz.datasets import load_sample
from pages._ui.explore.settings import LIVE
from pages._ui.work.filling import MOST
from pages._ui.work.pace import Pace, duration

PE = ALGORITHMS["pe-means"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.02, "less than a second"),
        (0.97, "about 1 second"),
        (7.4, "about 7 seconds"),
        (23.0, "about 20 seconds"),
        (61.0, "about 1 minute"),
        (1500.0, "about 20 minutes"),
        (7300.0, "about 2 hours"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize("slug", [slug for slug in ALGORITHMS if slug != "kmeans"])
def test_work_grows_with_rows(slug):
    algorithm = ALGORITHMS[slug](n_clusters=3)
    assert 0 < algorithm.work(4, 1_000) < algorithm.work(4, 100_000)


def test_a_new_server_forecasts_the_first_run_of_every_method_within_a_factor_of_2_5():
    """The times were measured once, by lab/benchmarks/first_runs.py; a new method's belong there, too."""
    runs = pd.read_csv(Path(__file__).with_name("first_runs.csv"))
    assert all(list(own.method) == list(ALGORITHMS) for _, own in runs.groupby("rows"))
    wrong = []
    for slug, n, d, k, seconds in runs.itertuples(index=False):
        cls = ALGORITHMS[slug]
        algorithm = cls(**({"n_clusters": k} if "n_clusters" in params.specs(cls) else {}))
        ratio = Pace().seconds(algorithm, d, n) / seconds
        if not 1 / 2.5 < ratio < 2.5:
            wrong.append((slug, n, d, round(ratio, 2)))
    assert not wrong


def test_pe_work_follows_rounds_and_columns():
    small, large = PE(n_clusters=10, epsilon=1.0), PE(n_clusters=10, epsilon=4.0)
    assert large.work(40, 60_000) == pytest.approx(4 * small.work(40, 60_000), rel=0.03)  # the rounds T grow with ε
    assert ALGORITHMS["hdpe-means"](n_clusters=10).work(64, 10_000) < small.work(64, 10_000)


def test_a_first_run_of_choose_k_on_a_sample_starts_by_itself_and_has_a_track_of_epsilon():
    """A new server knows no run's time: a forecast far above the time (.14 s on town) would forbid both."""
    data = load_sample("town")
    algorithm = ALGORITHMS["choose-k"](n_clusters=5)
    seconds = Pace().seconds(algorithm, data.domain.n_features, data.n_public)
    assert 0.14 < seconds < LIVE and len(STOPS) * RUNS * seconds < MOST


def test_pace_learns_from_timed_runs():
    pace, algorithm = Pace(), PE(n_clusters=5)
    before = pace.seconds(algorithm, 2, 5_000)
    pace.learn(algorithm, 2, 5_000, 10 * before)
    assert pace.seconds(algorithm, 2, 5_000) == pytest.approx(10 * before)
    pace.learn(algorithm, 2, 5_000, 40 * before)
    assert pace.seconds(algorithm, 2, 5_000) == pytest.approx(20 * before)  # halfway on a log scale
    assert pace.seconds(ALGORITHMS["nsm"](), 2, 5_000) == Pace().seconds(ALGORITHMS["nsm"](), 2, 5_000)
