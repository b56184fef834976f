"""Check what is said about centers at declared bounds: everywhere, in the column's own units, and not for codes."""

import dataclasses
import json
import warnings

import jsonschema
import numpy as np
import pytest

from dpviz import NoiseWarning, PrivateKMeans
from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import from_table
from dpviz.datasets.readers import Recoding, read_table
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.postprocessing.at_bound import HIGH, LOW, WIDE, at_bounds, bounds_sentence, bounds_words
from dpviz.postprocessing.cards import centers_csv
from dpviz.postprocessing.explain import of_centers
from dpviz.postprocessing.in_words import center_words
from dpviz.postprocessing.released import AT_BOUNDS, centers_json, centers_text
from dpviz.postprocessing.verdict import private_verdict
from dpviz.takeaway.comparison import comparison
from dpviz.takeaway.label import label, label_json
from dpviz.takeaway.page import page
from dpviz.takeaway.published import schema
from dpviz.trace import Trace

COLUMNS, UNITS = ("age", "basket_eur"), ("years", "EUR")
DOMAIN = Domain.box([0, 0], [120, 1000], n_public=3000, columns=COLUMNS, units=UNITS)
SAYS = (
    "basket_eur at your bound of 1,000 EUR: the bound may be cutting values off; the ± does not cover that"
)  # fmt: skip


def customers(seed=0):
    """Return three groups of customers; the baskets of the oldest are worth 3,574 euros on average."""
    rng = np.random.default_rng(seed)
    groups = [(30, 300, 60), (50, 600, 60), (65, 3574, 800)]
    return np.concatenate(
        [np.column_stack([rng.normal(age, 4, 1000), rng.normal(euro, sd, 1000)]) for age, euro, sd in groups]
    )


@pytest.fixture(scope="module")
def trace():
    return ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(customers(), domain=DOMAIN, seed=0)


def made(trace, centers, sd=None, **domain):
    """Return the trace with other last centers, original units, and a stated noise in the data's units."""
    where = dataclasses.replace(trace.domain, **domain)
    released = {k: v for k, v in trace.steps[-1].released.items() if not k.startswith("center_")}
    released["centers"] = where.normalize(np.asarray(centers, dtype=float))
    if sd is not None:
        released |= {"center_sd": np.asarray(sd) / where.half_width, "center_noise": "of averages"}
    steps = (*trace.steps[:-1], dataclasses.replace(trace.steps[-1], released=freeze(released)))
    return dataclasses.replace(
        trace, domain=where, steps=steps, cluster_centers=freeze(np.asarray(centers, dtype=float)), coreset=None
    )


def test_three_standard_deviations_decide_and_the_noise_must_fit_six_times_between_the_bounds(trace):
    sd = np.full((5, 2), 10.0)
    centers = [[60, 970], [60, 969], [60, 30], [60, 31], [60, 500]]
    assert at_bounds(made(trace, centers, sd)).tolist() == [[0, HIGH], [0, 0], [0, LOW], [0, 0], [0, 0]]
    fits, wide = np.full((1, 2), [20.0, 1000 / 6]), np.full((1, 2), [20.1, 167.0])
    assert WIDE not in at_bounds(made(trace, [[60, 500]], fits))
    assert (at_bounds(made(trace, [[60, 1000]], wide)) == WIDE).all()
    assert (at_bounds(made(trace, [[60, 1000]], np.full((1, 2), np.inf))) == WIDE).all()
    assert (at_bounds(made(trace, [[60, 1000]], np.full((1, 2), np.nan))) == WIDE).all()


def test_without_stated_noise_only_a_center_that_reads_as_the_bound_is_at_it(trace):
    bare = made(trace, [[60, 1000], [60, 999.96], [60, 999.9], [0, 500]])
    assert at_bounds(bare).tolist() == [[0, HIGH], [0, HIGH], [0, 0], [LOW, 0]]
    first = bounds_words(bare, COLUMNS, UNITS)[0]
    assert first == "basket_eur at your bound of 1,000 EUR: the bound may be cutting values off"  # no ± is stated


def test_bounds_from_the_data_cut_nothing_off_but_noise_may_still_fill_them(trace):
    origin = "bounds taken from the data: NOT PRIVATE"
    assert not at_bounds(made(trace, [[60, 1000]], np.full((1, 2), 1.0), origin=origin)).any()
    assert (at_bounds(made(trace, [[60, 1000]], np.full((1, 2), 900.0), origin=origin)) == WIDE).all()


def test_the_middle_of_a_region_is_never_at_a_bound(trace):
    run = made(trace, [[60, 1000]])
    assert at_bounds(run).any()
    released = freeze({**run.steps[-1].released, "span_of_cell": np.zeros(1, dtype=int)})
    last = dataclasses.replace(run.steps[-1], released=released)
    assert not at_bounds(dataclasses.replace(run, steps=(*run.steps[:-1], last))).any()


def test_the_words_name_bounds_columns_and_units(trace):
    one = np.full((1, 2), 1.0)
    assert bounds_words(made(trace, [[60, 1000]], one), COLUMNS, UNITS) == [SAYS]
    both = bounds_words(made(trace, [[0, 1000]], one), COLUMNS, UNITS)[0]
    assert both == (
        "age at your bound of 0 years and basket_eur at your bound of 1,000 EUR: the bounds may be cutting values off; "
        "the ± does not cover that"
    )
    mixed = made(trace, [[60, 1000], [60, 500]], [[50.0, 1.0], [1.0, 1.0]])
    assert bounds_words(mixed, COLUMNS, UNITS) == [f"{SAYS}; in age, the noise is as wide as your bounds", ""]
    assert bounds_sentence(mixed, COLUMNS, UNITS).startswith(f"1 of 2 centers has {SAYS}; in age, ")
    drowned = made(trace, [[60, 1000]], np.full((1, 2), 900.0))
    assert bounds_sentence(drowned, COLUMNS, UNITS) == "The noise is as wide as your bounds."
    assert not bounds_sentence(made(trace, [[60, 500]], one), COLUMNS, UNITS)
    days = made(trace, [[60, 1000]], one, units=("years", "days since 1970-01-01"))
    assert "basket_eur at your bound of 1972-09-27: " in bounds_words(days, COLUMNS, days.domain.units)[0]


def test_many_columns_are_counted_instead_of_listed():
    X = np.ones((500, 6))
    box = Domain.box(0, 1, 6, n_public=500)
    trace = ALGORITHMS["glloyd"](n_clusters=1, epsilon=50.0).run(X, domain=box, seed=0)
    words = bounds_words(trace, [f"c{j}" for j in range(6)])[0]
    assert words.count("at your bound") == 3 and " and 3 more: the bounds may be cutting values off" in words


def test_every_place_says_it(trace, tmp_path, capsys):
    shared = Trace.from_json(trace.to_json())
    for one in (trace, shared):
        assert centers_text(one, COLUMNS, UNITS)[AT_BOUNDS].tolist().count(SAYS) == 1
        assert centers_csv(one, COLUMNS, UNITS).count("at your bound of 1,000 EUR") == 1
        assert json.loads(centers_json(one, COLUMNS, UNITS))["at_bounds"].count(SAYS) == 1
        assert sum(text.endswith(f"; {SAYS}") for text in center_words(one, COLUMNS, UNITS)) == 1
        assert sum(text.endswith(f"; {SAYS}.") for text in of_centers(one, COLUMNS, UNITS)) == 1
        assert private_verdict(one, COLUMNS, UNITS).why == f"1 of 3 centers has {SAYS}."
        for text in (label(one), page(one), comparison([one, one])):
            assert SAYS in text
        told = json.loads(label_json(one))
        jsonschema.validate(told, json.loads(schema("label")))
        assert told["at_a_bound"] == f"1 of 3 centers has {SAYS}."
    far = ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(
        customers(), domain=dataclasses.replace(DOMAIN, high=np.array([120, 9000])), seed=0
    )
    assert AT_BOUNDS not in centers_text(far, COLUMNS, UNITS) and "at_a_bound" not in json.loads(label_json(far))
    assert not private_verdict(far, COLUMNS, UNITS).why
    path = tmp_path / "customers.csv"
    np.savetxt(path, customers(), delimiter=",", header="age,basket_eur", comments="")
    assert main(["run", "nsm", "--data", str(path), "--public", "--header", "--bounds",
                 "age=0..120,basket_eur=0..1000", "--n-public", "3000", "--n-clusters", "3"]) == 0  # fmt: skip
    assert "1 of 3 centers has basket_eur at your bound of 1,000: the bound may" in capsys.readouterr().out


def test_the_estimator_warns(monkeypatch):
    fit = {"bounds": ([0, 0], [120, 1000]), "n_public": 3000, "secure": False, "random_state": 0}
    with pytest.warns(NoiseWarning, match="1 of 3 centers has column 2 at your bound of 1,000: the bound may be"):
        PrivateKMeans(3, **fit).fit(customers())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateKMeans(3, **fit | {"bounds": ([0, 0], [120, 9000])}).fit(customers())


def test_columns_of_declared_words_and_of_pictures_have_no_bound_that_cuts(tmp_path):
    """A code of a declared word lies within its bounds by its rule, so its centers may well lie on them."""
    rng, path = np.random.default_rng(0), tmp_path / "people.csv"
    lines = [f"{word},{grade},{rng.normal(30, 3):.1f}" for word, grade in (("a", "low"), ("b", "high")) * 800]
    path.write_text("sex,grade,age\n" + "\n".join(lines))
    rules = (Recoding.of("sex", "one-hot:a,b"), Recoding.of("grade", "ordinal:low,high"))
    facts = {
        "columns": [{"name": "age", "low": 0, "high": 40}],
        "recode": [rule.facts for rule in rules],
        "n_public": 1600,
    }
    table = read_table(path.read_bytes(), path.name, header=True, recode=rules)
    data = from_table(table, facts)
    assert [data.columns[j] for j in data.domain.closed] == ["sex: a", "sex: b", "grade"]
    trace = ALGORITHMS["nsm"](n_clusters=2, epsilon=8.0).run(data.X, domain=data.domain, seed=0)
    shared = Trace.from_json(trace.to_json())
    assert shared.domain.closed == data.domain.closed
    jsonschema.validate(json.loads(trace.to_json()), json.loads(schema("trace")))
    on_code = np.abs(trace.cluster_centers[:, 1:]) < 1e-3
    assert on_code.any()  # "sex: a" of the other sex is 0, its bound
    assert at_bounds(dataclasses.replace(trace, domain=dataclasses.replace(trace.domain, closed=())))[:, 1:].any()
    for one in (trace, shared):
        assert not at_bounds(one)[:, 1:].any()
    picture = facts | {"recode": [], "picture": [1, 1]}
    flat = from_table(read_table(path.read_bytes(), path.name, header=True), picture)
    assert flat.domain.closed == (0,)
    with pytest.raises(ValueError, match="closed must hold indices of the 1 columns"):
        dataclasses.replace(flat.domain, closed=(1,))
