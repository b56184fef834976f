"""Check one run in several views: data, method, k, ε and seed stay the same, and each view's address holds them."""

import pytest

from pages._ui.explore.workspace.compare import compare
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address import scene

RUN = {"d": "iris", "a": "sulloyd", "k": 4, "e": 3.0, "s": 7}
VIEWS = {"explore": explore, "again": explore, "attacker": explore, "compare": compare, "ledger": explore}


def at(app, page):
    """Go to a view; return the parts of its address that describe the run."""
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    where, query = app.session_state["kept"]
    found, sentence = scene.read(page, query, VIEWS[page])
    assert where == page and sentence == ""
    if page == "compare":
        run, _ = scene.read("explore", f"d={found.values['d']}&{found.values['run'][0]}", explore)
        return {word: run.values[word] for word in RUN}
    return {word: found.values[word] for word in RUN}


@pytest.mark.slow
def test_the_run_stays_from_view_to_view_and_each_view_can_change_it(open_link):
    app = open_link("explore", "v=1&d=iris&a=sulloyd&k=4&e=3&s=7")
    assert [at(app, page) for page in ("again", "attacker", "compare", "ledger")] == [RUN] * 4
    app.switch_page("pages/attacker.py").run()
    app.number_input(key="param_sulloyd_epsilon").set_value(1.5).run()
    assert at(app, "explore") == {**RUN, "e": 1.5} and at(app, "compare") == {**RUN, "e": 1.5}
    seed = next(box for box in app.number_input if box.key.endswith("_all_seed"))
    seed.set_value(9).run()
    assert at(app, "explore") == {**RUN, "e": 1.5, "s": 9} and at(app, "ledger") == {**RUN, "e": 1.5, "s": 9}
