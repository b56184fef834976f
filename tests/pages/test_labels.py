"""Check that a popover's label states the value that its fields hold: never that of the drawing before."""

import ast
from pathlib import Path

import pytest

from dpviz.numbers import number
from tests.pages.visitor import visit

ROOT = Path(__file__).parents[2] / "pages" / "_ui"
VALUED = {  # popovers whose label holds a value, and the test of each
    "explore/compare/form.py": "test_the_label_of_a_run_is_that_of_its_panel",
    "explore/tradeoff/form.py": "test_the_label_of_the_methods_counts_the_chosen_ones",
    "data/editor.py": "its label counts columns of the file, which no field changes",
}


def valued(source):
    """Return the lines of the popovers whose label is not a fixed text."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        c.lineno for c in calls if ast.unparse(c.func).endswith(".popover") and not isinstance(c.args[0], ast.Constant)
    ]


def test_every_label_with_a_value_has_a_test():
    assert {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if valued(path.read_text())} == set(VALUED)


def popovers(block):
    """Return the labels of a page's popovers, in order."""
    proto = getattr(block, "proto", None)
    own = [proto.popover.label] if getattr(block, "type", "") == "popover" else []
    return own + [label for child in getattr(block, "children", {}).values() for label in popovers(child)]


CHANGES = [
    ("number_input", "compare_1_B_dpm_epsilon", 0.5, ("B", "DPM · ε 0.5")),
    ("number_input", "compare_1_all_epsilon", 2.25, ("A", "DPM · ε 2.25")),
    ("selectbox", "compare_1_B_algorithm", "kmeans", ("B", "KMeans")),
    ("selectbox", "compare_1_A_algorithm", "hdpe-means", ("A", "HDPE-means · ε 1")),
]


@pytest.mark.parametrize(("kind", "key", "value", "words"), CHANGES)
def test_the_label_of_a_run_is_that_of_its_panel(kind, key, value, words):
    app = visit("compare", "v=1&d=tiny&run=a%3Ddpm%26k%3D2%26e%3D1&run=a%3Ddpm%26k%3D2%26e%3D0.25%26s%3D1")
    assert popovers(app.main)[:2] == ["A · DPM · ε 1", "B · DPM · ε 0.25"]
    getattr(app, kind)(key=key).set_value(value).run()
    assert not app.exception and " · ".join(words) in popovers(app.main)
    runs = {letter: side for letter, side in zip("AB", app.session_state["compare_runs"], strict=True)}
    for letter, side in runs.items():
        budget = f" · ε {number(side.algorithm.epsilon)}" if hasattr(side.algorithm, "epsilon") else ""
        assert f"{letter} · {side.algorithm.name}{budget}" in popovers(app.main)


def test_an_invalid_value_leaves_label_and_panel_at_the_last_valid_run():
    app = visit("compare", "v=1&d=tiny&run=a%3Ddpm%26k%3D2%26e%3D1&run=a%3Ddpm%26k%3D2%26e%3D0.25%26s%3D1")
    app.number_input(key="compare_1_B_dpm_epsilon").set_value(-1.0).run()
    assert app.error and popovers(app.main)[:2] == ["A · DPM · ε 1", "B · DPM · ε 0.25"]
    assert app.session_state["compare_runs"][1].algorithm.epsilon == 0.25


def test_the_label_of_the_methods_counts_the_chosen_ones():
    app = visit("tradeoff", "v=1&d=tiny&a=dpm&a=nsm")
    assert "2 algorithms" in popovers(app.main)
    app.multiselect(key="sweep_algorithms").set_value(["dpm"]).run()
    assert "1 algorithm" in popovers(app.main) and "2 algorithms" not in popovers(app.main)
