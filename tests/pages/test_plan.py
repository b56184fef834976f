"""Check the Plan page: it converts a budget to noise and back, and refuses impossible facts in one sentence."""

import dataclasses
import pickle
from functools import partial
from types import SimpleNamespace

import pytest

from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import rehearse
from dpviz.planning.towns import shaped
from pages._ui.data.plan import view
from pages._ui.data.plan.form import Wish
from tests.pages.visitor import csv, declare, drop, facts, read, visit, wait

opened = partial(visit, "plan")
QUERY = "v=1&n=300&k=2&columns=east,north&low=-1,-1&high=1,1&a=sulloyd"


@pytest.mark.slow
def test_a_plan_answers_in_both_directions_and_says_what_it_assumes():
    app = opened(QUERY + "&within=0.2&e=0.7&curve=1")
    wait(app, lambda app: "Tight bounds" in read(app))
    assert not app.exception and not app.error
    text = read(app)
    assert "for noise of ±200 m per center with k = 2" in text and "ε 0.7 gives noise of ±" in text
    assert "2 round groups, " in text and "Nothing was read or spent." in text
    assert text.count("±") > 6 and "bounds half as wide" in text


def test_every_town_is_looked_at_before_any_is_rehearsed_whole_and_the_curve_is_the_worst_town_s():
    public = Facts.declare(300, [-1, -1], [1, 1], 2)
    wish = Wish(public, ("nsm", "pe-means"), None, 0.5, shaped([3, 1], 5.0, 2))
    asked = view._towns(wish)
    assert [one[0].title for one in asked] == 2 * ["equal and apart", "60/40", "touching", "yours, 75/25"]
    assert {one[1:3] for one in asked} == {("nsm", 0.5)}
    seeds = [range(first, first + runs) for *_, runs, first in asked]
    assert seeds == 4 * [range(view.FEW)] + 4 * [range(view.FEW, view.CLOSELY)]
    curve = view._curve(wish, public.everywhere()[2])
    assert {one[0].title for one in curve if one[0].n_clusters == 2} == {"touching"}
    names = [view._name(one) for one in [*asked, *curve]]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_two_private_files_with_the_same_public_facts_are_rehearsed_alike_to_the_byte():
    """A rehearsal holds nothing of a file: neither a cell nor the number of its rows."""
    files = [csv(300, 1), csv(117, 2).replace(b"a,b", b"b,a") + b"1e9,\n"]
    told = []
    for content in files:
        app = declare(drop(visit("data"), "mine.csv", content, "No, it is private"), facts("a", "b"))
        app.number_input(key="plan_k").set_value(2).run()
        wait(app, lambda app: "rehearsed" in app.session_state)
        assert not app.run().exception and not app.error  # drawn whole: rows came while it was drawn
        ((run, looked),) = app.session_state["rehearsed"].items()
        told.append((run, [pickle.dumps(dataclasses.replace(one, seconds=0.0)) for one in looked], read(app)))
    assert len(told[0][1]) == 3 and told[0] == told[1]


@pytest.mark.slow
def test_a_town_of_ones_own_needs_a_share_for_every_group():
    app = opened(QUERY)
    app.text_input(key="plan_shares").set_value("3, 1, 1").run()
    assert [error.value for error in app.error] == [
        "Your town needs a share for each of its 2 groups; got 3. Nothing was read or spent."
    ]
    app.text_input(key="plan_shares").set_value("3, 1").run()
    app.slider(key="plan_near").set_value(3.0).run()
    wait(app, lambda app: "rehearsed" in app.session_state)
    assert not app.error and "yours, 75/25" in read(app) and "all groups found" in read(app)
    ((_, looked),) = app.session_state["rehearsed"].items()
    assert next(one for one in looked if one.facts.title == "yours, 75/25").facts.town.apart == 3


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("&low=", "Declare the lowest and the highest possible value of every column."),
        ("&low=5,5", "The lowest value of east must be below its highest; got 5 and 1."),
        ("&low=-1,minus", "The lowest values must be numbers separated by commas; 'minus' is not."),
        ("&e=0.001", "The budget ε must lie between 0.01 and 100; got 0.001."),
        ("&n=2&k=3", "Centers must be at most the number of people, 2; got 3."),
    ],
)
def test_what_cannot_be_is_one_sentence(query, told):
    kept = "&".join(part for part in QUERY.split("&") if part.split("=")[0] not in query.replace("&", "=").split("="))
    app = opened(kept + query)
    assert not app.exception
    assert [error.value for error in app.error] == [f"{told} Nothing was read or spent."]


@pytest.mark.slow
def test_words_for_epsilon_and_the_declaration_of_a_sample():
    app = opened(QUERY)
    app.text_input(key="plan_epsilon").set_value("one").run()
    assert app.error[0].value.startswith("The budget ε must be numbers")
    app.text_input(key="plan_epsilon").set_value("").run()
    app.selectbox(key="plan_from").set_value("iris").run()
    assert not app.exception and not app.error
    assert app.number_input(key="plan_n").value == 150 and "petal" in app.text_input(key="plan_columns").value


def test_a_wide_table_leaves_out_only_the_slow_methods_and_names_them(monkeypatch):
    done = rehearse(Facts.declare(50, [0], [1], 2), "sulloyd", 1.0, 1)
    monkeypatch.setattr(view, "LONGEST", 5.0)
    monkeypatch.setattr(view, "CLOSELY", 1)
    monkeypatch.setattr(view, "_gather", lambda *_: view.Gathered({}, None))
    monkeypatch.setattr(view, "_looked", lambda wish: [dataclasses.replace(done, facts=wish.facts)])
    monkeypatch.setattr(view, "_first", lambda *_: None)
    wide = f"v=1&n=20000&k=5&curve=1&columns=&low={','.join(['0'] * 200)}&high={','.join(['1'] * 200)}"
    app = opened(f"{wide}&a=nsm,pe-means")
    assert not app.exception and not app.error
    assert [info.value for info in app.info if "left out" in info.value] == [
        "PE-means would take about 10 seconds a run with 200 columns and is left out. To rehearse a slow method, "
        "choose it alone under Methods."
    ]
    app = opened(f"{wide}&a=pe-means")
    assert not app.error and not any("left out" in info.value for info in app.info)


def test_without_a_private_file_the_strip_names_who_is_rehearsed():
    strip = next(b.proto.body for b in opened(QUERY).get("html") if 'class="dp-strip"' in b.proto.body)
    assert "made-up people" in strip


def test_a_visit_remembers_its_latest_rehearsals(monkeypatch):
    mine = {}
    monkeypatch.setattr(view, "explore_state", SimpleNamespace(rehearsed=mine))
    done = rehearse(Facts.declare(50, [0], [1], 2), "sulloyd", 1.0, 1)
    for i in [*range(view.KEPT + 2), 5]:
        view._remember([dataclasses.replace(done, run=str(i))])
    assert list(mine) == [str(i) for i in [*range(2, 5), *range(6, view.KEPT + 2), 5]]
