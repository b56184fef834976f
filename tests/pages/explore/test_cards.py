"""Check Watch on an own file: it opens with cards of released values alone, and reads the release for another k."""

import re
import time

import numpy as np
import pytest
import streamlit as st

from dpviz.cli import main
from dpviz.figures.kit.theme import LIGHT
from dpviz.planning.rehearsal import same_run
from dpviz.planning.words import matched
from dpviz.postprocessing.cards import cards
from dpviz.postprocessing.coresets import at_k, elbow
from dpviz.takeaway import foreign
from dpviz.takeaway.cards import cards_html
from dpviz.takeaway.changes import between, changes_html
from pages._ui.explore import changed
from tests.pages.pictures import sent
from tests.pages.visitor import content, finish, new_app, own_file, press, read, spend, wait, wait_for_run


def own_run(answer):
    app = own_file(content(n=3000), answer, n_public=3000)
    if "private" in answer:
        return spend(app)
    app.switch_page("pages/explore.py").run()
    app.selectbox(key="explore_algorithm").set_value("nsm").run()
    return finish(app)


def bodies(app):
    return [block.proto.body for block in app.get("html")]


def drawn(app):
    (body,) = [body for body in bodies(app) if 'class="dp-cards"' in body]
    return body


def result_of(app):
    return app.session_state["store"].get(app.session_state["shown"])


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["Yes, it is public", "No, it is private"])
def test_an_own_file_opens_with_cards_and_another_k_is_free(answer):
    app = own_run(answer)
    result = result_of(app)
    assert cards_html(cards(result.trace, ("a", "b")), "people") in drawn(app)
    first = next(i for i, body in enumerate(bodies(app)) if 'class="dp-cards"' in body)
    assert not any('<details class="dp-now"' in body for body in bodies(app)[:first])  # the plane is second
    spent = result.trace.ledger
    default = r"k = 3 is a default: on these points, noise included, k-means' loss falls another ([0-9.]+)%"
    said = re.findall(default, read(app))
    assert len(said) == ("private" in answer)  # a public file says so of its rows
    for falls in said:
        loss = elbow(result.trace.coreset, result.trace.domain, 6).coreset
        assert float(falls) == pytest.approx(100 * (1 - loss[5] / loss[2]), rel=0.05)
    app.slider(key="explore_cards_k").set_value(5).run()
    assert not app.exception and result_of(app).trace.ledger == spent
    assert cards_html(cards(at_k(result.trace, 5), ("a", "b")), "people") in drawn(app)
    words = read(app)
    assert "no row is read, and the ε spent stays at 1." in words
    assert "These 5 centers come from the points alone, without the" in words and "shows the run's 3." in words
    if "public" in answer:
        assert "kc=5" in app.session_state["kept"][1]


@pytest.mark.slow
def test_the_cards_of_a_private_run_read_no_row():
    app = own_run("No, it is private")
    before = drawn(app)
    result = result_of(app)
    object.__setattr__(result.data, "X", np.empty((0, 2)))
    st.cache_resource.clear()
    app.run()
    assert not app.exception and drawn(app) == before
    assert "seed" not in before and "3,000 people" not in before


@pytest.mark.slow
def test_a_clip_of_a_private_run_names_no_file_and_shows_released_values_only():
    app = own_run("No, it is private")
    app.session_state["explore_take"] = True
    app.run()
    (told,) = sent(app, "dpviz_clip")
    assert "mine" not in str(told) and "seed" not in str(told)
    assert told["foot"] == "PRIVATE RELEASE · Released values only · dpviz"
    assert told["title"] == "3 centers at ε 1, NSM (ours)" and "right at most" in told["facts"]


def test_samples_open_with_the_plane():
    app = wait_for_run(new_app().run().switch_page("pages/explore.py").run())
    assert not any('class="dp-cards"' in body for body in bodies(app))


@pytest.mark.slow
def test_a_method_without_points_says_that_another_k_is_another_run():
    app = own_file(content(), "Yes, it is public", n_public=300)
    app.switch_page("pages/explore.py").run()
    app.selectbox(key="explore_algorithm").set_value("pe-means").run()
    finish(app)
    assert any("no points to read again: another k is another run" in body for body in bodies(app))
    assert all(slider.key != "explore_cards_k" for slider in app.slider)


@pytest.mark.slow
def test_a_result_is_compared_with_the_rehearsal_of_exactly_this_run():
    app = own_file(content(), "No, it is private", n_public=300)
    wait(app, lambda app: "rehearsed" in app.session_state)
    press(app, next(button.label for button in app.button if button.label.startswith("Continue to Spend")))
    finish(press(app, "Run and spend"))
    ((run, looked),) = app.session_state["rehearsed"].items()
    trace = result_of(app).trace
    said = matched(looked, trace)
    assert len(said) == 2 and f"Noise of a center: {'; '.join(said)}." in read(app)
    assert same_run("nsm", trace.parameters, trace.claimed, trace.domain) == run
    app.number_input(key="param_nsm_epsilon").set_value(2.0).run()
    press(app, "Run")
    finish(press(app, "Run and spend"))
    assert "rehearsed ±" not in " ".join(bodies(app))  # another ε is another run, which was not rehearsed


def saved(app):
    (button,) = [one for one in app.get("download_button") if one.proto.label == "Released values as JSON"]
    assert button.proto.url or button.proto.deferred_file_id
    return result_of(app).trace.to_json()


def since(app, text):
    """Open a saved run below the cards; return the words shown and the errors."""
    app.session_state["explore_since"] = True
    app.run()
    next(field for field in app.file_uploader if field.label == "The earlier run").upload("may.json", text).run()
    assert not app.exception
    return read(app), [box.value for box in app.error]


@pytest.mark.slow
def test_a_saved_run_and_this_one_are_compared_as_on_the_command_line(tmp_path, capsys):
    before = own_run("No, it is private")
    app = spend(own_file(content(1, 3000), "No, it is private", "june.csv", n_public=3000))
    for name, one in (("a.json", before), ("b.json", app)):
        (tmp_path / name).write_text(saved(one))
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    told = capsys.readouterr().out.splitlines()
    words, problems = since(app, (tmp_path / "a.json").read_bytes())
    assert problems == [] and "Hollow: A; filled: B" in words
    sentences = told[told.index(next(line for line in told if "95% over all" in line)) :]
    assert len(sentences) > 2
    for sentence in sentences:
        assert sentence in words
    found = between(*(foreign.read((tmp_path / name).read_text()) for name in ("a.json", "b.json")))
    assert any(changes_html(found, LIGHT) in body for body in bodies(app))
    _, problems = since(app, (tmp_path / "b.json").read_bytes())
    assert problems == ["both files hold the same run."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe", "This file is not the JSON of a run."),
        (b'{"columns": []}', "trace: "),
    ],
)
def test_what_is_no_run_is_refused_in_one_sentence(text, words):
    _, problems = since(own_run("Yes, it is public"), text)
    assert len(problems) == 1 and problems[0].startswith(words)


class Stuck:
    """A pool whose task never ends by itself."""

    def once(self, function, *args, look):
        while True:
            time.sleep(0.01)
            look(0, 0)


@pytest.mark.slow
def test_a_file_that_keeps_the_server_busy_is_given_up(monkeypatch):
    app = own_run("No, it is private")
    monkeypatch.setattr(changed, "_PATIENCE", 1.0)
    monkeypatch.setattr(changed, "workers", Stuck)
    _, problems = since(app, result_of(app).trace.to_json().encode())
    assert problems == ["this file takes more than 1 seconds to read."]
