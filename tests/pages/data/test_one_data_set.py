"""Check that all pages about a data set show the same one: every page takes a public file, and none a private one."""

import pytest

from dpviz.datasets import SAMPLES
from tests.pages.visitor import csv, declare, drop, facts


def shown(app):
    return " ".join(block.proto.body for block in app.get("html") if "dp-strip" in block.proto.body)


@pytest.mark.slow
def test_what_is_chosen_on_one_page_is_what_the_others_show(start):
    app = start()
    assert app.segmented_control(key="data_way").value == "Your file"  # as the place is called
    app.segmented_control(key="data_way").set_value("Samples").run()
    labels = [app.button(key=f"use_{name}").label for name in SAMPLES]
    assert len(set(labels)) == len(SAMPLES) and "In use" in labels
    app.button(key="use_wine").click().run()
    app.switch_page("pages/explore.py").run()
    assert app.selectbox(key="explore_data").value == "wine" and not app.exception
    app.switch_page("pages/tradeoff.py").run()
    assert app.multiselect(key="sweep_data").value == ["wine"]
    app.switch_page("pages/explore.py").run()
    app.selectbox(key="explore_data").set_value("ring").run()
    app.switch_page("pages/data.py").run()
    assert app.session_state["explore_data"] == "ring" and app.button(key="use_ring").label == "In use"


@pytest.mark.slow
def test_a_public_file_reaches_every_page_and_a_private_one_is_named_where_it_is_not(start):
    app = declare(drop(start(), "mine.csv", csv(), "Yes, it is public"), facts("a", "b", scale="common", n_public=300))
    name = app.session_state["explore_data"]
    app.switch_page("pages/compare.py").run()
    assert app.selectbox(key="explore_data").value == name and not app.exception and not app.error
    assert "<b>mine</b>" in shown(app)
    app.switch_page("pages/tradeoff.py").run()
    assert app.multiselect(key="sweep_data").value == [name]

    app = drop(start(), "secret.csv", csv(seed=1), "No, it is private")
    declare(app, facts("a", "b", scale="common"))
    for page in ("papers", "tradeoff"):
        app.switch_page(f"pages/{page}.py").run()
        assert "Your file <b>secret, PRIVATE, is not used on this page</b>" in shown(app) and ">DEMO<" in shown(app)
    app.switch_page("pages/explore.py").run()
    assert "is not used on this page" not in shown(app) and "PRIVATE" in shown(app)
