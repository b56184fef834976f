"""Check a run over several clients on Watch, through Streamlit's test driver, and the tables behind its pictures."""

import numpy as np
import pytest

from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.datasets import load_sample
from dpviz.federated import WIDE, simulate, spread
from dpviz.figures import View
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes.federated import plot_clients, plot_words, words_table
from tests.pages.visitor import visit


@pytest.fixture
def page():
    return visit("explore", "v=1&d=town&a=fastlloyd&trust=clients")


def shown(page):
    return {metric.label: metric.value for metric in page.metric}


@pytest.mark.slow
def test_a_run_is_shown_with_its_counters_and_equals_central(page):
    assert not page.exception and not page.error
    assert len(page.get("plotly_chart")) == 5
    assert shown(page) == {
        "Rounds": "7",
        "Words in this round": "15",
        "Bytes in this round": "960",
        "Bytes in the run": "6,720",
    }
    assert "**1.33 times** the variance of a central run" in page.info[0].value and not page.success
    seen = [chart.proto.spec for chart in page.get("plotly_chart")]
    assert [chart.proto.spec for chart in page.run().get("plotly_chart")] == seen
    page.selectbox(key="fed_client").select_index(2).run()
    assert not page.exception and [chart.proto.spec for chart in page.get("plotly_chart")] != seen
    page.slider(key="fed_clients").set_value(32).run()
    assert not page.exception and shown(page)["Bytes in this round"] == "7,680"


def test_the_delay_of_the_network_is_counted_for_every_round_and_mohlloyds_numbers_stand_beside(page):
    words = lambda: " ".join(block.proto.body for block in page.get("html"))  # noqa: E731
    assert "a round waits 0.5 ms for the network and this run 3.5 ms" in words() and "10,500 ms" in words()
    page.number_input(key="fed_delay").set_value(20.0).run()
    assert not page.exception and "a round waits 40 ms for the network and this run 280 ms" in words()


def test_the_servers_noise_is_the_central_run_and_says_what_the_server_must_not_see(page):
    page.segmented_control(key="fed_noise").set_value("server").run()
    assert not page.exception and "bit for bit" in page.success[0].value and not page.info
    assert "it must never see the result" in " ".join(block.proto.body for block in page.get("html"))


def test_clients_of_a_method_that_needs_the_rows_open_its_run_and_say_so(page):
    page.session_state["address"] = ("explore", "v=1&d=tiny&a=stemmer-kaplan-local&trust=clients")
    page.run()
    assert not page.exception and page.session_state["explore_trust"] == "nobody" and not page.metric
    assert page.info[0].value.endswith("You see the run with one curator instead.")


def test_who_learns_what_comes_before_any_byte(page):
    order = [block.proto.body for block in page.get("html")]
    table = next(i for i, body in enumerate(order) if "Who learns what" in body)
    byte = next(i for i, body in enumerate(order) if "word of the ring" in body)
    assert table < byte and all(party in order[table] for party in ("The server", "A client", "together"))


def test_the_paper_s_ring_halves_the_bytes_and_says_what_it_rounds(page):
    page.segmented_control(key="fed_noise").set_value("server").run()
    page.selectbox(key="fed_ring").set_value("32").run()
    assert not page.exception and shown(page)["Bytes in this round"] == "480"
    assert "rounds the server's noise" in page.info[0].value


def test_a_silent_client_aborts_the_run_and_the_first_round_stays(page):
    page.selectbox(key="fed_silent").select_index(2).run()
    assert not page.exception
    assert "round 2 is aborted: client-2 did not answer" in page.error[0].value
    assert shown(page)["Rounds"] == "1" and len(page.get("plotly_chart")) == 4


def test_an_overflow_is_refused_before_anything_is_sent(page):
    page.selectbox(key="explore_algorithm").set_value("glloyd").run()
    page.selectbox(key="fed_ring").set_value("32").run()
    assert not page.exception and "would change its sensitivity" in page.error[0].value
    page.selectbox(key="explore_algorithm").set_value("fastlloyd").run()
    page.selectbox(key="explore_data").set_value("digits").run()
    assert not page.exception and not page.metric
    assert "fixed-point overflow in 'sums': need |value| < 32,768" in page.error[0].value.replace("\\", "")


@pytest.mark.parametrize("slug", ["pe-means", "nsm", "sulloyd"])
def test_other_algorithms_run_unchanged(page, slug):
    page.selectbox(key="explore_algorithm").set_value(slug).run()
    assert not page.exception and not page.error
    assert f"**{2 if slug == 'sulloyd' else 1.33} times** the variance" in page.info[0].value


def test_words_are_drawn_most_significant_byte_first():
    payload = (1).to_bytes(8, "little") + (2**56).to_bytes(8, "little")
    table = words_table(payload, 8)
    assert table.to_numpy().tolist() == [[0] * 7 + [1], [1] + [0] * 7]
    assert words_table(payload, 4).shape == (4, 4)


def test_pictures_of_hidden_words_say_so():
    payload = bytes(range(160))
    for hidden in (True, False):
        figure = plot_words(LIGHT, payload, 8, "title", hidden=hidden)
        assert np.array_equal(figure.data[0].z, words_table(payload, 8))
        assert ("NOT PRIVATE" in figure.to_json()) is hidden
    assert len(plot_words(LIGHT, bytes(8000), 8, "many", hidden=False).data[0].z) == 24


def test_every_client_is_drawn_and_the_picture_says_it_is_not_private():
    data = load_sample("town")
    parts = spread(data.X, 3, "by region", np.random.default_rng(0))
    run = simulate(FastLloyd(n_clusters=5), parts, data.domain, seed=0, ring=WIDE)
    figure = plot_clients(View(run.trace, LIGHT, (0, 1), data.columns, data.units), parts, 1)
    assert [trace.name for trace in figure.data if "client" in trace.name] == [
        f"client-{i} (not private)" for i in (1, 2, 3)
    ]
    assert "NOT PRIVATE" in figure.to_json()
    for parts, sizes in (((data.X[:9], data.X[9:18]), "9"), ((data.X[:9], data.X[9:20]), "9 to 11")):
        figure = plot_clients(View(run.trace, LIGHT, (0, 1), data.columns, data.units), parts, 0)
        assert f"2 clients hold {sizes} rows each" in figure.layout.title.text
