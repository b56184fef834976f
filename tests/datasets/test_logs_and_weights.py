"""Check columns in logarithms and weights: distances follow them, and every result is back in the columns' units."""

import csv
import dataclasses
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpviz import PrivateKMeans
from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load_csv
from dpviz.datasets.dictionary import complete, domain_of, dump, parse
from dpviz.domain import Domain
from dpviz.numbers import log_unit, spread_text, unlogged
from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import rehearse, same_run
from dpviz.planning.words import amount, noise_ranges
from dpviz.postprocessing.at_bound import HIGH, at_bounds, bounds_sentence
from dpviz.postprocessing.cards import cards, centers_csv, noise_words
from dpviz.postprocessing.changes import changes
from dpviz.postprocessing.explain import of_centers
from dpviz.postprocessing.released import centers_json, centers_text
from dpviz.privacy.guarantee import Notion
from dpviz.takeaway import export, facts
from dpviz.takeaway.cards import cards_html
from dpviz.takeaway.nearest import nearest_code
from dpviz.takeaway.published import schema

ROOT = Path(__file__).parents[2]
NAMES, UNITS = ("age", "income"), ("years", "ln(1 + EUR)")
TYPICAL = (400.0, 3000.0, 13000.0)  # geometric means of income, by group
COLUMNS = [
    {"name": "age", "low": 18, "high": 95, "unit": "years", "weight": 2},
    {"name": "income", "low": 0, "high": 50_000, "unit": "EUR", "log": True},
]
FACTS = {"columns": COLUMNS, "n_public": 3000, "n_clusters": 3}
DECLARED = ["--bounds", "age=18..95,income=0..50000", "--log", "income", "--weight", "age=2", "--n-public", "3000"]


def people():
    rng = np.random.default_rng(0)
    group = np.arange(3000) % 3
    age = np.array([30, 60, 45])[group] + 1.5 * rng.normal(size=3000)
    return pd.DataFrame({"age": age, "income": np.exp(np.log(TYPICAL)[group] + 0.2 * rng.normal(size=3000))})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    path.with_suffix(".json").write_text(dump(complete(FACTS)))
    return path


@pytest.fixture
def trace(file):
    data = load_csv(file)
    assert data.units == UNITS and data.domain.weights == (2, 1)
    return ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(data.X, domain=data.domain, seed=0)


@pytest.mark.parametrize("scale", ["column", "common"])
def test_a_weight_stretches_its_column_and_the_widest_column_has_half_width_1(scale):
    domain = Domain.box([0, -5, 10], [4, 5, 16], scale=scale, weights=[1, 0.5, 4])
    assert domain.box_z.max() == 1 and domain.box_z.min() > 0
    plain = Domain.box([0, -5, 10], [4, 5, 16], scale=scale)
    stretched = plain.half_width / domain.half_width
    np.testing.assert_allclose(stretched / stretched[0], [1, 0.5, 4])
    X = np.array([[1.0, 2, 11], [4, 5, 16]])
    np.testing.assert_allclose(domain.denormalize(domain.normalize(X)), X)
    assert (np.linalg.norm(domain.clip(domain.normalize(X)), axis=1) <= domain.radius).all()
    np.testing.assert_allclose(domain.clip(domain.normalize(X)), domain.normalize(X))  # the ball clips nothing more
    assert Domain.from_dict(json.loads(json.dumps(domain.to_dict()))).key == domain.key != plain.key
    assert not domain.one_scale and plain.one_scale == (scale == "common")


def test_equal_weights_change_nothing():
    plain, same = Domain.box([0, 0], [1, 9]), Domain.box([0, 0], [1, 9], weights=[3, 3])
    assert same.key == plain.key and same.to_dict() == plain.to_dict() and "weights" not in plain.to_dict()


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -2], [1, math.nan], [1, 1e4]])
def test_an_impossible_weight_is_one_sentence(weights):
    with pytest.raises((ValueError, TypeError), match=r"^Domain: [^\n]+\.$"):
        Domain.box([0, 0], [1, 9], weights=weights)


def test_kmeans_with_a_weight_is_kmeans_on_a_stretched_column():
    X = np.random.default_rng(1).uniform(-1, 1, (300, 2))
    weighted = ALGORITHMS["kmeans"](n_clusters=4).run(X, domain=Domain.box(-1, 1, 2, weights=[1, 4]), seed=0)
    squeezed = X * [0.25, 1]
    by_hand = ALGORITHMS["kmeans"](n_clusters=4).run(
        squeezed, domain=Domain.box([-0.25, -1], [0.25, 1], scale="common"), seed=0
    )
    np.testing.assert_allclose(weighted.cluster_centers * [0.25, 1], by_hand.cluster_centers, atol=1e-6)
    plain = ALGORITHMS["kmeans"](n_clusters=4).run(X, domain=Domain.box(-1, 1, 2), seed=0)
    assert np.ptp(plain.cluster_centers[:, 0]) > 2 * np.ptp(weighted.cluster_centers[:, 0])


CENTRAL = [slug for slug, cls in ALGORITHMS.items() if cls.notion is Notion.CENTRAL and not cls.regions]


@pytest.mark.parametrize("slug", CENTRAL)
def test_every_central_method_keeps_to_the_bounds_and_the_budget_with_weights(slug):
    X = np.random.default_rng(1).uniform(0, 1, (400, 2)) * [10, 1000]
    domain = Domain.box([0, 0], [10, 1000], n_public=400, weights=[1, 30])
    trace = ALGORITHMS[slug](epsilon=1.0).run(X, domain=domain, seed=0)
    centers = np.asarray(trace.cluster_centers)
    assert ((centers >= domain.low) & (centers <= domain.high)).all()
    assert trace.spent.epsilon <= 1 + 1e-9


def test_each_cell_is_read_by_itself_and_what_lies_outside_stays_outside():
    declared = complete(FACTS | {"columns": [COLUMNS[0], COLUMNS[1] | {"low": 10}]})
    X = np.array([[20, 10.0], [20, 9.9], [20, -1e9], [20, 50_000], [20, 50_001], [20, math.nan], [20, 0]])
    domain = domain_of(declared)
    read = domain.with_logs(X)
    assert domain.outside(read).tolist() == [False, True, True, False, True, False, True]
    assert np.isfinite(read[:5]).all() and np.isnan(read[5, 1])
    assert (np.diff(read[[2, 6, 1, 0, 3, 4], 1]) > 0).all()
    for row in range(len(X)):
        np.testing.assert_array_equal(domain.with_logs(X[row : row + 1])[0], read[row])
    assert X[0, 1] == 10  # the argument is not changed


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cell", [math.inf, -math.inf, math.nan, -1e308, 1e308])
def test_no_cell_of_a_secure_fit_causes_a_warning_of_its_own(cell):
    domain = domain_of(complete(FACTS))
    read = domain.with_logs(np.array([[20, 100.0], [20, cell]]))
    assert np.isfinite(read[0]).all() and np.isfinite(read[1, 1]) == math.isfinite(cell)


def test_a_dictionary_keeps_logs_and_weights_and_leaves_out_what_says_nothing():
    read = parse(dump(complete(FACTS)))
    assert [column.get("weight") for column in read["columns"]] == [2, None]
    assert [column.get("log") for column in read["columns"]] == [None, True]
    plain = complete({"columns": [{"name": "a", "low": 0, "high": 1, "weight": 1, "log": False}]})
    assert not {"weight", "log"} & set(plain["columns"][0])


WRONG = [
    ({"log": True, "low": -1}, "its lower bound must be 0 or more"),
    ({"log": "yes"}, "log must be true or false"),
    ({"weight": 0}, "its weight must lie between 0.001 and 1000"),
    ({"weight": "2"}, "weight must be a number"),
    ({"weight": math.inf}, "weight must be a number"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_a_wrong_entry_is_one_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        complete({"columns": [{"name": "a", "low": 0, "high": 1} | change]})


def test_a_rule_s_weight_is_that_of_each_column_it_makes():
    columns = [{"name": "sex", "weight": 3, "recode": "one-hot:f,m"}, {"name": "a", "low": 0, "high": 1}]
    assert domain_of(complete({"columns": columns})).weights == (3, 3, 1)


def test_results_are_typical_values_with_a_factor_and_name_the_unit(trace):
    some = cards(trace, NAMES, UNITS)
    incomes = sorted((card.facts[1] for card in some), key=lambda fact: fact.value)
    for fact, typical in zip(incomes, TYPICAL, strict=True):
        assert math.expm1(fact.value) == pytest.approx(typical, rel=0.05)
        assert fact.text.startswith("typical ") and " EUR ×÷ 1.0" in fact.text and "average" not in fact.text
        assert (fact.written_bound(fact.low), fact.written_bound(fact.high)) == ("0", "50,000")
    assert all(card.facts[0].text.endswith(" years") and "±" in card.facts[0].text for card in some)
    assert "± and ×÷ are one standard deviation" in noise_words(trace, some)
    assert cards_html(some).count("<dt>income, log scale</dt>") == cards_html(some).count("<dt>age</dt>") == 3
    table = centers_text(trace, NAMES, UNITS)
    assert list(table)[1:3] == ["age (years)", "typical income (EUR)"]
    assert list(table)[-1] == "factor of noise in typical income (EUR)" and table.iloc[0, -1].startswith("×÷1.0")
    lines = list(csv.DictReader(io.StringIO(centers_csv(trace, NAMES, UNITS).partition("\n")[2])))
    money = [line for line in lines if line["column"] == "income"]
    assert {line["unit"] for line in money} == {"EUR (typical; ± is a factor)"}
    assert sorted(float(line["value"]) for line in money) == pytest.approx(sorted(TYPICAL), rel=0.05)
    assert all(1 < float(line["±"]) < 1.2 for line in money)
    assert "EUR (×÷" in " ".join(of_centers(trace, NAMES, UNITS))


def test_a_center_at_the_bound_of_a_logarithm_names_the_amount(tmp_path):
    frame = people()
    frame["income"] = np.where(np.arange(len(frame)) % 3 == 2, 90_000, frame["income"])
    frame.to_csv(tmp_path / "people.csv", index=False)
    data = load_csv(
        tmp_path / "people.csv", bounds={"age": (18, 95, "years"), "income": (0, 1000, "EUR")}, logs=["income"]
    )
    run = ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(data.X, domain=data.domain, seed=0)
    assert (at_bounds(run)[:, 1] == HIGH).any()
    assert "income at your bound of 1,000 EUR" in bounds_sentence(run, data.columns, data.units)


def test_a_difference_of_logarithms_is_a_factor(file):
    data = load_csv(file)
    first, second = (
        ALGORITHMS["nsm"](n_clusters=3, epsilon=1.0).run(data.X + [0, add], domain=data.domain, seed=seed)
        for seed, add in ((0, 0.0), (1, math.log(1.5)))
    )
    told = [change for pair in changes(first, second, NAMES, UNITS).pairs for change in pair.changes]
    money = [change.difference for change in told if change.name == "income"]
    assert len(money) == 3 and all(words.startswith("×1.") and " ×÷ 1.0" in words for words in money)


def test_runs_with_other_weights_are_not_compared(trace):
    turned = dataclasses.replace(trace.domain, weights=trace.domain.weights[::-1])
    assert turned.radius == trace.domain.radius
    with pytest.raises(ValueError, match="weights"):
        changes(trace, dataclasses.replace(trace, domain=turned), NAMES, UNITS)


@pytest.mark.parametrize(("unit", "inner"), [("EUR", "EUR"), ("", "value"), ("m)", "m)")])
def test_a_unit_of_logarithms_names_the_unit_of_its_values(unit, inner):
    assert log_unit(unit) == f"ln(1 + {inner})" and unlogged(log_unit(unit)) == unit
    assert unlogged(unit) is None and unlogged("ln(1 + ") is None and unlogged("ln(1 + )") is None


def test_noise_is_written_as_a_factor():
    assert spread_text(math.log(1.2), "ln(1 + EUR)") == "×÷1.2" and spread_text(0.42, "years") == "±0.42 years"
    assert spread_text(0.005, "ln(1 + EUR)") == "×÷1.0050"


@pytest.mark.slow
def test_the_command_line_declares_rehearses_and_assigns_as_the_dictionary_does(file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = ["run", "nsm", "--data", str(file), "--public", "--n-clusters", "3"]
    assert main([*run, "--json", "a.json"]) == 0
    capsys.readouterr()
    bare = tmp_path / "bare.csv"
    bare.write_bytes(file.read_bytes())
    assert (
        main(["run", "nsm", "--data", str(bare), "--public", "--n-clusters", "3", *DECLARED, "--json", "b.json"]) == 0
    )
    shown = capsys.readouterr().out
    assert "age  typical income" in shown
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first["cluster_centers"] == second["cluster_centers"]
    for data in (file, bare):  # a dictionary beside the new file may take the logarithms, too
        assert main(["assign", "a.json", str(data), "--public", "-o", f"{data.stem}.out"]) == 0
    lines = (tmp_path / "people.out").read_text()
    assert lines == (tmp_path / "bare.out").read_text() and "weighted" in lines.splitlines()[0]
    nearest = [int(line.split(",")[1]) for line in lines.splitlines()[2:]]
    assert [len(set(nearest[group::3])) for group in range(3)] == [1, 1, 1]
    assert main(["plan", "--dictionary", str(file.with_suffix(".json")), "--k", "3", "--algorithms", "nsm",
                 "--epsilon", "1", "--repeats", "2"]) == 0  # fmt: skip
    assert "income ×÷1.0" in capsys.readouterr().out


def test_describe_writes_what_was_declared(file, capsys):
    file.with_suffix(".json").unlink()
    assert main(["describe", str(file), "--public", *DECLARED, "-o", str(file.with_suffix(".json"))]) == 0
    domain = load_csv(file).domain
    assert domain.weights == (2, 1) and domain.units[1] == "ln(1 + value)"


BAD = [
    (["--log", "pay"], "--log: column 'pay' is not among the columns"),
    (["--weight", "pay=2"], "--weight: column 'pay' is not among the columns"),
    (["--weight", "age"], "write NAME=WEIGHT"),
    (["--weight", "age=2", "--weight", "age=3"], "'age' is named twice"),
    (["--weight", "age=0"], "its weight must lie between"),
    (["--recode", "sex=one-hot:f,m", "--log", "sex"], "'sex' has a rule"),
]


@pytest.mark.parametrize(("more", "words"), BAD)
@pytest.mark.parametrize("mode", ["--public", "--private"])
def test_what_cannot_be_is_one_sentence_before_anything_is_booked(file, capsys, more, words, mode):
    file.with_suffix(".json").unlink()
    run = ["run", "nsm", "--data", str(file), mode, "--bounds", "age=18..95,income=0..50000", "--n-public", "3000"]
    assert main([*run, *more]) == 2
    told = capsys.readouterr()
    assert words in told.err and told.err.count("\n") == 1 and "booked" not in told.out
    assert main([*run[:5], "--low", "0", "--high", "9", "--n-public", "9", "--log", "age"]) == 2
    assert "need bounds by name" in capsys.readouterr().err


def test_code_for_home_takes_the_same_logarithms(trace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "centers.json").write_text(centers_json(trace, NAMES, UNITS))
    X = people().to_numpy(copy=True)
    X[:3, 1] = [-7, math.nan, 1e9]
    names = {"X": X.copy()}
    exec(nearest_code(trace), names)
    Z = trace.domain.normalize(trace.domain.with_logs(X))
    away = np.linalg.norm(Z[:, None] - trace.domain.normalize(trace.cluster_centers), axis=2)
    expected = np.where(np.isnan(away).any(axis=1), 0, away.argmin(axis=1) + 1)
    assert names["nearest"].tolist() == expected.tolist() and names["X"][0, 1] == -7


def test_a_rehearsal_knows_weights_and_writes_logarithms_as_factors():
    domain = domain_of(complete(FACTS))
    plan = Facts.declare(
        3000, domain.low.tolist(), domain.high.tolist(), 3, columns=NAMES, units=UNITS, weights=domain.weights
    )
    assert plan.domain.key == domain.key and plan.tight().domain.weights == domain.weights
    logs_alone = dataclasses.replace(
        plan, domain=Domain.box([0], [5], n_public=3000, columns=["income"], units=["ln(1 + EUR)"])
    )
    assert amount(math.log(1.2), logs_alone, "±") == "×÷1.2" and amount(2.0, plan, "±") == "±2 years in age"
    words = noise_ranges([rehearse(plan, "nsm", 1.0, 2)])
    assert words[0].startswith("±") and words[1].startswith("×÷1.")
    trace = ALGORITHMS["glloyd"](n_clusters=2).run(np.zeros((9, 2)), domain=domain, seed=0)
    other = Domain.box(domain.low, domain.high, n_public=3000)
    texts = [same_run("nsm", {}, trace.claimed, one) for one in (domain, other)]
    assert texts[0] != texts[1]


def test_the_estimator_gives_centers_in_the_units_of_the_columns():
    model = PrivateKMeans(
        3, bounds={"age": (18, 95), "income": (0, 50_000)}, logs=["income"], weights={"age": 2}, n_public=3000,
        secure=False, random_state=0,
    )  # fmt: skip
    X = people()
    model = clone(model).fit(X)
    assert sorted(model.cluster_centers_[:, 1]) == pytest.approx(sorted(TYPICAL), rel=0.05)
    assert model.domain_.weights == (2, 1) and (model.predict(X) == model.labels_).all()
    assert [len(set(model.labels_[group::3])) for group in range(3)] == [1, 1, 1]
    assert model.transform(X).argmin(axis=1).tolist() == model.labels_.tolist()
    array = PrivateKMeans(
        3, bounds=(np.array([18, 0]), np.array([95, 50_000])), logs=[1], weights={0: 2}, n_public=3000, secure=False,
        random_state=0,
    ).fit(X.to_numpy())  # fmt: skip
    np.testing.assert_array_equal(array.cluster_centers_, model.cluster_centers_)
    for wrong, words in (
        ({"logs": ["pay"]}, "logs names 'pay'; the columns are age, income"),
        ({"weights": {"pay": 2}}, "weights names 'pay'"),
        ({"bounds": {"age": (18, 95), "income": (-1, 9)}}, "lower bound of 0 or more"),
    ):
        with pytest.raises(ValueError, match=words):
            clone(model).set_params(**wrong).fit(X)


@pytest.mark.slow
def test_the_label_and_the_script_of_a_run_say_what_was_declared(file, trace, tmp_path):
    jsonschema.Draft202012Validator(json.loads(schema("trace"))).validate(json.loads(trace.to_json()))
    told = " ".join(facts(trace).values())
    assert "age 18 to 95 years, weight 2, income 0 to 50,000 EUR, in logarithms, weight 1" in told
    script = tmp_path / "again.py"
    script.write_text(export(trace, "script"))
    again = [sys.executable, str(script), str(file)]
    how = {"capture_output": True, "text": True, "cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    run = subprocess.run(again, **how)
    assert run.returncode == 0, run.stderr
    declared = json.loads(file.with_suffix(".json").read_text())
    del declared["columns"][1]["log"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(declared))
    run = subprocess.run([*again, str(other)], **how)
    assert run.returncode and "takes the logarithms of other columns" in run.stderr
    file.with_suffix(".json").unlink()
    run = subprocess.run(again, **how)
    assert run.returncode == 0, run.stderr
