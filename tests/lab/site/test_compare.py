"""Check two runs side by side in a tab: the runs of the package under one clock, and private ones only if released."""

import json
import re

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.postprocessing.verdict import private_verdict
from dpviz.trace import Trace
from lab.site.in_tab import OWN, compared, opened, private, releases
from tests.lab.site import test_in_tab, test_private
from tests.lab.site.test_private import COLUMNS, draw, price, reading, table, told


def both(method="nsm", other="dpm", data="tiny", more=(), **values):
    asked = json.loads(test_in_tab.form(method, data, **values)) | {"other": other, **dict(more)}
    return json.loads(compared(json.dumps(asked), lambda made, planned: None))


def record(found):
    return json.loads(re.search(r'id="run">(.*?)</script>', found["film"], re.DOTALL)[1])


def test_two_methods_share_k_epsilon_and_seed_and_every_other_value_is_the_default():
    found = both("pe-means", "dp-lloyd", n_clusters="2", epsilon="3", rounds="2", delta="1e-4")
    tiny = load("tiny")
    for one, algorithm in zip(
        found["runs"],
        (
            ALGORITHMS["pe-means"](n_clusters=2, epsilon=3, rounds=2, delta=1e-4),
            ALGORITHMS["dp-lloyd"](n_clusters=2, epsilon=3),
        ),
        strict=True,
    ):
        trace = algorithm.run(tiny.X, domain=tiny.domain, seed=0)
        assert one["released"].startswith(str(private_verdict(trace, tiny.columns, tiny.units)))
        assert re.match(r"\d of 2 groups found", one["secret"]) and one["badge"] == "DEMO: NOT A RELEASE"
    assert found["title"] == "A: PE-means beside B: DP-Lloyd"
    lines = {name: values for name, *values in found["differs"]}
    assert lines["Algorithm"] == ["PE-means", "DP-Lloyd"] and not {"centers k", "ε", "Seed"} & set(lines)
    assert "<svg" in found["page"] and found["page"].startswith("<!doctype html>")


def test_one_clock_moves_both_films_to_their_ends():
    film = record(both("nsm", "dpm", n_clusters="2", epsilon="1"))
    panels, ticks = film["panels"], len(film["sentences"])
    assert [panel["name"] for panel in panels] == ["plane", "side"]
    assert [panel["title"] for panel in panels] == ["A: NSM (ours)", "B: DPM"]
    for panel in panels:
        events = sum(len(step) for step in panel["figure"]["layout"]["meta"]["film"])
        assert len(panel["ends"]) == ticks and panel["ends"] == sorted(panel["ends"]) and panel["ends"][-1] == events
    assert max(panel["ends"][-1] for panel in panels) == ticks == len(film["film"])
    assert all(line.startswith("A: ") and "; B: " in line for line in film["sentences"])


@pytest.mark.parametrize(("method", "other", "data"), [("nsm", "kmeans", "iris"), ("dp-dbscan", "nsm", "tiny")])
def test_promises_of_other_kinds_are_named_and_more_columns_have_common_directions(method, other, data):
    found = both(method, other, data)
    assert bool(found["kind"]) == (other == "kmeans")
    assert len(found["runs"]) == 2 and record(found)["film"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"n_clusters": "0"}, "Centers k must be at least 1; got 0."),
        ({"epsilon": ""}, "Privacy budget ε must be a number; got ''."),
        ({"more": [("seed", "x")]}, "Seed must be a whole number from 0 to"),
        ({"other": "dist-dp", "data": OWN}, "Open a file first."),
    ],
)
def test_a_wrong_value_gets_one_sentence(asked, words):
    private.own._files.clear()
    found = both(**{"more": [("columns", COLUMNS)], **asked})
    assert list(found) == ["refused"] and found["refused"].startswith(words) and "\n" not in found["refused"]


def test_a_public_file_is_compared_and_a_private_one_never_runs_here():
    content = table()
    about = {"name": "a.csv", "size": len(content), "numbers": "", "private": False}
    assert "refused" not in json.loads(opened(json.dumps(about), reading(content)[0]))
    columns = [("columns", COLUMNS)]
    found = both(data=OWN, more=columns, n_clusters="2")
    assert [one["secret"][:4] for one in found["runs"]] == ["2 of", "2 of"]
    told(content)
    assert both(data=OWN, more=columns) == {
        "refused": "This file is private: its rows are shown nowhere. Nothing was read."
    }


def put(*claims):
    return json.loads(releases(json.dumps({"claims": [one["id"] for one in claims]})))


@pytest.mark.slow
def test_releases_that_are_counted_are_compared_with_nothing_but_what_they_released():
    content = table()
    told(content)
    first, second = (price(content, test_private.form(method))["claim"] for method in ("nsm", "nsm"))
    assert put(first, second)["refused"].startswith("This release is not in this tab any more.")
    second = price(content, test_private.form("dpm"))["claim"]
    texts = [draw(second)["trace"]]
    first = price(content, test_private.form("nsm", claims=[second]))["claim"]
    texts.insert(0, draw(first)["trace"])
    found = put(first, second)
    assert [one["badge"] for one in found["runs"]] == ["PRIVATE RELEASE"] * 2
    assert all(set(one) == {"name", "badge", "released"} for one in found["runs"]) and "page" not in found
    for one, text in zip(found["runs"], texts, strict=True):
        trace = Trace.from_json(text)
        assert one["released"].startswith(str(private_verdict(trace, trace.domain.columns, trace.domain.units)))
    everything = json.dumps(found, ensure_ascii=False)
    assert not any(cell in everything for cell in ("Anna-Lena", "30.123456", "2000.654321", "people.csv"))
    assert put(first, first) == {"refused": "Choose two different releases."}
    other = [{**COLUMNS[0], "high": "110"}, COLUMNS[1]]
    third = price(content, test_private.form("nsm", columns=other))["claim"]
    draw(third)
    assert put(first, third)["refused"].startswith("These two releases have other columns or other bounds")
