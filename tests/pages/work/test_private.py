"""Check that Spend books a run's claim before it starts the run, and asks who vouches for an outside algorithm."""

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import ALGORITHMS, add_files
from dpviz.cli import main
from dpviz.datasets import load_csv
from dpviz.privacy.accounts import Accounts

ASKED = {}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return what the page asks about: a private file, its account, and the runs that were started."""
    monkeypatch.setattr("streamlit.page_link", lambda *_, **__: None)  # this script has no other pages
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n" + "0.5,0.25\n" * 9)
    data = load_csv(path, low=[0, 0], high=[1, 1], n_public=9, private=True, header=True)
    key = Accounts.open().key(path.read_bytes())
    ASKED.update(data=data, key=key, algorithm=ALGORITHMS["dp-lloyd"](n_clusters=2, epsilon=0.5), started=[])
    return ASKED


def page():
    from pages._ui.work import private
    from pages._ui.work.state import work_state
    from tests.pages.work.test_private import ASKED, booked

    work_state.fingerprints[ASKED["data"].dataset_id] = ASKED["key"]
    private.confirm(
        ASKED["data"], ASKED["algorithm"], slot="x", start=lambda *run: ASKED["started"].append((run, booked()))
    )


def booked():
    """Return the ε of every claim in the file's account."""
    return [claim.plan.total(claim.delta).epsilon for claim in Accounts.open().of(ASKED["key"]).claims]


def test_a_run_is_booked_before_it_starts_and_only_by_the_button(asked):
    app = AppTest.from_function(page).run(timeout=60)
    assert not app.exception and booked() == [] and asked["started"] == []
    app.button(key="x_not_yet").click().run(timeout=60)
    assert booked() == [] and asked["started"] == []
    app.run(timeout=60).button(key="x_spend").click().run(timeout=60)
    assert booked() == [0.5]
    (((data, algorithm, seed), claims),) = asked["started"]
    assert (data, algorithm, seed) == (asked["data"], asked["algorithm"], None) and claims == [0.5]


def test_a_domain_that_a_method_refuses_has_no_price_and_no_button(asked, tmp_path):
    asked["data"] = load_csv(tmp_path / "mine.csv", low=[0, 0], high=[1, 2], n_public=9, private=True, header=True)
    asked["algorithm"] = ALGORITHMS["dist-dp"](n_clusters=2, rho_distance=0.1)
    app = AppTest.from_function(page).run(timeout=60)
    assert "one scale for all columns" in " ".join(box.value for box in app.error)
    assert "x_spend" not in [button.key for button in app.button] and booked() == [] and not app.exception


def test_an_unaudited_algorithm_is_booked_only_with_consent(asked, registry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my-own"]) == 0
    add_files([tmp_path / "my_own.py"])
    asked["algorithm"] = registry["my-own"](n_clusters=2, epsilon=0.5)
    app = AppTest.from_function(page).run(timeout=60)
    assert "only its authors vouch for its promise" in " ".join(box.value for box in app.warning)
    assert app.button(key="x_spend").disabled and booked() == []
    app.checkbox(key="x_unaudited").check().run(timeout=60)
    assert not app.button(key="x_spend").disabled and booked() == []
    app.button(key="x_spend").click().run(timeout=60)
    assert booked() == [0.5] and len(asked["started"]) == 1
