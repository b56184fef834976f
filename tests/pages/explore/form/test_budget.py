"""Check the budget field: ε, μ or ρ is typed and the others follow; δ is next to it; errors appear at their field."""

import json

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.privacy.accounting import epsilon_of_mu, mu_of_epsilon
from pages._ui.explore.form.budget import rule
from tests.pages.visitor import open_page, wait_for_run

DELTA = 1 / 500_000


def asked(app):
    return json.loads(app.session_state["asked"])[2]["epsilon"]


def captions(app):
    return " ".join(caption.value for caption in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize(("notion", "value", "mu"), [("mu", 0.5, 0.5), ("zcdp", 0.125, 0.5)])
def test_the_budget_may_be_typed_in_another_notion_and_epsilon_follows(app, notion, value, mu):
    open_page(app, "pages/explore.py")
    assert "= μ 0.245, ρ 0.03." in captions(app) and "δ = 1 in 500,000, 1/(100 n) for n = 5,000" in captions(app)
    app.segmented_control(key="budget_in").set_value(notion).run()
    assert asked(app) == 1.0  # the other field begins with the same budget
    app.number_input(key=f"budget_{notion}").set_value(value).run()
    wait_for_run(app)
    assert not app.exception and asked(app) == pytest.approx(epsilon_of_mu(mu, DELTA), rel=1e-5)
    assert json.loads(app.session_state["shown"])[2]["epsilon"] == asked(app)
    app.segmented_control(key="budget_in").set_value("epsilon").run()
    assert app.number_input(key="param_pe-means_epsilon").value == asked(app)


@pytest.mark.slow
def test_a_wrong_budget_in_another_notion_is_a_sentence_and_a_link_wins_over_what_was_typed(app):
    open_page(app, "pages/explore.py")
    app.segmented_control(key="budget_in").set_value("mu").run()
    app.number_input(key="budget_mu").set_value(0.0).run()
    assert [error.value for error in app.error] == [
        "Privacy budget μ (Gaussian DP) must be above 0; got 0. Nothing was spent."
    ]
    app.number_input(key="budget_mu").set_value(0.4).run()
    app.session_state["param_pe-means_epsilon"] = 2.0  # as if an address had opened the page
    app.run()
    assert app.number_input(key="budget_mu").value == pytest.approx(mu_of_epsilon(2.0, DELTA), rel=1e-3)


def test_delta_comes_with_its_rule_its_meaning_and_what_a_larger_one_allows():
    algorithm = ALGORITHMS["pe-means"](n_clusters=2)
    end = "whatever may be published is at most e^ε times as likely with you as without you, plus δ in all."
    assert rule(algorithm, 2, 5000) == f"δ = 1 in 500,000, 1/(100 n) for n = 5,000: {end}"
    paper = ALGORITHMS["pe-means"].preset("paper", n_clusters=2)
    more = "With n = 5,000, this δ allows a method that exposes somebody 43 times in 100."
    assert rule(paper, 2, 5000) == f"δ = 1 in 11,700, n^-1.1 for n = 5,000: {end} {more}"
    assert rule(ALGORITHMS["pe-means"](n_clusters=2, delta=0.1), 2, 40).endswith(end)  # its `advice` says the rest
    assert "anywhere up to rho away, plus δ" in rule(ALGORITHMS["dist-dp"](n_clusters=2), 2, 40)
    assert rule(ALGORITHMS["sulloyd"](n_clusters=2), 2, 40).startswith("δ = 0: whatever may be published")


@pytest.mark.slow
def test_an_idle_number_of_centers_is_disabled_and_a_distance_is_said_in_the_data_s_units(app):
    open_page(app, "pages/explore.py")
    app.selectbox(key="explore_algorithm").set_value("dpm").run()
    assert app.number_input(key="param_dpm_n_clusters_town").disabled
    app.session_state["form_more"] = True
    app.run()
    app.toggle(key="param_dpm_exactly_k").set_value(True).run()
    assert not app.number_input(key="param_dpm_n_clusters_town").disabled
    app.selectbox(key="explore_algorithm").set_value("dist-dp").run()
    assert "This rho hides moves of up to 240 m" in captions(app) and not app.exception


def test_with_k_median_the_loss_the_reference_and_the_words_follow(app):
    open_page(app, "pages/explore.py")
    app.session_state["form_more"] = True
    app.selectbox(key="explore_algorithm").set_value("stemmer-kaplan").run()
    app.selectbox(key="param_stemmer-kaplan_objective").set_value("medians").run()
    wait_for_run(app)
    if "medians" not in app.session_state["shown"]:  # on a slow machine the run waits for the button
        wait_for_run(app.button(key="explore_run").click().run())
    words = " ".join(block.proto.body for block in app.get("html"))
    ratio = float(words.split(" × KMedians")[0].rsplit(", ", 1)[1])
    assert 0.9 < ratio < 1.5 and "× KMeans" not in words and not app.exception
