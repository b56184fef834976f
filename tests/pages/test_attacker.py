"""Check Attacker through Streamlit's test driver: games against all promises, scores, intervals, links and refusals."""

import base64
import dataclasses
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.game import Round, play, present
from dpviz.datasets import load_sample
from dpviz.privacy.guarantee import Notion
from dpviz.trace import Cancelled
from pages._ui.explore.attacker import rounds, view
from pages._ui.explore.distance.methods import stops
from pages._ui.work.jobs import Job
from tests.pages.pictures import pictures
from tests.pages.visitor import visit, wait, words
from tests.tiers import tiers


@pytest.fixture
def open_link(monkeypatch):
    monkeypatch.setattr(view, "AHEAD", 6)
    monkeypatch.setattr(view, "MORE", 2)
    monkeypatch.setattr(view, "CLOUD", 4)

    def opener(query=""):
        app = visit("attacker", query)
        # a round may arrive between the answers and the picture; the answers then appear with the next drawing
        ready = lambda: app.get("bidi_component") and answer(app) is not None and not answer(app).disabled  # noqa: E731
        return until(app, ready)

    return opener


def until(app, ready):
    """Draw the page again until `ready()` is true or an error is shown."""
    return wait(app, lambda app: ready() or app.error or app.exception)


def answer(app, word="in"):
    return next((one for one in app.button if (one.key or "").startswith(f"attacker_{word}_")), None)


def numbers(sent):
    return np.frombuffer(base64.b64decode(sent["bdata"]), sent["dtype"]) if isinstance(sent, dict) else np.array(sent)


def won(app):
    """Answer the round against KMeans; return the page with the first round against the chosen method."""
    answer(app).click().run()
    return until(app, lambda: not answer(app).disabled)


def game(app, name="main"):
    return app.session_state["attacker_games"][name]


# Play against one method for every promise; tests/audits/test_game.py plays against every algorithm.
PLAYED = tiers(
    [
        *("kmeans", "sulloyd", "dist-dp-random-points", "stemmer-kaplan-local"),
        *("nsm", "dpm", "dist-dp", "stemmer-kaplan-shuffle"),
    ],
    ("kmeans", "sulloyd"),
)


def test_every_promise_is_played():
    played = {getattr(slug, "values", (slug,))[0] for slug in PLAYED}
    assert {ALGORITHMS[slug].notion for slug in played} == {cls.notion for cls in ALGORITHMS.values()}
    assert {ALGORITHMS[slug].neighboring for slug in played} == {cls.neighboring for cls in ALGORITHMS.values()}


@pytest.mark.slow
@pytest.mark.parametrize("slug", PLAYED)
def test_an_algorithm_of_every_promise_can_be_played(open_link, slug):
    app = open_link(f"v=1&d=iris&a={slug}&layers=0")
    assert not app.exception and not app.error
    exact = ALGORITHMS[slug].notion is Notion.NONE
    assert ("exact" in app.session_state["attacker_games"]) is not exact
    app = app if exact else won(app)
    number = 1 if exact else 2
    first = game(app).rounds[0]
    answer(app).click().run()
    assert not app.exception
    right, truth = ("Right", "In") if first.inside else ("Wrong", "Out")
    assert f"<b>{right}.</b> Round {number}: you said In; it was <b>{truth}</b>" in words(app)
    view._bet(game(app), True, 0)  # the same answer arrives twice, for example from a repeated key
    assert len(game(app).bets) == 1
    assert "of 100 bets won after 1 round (" in words(
        app
    ) and "After 1 round, luck alone is right 0 to 100 times in 100" in words(app)


def test_the_first_round_is_against_kmeans_and_a_lens_tells_which_world_it_was(open_link):
    app = open_link("v=1&d=tiny&a=sulloyd&layers=0")
    exact = game(app, "exact")
    assert len(exact.rounds) == 1 and game(app).bets == [] and "Round 1 is against KMeans." in words(app)
    figure = json.loads(pictures(app)[-1])
    marks = {one["name"]: one for one in figure["data"] if "name" in one}
    x, y = (numbers(marks["either"][axis]) - numbers(marks["KMeans (not private)"][axis]) for axis in "xy")
    at = [text.strip("<br> ") for text, *gap in zip(marks["either"]["text"], x, y, strict=True) if not any(gap)]
    assert at == ["with Alex" if exact.rounds[0].inside else "without Alex"]
    answer(app, "in" if exact.rounds[0].inside else "out").click().run()
    assert "you win every time" in words(app) and "Now play the same game against SuLloyd" in words(app)
    assert len(exact.rounds) == 1 and game(app).bets == []  # only one round is played against KMeans


@pytest.mark.slow
def test_the_curves_come_after_ten_rounds(open_link, monkeypatch):
    monkeypatch.setattr(view, "CURVES", 3)
    app = won(open_link("v=1&d=tiny&a=sulloyd&layers=0"))
    for done in (1, 2):
        assert "Two ways to be wrong" not in [header.value for header in app.header] and done
        answer(app).click().run()
        until(app, lambda: not answer(app).disabled)
    assert "Two ways to be wrong" in [header.value for header in app.header]


@pytest.mark.slow
def test_the_picture_shows_centers_alex_and_nobody_else(open_link):
    app = won(open_link("v=1&d=iris&a=fastlloyd&layers=0"))
    figure = json.loads(pictures(app)[-1])
    assert [trace.get("name") for trace in figure["data"]] == ["released center", None]
    assert figure["data"][1]["text"] == ["Alex"]
    sent = "".join(c.proto.json for c in app.get("bidi_component")) + words(app)
    assert str(game(app).seed) not in sent and '"inside"' not in sent  # nothing sent gives away whether Alex is in


@pytest.mark.slow
def test_help_shows_other_runs_of_both_worlds_and_they_are_marked(open_link):
    app = won(open_link("v=1&d=iris&a=fastlloyd&layers=0"))
    app.toggle(key="attacker_help").set_value(True).run()
    until(app, lambda: not any(one.busy for one in app.session_state["attacker_games"].values()))
    app.run()
    figure = json.loads(pictures(app)[-1])
    assert len(figure["data"]) == 4 and "NOT PRIVATE" in json.dumps(figure["layout"]["annotations"])
    assert {one.inside for one in game(app, "with").rounds} == {True}
    assert {one.inside for one in game(app, "without").rounds} == {False}


@pytest.mark.slow
def test_the_machine_plays_on(open_link, monkeypatch):
    monkeypatch.setattr(view, "AUTO", 12)
    monkeypatch.setattr(view, "LEAST", 12)
    app = open_link("v=1&d=iris&a=fastlloyd&layers=0")
    app.button(key="attacker_auto").click().run()
    until(app, lambda: len(game(app).rounds) == 12)
    app.run()
    assert not app.exception and "after 12 rounds (" in words(app)


@pytest.mark.slow
def test_the_first_question_opens_with_the_machines_stored_rounds_and_another_one_without(open_link, monkeypatch):
    app = open_link()  # an empty address leaves the form at its defaults
    assert "after 2,000 rounds (" in words(app) and "Against KMeans the machine is right" in words(app)
    assert game(app).bets == [] and len(game(app).rounds) <= 6 and len(game(app, "exact").rounds) <= 1
    assert "attacker_auto" not in [button.key for button in app.button]
    for query in ("v=1&d=town&e=2&layers=0", "v=1&d=town&who=typical&layers=0"):
        other = open_link(query)
        assert "after 2,000 rounds (" not in words(other) and "attacker_auto" in [button.key for button in other.button]


@pytest.mark.slow
def test_another_question_is_another_game(open_link):
    app = won(open_link("v=1&d=iris&a=fastlloyd&layers=0"))
    answer(app).click().run()
    before = game(app)
    app.session_state["attacker_who_next"] = "at:4.5,"
    app.run()
    assert not app.exception and game(app) is not before and game(app).bets == [] and game(app).seed != before.seed
    assert game(app).question.person[load_sample("iris").view[0]] == 4.5


@pytest.mark.slow
def test_rho_asks_here_or_away(open_link):
    app = open_link("v=1&d=town&a=dist-dp-random-points&ask=moved&layers=0")
    assert not app.exception and any("is Alex here, or " in header.value for header in app.header)
    assert answer(app).label == "Here" and answer(app, "out").label == "Away"
    assert game(app).question.bound.odds < 100
    app.segmented_control(key="attacker_ask").set_value("in").run()
    assert game(app).question.bound.odds == 100  # a promise about moves does not hide whether Alex is there
    assert "Nothing is promised here" in words(app)


def test_private_data_are_refused_with_the_reason():
    private = dataclasses.replace(load_sample("iris"), dataset_id="abc", title="mine.csv", private=True)
    app = visit("attacker", own={"abc": private}, explore_data="abc")
    assert not app.exception and not pictures(app) and "attacker_games" not in app.session_state
    assert "would reveal who is in the file" in app.info[0].value


@pytest.mark.slow
def test_rounds_are_made_in_batches_that_agree_with_one(monkeypatch):
    made = []
    monkeypatch.setattr(rounds, "play", lambda *args: made.append(args[2:4]) or play(*args))
    data = load_sample("iris")
    algorithm = ALGORITHMS["fastlloyd"](n_clusters=3)
    question = present(algorithm, data.X, data.domain, data.n_public, data.X[0], 0)
    one = rounds.Match(question, algorithm, seed=9)
    one.target = 33
    one._fill(type("Quiet", (), {"advance": lambda *args: None})())
    assert made == [(0, 4), (4, 25), (29, 4)]
    assert [r.speaks for r in one.rounds] == [r.speaks for r in play(one.question, algorithm, 0, 33, 9)]
    assert isinstance(one.now, Round)


@pytest.fixture
def jobs(monkeypatch):
    """Return a list of the queue's jobs, each with its work, which the tests begin; a round takes no time."""
    jobs = []

    def queue(title, work, expected):
        jobs.append((Job("", title, status="running"), work))
        return jobs[-1][0]

    monkeypatch.setattr(rounds, "runs", SimpleNamespace(queue=queue))
    monkeypatch.setattr(rounds.Match, "_seconds", lambda game, target: 1.0)
    monkeypatch.setattr(rounds, "play", lambda *args: [None] * args[3])
    return jobs


def test_rounds_that_are_asked_for_as_the_job_ends_are_made_by_another(jobs):
    """A request that comes between the job's last round and its end starts another job."""
    asked = []
    game = rounds.Match(None, ALGORITHMS["fastlloyd"](n_clusters=3))

    class Late(Job):
        def advance(self, done, total):
            if done == total and not asked:
                asked.append(40)
                game.make(40)

    game.make(20)
    jobs[0][1](Late("", "Game", status="running"))
    assert game.busy and len(jobs) == 2 and len(game.rounds) == 20
    jobs[1][1](Late("", "Game", status="running"))
    assert not game.busy and len(game.rounds) == 40


def test_who_stops_and_goes_on_within_one_batch_presses_once(jobs, monkeypatch):
    def batch(*args):
        if len(jobs) == 1:  # both buttons are pressed during the first batch
            game.stop()
            assert not game.busy
            game.make(40)
        return [None] * args[3]

    monkeypatch.setattr(rounds, "play", batch)
    game = rounds.Match(None, ALGORITHMS["fastlloyd"](n_clusters=3))
    game.make(20)
    with pytest.raises(Cancelled):
        jobs[0][1](jobs[0][0])
    assert game.busy and len(jobs) == 2
    jobs[1][1](jobs[1][0])
    assert len(game.rounds) == 40


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "says"), [("stemmer-kaplan", True), ("pe-means", False)])
def test_a_bound_below_the_strip_s_bet_says_where_both_come_from(open_link, slug, says):
    app = open_link(f"v=1&d=tiny&a={slug}")
    shown, every = words(app), " ".join(block.proto.body for block in app.get("html"))
    strip = re.findall(r"bet ≤ (\d+) of 100</a></b>", every)[0]
    (bound,) = set(re.findall(r"bound: (\d+)", shown))
    assert (f"the promise alone would allow {strip})" in shown) == says == (int(bound) < int(strip))


FAR = stops(load_sample("tiny"))[26]
MOVED = f"v=1&d=tiny&a={{}}&ask=moved&far={FAR}&layers=1"


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "why"), [
    ("dp-lloyd", "A move is two changes, a row taken out and a row put in"), ("stemmer-kaplan-local", ""),
    ("dist-dp-random-points", "may be right every time"),
])  # fmt: skip
def test_title_marks_pictures_and_bound_follow_the_question(open_link, slug, why):
    app = open_link(MOVED.format(slug))
    asked = next(header.value for header in app.header if header.value.startswith("Your turn"))
    far = re.search(r"or (.+) away", asked)[1]
    shown = words(app)
    assert f"Is Alex here, or {far} away?" in shown and "Is Alex in the data?" not in shown  # beside the page's title
    assert (f"ran KMeans beforehand, with Alex here and with Alex {far} away" in shown) and "without Alex" not in shown
    until(app, lambda: len(pictures(app)) == 3)
    plane, lens, own = map(json.loads, pictures(app))
    for drawn in (lens, own):  # both lenses show the same question
        marks = next(one for one in drawn["data"] if one.get("name") == "either")["text"]
        assert sorted(text.strip("<br> ") for text in marks) == sorted(["with Alex here", f"with Alex {far} away"])
    assert lens["layout"]["title"]["text"] == own["layout"]["title"]["text"]
    question = game(app).question
    (at,) = (i for i, one in enumerate(plane["data"]) if one.get("name") == "Alex")
    assert np.allclose(question.domain.normalize(question.elsewhere[None])[0],
                       question.domain.normalize(question.person[None])[0], atol=FAR)  # fmt: skip
    until(app, lambda: f"20 runs with Alex {far} away" in words(app))
    shown = words(app)
    assert at and why in shown
    assert "shown from 200 rounds on" in shown and "best known attack 5" not in shown


@pytest.mark.slow
def test_a_bound_above_the_pages_bet_says_why(open_link):
    """The page's head bets on one change; a move is two, and the sentence names both numbers."""
    app = open_link(MOVED.format("dp-lloyd"))
    every = " ".join(block.proto.body for block in app.get("html"))
    strip = re.findall(r"bet ≤ (\d+) of 100</a></b>", every)[0]
    (bound,) = set(re.findall(r"bound: (\d+)", every))
    assert int(bound) > int(strip) and f"whether Alex is in the data, is right at most {strip} times" in words(app)
    assert "A move is two changes" not in words(open_link("v=1&d=tiny&a=dp-lloyd&layers=0"))
