"""Check Compare through Streamlit's test driver: all algorithms, links, a single change between runs, private data."""

import dataclasses
import json
import re
from types import SimpleNamespace

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import pane
from dpviz.runs.single import reference, replay
from dpviz.takeaway import comparison
from pages._ui.explore.compare import menu, view
from pages._ui.explore.compare.sides import side_of, text_of
from pages._ui.explore.compare.state import Side
from pages._ui.explore.workspace.compare import compare
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import catalog
from pages._ui.frame.address import scene
from pages._ui.work import results
from pages._ui.work.recent import Recent
from tests.figures.panes import ONE_OF_A_PANE
from tests.pages.pictures import pictures, sent
from tests.pages.visitor import visit, wait, words
from tests.tiers import tiers


def open_link(query="", page="compare"):
    return pictured(visit(page, query))


def pictured(app):
    """Wait for the pictures, or for a sentence that says why there are none."""
    return wait(app, lambda app: pictures(app) or app.error or app.exception)


def link(*runs, more=""):
    return "v=1&d=town" + "".join(f"&run={run.replace('=', '%3D').replace('&', '%26')}" for run in runs) + more


QUICK = ("kmeans", "dpm", "dist-dp", "hdpe-means")  # the other algorithms are too slow for the quick tests
EVERY = tiers(ONE_OF_A_PANE, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("slug", EVERY)
def test_every_pane_stands_beside_another(slug):
    app = open_link(link("a=nsm&k=3", f"a={slug}&k=3&s=2"))
    assert not app.exception and not app.error and not app.info
    panels, (player,) = sent(app, "dpviz_panel"), sent(app, "dpviz_transport")
    assert [panel["linked"] for panel in panels] == ["compare", "compare", ""]
    assert all(len(panel["ends"]) == len(player["titles"]) for panel in panels[:2])
    for panel in panels[:2]:
        assert panel["ends"][-1] == sum(map(len, json.loads(panel["figure"])["layout"]["meta"]["film"]))
    assert words(app).count("dp-verdict") == 2


@pytest.mark.slow
def test_a_link_comes_back_as_it_was():
    query = link("a=dpm&k=3&e=2&s=5", "a=kmeans&k=4&s=0", "a=nsm&k=3&e=0.5&s=1", more="&by=spent&layers=0&t=2")
    app = open_link(query)
    assert not app.exception and not app.info
    (address,) = sent(app, "dpviz_address")
    opened, sentence = scene.read("compare", address["query"], compare)
    asked, _ = scene.read("compare", query, compare)
    assert sentence == "" and opened.values == asked.values and asked.step == 2
    assert app.segmented_control(key="compare_by").value == "spent"
    assert [side.seed for side in app.session_state["compare_runs"]] == [5, 0, 1]
    (player,) = sent(app, "dpviz_transport")
    assert player["step"] == 2 and player["titles"][0].startswith("Spent so far: ε")
    assert "NOT PRIVATE" not in words(app) and "Loss so far" not in words(app)


@pytest.mark.parametrize(
    "query",
    [
        link("a=nsm&k=3"),
        link(*["a=nsm&k=3"] * 5),
        link("a=nsm&k=0", "a=dpm"),
        link("a=nobody", "a=dpm"),
        link("a=nsm", "a=dpm&hide=form"),
        link("a=nsm&d=city", "a=dpm"),
        link("a=nsm", "a=<b>dpm</b>"),
        "v=1&run=&run=",
    ],
)
def test_a_bad_link_gives_the_default_and_one_sentence(query):
    found, sentence = scene.read("compare", query, compare)
    assert found.values["run"] == ()
    assert sentence.startswith("This link opens, but defaults replace") and "Runs" in sentence


def test_a_bad_link_still_shows_two_runs():
    app = open_link(link("a=nsm", "a=nobody"))
    assert not app.exception and len(pictures(app)) == 3
    assert [box.value for box in app.info if "Runs" in box.value]


def test_a_run_is_the_same_after_its_address():
    for cls in ALGORITHMS.values():
        side = Side(cls(n_clusters=3), 7)
        assert side_of(text_of(side, "iris", explore), "iris", explore) == side


def test_a_change_that_the_method_does_not_allow_is_not_offered():
    shuffled = ALGORITHMS["stemmer-kaplan-shuffle"]
    high, low = (menu.changed(Side(shuffled(epsilon=epsilon), 0)) for epsilon in (6.0, 0.03))
    assert list(high) == ["ε / 4", "Another seed"] and list(low) == ["4 ε", "Another seed"]


@pytest.mark.slow
def test_one_thing_changed_from_explore():
    app = open_link(page="explore")
    app.session_state["explore_beside"] = True
    app.run()
    app.button(key="explore_beside_ε / 4").click().run()
    pictured(app)
    assert not app.exception and len(sent(app, "dpviz_panel")) == 3
    one, other = app.session_state["compare_runs"]
    assert one.algorithm.epsilon == 4 * other.algorithm.epsilon == 1.0 and one.seed == other.seed
    assert "Their budgets differ" in words(app) and "5 of 5 groups found" in words(app)
    assert "The promises differ" not in words(app)  # the visitor chose the difference, so no warning is shown


@pytest.mark.slow
def test_runs_are_added_swapped_changed_and_taken_away():
    app = open_link()
    assert [side.algorithm.slug for side in app.session_state["compare_runs"]] == ["pe-means", "kmeans"]
    app = open_link(link("a=pe-means&k=5&e=1&s=0", "a=pe-means&k=5&e=0.25&s=0"))
    app.button(key="compare_add").click().run()
    pictured(app)
    assert [s.seed for s in app.session_state["compare_runs"]] == [0, 0, 1] and len(pictures(app)) == 4
    app.button(key="compare_swap").click().run()
    pictured(app)
    assert [s.algorithm.epsilon for s in app.session_state["compare_runs"]] == [0.25, 1.0, 0.25]
    app.button(key="compare_remove").click().run()
    turn = app.session_state["compare_turn"]
    assert [app.toggle(key=f"compare_{turn}_{letter}_own").value for letter in "AB"] == [False, True]
    app.number_input(key=f"compare_{turn}_all_epsilon").set_value(-1.0).run()
    assert [error.value for error in app.error] == [
        "A: Privacy budget ε must be above 0; got -1.0. The picture still shows the last valid run."
    ]
    assert len(pictures(app)) == 3 and app.session_state["compare_runs"][0].algorithm.epsilon == 0.25
    app.selectbox(key=f"compare_{turn}_B_algorithm").set_value("dist-dp").run()
    pictured(app)
    assert not app.exception and "does not make it better" in words(app)
    assert "right at most <b>A " in words(app)
    assert re.search(r"A \([\d.]+ × KMeans\) spent 100% on votes; ", words(app))


@pytest.mark.slow
def test_a_curve_that_says_more_than_the_verdict_is_explained():
    told = words(open_link(link("a=stemmer-kaplan&k=5&e=1&s=0", "a=pe-means&k=5&e=1&s=0")))
    verdict = int(re.search(r"right at most <b>(\d+) times in 100", told)[1])
    curve = int(re.search(r"right at most <b>A (\d+)", told)[1])
    allowed = f"The lines above use promises alone, which allow more: A {verdict} times in 100."
    assert curve < verdict and allowed in told


def private_visit(runs, **values):
    """Open Compare on a private file with so many finished releases on it."""
    private = dataclasses.replace(load_sample("iris"), dataset_id="abc", title="mine.csv", private=True)
    store = Recent(results.OWN_BYTES)
    for i, slug in enumerate(runs):
        algorithm = ALGORITHMS[slug](n_clusters=3, epsilon=1.0 + i)
        trace = algorithm.run(private.X, domain=private.domain, noise="secure", dataset_id="abc")
        store.put(f"run {i}", results.Result(f"run {i}", trace, private))
    history = [f"run {i}" for i in range(len(runs))]
    return visit("compare", own={"abc": private}, explore_data="abc", store=store, history=history, **values)


@pytest.mark.parametrize("runs", [(), ("dpm",)])
def test_private_data_are_refused_with_the_reason(runs):
    app = private_visit(runs)
    assert not app.exception and not pictures(app)
    assert "would spend ε on the file again" in app.info[0].value and f"has {len(runs)} release" in app.info[0].value
    assert [part["query"] for part in sent(app, "dpviz_address")] == [""]


def test_private_releases_that_are_paid_stand_side_by_side_and_nothing_is_run():
    app = pictured(private_visit(("dpm", "nsm", "eugkm")))
    (field,) = app.multiselect
    assert field.label == "Releases already paid" and field.value == ["run 2", "run 1"]  # the newest two
    assert not app.exception and len(pictures(app)) == 3 and "job" not in app.session_state
    told = words(app)
    assert "A</b> EUGkM" in told and "B</b> NSM" in told and "KMeans" not in told and "seed" not in told
    assert "Loss" not in told and "NOT PRIVATE" not in told + "".join(map(str, pictures(app)))
    assert [part["query"] for part in sent(app, "dpviz_address")] == [""]
    field.set_value(["run 0", "run 2"]).run()
    assert not app.exception and "A</b> DPM" in words(app)
    app.multiselect[0].set_value(["run 0"]).run()
    assert "at least two" in app.info[0].value and not pictures(app)


def test_releases_that_were_chosen_on_another_private_file_are_no_choice_here():
    app = private_visit(("dpm", "nsm"), compare_paid=["of another file", "run 1"])
    assert not app.exception and app.multiselect[0].value == ["run 1"] and "at least two" in app.info[0].value


def test_the_page_to_take_away_holds_promises_differences_and_no_script():
    app = open_link(link("a=dist-dp&k=3", "a=nsm&k=3&e=0.5"))
    assert app.get("download_button")
    data = catalog.sample("town")
    traces = [
        ALGORITHMS[slug](n_clusters=3, **more).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
        for slug, more in (("dist-dp", {}), ("nsm", {"epsilon": 0.5}))
    ]
    text = comparison(traces)
    assert "does not make it better" in text and "<td>0.5</td>" in text and "DEMO: NOT A RELEASE" in text
    assert "<script" not in text and "://" not in text.replace("http://www.w3.org/2000/svg", "") and len(text) < 300_000
    with pytest.raises(ValueError, match="two to 4 runs"):
        comparison(traces[:1])
    other = ALGORITHMS["nsm"](n_clusters=3).run(data.X, domain=data.domain, seed=0, dataset_id="sample:other")
    with pytest.raises(ValueError, match="on the same data"):
        comparison([traces[0], other])


@pytest.mark.parametrize(
    ("objectives", "against", "mixed"),
    [(("means", "means"), "KMeans", False), (("medians", "medians"), "KMedians", False),
     (("medians", "means"), "KMedians or KMeans", True)],
)  # fmt: skip
def test_losses_stand_beside_the_reference_of_each_runs_objective(objectives, against, mixed):
    data, sides = load_sample("tiny"), []
    for objective in objectives:
        algorithm = ALGORITHMS["stemmer-kaplan"](n_clusters=2, epsilon=4.0, objective=objective)
        found, best = replay(data, algorithm, 0), reference(data, 2, 0, objective)
        sides.append(SimpleNamespace(trace=found.trace, losses=found.losses, reference_loss=best.loss))
    clock = SimpleNamespace(frames=[[len(pane(side.trace).shots(side.trace)) - 1] for side in sides])
    name, values, note = view._ratios(SimpleNamespace(runs=sides), clock)
    assert name == f"Loss so far, × {against}" and ("k-median runs are compared with KMedians" in note) == mixed
    assert [float(value) for (value,) in values] == pytest.approx(
        [side.losses[-1] / side.reference_loss for side in sides],
        rel=0.05,  # the page rounds to two or three digits
    )
