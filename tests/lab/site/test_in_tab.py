"""Check the answers that the page "Run it here" receives; a browser test compares them with those of a tab."""

import json
import re

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.trace import Trace
from lab.site.in_tab import AGAIN, again, run
from tests.tiers import tiers


def form(method="pe-means", data="town", seed="0", blobs=None, **values):
    return json.dumps({"data": data, "method": method, "seed": seed, "values": values, "blobs": blobs or {}})


def answered(asked, answer=run, say=lambda made, planned: None):
    return json.loads(answer(asked, say))


@pytest.mark.slow
def test_a_run_is_the_run_of_the_package_with_its_film_and_both_verdicts():
    said = []
    found = answered(form(n_clusters="4", epsilon="0.5", delta="", seed="3"), say=lambda *now: said.append(now))
    town = load("town")
    same = ALGORITHMS["pe-means"](n_clusters=4, epsilon=0.5).run(town.X, domain=town.domain, seed=3)
    trace = Trace.from_json(found["trace"])
    assert np.array_equal(trace.cluster_centers, same.cluster_centers) and trace.dataset_id == "sample:town"
    assert said[-1][0] == len(trace.ledger) and found["seconds"] > 0
    assert found["released"].startswith("4 centers · for ε 0.5, δ 1 in 500,000: an attacker wins at most 53 of 100")
    assert re.match(r"\d of 5 groups found · 4 centers cannot|\d of 5 groups found · \d", found["secret"])
    assert "bets" in found["released"] and "bets" not in found["secret"]
    record = json.loads(re.search(r'id="run">(.*?)</script>', found["film"], re.DOTALL)[1])
    assert record["film"] and {"plane"} <= {panel["name"] for panel in record["panels"]}
    assert "<h1" not in found["film"] and '<script type="module"' not in found["film"]


@pytest.mark.parametrize("method", tiers(ALGORITHMS, ("kmeans", "dp-dbscan", "dpm")))
def test_every_method_answers(method):
    found = answered(form(method, "tiny"))
    assert found["title"].startswith("Replay: ") and found["released"] and found["secret"]


def test_made_up_groups_follow_the_form():
    found = answered(
        form("nsm", "blobs:", blobs={"n_rows": "400", "n_clusters": "3", "n_features": "4"}, n_clusters="3")
    )
    trace = Trace.from_json(found["trace"])
    assert trace.domain.n_public == 400 and trace.cluster_centers.shape == (3, 4)


def test_other_seeds_say_how_much_the_noise_changes():
    said = []
    found = answered(form("dpm", "tiny", n_clusters="2"), again, lambda *now: said.append(now))
    assert re.match(rf"All \d groups found in \d+ of {AGAIN} runs with other seeds; loss [\d.]+ to ", found["again"])
    assert said[-1] == (AGAIN, AGAIN)
    assert answered(form("dp-dbscan", "tiny"), again)["refused"] == (
        f"{ALGORITHMS['dp-dbscan'].name} releases regions, which have no loss to compare over runs."
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (form(n_clusters="many"), "Centers k must be a whole number; got 'many'."),
        (form(n_clusters="0"), "Centers k must be at least 1; got 0."),
        (form(epsilon="-1"), "Privacy budget ε must be above 0; got -1."),
        (form(epsilon=""), "Privacy budget ε must be a number; got ''."),
        (form(delta="0"), "Delta δ must be above 0; got 0"),
        (form(seed="-1"), "Seed must be a whole number from 0 to 9,007,199,254,740,991; got '-1'."),
        (form(seed="²"), "Seed must be a whole number from 0 to"),
        (form(data="blobs:", blobs={"n_rows": "1"}), "Rows must be at least"),
        (form(data="blobs:", blobs={"n_clusters": "0"}), "Groups must be at least 1; got 0."),
        (form(data="painted:"), "Painted: at least 10 people are needed; got 0."),
        (form("nsm", n_clusters="5000"), "Centers k must be"),
    ],
)
def test_a_wrong_value_gets_one_sentence_in_the_words_of_the_form(asked, words):
    found = answered(asked)
    assert list(found) == ["refused"] and found["refused"].startswith(words) and "\n" not in found["refused"]
