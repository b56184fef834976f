"""Check sweeps over any parameter, preset, delta rule and noise; k-median as an objective; generated benchmark sets."""

import dataclasses
import json
import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.kit.panels import loss_panel
from dpviz.figures.kit.shots import one_a_step
from dpviz.figures.kit.theme import LIGHT
from dpviz.metrics import kmeans_distances, loss_path, mean_distance
from dpviz.numbers import ratio_words
from dpviz.runs.averages import margin_of_error, margins_of_error, standard_error
from dpviz.runs.single import reference, replay
from dpviz.sweeps.generated import generated, unequal_clusters
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.sources import best_references, stamp
from dpviz.sweeps.spec import sweep_of, to_toml
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import REFERENCE, execute

BASE = {"data": "sample:tiny", "algorithms": ["fastlloyd", "sulloyd"], "epsilon": [1.0], "repeats": 2}


def rows_of(sweep):
    return table([execute(cell) for cell in sweep.runs()])


def test_any_parameter_is_an_axis_for_the_algorithms_that_have_it():
    sweep = sweep_of({**BASE, "alpha": [0.4, 0.8, 1.6], "boundary": ["fold", "clip"]})
    own = [cell for cell in sweep.runs() if cell.seed == 0 and cell.algorithm != REFERENCE]
    assert sum(cell.algorithm == "fastlloyd" for cell in own) == 6
    assert sum(cell.algorithm == "sulloyd" for cell in own) == 2  # SuLloyd has no alpha
    points = Summary(rows_of(sweep), "loss", "alpha").points
    flat = points[(points.label == "sulloyd") & (points.boundary == "fold")]
    assert sorted(flat.alpha) == [0.4, 0.8, 1.6] and flat["mean"].nunique() == 1  # without alpha, means are equal
    fast = points[points.label == "fastlloyd"]
    assert fast.series.nunique() == 2 and all("boundary = " in name for name in fast.series)
    assert fast.groupby("alpha")["mean"].nunique().max() >= 1 and fast["mean"].nunique() > 2


def test_lists_and_presets_in_a_table_make_one_curve_each_and_survive_toml():
    record = {**BASE, "algorithms": ["pe-means"], "pe-means": {"preset": ["paper", "authors"], "rounds": [2, 3]}}
    sweep = sweep_of(record)
    labels = [variant.label for variant in sweep.variants]
    assert labels[0] == "pe-means, preset = paper, rounds = 2" and len(labels) == 4
    import tomllib

    again = sweep_of(tomllib.loads(to_toml(sweep, "again")))
    assert again == sweep and [c.key for c in again.runs()] == [c.key for c in sweep.runs()]


def test_an_unknown_key_is_one_sentence():
    with pytest.raises(ValueError, match="'alhpa' is not a key of a sweep"):
        sweep_of({**BASE, "alhpa": [1]})
    with pytest.raises(ValueError, match="delta must be one of"):
        sweep_of({**BASE, "delta": "1/n"})


def test_delta_may_be_a_papers_rule_of_n():
    sweep = sweep_of({**BASE, "algorithms": ["fastlloyd"], "delta": ["1/(n ln n)", "1/(n sqrt n)"], "repeats": 1})
    rows = rows_of(sweep)
    n = rows.n_rows.iloc[0]
    found = sorted(rows[rows.algorithm == "fastlloyd"].delta)
    assert found == pytest.approx(sorted([1 / (n * math.log(n)), n**-1.5]))


def test_a_curve_without_noise_says_so_in_its_row():
    sweep = sweep_of({**BASE, "algorithms": ["exact"], "exact": {"algorithm": "pe-means", "noise": "none"}})
    row = next(execute(cell) for cell in sweep.runs() if cell.algorithm == "pe-means")
    assert row["status"] == "ok" and row["notion"] == "none" and row["neighboring"] is None


def test_the_median_cost_is_compared_with_k_median_not_with_k_means():
    sweep = sweep_of(
        {**BASE, "data": "sample:ring", "algorithms": ["stemmer-kaplan"], "metrics": ["loss", "median_cost"],
         "objective": ["means", "medians"], "epsilon": [4.0], "repeats": 1}
    )  # fmt: skip
    rows = rows_of(sweep)
    references = rows[rows.algorithm == REFERENCE].set_index("label")
    assert references.median_cost["KMedians"] < references.median_cost["KMeans"]
    assert references.loss["KMedians"] > references.loss["KMeans"]
    assert set(Summary(rows, "median_cost").points.reference) == {references.median_cost["KMedians"]}
    assert set(Summary(rows, "loss").points.reference) == {references.loss["KMeans"]}


MEDIANS = ["dist-dp", "dist-dp-region-means", "dist-dp-random-points", "stemmer-kaplan", "kmeans"]


@pytest.mark.parametrize("slug", MEDIANS)
def test_medians_lower_the_median_cost_and_their_loss_path_is_that_cost(slug):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal([-0.5, 0], 0.05, (600, 2)), rng.normal([0.5, 0], 0.05, (600, 2))])
    X = np.clip(np.concatenate([X, rng.uniform(-1, 1, (300, 2))]), -1, 1)
    domain = Domain.box(-1, 1, 2, n_public=len(X), scale="common")
    values = {"n_clusters": 2, "epsilon": 20.0, "rho_distance": 0.001, "coarse_levels": 8, "regions_per_center": 80}
    cls = ALGORITHMS[slug]
    known = {field.name for field in dataclasses.fields(cls)}
    costs = {}
    for objective in ("means", "medians"):
        algorithm = cls(**{k: v for k, v in values.items() if k in known}, objective=objective)
        trace = algorithm.run(X, domain=domain, seed=0)
        costs[objective] = mean_distance(domain.normalize(X), domain.normalize(trace.cluster_centers))
    assert costs["medians"] < costs["means"]
    assert loss_path(trace, X)[-1] == pytest.approx(costs["medians"])


def test_the_kmeans_distance_is_the_mean_over_centers_and_references():
    references = [np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])]
    assert kmeans_distances(np.array([[0.0, 0.0], [1.0, 0.0]]), references) == pytest.approx((0 + 0.5) / 2)
    assert kmeans_distances(references[0], references[:1]) == 0


def test_the_references_of_the_kmeans_distance_are_the_best_twenty_by_silhouette():
    name = "sample:tiny"
    best = best_references(name, "declared", None, stamp(name), 3)
    assert len(best) == 20 and best[0].shape == (3, 2)


@pytest.mark.parametrize(("k", "d"), [(2, 2), (8, 4), (3, 128)])
def test_unequal_clusters_have_sizes_in_ratio_and_few_outliers(k, d):
    X, labels = unequal_clusters(k, d, 0)
    sizes = np.bincount(labels, minlength=k + 1)
    assert X.shape == (10_000, d) and sizes[k] <= 100
    np.testing.assert_allclose(sizes[:k] / sizes[0], np.arange(1, k + 1), rtol=0.02)
    again, _ = unequal_clusters(k, d, 0)
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, unequal_clusters(k, d, 1)[0])


def test_generated_sets_are_found_by_name_and_their_k_is_the_recipes():
    assert generated("sklearn_16_4").X.shape == (20_000, 4) and generated("sklearn_16_4").n_clusters == 16
    assert generated("unequal_8_2_1").n_clusters == 8 and stamp("bench:unequal_8_2_1") == ""
    assert generated("blobs16").X.shape == (20_000, 16) and generated("blobs16").n_clusters == 16
    assert generated("nothing") is None
    with pytest.raises(ValueError, match="too large"):
        generated("unequal_100000_9_0")


def test_rows_keep_json_parameters():
    row = next(execute(c) for c in sweep_of({**BASE, "alpha": 0.5}).runs() if c.algorithm == "fastlloyd")
    assert json.loads(row["parameters"])["alpha"] == 0.5


@pytest.mark.parametrize(
    ("objective", "title", "unit"), [("means", "Loss", "× KMeans"), ("medians", "k-median cost", "× KMedians")]
)
def test_the_loss_panel_names_the_objective_and_compares_with_its_own_reference(objective, title, unit):
    data = load_sample("ring")
    algorithm = ALGORITHMS["stemmer-kaplan"](n_clusters=4, epsilon=4.0, objective=objective)
    found, best = replay(data, algorithm, 0), reference(data, 4, 0, objective)
    view = View(found.trace, LIGHT, (0, 1), data.columns, data.units, hidden=True, losses=found.losses,
                reference=best.trace.cluster_centers, reference_loss=best.loss)  # fmt: skip
    panel = loss_panel(view, one_a_step(found.trace))
    assert panel.figure.layout.title.text == f"{title} ends at {ratio_words(found.losses[-1] / best.loss)} {unit}"
    assert panel.figure.data[0].y[-1] == pytest.approx(found.losses[-1] / best.loss)
    assert panel.figure.data[0].x[-1] == len(found.trace.steps)  # one point per step of the player
    assert panel.figure.layout.yaxis.title.text == f"× K{objective.capitalize()}"
    cost = mean_distance if objective == "medians" else None
    if cost is not None:
        centers = data.domain.normalize(best.trace.cluster_centers)
        assert best.loss == pytest.approx(cost(data.domain.normalize(data.X), centers))
    assert np.nanmin(found.losses) >= 0.99 * best.loss


def test_a_standard_error_by_hand():
    assert standard_error([1, 2, 3, 4]) == pytest.approx(math.sqrt(5 / 3) / 2)
    assert margin_of_error([1, 2, 3, 4]) == pytest.approx(
        3.182446 * math.sqrt(5 / 3) / 2
    )  # the t quantile with 3 degrees of freedom
    assert margins_of_error([math.sqrt(5 / 3), 1.0], [4, 1])[0] == margin_of_error([1, 2, 3, 4])
    assert all(math.isnan(x) for x in (standard_error([1]), margin_of_error([1]), margins_of_error([1.0], [1])[0]))
