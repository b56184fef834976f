"""Check how a tab opens a visitor's own file: what is proposed, what a run may use, and one sentence for what fails."""

import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.datasets.readers import Limits
from dpviz.postprocessing.cards import cards
from dpviz.postprocessing.coresets import at_k, numbers_of_centers
from dpviz.takeaway.cards import cards_html
from dpviz.trace import Trace
from lab.site.in_tab import OWN, again, opened, read_again
from tests.lab.site.test_in_tab import answered, form

MIXED = b"id,age,income,city\n1,31,1200.5,Bonn\n2,58,2300,Kiel\n3,44,,Bonn\n4,25,900,Bonn\n"


def reading(content, name="people.csv", numbers="", size=None, **more):
    """Open a file; return the answer and the places whose bytes were asked for."""
    places = []

    def read(start, end):
        places.append((start, end))
        return memoryview(content)[start:end]

    about = {"name": name, "size": len(content) if size is None else size, "numbers": numbers, "private": False}
    return json.loads(opened(json.dumps(about | more), read)), places


def own(columns, method="dpm", **values):
    return json.dumps({**json.loads(form(method, OWN, **values)), "columns": columns})


def ticked(found):
    return [{key: one[key] for key in ("name", "low", "high", "unit")} for one in found["columns"] if one["use"]]


def test_a_file_is_opened_with_bounds_proposed_from_its_rows_and_a_reason_for_what_is_left_out():
    found, _ = reading(MIXED)
    lines = {one["name"]: one for one in found["columns"]}
    assert (lines["age"]["low"], lines["age"]["high"], lines["age"]["unit"]) == ("25.0", "58.0", "years")
    assert [one["name"] for one in ticked(found)] == ["age", "income"] and found["rows"] == 4
    assert not lines["city"]["usable"] and lines["city"]["why"].startswith("It holds text.")
    assert lines["id"]["usable"] and lines["id"]["why"].startswith("It seems to number the rows")


def town_opened():
    """Open Town's rows as a file; return Town and the columns that declare its bounds."""
    town = load("town")
    content = "x,y\n" + "\n".join(f"{a!r},{b!r}" for a, b in town.X.tolist())
    reading(content.encode())
    bounds = zip("xy", town.domain.low.tolist(), town.domain.high.tolist(), strict=True)
    return town, [{"name": name, "low": str(low), "high": str(high), "unit": ""} for name, low, high in bounds]


@pytest.mark.slow
def test_a_run_on_the_file_is_the_run_of_the_package_on_the_same_rows():
    town, columns = town_opened()
    found = answered(own(columns, "nsm", n_clusters="5", epsilon="1"))
    trace = Trace.from_json(found["trace"])
    same = ALGORITHMS["nsm"](n_clusters=5).run(town.X, domain=trace.domain, seed=0)
    assert np.array_equal(trace.cluster_centers, same.cluster_centers) and len(trace.dataset_id) == 16
    assert trace.domain.columns == ("x", "y") and trace.domain.n_public == len(town.X)
    assert "of 5 groups found" not in found["secret"] and "released" in found
    assert "20 runs with other seeds" in answered(own(columns, "nsm", n_clusters="5"), again)["again"]
    assert answered(own([]))["refused"].startswith("Tick the columns to use")


def test_bounds_of_the_rows_are_named_on_the_label_and_declared_ones_are_not():
    found, _ = reading(b"age,income\n" + b"".join(b"%d,%d\n" % (20 + i % 50, i * i % 997) for i in range(300)))
    for columns, taken in (
        (ticked(found), True),
        ([{"name": "age", "low": "0", "high": "120", "unit": "years"}], False),
    ):
        trace = Trace.from_json(answered(own(columns, n_clusters="2"))["trace"])
        assert (trace.domain.origin != "declared") is taken


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "people.csv: the file is empty"),
        (b"name\nAnna\nBen\n", "people.csv: no column can be used for clustering; column 1 was refused: it holds text"),
        (bytes(range(256)) * 40, "people.csv: "),
        (b"%PDF-1.4 no table", "people.csv: the content is "),
        (b"a,b\n1,2\n1,2,3\n", "people.csv: line 3 has 3 cells, but the first line has 2"),
        (b"a\n1,234\n", "people.csv: "),
    ],
)
def test_what_is_no_table_of_numbers_gets_the_readers_sentence(content, words):
    found, _ = reading(content)
    assert list(found) == ["refused"] and found["refused"].startswith(words)
    assert "\n" not in found["refused"] and "command line" not in found["refused"]
    assert answered(own([{"name": "a", "low": "0", "high": "1", "unit": ""}]))["refused"] == "Open a file first."


def test_a_file_of_500_mb_is_refused_before_a_byte_of_it_is_read():
    found, places = reading(b"", size=500_000_000)
    assert (
        found["refused"] == f"people.csv: the file is larger than {Limits().bytes // 1_000_000} MB; drop a smaller one."
    )
    assert places == []


def test_a_sign_that_may_mean_two_things_is_asked_about_and_answered():
    content = b"a;b\n1,234;2\n5,678;3\n"
    assert "how numbers look" in reading(content)[0]["refused"]
    low = {numbers: reading(content, numbers=numbers)[0]["columns"][0]["low"] for numbers in ("1,234.5", "1234,5")}
    assert low == {"1,234.5": "1234.0", "1234,5": "1.234"}


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ("", "1", "Column 'age': low must be a number"),
        ("0", "many", "Column 'age': high must be a number, written like -1234.5; got 'many'."),
        ("5", "5", "Your columns: column 'age' must have low < high; got 5 and 5."),
        ("0", "inf", "Your columns: column 'age': high must be a number below 1e308."),
    ],
)
def test_a_wrong_bound_gets_one_sentence(low, high, words):
    reading(MIXED)
    found = answered(own([{"name": "age", "low": low, "high": high, "unit": ""}]))
    assert found["refused"].startswith(words)


def test_a_run_on_an_own_file_has_a_card_for_each_cluster_and_one_on_a_sample_has_none():
    reading(MIXED)
    columns = [{"name": "age", "low": "0", "high": "100", "unit": "years"}]
    found = answered(own(columns, n_clusters="2"))
    assert found["cards"].count("<article>") == Trace.from_json(found["trace"]).cluster_centers.shape[0]
    assert "<dt>age</dt>" in found["cards"] and found["noise"] and found["csv"].count("\n") > 2
    assert found["page"].startswith("<!doctype html>") and "<article>" in found["page"]
    assert "cards" not in answered(form("dpm", "tiny"))


def test_released_points_are_read_again_for_any_number_of_centers_that_the_app_offers():
    _, columns = town_opened()
    assert "most" not in answered(own(columns, "dpm", n_clusters="2"))
    found = answered(own(columns, "eugkm", n_clusters="2"))
    trace = Trace.from_json(found["trace"])
    assert found["most"] == numbers_of_centers(trace)[-1] > 2 and found["own"] == 2
    assert found["free"].endswith("no row is read, and the ε spent stays at 1.")
    for k in (1, 2, found["most"]):
        again_ = json.loads(read_again(json.dumps({"k": str(k)})))
        assert again_["cards"] == cards_html(cards(at_k(trace, k), ("x", "y"), ("", "")), "people")
        assert set(again_) == {"cards", "noise"} and (again_["cards"] == found["cards"]) == (k == 2)
