"""Check explanations of clusters: from the centers at no cost, or from the rows for a separate budget."""

import pytest

from tests.pages.visitor import csv, own_file, spend, words


def test_the_rows_are_asked_beside_the_run(app):
    app.switch_page("pages/explore.py").run()
    assert not app.exception and "What sets the clusters apart" in [box.label for box in app.expander]
    app.number_input(key="explore_explain_epsilon").set_value(1.0).run()
    app.button(key="explore_explain_ask").click().run()
    assert not app.exception
    (answer,) = app.session_state["explained"].values()
    assert answer.spent.epsilon == pytest.approx(1.0, rel=1e-6)
    assert "Cluster 1: " in words(app) and "From the rows" in words(app)


@pytest.mark.slow
def test_a_private_question_is_confirmed_booked_and_shows_no_more_than_it_released():
    app = spend(own_file(csv(), "No, it is private", n_public=300))
    assert "explained" not in app.session_state or not app.session_state["explained"]
    app.button(key="explore_explain_ask").click().run()
    assert any("claims **ε = 0.2**" in element.value for element in app.markdown)
    app.button(key="asking_explain_spend").click().run()
    assert not app.exception
    (answer,) = app.session_state["explained"].values()
    assert answer.seed is None and not answer.steps[-1].hidden
    ((run, _),) = app.session_state["explained"]
    app.session_state["explained"][run, 0.5] = answer  # as if another answer had been requested meanwhile
    app.button(key="explore_explain_ask").click().run()
    assert "asking_explain" not in app.session_state or not app.session_state["asking_explain"]
    assert any("You already have this answer" in box.value for box in (*app.info, *app.warning, *app.success))
    assert list(app.session_state["explained"]) == [(run, 0.5), (run, 0.2)], "what was paid for is shown again"
    assert list(app.session_state["explained"].values()) == [answer, answer]
    app.switch_page("pages/account.py").run()
    assert not app.exception and "Explain the clusters" in str([element.proto for element in app.main])
