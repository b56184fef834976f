"""Check declared facts: an impossible declaration is refused in one sentence, and no declared fact is dropped."""

import json

import numpy as np
import pytest

from dpviz.datasets import dictionary
from dpviz.datasets.dataset import Dataset
from dpviz.domain import Domain

INSANE = [(0.0, 5e-324), (-1.7e308, 1.7e308), (0.0, 1e-310), (-1e31, 1e31), (1e16, 1e16 + 2), (1.0, 1.0 + 2**-45)]


@pytest.mark.parametrize(("low", "high"), INSANE)
@pytest.mark.parametrize("scale", ["column", "common"])
def test_bounds_without_a_sane_half_width_are_refused(low, high, scale):
    with pytest.raises(ValueError, match="Domain: column 2 must have bounds within 1e.30 that differ by more than"):
        Domain.box([0, low], [1, high], scale=scale, n_public=1000, rows_per_person=5)
    columns = [{"name": "a", "low": 0, "high": 1}, {"name": "b", "low": low, "high": high}]
    with pytest.raises(ValueError, match="Domain: column 'b' must have bounds"):
        dictionary.parse(json.dumps({"columns": columns, "n_public": 1000}))


@pytest.mark.parametrize(("low", "high"), [(0, 1e-6), (-1e29, 1e29), (1.7e12, 1.7e12 + 8.64e7), (0, 2.5e-29)])
def test_far_and_fine_bounds_keep_all_that_was_declared(low, high):
    domain = Domain.box([low], [high], n_public=np.int64(1000), rows_per_person=np.int64(5), radius=np.float32(0.5))
    assert (domain.n_public, domain.rows_per_person, domain.radius) == (1000, 5, 0.5)
    json.dumps(domain.to_dict())
    x = domain.normalize(np.array([[low], [high]], dtype=float))
    np.testing.assert_allclose(x, [[-1], [1]], atol=1e-3)


def test_the_number_of_columns_is_honored():
    for low, high, n_features in (([0, 0], [1], 1), ([0], [1, 1], 1), ([0, 0], [1, 1], 3), ([0, 0], 1, 3)):
        with pytest.raises(ValueError, match=f"low and high must have 1 or {n_features} values"):
            Domain.box(low, high, n_features)
    assert Domain.box([0], [1], 3).n_features == Domain.box([0, 0, 0], 1).n_features == 3
    with pytest.raises(TypeError, match="n_features must be a whole number"):
        Domain.box(0, 1, 2.5)


def column(**change):
    return {"name": "a", "low": 0, "high": 1, **change}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps({"columns": [column(high=10**400)]}), "column 'a': high must be a number below 1e308"),
        (json.dumps({"columns": [column()], "n_public": 10**400}), "n_public must be below 1e308"),
        (json.dumps({"columns": [column()], "n_public": 10**300}), "n_public must be <= 1000000000000"),
        (json.dumps({"columns": [column()], "rows_per_person": 10**12}), "rows_per_person must be <= 1000000"),
        (json.dumps({"columns": [column()], "radius": 10**400}), "radius must be below 1e308"),
        (json.dumps({"columns": [column()], "radius": 1e-300}), "radius must be >= 1e-30"),
        (json.dumps({"columns": [column()], "n_clusters": 10**400}), "n_clusters must be below 1e308"),
        (json.dumps({"columns": [column(unit="\ud800")]}), "this is not a JSON file"),
        (json.dumps({"columns": [column(name="\udfff")]}), "this is not a JSON file"),
        (json.dumps({"columns": [column()], "view": [["a"], "a"]}), "view must name two declared columns"),
        ('{"columns": ' + "[" * 50_000 + "]" * 50_000 + "}", "this is not a JSON file"),
        ('{"columns": [{"name": "a", "low": 0, "high": ' + "9" * 5000 + "}]}", "this is not a JSON file"),
        (
            json.dumps({"columns": [{"name": str(i), "low": 0, "high": 1} for i in range(20_000)]}),
            "at most 1024 columns",
        ),
    ],
)
def test_an_impossible_dictionary_is_one_short_sentence(text, words):
    with pytest.raises(ValueError, match=words) as refused:
        dictionary.parse(text)
    assert len(str(refused.value)) < 200 and "\n" not in str(refused.value)


def test_private_rows_are_never_counted():
    facts = dict(columns=("a",), units=("",), labels=None, dataset_id="x", title="mine", X=np.zeros((7, 1)))
    with pytest.raises(ValueError, match="n_public must be declared, because the data are private"):
        Dataset(domain=Domain.box(0, 1, 1), private=True, **facts)
    assert Dataset(domain=Domain.box(0, 1, 1, n_public=9), private=True, **facts).n_public == 9
    assert Dataset(domain=Domain.box(0, 1, 1), **facts).n_public == 7


@pytest.mark.parametrize("rows", [1, 2, 7, 1000, 10**6])
def test_the_promise_to_a_person_of_many_rows_is_the_sum(rows):
    from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion

    row = Guarantee(Notion.CENTRAL, Neighboring.ADD_REMOVE, 0.5, 1e-9, rows_per_person=rows)
    person = row.person
    summed = sum(np.exp(min(0.5 * i, 300)) for i in range(min(rows, 1000))) * 1e-9
    assert person.epsilon == 0.5 * rows and person.delta == pytest.approx(min(1.0, summed))
