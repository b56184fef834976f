"""Check what a visitor reads about bounds: where a value was cut, what empty cells do, and what a paid count says."""

import re

import numpy as np
import pytest

from dpviz.datasets.meanings import as_suggested, meaning_of
from dpviz.privacy.accounts import FileBudget
from dpviz.privacy.guarantee import Neighboring
from pages._ui.work import private
from tests.pages.visitor import declare, drop, facts, onward, press, read, wait_for_run

SAYS = "basket_eur at your bound of 1,000 EUR: the bound may be cutting values off; the ± does not cover that"


def customers():
    """Return 3,000 customers, the oldest third with baskets of 3,574 euros on average; 262 rows have an empty cell."""
    rng = np.random.default_rng(0)
    groups = ((30, 300, 60), (50, 600, 60), (65, 3574, 800))
    rows = [
        [f"{rng.normal(age, 4):.0f}", f"{rng.normal(euro, sd):.2f}"] for age, euro, sd in groups for _ in range(1000)
    ]
    for i in rng.choice(3000, 262, replace=False):
        rows[i][int(rng.integers(2))] = ""
    return ("age,basket_eur\n" + "\n".join(map(",".join, rows))).encode()


def suggested(app):
    """Drop the customers as a private file, and confirm the bounds that its columns' names suggest."""
    app.switch_page("pages/data.py").run()
    drop(app, "customers.csv", customers(), "No, it is private")
    app.switch_page("pages/bounds.py").run()
    assert "a row with an empty cell in that column is left out" in read(app) and "40 writes 40" in read(app)
    press(app, "Confirm the suggested bounds of 2 columns")
    next(field for field in app.number_input if field.label == "Rows").set_value(3000).run()
    assert "262" not in read(app) and "2,738" not in read(app)
    return onward(app)


@pytest.mark.slow
def test_a_private_value_at_a_suggested_bound_says_so_wherever_it_stands(app):
    suggested(app)
    app.switch_page("pages/explore.py").run()
    press(app, "Run")
    card = read(app)
    assert "A row with an empty cell is left out." in card and "262" not in card
    assert "The bounds of age and basket_eur are those suggested for such names." in card
    wait_for_run(press(app, "Run and spend"))
    words = read(app)
    assert not app.exception and f"1 of 3 centers has {SAYS}." in words, "the verdict"
    assert re.search(rf"than most; {re.escape(SAYS)}", words), "the table"
    assert re.search(rf"Cluster \d: (?:(?!Cluster).)*; {re.escape(SAYS)}\.", words), "the sentences"


@pytest.mark.slow
def test_a_paid_count_is_asked_on_spend_booked_and_shown_again_for_free(app):
    suggested(app)
    links = [link.proto.label for link in app.get("page_link")]
    assert "Do your bounds fit? Spend can count the rows outside them, for ε 0.05 of its own." in links
    app.switch_page("pages/spend.py").run()
    assert not app.session_state["outside"] if "outside" in app.session_state else True
    press(app, "Ask the rows")
    assert "This run claims **ε = 0.05**, δ = 0 for one row added or removed." in read(app)
    assert "a value outside its bounds counts as outside" in read(app)
    press(app, "Run and spend")
    ((_, epsilon),) = app.session_state["outside"]
    (answer,) = app.session_state["outside"].values()
    assert epsilon == 0.05 and answer.seed is None and not answer.steps[-1].hidden
    words = read(app)
    (shown,) = re.findall(r"About ([\d,]+) of 3,000 rows lie outside your bounds \(±60, 95 %\)", words)
    assert abs(int(shown.replace(",", "")) - 915) < 300, "secure noise of scale 20"
    assert "widen the bounds of age and basket_eur first" in words  # the suggested ones, as long as no center is known
    press(app, "Ask the rows")
    assert "You already have this answer" in read(app) and len(app.session_state["outside"]) == 1
    app.switch_page("pages/account.py").run()
    assert not app.exception and str([e.proto for e in app.main]).count("Rows outside the bounds") == 1


@pytest.mark.slow
def test_other_bounds_are_another_question(app):
    drop(app.switch_page("pages/data.py").run(), "customers.csv", customers(), "No, it is private")
    for high in (5000, 7000):
        declare(app, facts("age", "basket_eur", low=-5, high=high, n_public=3000))
        app.switch_page("pages/spend.py").run()
        assert not app.exception and "lie outside your bounds (" not in read(app)
        press(app, "Ask the rows")
        assert "You already have this answer" not in read(app)
        press(app, "Run and spend")
        assert "lie outside your bounds (" in read(app)


@pytest.mark.slow
def test_a_question_that_cannot_be_paid_or_asked_is_one_sentence_and_costs_nothing(app):
    suggested(app)
    app.switch_page("pages/spend.py").run()
    for wrong in (0.0, -1.0, 50.0):
        app.number_input(key="outside_epsilon").set_value(wrong).run()
        press(app, "Ask the rows")
        (sentence,) = [box.value for box in app.error]
        assert sentence.startswith("Rows outside the bounds: ") and sentence.endswith("Nothing was spent.")
        assert not any(button.label == "Run and spend" for button in app.button)
    (key,) = app.session_state["fingerprints"].values()
    with private.accounts() as store:
        store.set_budget(key, Neighboring.ADD_REMOVE, FileBudget(0.04, 1e-6))
    app.number_input(key="outside_epsilon").set_value(0.05).run()
    press(app, "Ask the rows")
    (sentence,) = [box.value for box in app.error]
    assert "above the total of 0.04; 0.04 is left. Nothing was spent." in sentence
    assert not any(button.label == "Run and spend" for button in app.button)
    with private.accounts() as store:
        assert not store.of(key).claims


@pytest.mark.slow
def test_a_filled_cell_and_other_bounds_are_said_as_they_are(app):
    app.switch_page("pages/data.py").run()
    told = facts("age", "basket_eur", low=-5, high=5000, n_public=3000)
    told["columns"][0]["fill"] = 40
    declare(drop(app, "customers.csv", customers(), "No, it is private"), told)
    app.switch_page("pages/explore.py").run()
    press(app, "Run")
    card = read(app)
    assert "A row with an empty cell is left out, except in age (40): there the cell counts as that value." in card
    assert "suggested" not in card


def test_suggestions_are_recognized_by_name_and_bounds():
    named = [("age", 0, 120), ("basket_eur", 0, 1000), ("price", 0, 999), ("xyz", 0, 1), ("height_cm", 0, 250)]
    columns = [{"name": name, "low": low, "high": high} for name, low, high in named]
    assert as_suggested(columns) == ["age", "basket_eur", "height_cm"]
    assert meaning_of("basket_eur").high == 1000
