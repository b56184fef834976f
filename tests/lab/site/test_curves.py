"""Check the trade-off of the page Run it here: medians over seeds at one ε, their figure, and what is refused."""

import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.runs.public import started
from dpviz.runs.reruns import rerun
from dpviz.runs.single import reference
from lab.site.in_tab import CURVES, opened, own, plotted
from lab.site.in_tab.tradeoff import curves


@pytest.fixture(autouse=True)
def no_file_is_open():
    own._files.clear()


def asked(method="dp-lloyd", epsilon="1", *, data="tiny", runs="3", rows=(), seed="0", **values):
    form = {"data": data, "blobs": {}, "columns": [], "seed": seed, "values": values}
    return json.dumps(form | {"method": method, "epsilon": epsilon, "runs": runs, "rows": list(rows)})


def answered(*given, **more):
    said = []
    return json.loads(plotted(asked(*given, **more), lambda *now: said.append(now))), said


def test_a_point_is_the_median_of_runs_with_the_next_seeds_over_the_loss_of_kmeans():
    found, said = answered("dp-lloyd", "0.5", data="iris", seed="4", n_clusters="3")
    iris = load("iris")
    made = rerun([iris], ALGORITHMS["dp-lloyd"](n_clusters=3, epsilon=0.5), range(4, 7))
    row = found["row"]
    assert row["ratio"] == np.median(made.losses) / reference(iris, 3, 4).loss
    assert (row["epsilon"], row["runs"], row["beside"]) == (0.5, 3, "KMeans") and 0 <= row["found"] <= 3
    assert said == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_method_that_takes_public_rows_starts_from_some_rows_and_its_name_says_so():
    found, _ = answered("public-start", runs="2", n_clusters="2")
    tiny = load("tiny")
    made = rerun([tiny], started(ALGORITHMS["public-start"](n_clusters=2, epsilon=1.0), tiny), range(2))
    assert found["row"]["ratio"] == np.median(made.losses) / reference(tiny, 2, 0).loss
    assert found["row"]["name"] == "Public start with public rows"


def test_the_figure_has_every_row_once_and_leaves_gaps():
    first, _ = answered("dp-lloyd", "1", n_clusters="2")
    second, _ = answered("dpm", "2", rows=[first["row"]], n_clusters="2")
    assert second["row"]["name"] == f"{ALGORITHMS['dpm'].name}, then 2 centers"
    figure = second["figure"]
    assert figure.count('<div class="light chart">') == figure.count('<div class="dark chart">') == 1
    assert figure.count("<tr>") == 3 and figure.count("<td></td>") == 2 and "NOT PRIVATE" in figure
    assert "<th scope=col>ε 1</th><th scope=col>ε 2</th>" in figure


@pytest.mark.slow
@pytest.mark.parametrize("method", CURVES)
def test_every_method_of_the_list_has_a_point(method):
    found, _ = answered(method, runs="1")
    assert found["row"]["ratio"] > 0 and found["row"]["method"] == method


def test_a_loss_of_zero_can_be_drawn():
    assert "nan" not in curves([("DPLloyd", 1.0, 0.0), ("DPLloyd", 2.0, 0.0)])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": "-1"}, "Privacy budget ε must be above 0; got -1"),
        ({"epsilon": "1,5x"}, "Privacy budget ε must be a number; got '1,5x'."),
        ({"runs": "0"}, "Runs at each ε must be a whole number from 1 to 100; got '0'."),
        ({"runs": "101"}, "Runs at each ε must be a whole number from 1 to 100; got '101'."),
        ({"n_clusters": "0"}, "Centers k must be at least 1; got 0."),
        ({"data": "file:"}, "Open a file first."),
    ],
)
def test_a_wrong_value_gets_one_sentence(given, words):
    found, _ = answered(**given)
    assert list(found) == ["refused"] and found["refused"].startswith(words)


def test_a_private_file_is_refused_and_not_read():
    content, read = b"x,y\n1,2\n3,4\n", []

    def part(start, end):
        read.append((start, end))
        return content[start:end]

    about = {"name": "people.csv", "size": len(content), "numbers": "", "names": True, "private": True}
    opened(json.dumps(about), part)
    read.clear()
    found, _ = answered(data="file:")
    assert found == {"refused": "This file is private: its rows are shown nowhere. Nothing was read."} and read == []
