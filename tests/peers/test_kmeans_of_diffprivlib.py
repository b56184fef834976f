"""Repeat the tests of private KMeans in IBM's diffprivlib, rewritten for all algorithms of dpviz.

Refused here by design, each with one sentence: ε = ∞ (for which a DEMO has `noise="none"`), bounds read off the rows
in a release, and budgets of one estimator (accounts belong to files). Tests of `verbose` and of sample weights are left
out, because dpviz has neither.
"""

import warnings

import numpy as np
import pytest

from dpviz import PrivacyLeakWarning, PrivateKMeans
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.privacy.accounts import Accounts, Claim, FileBudget, Refused
from dpviz.privacy.guarantee import Notion
from tests.tiers import tiers

PRIVATE = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]
SLOW = {"stemmer-kaplan-swap", "balcan", "stemmer-kaplan-local"}
QUICK = [slug for slug in PRIVATE if slug not in SLOW]
pytestmark = pytest.mark.filterwarnings("ignore::dpviz.NoiseWarning")  # These runs have few rows.
LINE = np.repeat([0.1, 0.5, 0.9], 2000)[:, None]  # One column with three distinct values.


def model(slug, **values):
    facts = {"bounds": (0, 1), "n_public": 6000, "secure": False, "random_state": 0} | values
    return PrivateKMeans(3, algorithm=slug, **facts)


@pytest.mark.parametrize("slug", ["nsm", "pe-means", "hdpe-means", "lsh-splits", "stemmer-kaplan", "dpm"])
def test_three_places_on_a_line_are_found(slug):
    centers = np.sort(model(slug, epsilon=10.0).fit(LINE).cluster_centers_.ravel())
    assert np.abs(centers[:, None] - [0.1, 0.5, 0.9]).min(axis=0).max() < 0.1


def test_a_table_without_columns_is_refused():
    with pytest.raises(ValueError, match="2D array"):
        model("nsm").fit(np.zeros(10))


def test_bounds_that_are_missing_leak_and_that_is_said():
    with pytest.warns(PrivacyLeakWarning, match="bounds"):
        model("nsm", bounds=None).fit(LINE)
    with pytest.raises(ValueError, match="public bounds"):
        PrivateKMeans(3, n_public=6000, secure=True).fit(LINE)


def test_rows_of_different_places_get_different_labels():
    fitted = model("nsm", epsilon=30.0).fit(LINE)
    assert len(set(fitted.predict([[0.1], [0.5], [0.9]]))) == 3


@pytest.mark.parametrize("slug", PRIVATE)
def test_an_infinite_budget_is_refused(slug):
    cls = ALGORITHMS[slug]
    if "epsilon" not in cls.__dataclass_fields__:
        pytest.skip("its budget has another name")
    with pytest.raises(ValueError, match="epsilon must be"):
        cls(n_clusters=3, epsilon=float("inf"))


@pytest.mark.parametrize("slug", tiers([*QUICK, *sorted(SLOW)], QUICK))
def test_many_columns_and_labels_that_agree_with_distances(slug):
    X = np.random.default_rng(0).uniform(size=(500, 3))
    fitted = PrivateKMeans(
        4, algorithm=slug, bounds=(0, 1), n_public=500, secure=False, random_state=0, scale="common"
    ).fit(X)
    assert fitted.cluster_centers_.shape[1] == 3 and len(fitted.cluster_centers_) >= 1
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    if ALGORITHMS[slug].regions:
        assert set(fitted.labels_) <= set(range(-1, len(fitted.cluster_centers_)))
        with pytest.raises(ValueError, match="gives regions"):
            fitted.score(X)
        return
    assert np.array_equal(fitted.transform(X).argmin(axis=1), fitted.predict(X))


def test_what_two_fits_spend_adds_up_and_a_total_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path))
    file = tmp_path / "rows.csv"
    file.write_text("a\n" + "\n".join(map(str, LINE.ravel()[:50])))
    accounts = Accounts.open()
    key = accounts.key_of(file)
    claim = Claim.of(ALGORITHMS["sulloyd"](n_clusters=3, epsilon=30.0), Domain.box(0, 1, 1, n_public=50))
    assert accounts.reserve(key, claim).total(claim.neighboring).epsilon == pytest.approx(30.0)
    assert accounts.reserve(key, claim).total(claim.neighboring).epsilon == pytest.approx(60.0)
    accounts.set_budget(key, claim.neighboring, FileBudget(75.0, 1e-6))
    with pytest.raises(Refused, match="above the total"):
        accounts.reserve(key, claim)


def test_nothing_is_warned_about_where_all_facts_are_declared():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model("glloyd").fit(LINE)
