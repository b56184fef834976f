"""Check the rehearsal of an own file in a tab: it follows from what is declared, comes in parts, and is compared."""

import json
import re

import pytest

from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import rehearse
from dpviz.planning.towns import shaped
from dpviz.planning.words import headline, ranked
from lab.site.in_tab import opened, own, rehearsal, rehearsed
from tests.lab.site.test_private import COLUMNS, ROWS, form, reading, released, table, told


def part(asked, said=None):
    return json.loads(rehearsed(asked, lambda *now: None if said is None else said.append(now)))


def whole(asked):
    """Ask for parts until all runs are made; return all answers."""
    answers = [part(asked)]
    while answers[-1]["done"] < answers[-1]["planned"]:
        answers.append(part(asked))
    return answers


@pytest.fixture(autouse=True)
def forgotten():
    rehearsal._last.clear()


@pytest.mark.slow
def test_a_rehearsal_comes_in_parts_that_make_one_rehearsal_of_the_package_and_names_the_worst_town_first():
    told(table())
    asked, said = form("nsm", n_public="900", epsilon="0.05"), []
    answers = whole(asked)
    assert [one["done"] for one in answers] == list(range(4, 64, 4))
    assert ["headline" in one for one in answers] == [i % 3 == 2 for i in range(15)]
    facts = Facts(own.domain(json.loads(asked)), 2)
    looked = ranked(rehearse(town, "nsm", 0.05, 20) for town in facts.everywhere())
    last = answers[-1]
    assert last["headline"] == headline(looked)
    assert [town for town, _, _ in last["towns"]] == [one.facts.title for one in looked]
    found = [int(runs.split(" of ")[0]) for _, runs, _ in last["towns"]]
    assert found == sorted(found) and found[0] < 20 and "do not trust one run" in last["judgment"]
    assert [name for name, _ in last["noise"]] == ["age", "income"] and "ran 20 times" in last["remarks"]
    assert part(asked, said) == last and said == []  # nothing is made twice
    assert part(form("nsm", n_public="900"), said)["done"] == 4 and said[-1] == (3, 60)


@pytest.mark.slow
def test_a_rehearsal_depends_on_what_is_declared_and_on_no_row():
    found = []
    for content in (table(), table(5, instead=[(2, "word;\x00,,,"), (3, "")]), table(first="income,age,other")):
        rehearsal._last.clear()
        read, places = reading(content)
        about = {"name": "people.csv", "size": len(content), "numbers": "", "private": True, "names": True}
        assert "refused" not in json.loads(opened(json.dumps(about), read))
        before = list(places)
        found.append([part(form()) for _ in range(3)][-1])
        assert places == before
    assert "headline" in found[0] and found[0] == found[1] == found[2]


def test_a_public_file_is_rehearsed_within_its_bounds():
    content = table()
    json.loads(
        opened(
            json.dumps({"name": "a.csv", "size": len(content), "numbers": "", "private": False}), reading(content)[0]
        )
    )
    last = [part(form(n_public="", rows_per_person="")) for _ in range(3)][-1]
    assert re.fullmatch(r"All 2 groups are found in \d of 4 runs at ε 1 in the worst town, .*", last["headline"])
    assert own.domain(json.loads(form())).n_public == ROWS


def test_a_town_of_ones_own_is_rehearsed_beside_the_others_and_forgotten_when_it_changes():
    told(table())
    asked = form("nsm", shares="70, 20", near="3.5", epsilon="0.05")
    last = [part(asked) for _ in range(4)][-1]
    facts = Facts(own.domain(json.loads(asked)), 2)
    places = facts.everywhere(shaped([70, 20], 3.5, 2))
    looked = ranked(rehearse(town, "nsm", 0.05, 4) for town in places)
    assert [(town, found) for town, found, _ in last["towns"]] == [
        (one.facts.title, f"{one.whole} of 4") for one in looked
    ]
    assert last["planned"] == 80 and any(town.startswith("yours, 78/22") for town, _, _ in last["towns"])
    assert [part(form("nsm", epsilon="0.05"))["done"] for _ in range(2)] == [4, 8]


def test_a_release_is_compared_with_the_rehearsal_of_exactly_this_run():
    told(table())
    assert released(table())["rehearsed"] == ""
    for _ in range(3):
        part(form())
    words = released(table())["rehearsed"]
    assert re.fullmatch(r"Noise of a center: age: rehearsed ±.* years, released ±.*; income: rehearsed .*\.", words)
    assert released(table(), form(epsilon="0.9"))["rehearsed"] == ""


def test_what_the_rehearsal_leaves_at_its_default_is_named():
    told(table())
    assert "default" not in [part(form()) for _ in range(3)][-1]["remarks"]
    last = [part(form(delta="1e-7", rounds="2", method="pe-means")) for _ in range(3)][-1]
    assert last["remarks"].endswith("Left at its default here: Delta δ, Rounds.")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (form(columns=[]), "Tick the columns to use for clustering, and give each a low and a high bound."),
        (form(columns=[{**COLUMNS[0], "high": "-1"}]), "Your columns: "),
        (form(n_public="many"), "The number of rows, rounded, must be a whole number, at least 1; got 'many'."),
        (form(n_clusters="41"), "Centers must be at most 40; got 41."),
        (form(n_public="20", n_clusters="30"), "Centers must be at most the number of people, 20; got 30."),
        (form(epsilon="0.001"), "Privacy budget ε must be at least 0.01; got 0.001."),
        (form(epsilon="x"), "Privacy budget ε must be a number; got 'x'."),
        (form(shares="1, 2, 3"), "Your town needs a share for each of its 2 groups; got 3."),
        (form(shares="1, x"), "The shares of your groups must be numbers separated by commas; 'x' is not."),
        (form("dp-dbscan", n_clusters=None), "DP-DBSCAN cannot be rehearsed, as that needs centers, an ε and"),
    ],
)
def test_what_cannot_be_rehearsed_gets_one_sentence(asked, words):
    told(table())
    asked = json.loads(asked)
    asked["values"] = {name: text for name, text in asked["values"].items() if text is not None}
    found = part(json.dumps(asked))
    assert list(found) == ["refused"] and found["refused"].startswith(words) and "\n" not in found["refused"]


def test_without_a_file_it_says_so():
    own._files.clear()
    assert part(form()) == {"refused": "Open a file first."}
