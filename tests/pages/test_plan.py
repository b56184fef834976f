"""Check the Plan page: it converts a budget to noise and back, and refuses impossible facts in one sentence."""

import time
from functools import partial

import pytest

from dpviz.planning.facts import Facts
from pages._ui.data.plan import view
from pages._ui.data.plan.form import Wish
from tests.pages.visitor import visit

QUERY = "v=1&n=300&k=2&columns=east,north&low=-1,-1&high=1,1&a=sulloyd"


@pytest.fixture
def opened():
    return partial(visit, "plan")


def words(app):
    return " ".join([block.proto.body for block in app.get("html")] + [text.value for text in app.markdown])


def test_a_plan_answers_in_both_directions_and_says_what_it_assumes(opened):
    app, until = opened(QUERY + "&within=0.2&e=0.7"), time.monotonic() + 240
    while "Tight bounds" not in words(app) and time.monotonic() < until:
        time.sleep(0.1)
        app.run()
    assert not app.exception and not app.error
    text = words(app)
    assert "for noise of ±200 m per center with k = 2" in text and "ε 0.7 gives noise of ±" in text
    assert "2 round groups of equal size" in text and "Nothing was read or spent." in text
    assert text.count("±") > 6 and "bounds half as wide" in text


def test_a_plan_has_one_number_for_the_noise_of_the_chosen_run():
    facts = Facts.declare(300, [-1, -1], [1, 1], 2)
    wish = Wish(facts, ("nsm", "pe-means"), None, 0.5)
    asked = [view._name(*one) for one in view._wanted(wish)]
    assert len(set(asked)) == len(asked)
    chosen = [name for name in asked if name.startswith(f"plan {facts.key} nsm 0.5 ")]
    assert chosen == [view._name(*view._piece(wish, "nsm", 0.5))]  # table and picture share one rehearsal


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
def test_what_cannot_be_is_one_sentence(opened, query, told):
    kept = "&".join(part for part in QUERY.split("&") if part.split("=")[0] not in query.replace("&", "=").split("="))
    app = opened(kept + query)
    assert not app.exception
    assert [error.value for error in app.error] == [f"{told} Nothing was read or spent."]


def test_words_for_epsilon_and_the_declaration_of_a_sample(opened):
    app = opened(QUERY)
    app.text_input(key="plan_epsilon").set_value("one").run()
    assert app.error[0].value.startswith("The budget ε must be numbers")
    app.text_input(key="plan_epsilon").set_value("").run()
    app.selectbox(key="plan_from").set_value("iris").run()
    assert not app.exception and not app.error
    assert app.number_input(key="plan_n").value == 150 and "petal" in app.text_input(key="plan_columns").value


def test_a_wide_table_leaves_out_only_the_slow_methods_and_names_them(opened, monkeypatch):
    monkeypatch.setattr(view, "_gather", lambda wish: view.Gathered({}, None))
    wide = f"v=1&n=20000&k=5&columns=&low={','.join(['0'] * 200)}&high={','.join(['1'] * 200)}"
    app = opened(f"{wide}&a=nsm,pe-means")
    assert not app.exception and not app.error
    assert [info.value for info in app.info if "left out" in info.value] == [
        "PE-means would take about 40 seconds a run with 200 columns and is left out. To rehearse a slow method, "
        "choose it alone under Methods."
    ]
    app = opened(f"{wide}&a=pe-means")
    assert not app.error and not any("left out" in info.value for info in app.info)


def test_without_a_private_file_the_strip_names_who_is_rehearsed(opened):
    strip = next(b.proto.body for b in opened(QUERY).get("html") if 'class="dp-strip"' in b.proto.body)
    assert "made-up people" in strip
