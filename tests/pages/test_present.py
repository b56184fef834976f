"""Check Present: decks as files, malicious decks, the scenes that can be slides, and the page where a deck is made."""

import dataclasses
import html
import json
import math
import re

import pytest

from dpviz.atlas import files, noised
from dpviz.atlas.cells import STORY
from dpviz.lessons import LESSONS, limits_in_short, limits_in_words
from dpviz.lessons.plans import plans
from dpviz.postprocessing.bet import odds_of_any
from dpviz.runs.single import replay
from dpviz.takeaway.deck import Shown, deck
from dpviz.takeaway.label import facts
from pages._ui.frame import catalog
from pages._ui.frame.address.deck import (
    DEFAULT,
    MOST_BYTES,
    MOST_SLIDES,
    PAGES,
    WORDS,
    Deck,
    Slide,
    from_json,
    split,
    to_json,
)
from pages._ui.teach.notes.view import deck_of
from pages._ui.teach.present import pictures, scenes
from pages._ui.teach.present import show as show_module
from pages._ui.teach.present.scenes import staged
from pages._ui.teach.present.show import _record
from pages._ui.work import atlas
from tests.pages.pictures import sent
from tests.pages.visitor import visit, wait

QUICK = Deck(
    "Two",
    (
        Slide("One ¼", "explore?v=1&d=tiny&a=dpm&e=2&t=1", "say\nthis", 10),
        Slide("Two", "limits?v=1&d=iris&play=1"),
    ),
)


@pytest.mark.parametrize("deck", [DEFAULT, QUICK, Deck("", (Slide("", "home"),))])
def test_a_deck_comes_back_from_its_file(deck):
    assert from_json(to_json(deck)) == deck == from_json(to_json(deck).encode())


def changed(**what):
    return json.dumps(json.loads(to_json(QUICK)) | what)


def slide(**what):
    return changed(slides=[dataclasses.asdict(QUICK.slides[0]) | what])


HOSTILE = {
    "": "not a deck",
    b"\xff\xfe\x00": "not a deck",
    "[" * 50_000: "not a deck",
    "[]": "not a deck",
    '{"a": 1}': "not a deck",
    '{"dpviz_deck": 1, "dpviz_deck": 1}': "not a deck",
    changed(dpviz_deck=2): "a newer version",
    changed(dpviz_deck=0): "another version",
    changed(dpviz_deck="1"): "another version",
    changed(dpviz_deck=True): "another version",
    changed(more=1): "exactly these fields",
    changed(title=None): "This deck: its title",
    changed(slides=[]): "1 to 40 slides",
    changed(slides={}): "1 to 40 slides",
    changed(slides=[1]): "Slide 1 of this deck is not a valid slide",
    changed(slides=[dataclasses.asdict(QUICK.slides[0])] * (MOST_SLIDES + 1)): "1 to 40 slides",
    slide(seconds=-1): "Slide 1 of this deck: its seconds",
    slide(seconds=1e400): "Slide 1 of this deck: its seconds",
    slide(seconds=True): "its seconds",
    slide(show="script"): "must show one of",
    slide(scene="x" * 4_001): "its scene",
    slide(notes=["a"]): "its notes",
    slide(title="a\ud800"): "Slide 1 of this deck: its title must contain only",
    slide(notes="a\x1b[2J"): "its notes must contain only",
    slide(title="a\0b"): "its title",
    slide(extra=""): "exactly these fields",
    " " * (MOST_BYTES + 1): "deck has at most",
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_deck_is_one_sentence(text):
    with pytest.raises(ValueError, match=HOSTILE[text]) as problem:
        from_json(text)
    assert len(str(problem.value)) < 250 and "\n" not in str(problem.value)


def test_every_slide_of_the_default_deck_can_be_shown_as_it_is():
    assert len(DEFAULT.slides) == 9 and DEFAULT.seconds == 150
    assert [staged(one).sentence for one in DEFAULT.slides] == [""] * 9
    assert all(one.notes and "=" not in one.notes for one in DEFAULT.slides)  # no formula


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        ("data?v=1", "these pages can"),
        ("../../etc/passwd", "these pages can"),
        ("explore?v=1&d=file:a,b", "needs a file"),
        ("explore?v=1&d=tiny&a=nsm&k=60", "Centers k must be at most 40, the number of rows; got 60"),
        ("explore?v=1&d=town&a=nsm&k=5&exact=1", "show a run without noise"),
        ("tradeoff?v=1&sweep=abc", "on this server only"),
        ("tradeoff?v=1&d=town&d=iris&a=nsm", "single data set"),
        ("tradeoff?v=1&d=town&runs=50", "at most 400 runs"),
        ("tradeoff?v=1&d=town&a=nsm&delta=nonsense&k=x", ""),
    ],
)
def test_what_cannot_stand_on_the_screen_says_why(scene, words):
    if not words:
        assert "defaults replace" in staged(Slide("", scene)).sentence
        return
    with pytest.raises(ValueError, match=words) as problem:
        staged(Slide("", scene))
    assert len(str(problem.value)) < 250


def test_a_run_is_made_at_every_stop_of_epsilon_and_with_other_seeds_and_what_is_none_says_why():
    address = "explore?v=1&d=town&a=nsm&k=5&e=1&s=4"
    run = staged(Slide("x", address))
    assert set(run.others) == {*"12345", "r1", "r2", "r3"} and not run.refusal
    assert run.others["3"].name == run.piece.name != run.others["4"].name  # the picture at this ε is not made twice
    assert [run.others[key].args[1].epsilon for key in "12345"] == [0.25, 0.5, 1.0, 2.0, 4.0]
    assert [run.others[key].args[2] for key in ("5", "r1", "r2", "r3")] == [4, 5, 6, 7]
    picture = pictures.Picture("", "alt", ("one",))
    shown = _record(Slide("x", address), run, {run.piece.name: picture})
    assert set(shown["others"]) == {"3"}  # the slide stays, although a full cache has dropped other pictures
    assert set(staged(Slide("x", address, show="label")).others) == set("12345")
    assert "can be shown at other values of ε" in staged(Slide("x", address), varied=False).refusal
    for scene, words in (
        ("explore?v=1&d=town&a=kmeans&k=5", "it has no ε"),
        ("limits?v=1&d=city", "does not show a single run"),
        ("again?v=1&d=town&a=nsm&k=5&e=1&s=0", "does not show a single run"),
    ):
        none = staged(Slide("x", scene))
        assert not none.others and words in none.refusal


def test_an_epsilon_that_was_typed_is_one_more_run_and_every_run_has_the_address_of_its_scene():
    run = staged(Slide("x", "explore?v=1&d=town&a=nsm&k=5&e=1&s=4"), typed=(0.1,))
    assert run.others["e0.1"].args[1].epsilon == 0.1 and run.into.keys() == run.others.keys()
    for address, epsilon, seed in ((run.address, 1.0, 4), (run.into["e0.1"], 0.1, 4), (run.into["r2"], 1.0, 6)):
        page, query = split(address)
        values = scenes.read(page, query, scenes.explore)[0].values
        assert (page, values["e"], values["s"], values["a"]) == ("explore", epsilon, seed, "nsm")


def did(monkeypatch, **found):
    slide = Slide("x", "explore?v=1&d=town&a=nsm&k=5&e=1&s=4")
    monkeypatch.setattr(show_module, "_component", lambda **_: found)
    run = staged(slide)
    made = {run.piece.name: pictures.Picture("", "alt", ("one",))}
    return show_module.show([(slide, run, made)], start=0, mode="light", ready=""), run, slide


def test_what_a_show_asks_for_is_checked(monkeypatch):
    done, run, slide = did(monkeypatch, into={"slide": 1, "key": "5", "step": 2}, asked={"slide": 1, "epsilon": 0.1})
    assert done == (None, f"{run.into['5']}&t=2", (slide.scene, 0.1))
    for key in ("", "e9", 7, None):
        assert did(monkeypatch, into={"slide": 1, "key": key, "step": -1})[0].into == run.address
    for asked in ({"slide": 2, "epsilon": 1}, {"slide": 1, "epsilon": 0}, {"slide": 1, "epsilon": True}, [], "1"):
        assert did(monkeypatch, asked=asked, into={"slide": 2}, slide=7)[0] == (None, "", None)


@pytest.mark.slow
def test_a_curve_that_is_not_monotone_says_why():
    made, _ = picture("tradeoff?v=1&d=town&a=pe-means&e=0.5&e=1&e=1.5&e=2&runs=20")
    assert re.search(r"gets worse from ε \S+ to ε \S+: within the noise of 20 runs\.", made.titles[0])


DECK_OF_0_3 = """{"dpviz_deck": 1, "title": "A talk", "slides": [
 {"title": "Exact", "scene": "limits?v=1&d=city&play=1", "notes": "Watch.", "seconds": 15, "show": "picture"},
 {"title": "Run", "scene": "explore?v=1&d=town&a=pe-means&k=5&e=1&s=0&play=1", "notes": "", "seconds": 25,
  "show": "label"},
 {"title": "Costs", "scene": "tradeoff?v=1&d=town&a=nsm&a=pe-means&e=0.25&e=1&runs=10&s=0", "notes": "", "seconds": 0,
  "show": "picture"},
 {"title": "Alex", "scene": "attacker?v=1&d=town&a=pe-means&e=1&who=outlier", "notes": "", "seconds": 0,
  "show": "picture"}]}"""


def test_a_deck_of_the_version_before_opens():
    deck = from_json(DECK_OF_0_3)
    assert len(deck.slides) == 4 and deck.seconds == 40
    assert not any(staged(slide, varied=False).sentence for slide in deck.slides)


def test_what_would_take_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(scenes.runs, "seconds", lambda data, algorithm: 9.0)
    for scene in ("attacker?v=1&d=town&e=3", "again?v=1&d=town&a=nsm&k=4"):  # no stored runs
        with pytest.raises(ValueError, match="too long"):
            staged(Slide("", scene))


def test_share_offers_what_can_be_shown():
    assert set(PAGES) == scenes.STAGED.keys()


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: f"{plan.minutes} minutes")
def test_the_deck_of_a_plan_has_every_row_of_the_plan_and_takes_as_long(plan):
    deck = deck_of([LESSONS[name] for name in plan.lessons])
    assert deck.seconds == 60 * plan.minutes
    pages = [split(slide.scene)[0] for slide in deck.slides]
    rows = [*["learn"] * len(plan.lessons), *["explore"] * bool(plan.own), *["class"] * bool(plan.play)]
    assert pages == ["home", *rows, "limits"]
    assert not any(staged(slide, varied=False).sentence for slide in deck.slides)
    assert from_json(to_json(deck)) == deck


def test_start_class_and_limits_have_a_slide_in_short():
    start, _ = picture("home", "page")
    noisy = [one for one in noised.read() if one.epsilon is not None]
    found = [*(int(one.found[one.shown]) for one in noisy), 5]
    assert list(start.bigs) == [f"{count} of 5" for count in found] and len(start.titles) == len(found)
    assert all(
        re.search(rf"find {count}\D+of\D+5", words) for count, words in zip(found[:-1], start.titles, strict=False)
    )
    assert all(words.count(" · ") == 1 for words in start.titles) and staged(Slide("", "home", show="page")).step == 0
    assert "72 of 100 runs" in start.titles[-1] and "NOT PRIVATE" in start.figure
    uncovered, _ = picture("limits", "page")
    assert limits_in_short().keys() <= limits_in_words().keys() and uncovered.html.count("<tr>") == len(
        limits_in_short()
    )
    for words in re.findall(r"ε [\d.]+", limits_in_short()["The unit"]):
        assert words in limits_in_words()["The unit"] and words in uncovered.html
    assert "phones" in picture("class", "page")[0].html
    with pytest.raises(ValueError, match="Only Start, Class and Limits"):
        staged(Slide("", "explore?v=1&d=tiny&a=dpm&e=2", show="page"))


def test_a_link_is_kept_by_its_page_and_its_words():
    assert split("https://x.org/dp/explore?v=1&d=town#a") == ("explore", "v=1&d=town")
    assert split("/?v=1&e=4") == ("home", "v=1&e=4") and split("limits") == ("limits", "")


def picture(scene, show="picture"):
    one = staged(Slide("", scene, show=show))
    seen = []
    return one.piece.function(*one.piece.args, lambda done, total: seen.append((done, total))), seen


def test_a_picture_says_what_it_shows():
    made, seen = picture("explore?v=1&d=tiny&a=dpm&e=2")
    assert len(json.loads(made.figure)["frames"]) == len(made.titles) and "groups found" in made.titles[-1]
    counts = [int(big.split()[0]) for big in made.bigs]
    assert made.big == made.bigs[-1] and len(made.bigs) == len(made.titles) and counts[0] == 0
    assert made.titles[-1].count(f"{counts[-1]} of ") and "DPM" in made.promise and seen
    bare, _ = picture("explore?v=1&d=tiny&a=dpm&e=2&hide=kmeans")
    assert "groups" not in bare.titles[-1] and "NOT PRIVATE" in made.figure and "NOT PRIVATE" not in bare.figure
    assert bare.big.startswith("bet ≤ ") and not bare.bigs
    tops = [json.loads(one.figure)["layout"]["margin"]["t"] for one in (made, bare)]
    assert tops == [8, 8]  # no space is left for a title, and the mark of a map stands below it
    label, _ = picture("explore?v=1&d=tiny&a=dpm&e=2", "label")
    assert "PRIVACY LABEL" in label.html and not label.figure and label.big == "1 center"
    read, _ = picture("limits?v=1&d=iris")
    counted = [re.search(r"(\d+) of them people's", title)[1] + " of 150" for title in read.titles]
    assert (
        list(read.bigs) == counted and read.bigs[0] != read.bigs[-1] == read.big
    )  # the big number grows with the number of rings
    assert read.big == "1 of 150" and read.titles[-1].endswith("row computed, 1 of them people's")
    dark, _ = picture("limits?v=1&d=iris&noise=seeded")
    assert dark.big == "" and "arithmetic stops" in dark.small and dark.figure != read.figure
    keys = [[words for _, words in one.legend] for one in (read, dark)]  # exact centers have their own mark
    assert keys[0][0].startswith("exact") and keys[1][0].startswith("released")
    assert "square-open" in read.figure and "square-open" not in dark.figure and "diamond-open" not in read.figure
    assert all(
        mark in json.loads(read.figure)["layout"]["annotations"][-1]["text"] for mark in ("□ center", "○ flower")
    )


def test_the_number_of_groups_found_is_no_longer_so_far_at_the_end():
    made, _ = picture("explore?v=1&d=tiny&a=dpm&e=2")
    assert made.until.endswith("released center so far.") and made.small == made.until.replace(" so far", "")


def test_slides_in_words_say_what_the_label_of_the_run_says():
    scene = DEFAULT.slides[4].scene
    data, algorithm, seed, *_ = staged(Slide("", scene, show="label")).piece.args
    trace = replay(data, algorithm, seed, lambda *_: None).trace
    lines, made = facts(trace), {show: picture(scene, show)[0].html for show in WORDS}
    for show, names in (("promise", ("Protects", "Promise", "In a bet")), ("trust", ("Trusts", "Public inputs"))):
        assert all(html.escape(lines[name]) in made[show] for name in names)
    assert f"at most {odds_of_any(trace.claimed)} times in 100" in made["promise"]
    assert all(html.escape(words) in made["gaps"] for words in (lines["Not protected"], *limits_in_short().values()))
    rows = re.findall("<tr>(.*?)</tr>", made["why"])[1:]
    assert len(rows) == 5 and [("<th>" in row) for row in rows] == [False, False, True, False, False]
    stop = files.read("city", "nsm").at(1.0)
    assert f"{(stop.found == 8).sum()} of {len(stop.found)} runs" in rows[2] and f"≤ {trace.claimed.odds} of" in rows[2]
    assert "20 of 20 stored runs, and in" in picture(scene, "why")[0].small
    unstored, _ = picture("explore?v=1&d=tiny&a=dpm&e=3", "why")
    assert "only bets are compared" in unstored.small
    for bad, words in (("learn?v=1&lesson=exact", "Only a run on Watch"), ("explore?v=1&d=town&a=kmeans&k=5", "no ε")):
        with pytest.raises(ValueError, match=words):
            staged(Slide("", bad, show="why"))


def test_a_deck_as_a_page_holds_every_slide_and_no_markup_of_its_titles():
    bad = "</script><b>x"
    shown = [Shown(bad, picture("explore?v=1&d=tiny&a=dpm&e=2")[0], bad), Shown("", picture("limits", "page")[0])] * 20
    page = deck(bad, shown)
    record = json.loads(re.search('id="slides">(.*?)</script>', page, re.DOTALL)[1])
    assert len(record) == MOST_SLIDES and record[0]["title"] == record[0]["notes"] == bad and "<b>x" not in page
    assert not {*re.findall(r"(?:src|href)=.", page)} - {'href="#'} and "default-src 'none'" in page
    assert all(re.search(f"--{name}:", page) for name in ("bg", "series-3"))


@pytest.mark.slow
def test_clouds_games_and_curves_have_their_picture(monkeypatch):
    monkeypatch.setattr(pictures, "AGAIN", 2)
    monkeypatch.setattr(pictures, "CLOUD", 2)
    made, _ = picture("again?v=1&d=tiny&a=dpm&e=2")
    assert len(made.titles) == 5 and made.titles[3].startswith("ε 2")
    made, seen = picture("attacker?v=1&d=tiny&a=dpm&who=outlier")
    assert made.big.startswith("bet ≤ ") and seen[-1] == (4, 4)
    assert "best known attack" not in made.titles[0]  # no share without stored rounds, which luck would decide
    made, _ = picture("tradeoff?v=1&d=tiny&a=dpm&e=1&e=4&runs=2")
    assert made.big and "2 runs" in made.titles[0] and "NOT PRIVATE" in made.figure
    with pytest.raises(ValueError, match="different promises"):
        picture("tradeoff?v=1&d=tiny&a=dpm&a=stemmer-kaplan-local&e=4&runs=2")


def test_a_slide_of_reruns_shows_the_stored_runs_or_makes_the_same_ones(monkeypatch):
    address = "again?v=1&d=tiny&a=dpm&e=2"
    with monkeypatch.context() as patched:
        patched.setattr(atlas, "chart", lambda *which: None)
        made, _ = picture(address)
    monkeypatch.setattr(pictures, "rerun", lambda *_, **__: pytest.fail("it was made again"))
    stored, _ = picture(address)
    assert stored.titles == made.titles and len(made.titles) == 5


def test_the_default_decks_game_and_curves_come_from_stored_runs(monkeypatch):
    for name in ("play", "execute"):
        monkeypatch.setattr(pictures, name, lambda *_, **__: pytest.fail("it was made again"))
    shown = {split(one.scene)[0]: picture(one.scene)[0] for one in DEFAULT.slides if "explore" not in one.scene[:7]}
    assert "rounds the best known attack" in shown["attacker"].titles[0] and shown["attacker"].big == "bet ≤ 55 of 100"
    assert (
        "2,000 rounds" in shown["attacker"].titles[0] and "any method with this ε and δ: 74" in shown["attacker"].small
    )
    assert "mean of 50 runs; ticks at the top" in shown["tradeoff"].titles[0]


def test_slides_that_say_the_same_task_and_what_you_hand_out_show_the_same_people_and_k():
    """The second slide answers the first, and the last one hands out the second one's centers."""
    exact, private, _, _, label, *_ = DEFAULT.slides
    asked = [scenes.read(*split(one.scene), scenes.STAGED[split(one.scene)[0]][0])[0].values for one in DEFAULT.slides]
    data = catalog.sample(asked[0]["d"])
    assert asked[1]["d"] == asked[0]["d"] and asked[1]["k"] == data.n_clusters
    assert label.scene == private.scene.removesuffix("&play=1") and "same" in private.title and "play=1" in exact.scene
    made, _ = picture(private.scene)
    assert made.big == f"{data.n_clusters} of {data.n_clusters}" and f"{len(data.X):,} people" in private.notes
    handed, _ = picture(label.scene, "label")
    trace = replay(data, *staged(label).piece.args[1:3], lambda *_: None).trace
    cells = re.findall(r"<td>(-?[\d.,]+) ± ([\d.,]+)</td>", handed.html)
    assert handed.html.count("<tr>") - handed.html.count("<tr><th scope=row") == 1 + len(trace.cluster_centers)
    assert [float(value.replace(",", "")) for value, _ in cells[1::3]] == pytest.approx(
        trace.cluster_centers[:, 0], abs=6e-3
    )
    assert "made up, so the label reads DEMO" in handed.small and "DEMO: NOT A RELEASE" in handed.html


@pytest.mark.slow
def test_no_number_is_the_big_one_of_two_slides_of_the_default_deck():
    bigs = [
        picture(one.scene, one.show)[0].big for one in DEFAULT.slides if one.show not in ("promise", "trust", "gaps")
    ]
    assert all(bigs) and len(set(bigs)) == len(bigs) and sum("of 100" in big for big in bigs) == 1


def test_the_slide_on_costs_marks_where_privacy_is_free_and_says_it_in_the_units_of_the_map():
    (slide,) = (one for one in DEFAULT.slides if one.scene.startswith("tradeoff"))
    made, _ = picture(slide.scene)
    epsilon = float(made.big.removeprefix("ε "))
    stored = {stop: files.read(*STORY).at(stop).losses[:50].mean() for stop in (0.25, 0.5, 1.0, 2.0, 4.0)}
    best = files.read(*STORY).best
    assert all((loss <= 1.1 * best) == (stop >= epsilon) for stop, loss in stored.items())
    near, exact = (f"{12 * math.sqrt(loss):.3g} km" for loss in (stored[epsilon], best))
    assert near in made.small and f"instead of {exact}" in made.small and "% farther" in made.small
    mark = next(trace for trace in json.loads(made.figure)["data"] if trace.get("name") == "free")
    assert set(mark["y"]) == {1.1} and mark["text"][0].startswith("free")


def test_a_busy_server_refuses_no_stored_game(monkeypatch):
    (game,) = (one for one in DEFAULT.slides if one.scene.startswith("attacker"))
    monkeypatch.setattr(scenes.runs, "seconds", lambda *_: 1e6)
    assert scenes._staged(game, False, ()).piece.name


def test_a_slide_of_the_default_deck_is_prepared_once():
    one, again = (staged(DEFAULT.slides[0], varied=False) for _ in range(2))
    assert one is again


def opened(deck=QUICK, query="v=1"):
    return ready(visit("present", query, deck=deck))


def ready(app):
    wait(app, lambda app: show(app) is not None or app.exception)
    assert not app.exception
    return app


def show(app):
    return next(iter(sent(app, "dpviz_show")), None)


@pytest.mark.slow
def test_the_page_sends_every_picture_before_the_show():
    app = opened(query="v=1&slide=2")
    data = show(app)
    assert data["ready"].startswith("2 of 2 scenes ready") and data["start"] == 1 and not data["open"]
    assert [one["title"] for one in data["slides"]] == ["One ¼", "Two"]
    assert data["slides"][0]["step"] == 1 and data["slides"][1]["play"] and data["slides"][0]["notes"] == "say\nthis"
    assert all(one["figure"] and one["titles"] for one in data["slides"])
    assert show(opened(query="v=1&slide=99&play=1"))["open"]


@pytest.mark.slow
def test_slides_move_go_and_come():
    app = opened()

    def titles():
        return [one.title for one in app.session_state["deck"].slides]

    app.button(key="slide_Later").click().run()
    assert titles() == ["Two", "One ¼"] and app.session_state["present_slide"] == 2  # the selected slide stays selected
    app.button(key="slide_remove").click().run()
    assert titles() == ["Two"] and app.button(key="slide_remove").disabled
    app.button(key="slide_add").click().run()
    assert titles() == ["Two", "A new slide"]
    app.text_input(key=f"slide_title_{app.session_state['deck_edit']}_1").set_value("Mine").run()
    assert titles() == ["Two", "Mine"] and not app.exception


@pytest.mark.parametrize("deck", [QUICK, Deck("Another", QUICK.slides[::-1])])
def test_a_saved_deck_opens_and_begins_with_its_first_slide(deck):
    app = opened()
    app.radio(key="present_slide").set_value(2).run()
    next(f for f in app.file_uploader if "deck" in f.key).upload("deck.dpviz.json", to_json(deck).encode()).run()
    assert not app.exception and app.session_state["deck"] == deck and app.session_state["present_slide"] == 1
    assert app.text_input(key=f"deck_title_{app.session_state['deck_edit']}").value == deck.title


def test_a_bad_slide_is_one_sentence_and_the_others_are_shown():
    bad = Deck("", (*QUICK.slides, Slide("Bad _one_", "papers?v=1")))
    app = opened(bad)
    (error,) = app.error
    assert error.value.startswith("Slide 3, Bad \\_one\\_: The page “papers” cannot be a slide")
    assert show(app)["ready"].startswith("2 of 3 scenes ready")
