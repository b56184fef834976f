"""Check that the estimator follows scikit-learn's conventions, and warns where they would leak information."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpviz import NoiseWarning, PrivacyLeakWarning, PrivateKMeans, estimator

DATA = np.random.default_rng(0).normal(scale=0.1, size=(600, 2)) + np.repeat([[-0.6, 0.0], [0.6, 0.0]], 300, axis=0)
FACTS = {"bounds": (-1, 1), "n_public": 600, "random_state": 0, "secure": False}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        warnings.simplefilter("ignore", NoiseWarning)
        yield


@parametrize_with_checks(
    [PrivateKMeans(3, random_state=0), PrivateKMeans(3, algorithm="glloyd", random_state=0)],
)
def test_scikit_learn_s_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_facts_read_off_the_rows_are_warnings():
    with pytest.warns(PrivacyLeakWarning, match="bounds are not given"):
        PrivateKMeans(2, n_public=600, random_state=0).fit(DATA)
    with pytest.warns(PrivacyLeakWarning, match="n_public is not given"):
        PrivateKMeans(2, bounds=(-1, 1), random_state=0).fit(DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateKMeans(2, **FACTS).fit(DATA)


def test_a_release_has_no_seed_and_reads_no_fact_off_the_rows():
    model = PrivateKMeans(2, bounds=(-1, 1), n_public=600, secure=True, account="none").fit(DATA)
    assert model.trace_.seed is None and not model.trace_.steps[0].hidden
    for wrong, words in (
        ({"random_state": 1, "n_public": 600, "bounds": (-1, 1)}, "random_state must be None"),
        ({"n_public": 600}, "needs public bounds"),
        ({"bounds": (-1, 1)}, "needs public bounds and n_public"),
    ):
        with pytest.raises(ValueError, match=words):
            PrivateKMeans(2, secure=True, **wrong).fit(DATA)


@pytest.mark.parametrize("algorithm", ["nsm", "dp-dbscan", "stemmer-kaplan-local"])
def test_a_release_takes_no_row_one_row_and_rows_that_are_not_finite_alike(algorithm):
    """An error for one data set but not for its neighbor would distinguish the two."""
    cells = np.array([[np.nan, 0.0], [np.inf, 0.0], [0.0, -np.inf], [0.5, 0.5]])
    facts = {"bounds": (-1, 1), "n_public": 600, "secure": True, "account": "none", "algorithm": algorithm}
    for X in (DATA[:0], DATA[:1], cells[:1], cells, np.vstack([DATA, cells]), np.full((3, 2), np.nan)):
        model = PrivateKMeans(2, **facts).fit(X)
        finite = np.isfinite(X).all(axis=1)
        assert np.isfinite(model.cluster_centers_).all()
        labels = PrivateKMeans(2, **facts).fit_predict(X)
        assert labels.shape == (len(X),) and (labels[~finite] == -1).all()
        if algorithm != "dp-dbscan":  # DP-DBSCAN may leave a row outside all regions
            assert (labels[finite] >= 0).all()
    with pytest.raises(ValueError, match="NaN|minimum of 2"):
        PrivateKMeans(2, **{**facts, "secure": False}).fit(DATA[:1])


def test_a_released_model_holds_nothing_that_was_read_off_the_rows():
    model = PrivateKMeans(2, **FACTS).fit(DATA)
    assert {"labels_", "inertia_"} <= set(vars(model))
    model.set_params(secure=True, account="none", random_state=None).fit(
        DATA
    )  # the same object, refitted for a release
    shipped = vars(pickle.loads(pickle.dumps(model)))
    assert not {"labels_", "inertia_"} & set(shipped)
    arrays = [value for value in shipped.values() if isinstance(value, np.ndarray)]
    assert all(len(array) < len(DATA) for array in arrays)
    assert not any(step.hidden for step in shipped["trace_"].steps)
    assert model.predict(DATA).shape == model.fit_predict(DATA).shape == (600,)


def sentences(work):
    """Return the estimator warnings that `work` causes, without those of centers that chance puts at a bound."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    texts = [str(one.message) for one in caught if issubclass(one.category, NoiseWarning | PrivacyLeakWarning)]
    return [text for text in texts if "at your bound" not in text]


def test_a_fit_that_did_not_choose_is_called_a_simulation_once_per_process(monkeypatch):
    monkeypatch.setattr(estimator, "_spoken", set())
    chosen = {**FACTS, "secure": None}
    (text,) = sentences(lambda: [PrivateKMeans(2, **chosen).fit(DATA) for _ in range(2)])
    assert text.startswith("PrivateKMeans: a simulation, not a release; give secure=True")
    monkeypatch.setattr(estimator, "_spoken", set())
    assert sentences(lambda: PrivateKMeans(2, **FACTS).fit(DATA)) == []


def test_a_search_over_private_rows_warns_once_of_fits_and_once_of_scores(monkeypatch):
    monkeypatch.setattr(estimator, "_spoken", set())
    private = PrivateKMeans(2, bounds=(-1, 1), n_public=600, secure=True, account="none")
    assert sentences(lambda: private.fit(DATA)) == []
    texts = sentences(lambda: GridSearchCV(private, {"epsilon": [0.5, 4.0]}, cv=2).fit(DATA))
    assert len(texts) == 2 and sum("add up" in text for text in texts) == 1
    assert sum("score reads the rows" in text for text in texts) == 1
    assert sentences(lambda: cross_val_score(private, DATA, cv=2)) == []


def test_a_simulation_spends_nothing_and_its_scores_read_rows(monkeypatch):
    monkeypatch.setattr(estimator, "_spoken", set())
    (text,) = sentences(lambda: [PrivateKMeans(2, **FACTS).fit(DATA).score(DATA) for _ in range(3)])
    assert "score reads the rows" in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"epsilon": 0.05, "n_clusters": 60}, "noise will dominate"),
        ({"delta": 0.1}, "at least 1/n for n = 600"),
        ({"n_public": 60_000}, "the noisy counts suggest about"),
    ],
)
def test_what_the_library_knows_becomes_a_warning(values, words):
    with pytest.warns(NoiseWarning, match=words):
        PrivateKMeans(**{"n_clusters": 2, **FACTS, **values}).fit(DATA)


def test_the_same_seed_gives_the_run_of_the_algorithm_itself():
    from dpviz.algorithms import NSM
    from dpviz.domain import Domain

    model = PrivateKMeans(2, epsilon=2.0, **FACTS).fit(DATA)
    trace = NSM(n_clusters=2, epsilon=2.0).run(DATA, domain=Domain.box(-1, 1, 2, n_public=600), seed=0)
    assert np.array_equal(model.cluster_centers_, trace.cluster_centers)
    assert model.trace_.spent == trace.spent


def test_it_lives_in_pipelines_searches_and_pickles():
    holes = DATA.copy()
    holes[0, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), PrivateKMeans(2, **FACTS)).fit(holes)
    assert pipeline.predict(DATA).shape == (600,)
    search = GridSearchCV(PrivateKMeans(2, **FACTS), {"epsilon": [0.5, 4.0]}, cv=2).fit(DATA)
    assert search.best_params_["epsilon"] in (0.5, 4.0)
    model = pipeline[-1]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.cluster_centers_, model.cluster_centers_) and not hasattr(clone(model), "trace_")


def test_columns_are_taken_by_name():
    frame = pd.DataFrame(DATA, columns=["east", "north"])
    model = PrivateKMeans(2, **FACTS).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == ["east", "north"]
    assert list(model.transform(frame).columns) == ["privatekmeans0", "privatekmeans1"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["north", "east"]])


def test_wrong_parameters_are_one_sentence():
    with pytest.raises(ValueError, match="algorithm must be one of .*; got 'magic'[.]"):
        PrivateKMeans(2, algorithm="magic").fit(DATA)
    for bounds in (5, (1, 2, 3)):
        with pytest.raises(ValueError, match=r"bounds must be a pair .* got"):
            PrivateKMeans(2, **{**FACTS, "bounds": bounds}).fit(DATA)
    with pytest.raises(ValueError, match="has no further parameter 'speed'"):
        PrivateKMeans(2, parameters={"speed": 1}, **FACTS).fit(DATA)
    with pytest.raises(ValueError, match="has no further parameter 'epsilon'"):
        PrivateKMeans(2, parameters={"epsilon": 9.0}, **FACTS).fit(DATA)
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=5"):
        PrivateKMeans(5, **FACTS).fit(DATA[:3])


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, dpviz; print([m for m in ('numpy', 'sklearn', 'plotly', 'opendp') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_bounds_of_two_columns_are_never_guessed():
    age, visits = np.repeat([30.0, 70.0], 200), np.repeat([10.0, 40.0], 200)
    table = pd.DataFrame({"visits": visits, "age": age})
    fit = {"n_public": 400, "random_state": 0, "epsilon": 50.0}
    for ambiguous in ([(0, 50), (18, 95)], ((0, 50), (18, 95)), [[0, 50], [18, 95]], ([0, 18], [50, 95])):
        with pytest.raises(ValueError, match="two pairs for two columns may be a pair for each column"):
            PrivateKMeans(2, bounds=ambiguous, **fit).fit(table)
    with pytest.raises(ValueError, match="low < high"):
        PrivateKMeans(2, bounds=[(18, 95), (0, 50)], **fit).fit(table)
    frame = pd.DataFrame({"age": [18, 95], "visits": [0, 50]}, index=["low", "high"])
    arrays = (np.array([0, 18]), np.array([50, 95]))
    fits = [
        PrivateKMeans(2, bounds=bounds, **fit).fit(table).cluster_centers_
        for bounds in ({"age": (18, 95), "visits": (0, 50)}, frame, arrays)
    ]
    assert all(np.array_equal(fits[0], one) for one in fits) and np.allclose(sorted(fits[0][:, 0]), [10, 40], atol=3)
    for wrong in ({"age": (18, 95)}, {"age": (18, 95), "visit": (0, 50)}):
        with pytest.raises(ValueError, match="one pair for each column; X has the columns visits, age"):
            PrivateKMeans(2, bounds=wrong, **fit).fit(table)
