"""Check the panel on k: the rows of public files, and only released values and prices of private ones."""

import re

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.numbers import number
from dpviz.privacy.accounts import Account, Claim
from dpviz.runs.how_many import how_many, told
from pages._ui.explore import how_many as section
from tests.pages.pictures import pictures
from tests.pages.visitor import content, finish, own_file, read, spend, wait


def opened(answer):
    app = own_file(content(), answer, n_public=300)
    if "private" in answer:
        spend(app)
    else:
        app.switch_page("pages/explore.py").run()
        finish(app)
    app.session_state["explore_how_many"] = True
    return app.run()


@pytest.mark.slow
def test_a_public_file_shows_what_its_rows_say():
    app = opened("Yes, it is public")
    wait(app, lambda app: "alves of the rows agree most" in read(app))
    data = next(iter(app.session_state["own"].values()))
    assert told(how_many(data), data.n_clusters) in read(app) and "KMeans on all 300 rows" in read(app)
    shown = " ".join(pictures(app))
    assert "as a share of one center's" in shown and "Do halves of the rows agree?" in shown
    app.session_state["explore_hidden"] = False
    assert "halves" not in read(app.run())  # it is computed from the rows


@pytest.mark.slow
def test_a_private_file_shows_what_is_free_and_what_another_run_costs(monkeypatch):
    monkeypatch.setattr(section, "gather", lambda *_, **__: pytest.fail("computed from private rows"))
    app = opened("No, it is private")
    said, trace = read(app), app.session_state["store"].get(app.session_state["shown"]).trace
    assert f"Free: k = 1 to {min(12, len(trace.coreset.points))}." in said
    assert "themselves, within their ε: Choose-k, DPM and DP-DBSCAN." in said
    (told_totals,) = re.findall(r"raise this file's total from ε = ([\d.]+), .*? to ε = ([\d.]+), δ", said)
    claim = Claim.of(ALGORITHMS["nsm"](**trace.parameters), trace.domain)
    totals = [Account("a", (claim,) * times).total(claim.neighboring).epsilon for times in (1, 2)]
    assert list(told_totals) == [number(one) for one in totals]
