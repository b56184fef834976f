"""Check addresses through Streamlit's test driver: pages show what a link describes, and report what does not fit."""

import pytest

from tests.pages.visitor import told, wait_for_run


def test_a_link_leads_to_its_run_at_once(open_link):
    query = "v=1&d=iris&a=kmeans&k=4&s=7&layers=0&t=1"
    app = open_link("explore", query)
    wait_for_run(app)
    assert not app.exception and not told(app)
    assert app.session_state["shown"].startswith('["sample:iris", "kmeans", {"n_clusters": 4')
    assert not app.toggle(key="explore_hidden").value and app.number_input(key="explore_seed").value == 7
    assert app.session_state["opened"].scene.step == 1


def test_a_ledger_has_an_address_of_its_own_which_leads_to_the_same_run(open_link):
    app = open_link("ledger", "v=1&d=tiny&a=pe-means&k=2&e=0.5&s=4&p.rounds=3")
    wait_for_run(app)
    assert not app.exception and not told(app)
    assert [head.value for head in app.header][0] == "k 2, ε 0.5, seed 4 · PE-means on Forty people"
    page, query = app.session_state["kept"]
    assert page == "ledger" and "d=tiny&a=pe-means&k=2&e=0.5" in query and "p.rounds=3" in query
    again = open_link("ledger", query)
    wait_for_run(again)
    assert again.session_state["shown"] == app.session_state["shown"]
    app.session_state["address"] = ("ledger", "v=1&d=town&a=stemmer-kaplan-swap&k=9&e=1&s=99")  # takes seconds
    app.run()
    going = app.session_state["kept"]
    assert going == ("ledger", "v=1&d=town&a=stemmer-kaplan-swap&k=9&e=1&s=99") or "job" not in app.session_state
    app.session_state["address"] = ("ledger", query)  # as if the visitor went back while that run continues
    wait_for_run(app.run())
    assert app.session_state["shown"] == again.session_state["shown"] and app.session_state["kept"] == (page, query)
    again.button(key="share").click().run()
    assert not again.exception and "share_task" in {box.key for box in again.text_input}
    assert "share_lock" in {box.key for box in again.selectbox}


@pytest.mark.parametrize(
    ("page", "query", "key", "value"),
    [
        ("home", "v=1&screen=4", "home_screen", 4),
        ("learn", "v=1&lesson=votes&part=explain&answer=3", "learn_answer_votes", ["3"]),
        ("explore", "v=1&d=town&a=dist-dp&k=3&e=2&seen=1", "rho_seen", True),
        ("tradeoff", "v=1&d=iris&a=pe-means&k=2,3&vary=rounds&p.rounds=2,4&own=1", "sweep_vary_rounds", "2,4"),
        ("tradeoff", "v=1&delta=1/(n ln n)&scale=linear&curves=NSM: capped", "sweep_delta", "1/(n ln n)"),
        pytest.param("papers", "v=1&paper=dpm&verdict=reproduces", "papers_paper", "dpm", marks=pytest.mark.slow),
        pytest.param("notes", "v=1&lesson=votes&show=worksheet", "notes_show", "worksheet", marks=pytest.mark.slow),
        pytest.param("limits", "v=1&d=iris&noise=seeded", "exact_noise", "seeded", marks=pytest.mark.slow),
        pytest.param(
            "plan",
            "v=1&n=2000&columns=a,b&k=3&like=iris&a=dpm&within=0.2",
            "plan_within",
            "0.2",
            marks=pytest.mark.slow,
        ),
        pytest.param("again", "v=1&d=iris&a=sulloyd&clouds=one", "explore_again_how", "one", marks=pytest.mark.slow),
        ("data", "v=1&d=iris&way=Make blobs&p.n_rows=77", "blobs_n_rows", 77),
        ("explore", "v=1&d=tiny&a=fastlloyd&trust=clients&clients=6&spread=skewed&ring=32&silent=5", "fed_silent", 5),
    ],
)
def test_every_page_opens_by_a_link(open_link, page, query, key, value):
    app = open_link(page, query)
    assert not app.exception and app.session_state[key] == value


@pytest.mark.parametrize("screen", ["0", "7", "2.5", "<b>x</b>", "3&screen=4"])
def test_what_does_not_fit_is_told_in_one_sentence(open_link, screen):
    app = open_link("home", f"v=1&screen={screen}")
    assert not app.exception and app.session_state["home_screen"] == 1
    assert told(app) == ["This link opens, but defaults replace the parts that do not fit: Screen."]


def test_a_link_to_a_file_asks_for_it(open_link):
    app = open_link("explore", "v=1&d=file:lon,lat&a=kmeans")
    assert not app.exception and "needs the file with the columns lon, lat" in told(app)[0]
    assert app.selectbox(key="explore_data").value == "town"
    assert app.session_state["kept"] == ("explore", "v=1&d=file:lon,lat&a=kmeans")  # the address stays as it is
    app.number_input(key="param_kmeans_n_clusters_town").set_value(4).run()
    wait_for_run(app)
    assert "d=town" in app.session_state["kept"][1]  # a new request has replaced the address


def test_an_earlier_run_opens_its_scene(open_link):
    app = open_link("explore", "v=1&d=iris&a=kmeans&k=4&s=7")
    wait_for_run(app)
    app.number_input(key="explore_seed").set_value(8).run()
    wait_for_run(app)
    box = next(box for box in app.selectbox if box.label == "Earlier runs")
    box.set_value(next(identity for identity in app.session_state["history"] if ", 7, " in identity)).run()
    assert not app.exception and app.number_input(key="explore_seed").value == 7
    assert app.session_state["opened"].scene.values["s"] == 7 and ", 7, " in app.session_state["shown"]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explore", "attacker"])
def test_a_picture_without_columns_of_its_own_adds_no_empty_word_to_its_address(open_link, page):
    app = open_link(page, "v=1&d=iris&a=pe-means&k=3&e=1&s=0")
    wait_for_run(app)
    app.number_input(key="explore_seed").set_value(1)
    wait_for_run(app.run())
    assert not app.exception and app.multiselect[0].value == []
    assert app.session_state["kept"] == (page, "v=1&d=iris&a=pe-means&k=3&e=1&s=1")


def test_a_picture_with_columns_of_its_own_can_be_linked_without_them(open_link):
    app = open_link("explore", "v=1&d=iris&a=stemmer-kaplan&k=3&e=1&s=0")
    wait_for_run(app)
    assert app.multiselect[0].value == [2, 3]
    app.multiselect[0].set_value([]).run()
    page, query = app.session_state["kept"]
    assert "axes=none" in query.split("&")
    there = open_link(page, query)
    wait_for_run(there)
    assert not there.exception and there.multiselect[0].value == [] and not told(there)
    assert there.session_state["kept"] == (page, query)
