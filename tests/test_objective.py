"""Check k-median everywhere: losses, references, titles and words follow the objective wherever a run is shown."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpviz import PrivateKMeans
from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.datasets.parts import parts_of
from dpviz.figures import View, pane
from dpviz.figures.kit.shapes import Drawing, drawn
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes.reruns import Cloud, clouds
from dpviz.metrics import mean_distance, run_loss
from dpviz.privacy.chunked import ChunkedRows, threads
from dpviz.runs.reruns import rerun
from dpviz.sweeps.report import report
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.spec import sweep_of
from dpviz.sweeps.sweep import execute

WORDS = {"means": ("Loss", "KMeans"), "medians": ("k-median cost", "KMedians")}


@pytest.fixture(scope="module", params=list(WORDS))
def viewed(request):
    """Return a run of Stemmer-Kaplan on the ring with the words that belong to its objective."""
    data = load_sample("ring")
    algorithm = ALGORITHMS["stemmer-kaplan"](n_clusters=4, epsilon=4.0, objective=request.param)
    trace = algorithm.run(data.X, domain=data.domain, seed=0)
    return data, algorithm, trace, *WORDS[request.param]


def test_clouds_and_dots_of_reruns_name_what_they_are_measured_by(viewed):
    data, _, trace, measure, against = viewed
    view = View(trace, LIGHT, (0, 1), data.columns, data.units, hidden=True)
    _, dots = clouds(view, [Cloud("ε 4", (trace.cluster_centers,) * 2, np.array([1.0, 1.2]))], "Centers")
    assert dots.figure.layout.title.text == f"1 of 2 runs is within 10% of {against}"
    assert dots.alt.lower().startswith(f"a dot plot: {measure} of each run.".lower())
    assert dots.figure.data[0].hovertemplate.endswith(f"× {against}<extra></extra>")
    assert dots.alt.endswith(f"within 10% of {against}.")


def test_reruns_are_measured_by_their_own_cost(viewed):
    data, algorithm, *_ = viewed
    some = rerun([data], algorithm, [3])
    Z, z = (data.domain.normalize(rows) for rows in (data.X, some.centers[0]))
    away = np.linalg.norm(Z[:, None] - z, axis=2).min(axis=1)
    assert some.losses == pytest.approx([np.mean(away if algorithm.objective == "medians" else away**2)])


def test_centers_in_their_own_shape_stand_beside_their_own_reference(viewed):
    data, _, trace, _, against = viewed
    assert f"{against} " in drawn(Drawing(trace, dataclasses.replace(data, units=("km", "km")), LIGHT, data.X[:4]))


def test_the_reference_itself_says_which_it_is():
    data = load_sample("tiny")
    for objective, (_, against) in WORDS.items():
        trace = ALGORITHMS["kmeans"](n_clusters=2, objective=objective).run(data.X, domain=data.domain, seed=0)
        plane = pane(trace).panels(View(trace, LIGHT, (0, 1), data.columns, data.units, hidden=True))[0]
        assert f"{against} center (not private)" in [mark.name for mark in plane.figure.data]


BASE = {"data": "sample:tiny", "algorithms": ["stemmer-kaplan", "fastlloyd"], "epsilon": [2.0, 4.0], "repeats": 2}


@pytest.mark.parametrize(
    ("record", "metrics"),
    [
        ({}, ("loss",)),
        ({"objective": "means"}, ("loss",)),
        ({"objective": "medians"}, ("loss", "median_cost")),  # FastLloyd supports k-means only
        ({"objective": "medians", "algorithms": ["stemmer-kaplan"]}, ("median_cost", "loss")),
        ({"objective": ["means", "medians"]}, ("loss", "median_cost")),
        ({"stemmer-kaplan": {"objective": "medians"}}, ("loss", "median_cost")),
        ({"objective": "medians", "metrics": ["ari"]}, ("ari",)),  # explicit metrics are kept
    ],
)
def test_a_sweep_of_k_median_measures_k_median(record, metrics):
    assert sweep_of({**BASE, **record}).metrics == metrics


@pytest.mark.slow
def test_a_report_names_the_reference_of_each_metric():
    sweep = sweep_of({**BASE, "algorithms": ["stemmer-kaplan"], "objective": "medians"})
    page = report(table([execute(cell) for cell in sweep.runs()]), "t")
    of_loss, of_medians = page.split("<h2>k-median cost")
    for part, against in ((of_loss, "KMeans"), (of_medians, "KMedians")):
        assert f"relative to {against}'s" in part and f"within 10% of {against}<" in part
    assert "times that of KMeans without privacy" in page  # the first paragraph is about the loss


def test_the_command_prints_the_cost_of_the_objective_in_memory_and_in_parts(tmp_path, capsys):
    X = load_sample("ring").X
    path = tmp_path / "ring.parquet"
    pd.DataFrame(X, columns=["x", "y"]).to_parquet(path)
    low, high = load_sample("ring").domain.low, load_sample("ring").domain.high
    bounds = ["--low", *map(str, low), "--high", *map(str, high), "--n-public", str(len(X))]
    command = ["run", "stemmer-kaplan", "--data", str(path), "--public", *bounds, "--n-clusters", "4", "--seed", "0"]
    for objective, words in (("means", "normalized loss of "), ("medians", "k-median cost per row of ")):
        shown = []
        for how in ([], ["--in-parts"]):
            assert main([*command, "--objective", objective, *how]) == 0
            shown.append(next(line for line in capsys.readouterr().out.splitlines() if "NOT PRIVATE" in line))
        assert shown[0].startswith(words) and shown[0] == shown[1]


def test_distances_in_parts_are_those_in_memory(tmp_path):
    data = load_sample("tiny")
    np.save(tmp_path / "rows.npy", np.vstack([data.X, np.full(data.X.shape[1], np.nan)]))
    parts = parts_of(tmp_path / "rows.npy", part_rows=3)
    rows, centers = ChunkedRows(parts, data.domain, "unnamed", threads(2)), data.domain.normalize(data.X[:2])
    every = len(data.X) * mean_distance(data.domain.normalize(data.X), centers)
    assert rows.distance(centers) == pytest.approx(every)


@pytest.mark.filterwarnings("ignore::dpviz.estimator.PrivacyLeakWarning")
def test_the_estimator_scores_by_the_objective():
    data = load_sample("ring")
    bounds = (data.domain.low, data.domain.high)
    facts = {"bounds": bounds, "n_public": len(data.X), "secure": False, "random_state": 0}
    for objective in WORDS:
        given = {"algorithm": "stemmer-kaplan", "epsilon": 4.0, "parameters": {"objective": objective}}
        model = PrivateKMeans(4, **given, **facts).fit(data.X)
        assert -model.score(data.X) == pytest.approx(len(data.X) * run_loss(model.trace_, data.X))
