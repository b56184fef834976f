"""Check that a lesson's sentences match its pictures for every draw, as read from the drawn circles and centers."""

import json
import math
import re

import numpy as np
import pytest

from dpviz import lessons
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import STORY
from dpviz.atlas.files import read
from dpviz.figures.kit.theme import LIGHT
from dpviz.lessons import _RUNS, LESSONS, SEEDS, glossary, legend, noise, panels, rounds, screen, sheets
from dpviz.lessons.plans import SLACK, plan_of, plans
from dpviz.numbers import chance, length, number
from dpviz.privacy.accounting import default_delta, epsilon_of_mu, mu_of_epsilon
from dpviz.privacy.guarantee import Neighboring
from tests.lessons.exhibits import exhibit
from tests.tiers import tiers

RIGHT = {  # the options that should be right for every draw
    "exact": {1},
    "noise": {3},
    "screen": {1, 2, 4, 5, 7},
    "bounds": {0},
    "votes": {2},
    "small": {1},
    "looks": {0},
    "rho": {1},
    "trust": {2},
    "person": {3},
    "rounds": {0},
    "lottery": {3},
    "choice": {2},
}
every_draw = pytest.mark.parametrize("seed", tiers(SEEDS, 1))
every_lesson = pytest.mark.parametrize("name", LESSONS)
FOUND, MISSED = "group that is found (not private)", "group without a center (not private)"


ANY = re.compile(r"any method with (?:the same|this) (?:ε|promise)")


@every_lesson
def test_a_bet_says_its_kind_wherever_a_lesson_names_one(name):
    shown = exhibit(name, 0)
    odds = re.compile(r"at\s+most \d+ (?:times in|of) 100")
    lesson = LESSONS[name]
    for sentence in (*shown.titles, lesson.explain, *(option.reply for option in lesson.options), *lesson.errors):
        filled = lesson.fill(sentence, shown)
        assert not odds.search(filled) or ANY.search(filled), filled


def test_the_course_begins_with_exact_centers_and_epsilon_by_the_method_of_start():
    first, second, third = list(LESSONS.values())[:3]
    assert (first.name, second.name) == ("exact", "noise")
    assert {second.methods, third.methods} == {ALGORITHMS[STORY[1]].name}


def test_stored_runs_are_those_that_the_lesson_makes():
    town, epsilon = noise.ground("town"), noise.EPSILONS[-1]
    made = noise.rerun([town.data], town.algorithm("pe-means", epsilon=epsilon), [9])
    taken = noise._taken(read(*STORY), epsilon)
    assert np.allclose(taken.centers[9], made.centers[0], atol=1e-5) and np.isclose(taken.losses[9], made.losses[0])
    assert noise._taken(read(*STORY), 0.125) is None and noise._taken(None, 1.0) is None


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: plan.minutes)
def test_a_plan_fills_its_minutes_with_lessons_that_exist(plan):
    assert set(plan.lessons) <= LESSONS.keys() and plan_of([LESSONS[name] for name in plan.lessons]) is plan
    rest = plan.minutes - plan.start - plan.own - plan.play - plan.limits
    assert plan.each >= 4 and rest == (plan.each + SLACK) * len(plan.lessons)


def test_the_longest_plan_has_fewer_lessons_than_the_course_and_deepens_them():
    longest = plans()[-1]
    assert longest.minutes == 90 and len(longest.lessons) < len(LESSONS) / 2
    assert {"person", "rounds", "lottery", "choice"} < set(longest.lessons)
    assert longest.own + longest.play >= 30 and longest.each > plans()[1].each


def words(lesson):
    """Return every sentence of a lesson."""
    single = ("promise", "setting", "question", "task", "hint", "explain", "keep", "fool", "goal")
    options = [text for option in lesson.options for text in (option.text, option.reply)]
    return [*(getattr(lesson, name) for name in single), *lesson.talk, *lesson.errors, *options]


def test_lessons_are_a_course():
    assert [lesson.number for lesson in LESSONS.values()] == sorted({lesson.number for lesson in LESSONS.values()})
    assert LESSONS.keys() == _RUNS.keys() == RIGHT.keys()
    for lesson in LESSONS.values():
        assert 3 <= len(lesson.options) <= 9 and lesson.terms and lesson.talk and lesson.errors
        assert set(lesson.terms) <= glossary().keys()
        assert lesson.several or all(option.reply for option in lesson.options)
        assert len(lesson.explain.split()) < 130


@every_draw
@every_lesson
def test_words_are_filled_by_the_run_and_the_meant_answer_is_right(name, seed):
    lesson, shown = LESSONS[name], exhibit(name, seed)
    assert shown.right == RIGHT[name]
    assert 0 <= shown.first < len(shown.titles) and 0 <= shown.hint < len(shown.titles)
    for sentence in words(lesson):
        filled = lesson.fill(sentence, shown)
        assert not set("{}") & set(filled) and "nan" not in filled.lower().split()


def circles(update):
    """Return the (center, radius) of each drawn circle."""
    points = np.stack([np.array(update["x"], dtype=float), np.array(update["y"], dtype=float)], axis=1)
    rings = [ring for ring in np.split(points, np.flatnonzero(np.isnan(points[:, 0]))) if len(ring) > 3]
    middles = [(np.nanmin(ring, axis=0) + np.nanmax(ring, axis=0)) / 2 for ring in rings]
    return [(middle, float(np.nanmax(ring[:, 0]) - middle[0])) for middle, ring in zip(middles, rings, strict=True)]


def drawn(panel):
    """Yield (solid circles, dashed circles, centers) for every frame."""
    names = [trace.name for trace in panel.figure.data]
    for frame in panel.figure.frames:
        by_name = {names[index]: update for index, update in zip(frame.traces, frame.data, strict=True)}
        at = by_name["released center"]
        centers = np.stack([np.array(at.x, dtype=float), np.array(at.y, dtype=float)], axis=1)
        yield circles(by_name[FOUND]), circles(by_name[MISSED]), centers


def reached(rings, centers):
    """Return how many circles hold a center that is nearer to their middle than to any other circle's middle."""
    middles = np.stack([middle for middle, _ in rings])
    own = [int(np.linalg.norm(middles - center, axis=1).argmin()) for center in centers if np.isfinite(center).all()]
    near = zip(own, centers[np.isfinite(centers).all(axis=1)], strict=True)
    return len({i for i, center in near if np.linalg.norm(center - rings[i][0]) <= rings[i][1] * (1 + 1e-5)})


COUNTED = {  # patterns of titles that state the number of found groups for each plane
    "votes": r"left, the 5 trial points with the most votes: (\d) of 5 groups .* survivors: (\d) of 5",
    "small": r"(\d) of 7 groups have a center",
    "trust": r"(\d) of 6 groups have a center",
    "rounds": r"(\d) of 5 neighborhoods ha(?:s|ve) a center",
    "bounds": r"(\d) of 5 neighborhoods have a center",
}


@every_draw
@pytest.mark.parametrize("name", COUNTED)
def test_the_sentence_counts_the_circles_that_are_drawn_around_a_center(name, seed):
    shown = exhibit(name, seed)
    planes = [panel for panel in _RUNS[name].panels(shown.runs, LIGHT) if panel.name == "plane"]
    said = [re.search(COUNTED[name], title) for title in shown.titles]
    assert sum(map(bool, said)) == len(shown.titles) / (
        3 if name == "votes" else 1
    )  # votes are counted in two pictures
    for i, plane in enumerate(planes, 1):
        for (found, missed, centers), counts in zip(drawn(plane), said, strict=True):
            assert counts is None or len(found) == int(counts[i]) == reached([*found, *missed], centers)


@pytest.mark.slow
@every_draw
def test_both_films_of_the_votes_tell_the_same_events_and_end_at_their_pictures(seed):
    shown = exhibit("votes", seed)
    left, right = (one.figure.layout.meta["film"] for one in _RUNS["votes"].panels(shown.runs, LIGHT)[:2])
    assert [[event["kind"] for event in told] for told in left] == [[event["kind"] for event in told] for told in right]
    assert [event["ms"] for told in left for event in told] == [event["ms"] for told in right for event in told]
    assert all(event["acts"] for told in (*left, *right) for event in told)
    assert shown.titles[shown.hint].startswith(f"Round {shown.facts['round']} of ")
    assert f"{shown.facts['fewest']} of 5" in shown.titles[shown.hint] and "left, the 5" in shown.titles[shown.first]


@every_lesson
def test_all_pictures_of_a_lesson_have_the_frames_of_its_sentences(name):
    shown = exhibit(name, 0)
    found = panels(name, shown, LIGHT)
    assert {len(panel.figure.frames) for panel in _RUNS[name].panels(shown.runs, LIGHT)} == {len(shown.titles)}
    assert 1 <= sum(panel.name == "plane" for panel in found) <= 2 and all(panel.alt for panel in found)
    assert all("NOT PRIVATE" in panel.figure.to_json() for panel in found if panel.name == "plane")
    assert legend(name)


@every_lesson
def test_a_worksheet_gives_nothing_away_and_the_notes_give_all(name):
    lesson, shown = LESSONS[name], exhibit(name, 0)
    paper = sheets.worksheet(lesson, shown)
    notes = sheets.notes(lesson, shown, 7, {"Run": "http://x/learn?a=1&b=<2>"})
    assert paper.count('class="line"') >= 8 and paper.count("<li") == len(lesson.options)
    for told in (
        lesson.explain,
        lesson.keep,
        lesson.hint,
        *(option.reply for option in lesson.options if option.reply),
    ):
        filled = sheets.html.escape(lesson.fill(told, shown))
        assert filled not in paper and filled in notes
    assert sheets.clock(7) in notes
    assert notes.count("<b>Right.</b>") == len(shown.right) and "a=1&amp;b=&lt;2&gt;" in notes


def test_circles_and_centers_are_read_from_a_drawing():
    around = 2 * np.stack([np.cos(np.linspace(0, 6.3, 200)), np.sin(np.linspace(0, 6.3, 200))], axis=1)
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([around + [5, 5], gap, around - [5, 5], gap])
    rings = circles({"x": points[:, 0], "y": points[:, 1]})
    assert len(rings) == 2 and abs(rings[0][1] - 2) < 0.01
    assert reached(rings, np.array([[5.0, 6.9], [5.0, 4.0]])) == 1  # two centers in one circle count as one group
    assert reached(rings, np.array([[5.0, 7.1], [-5.0, -4.0]])) == 1


def test_what_the_screen_says_may_leave_is_what_a_private_run_releases():
    town = screen.ground("town").data
    trace = ALGORITHMS["pe-means"](n_clusters=5, epsilon=1.0).run(town.X, domain=town.domain, noise="secure")
    record = json.loads(trace.to_json())
    votes = [step["released"] for step in record["steps"]]
    numbers = set(re.findall(r"-?\d+\.\d+", trace.to_json()))
    there = {
        "released centers": bool(record["cluster_centers"]),
        "noisy votes": any("noisy_votes" in step["items"] for step in votes),
        "promise": record["claimed"]["epsilon"] == pytest.approx(1.0) and record["claimed"]["mu"] > 0,
        "bounds": record["domain"]["low"] == town.domain.low.tolist(),
        "seed": record["seed"] is not None,
        "people": bool(numbers & {repr(x) for x in town.X.ravel().tolist() if len(repr(x).partition(".")[2]) == 3}),
        "KMeans": "kmeans" in trace.to_json().lower(),
        "loss": "loss" in trace.to_json(),
        "groups found": "found" in trace.to_json(),
    }
    assert there == screen.ITEMS and not any(step["hidden"] for step in record["steps"])


@every_draw
def test_the_seed_of_a_screen_gives_the_noise_that_its_words_take_off(seed):
    facts = exhibit("screen", seed).facts
    assert abs(float(facts["noisy"]) - float(facts["noise"]) - float(facts["true"])) < 0.11
    assert float(facts["true"]).is_integer()


@every_draw
def test_looks_are_paid_for_as_the_accountant_says_and_their_mean_is_nearer(seed):
    shown = exhibit("looks", seed).runs
    one = shown.traces[0].claimed
    for looks, promise in enumerate(shown.spent, 1):
        wanted = epsilon_of_mu(one.mu * math.sqrt(looks), one.delta)
        assert promise.epsilon == pytest.approx(wanted, rel=1e-6)
    assert shown.off(shown.means)[-1] < shown.off(shown.centers).mean()


@every_draw
def test_all_models_of_trust_promise_the_same_for_one_row_changed(seed):
    promises = exhibit("trust", seed).runs.promises
    assert [round(promise.epsilon, 6) for promise in promises] == [1.0] * 4
    assert all(promise.neighboring is Neighboring.REPLACE for promise in promises)
    assert all(promise.delta <= 0.2 / 6_000 for promise in promises)


@every_draw
def test_rows_ringed_as_peoples_are_rows_of_the_data_and_the_others_are_not(seed):
    shown = exhibit("exact", seed)
    plane = next(panel for panel in _RUNS["exact"].panels(shown.runs, LIGHT) if panel.name == "plane")
    names = [trace.name for trace in plane.figure.data]
    there = {tuple(row) for row in shown.runs.ground.data.X.astype(np.float32).tolist()}
    for frame, title in zip(plane.figure.frames, shown.titles, strict=True):
        counts = []
        for name, fits in (("a person's row, computed (not private)", True), ("computed, but nobody's row", False)):
            ringed = frame.data[list(frame.traces).index(names.index(name))]
            rows = np.float32([ringed.x, ringed.y]).T
            rows = [tuple(row) for row in rows.tolist() if np.isfinite(row).all()]
            assert all((row in there) == fits for row in rows)
            counts.append(len(rows))
        right, wrong = counts
        assert f"{right + wrong} row" in title and f"{right} of them" in title


@every_draw
def test_noise_that_hides_a_person_ruins_the_averages_and_little_noise_hides_nobody(seed):
    """The lesson's words: close at ε 100, as good as blind at ε 1, where the averages lose neighborhoods."""
    shown = exhibit("exact", seed)
    near, far, blindly = shown.runs.off
    assert near < 2.0 and far > 0.9 * blindly and near < far / 4  # km in a town of 24 km
    assert shown.facts["found"] <= 3 < 5 == shown.facts["exact"] == shown.facts["groups"]
    assert shown.facts["read"] > 0


def test_who_knows_the_other_rows_computes_a_row_from_one_mean():
    X = np.array([[0.25, 1.0], [2.0, 0.5], [0.75, 0.25]])
    mean = X.mean(axis=0)
    np.testing.assert_allclose(3 * mean - X[1:].sum(axis=0), X[0])
    assert "Who knows the other rows computes yours from one mean" in LESSONS["exact"].errors[0]


def test_a_symbol_and_its_number_stay_on_one_line():
    lesson = LESSONS["screen"]
    promise = lesson.fill("ε {epsilon}, δ {delta}, μ {mu}", exhibit("screen", SEEDS[0]))
    assert (
        promise.count("\N{NO-BREAK SPACE}") == 3
        and lesson.fill("the ε of 3", exhibit("screen", SEEDS[0])) == "the ε of 3"
    )


def captions(name, seed):
    """Return the titles of a lesson's figures, planes first."""
    found = _RUNS[name].panels(exhibit(name, seed).runs, LIGHT)
    return [panel.figure.layout.title.text for panel in found]


@every_draw
@every_lesson
def test_every_caption_is_computed_short_and_gives_no_later_step_away(name, seed):
    """Compare the caption of a plane, which is seen before the prediction, with the sentence about the step shown."""
    shown = exhibit(name, seed)
    titles = captions(name, seed)
    assert all(re.search(r"\d", title) and len(title) <= 62 for title in titles), titles
    if name in COUNTED:
        counts = re.search(COUNTED[name], shown.titles[shown.first]).groups()
        assert [re.search(r"(\d) of \d", title)[1] for title in titles[: len(counts)]] == list(counts)
    if name == "noise":
        assert f"±{shown.facts['scatter_many'].removeprefix('±')} over {shown.facts['runs']} runs" in titles[0]


@every_draw
def test_captions_beside_the_plane_are_read_off_the_drawn_numbers(seed):
    for name in ("exact", "looks", "rho", "small", "trust", "person", "rounds", "lottery", "choice"):
        panel = next(one for one in _RUNS[name].panels(exhibit(name, seed).runs, LIGHT) if one.name == "side")
        title, drawn_ = panel.figure.layout.title.text, np.asarray(panel.figure.data[0].y, dtype=float)
        wanted = {
            "exact": [f"Round {len(drawn_)}: {drawn_[-1]:.0f} people's "],
            "looks": [f"{len(drawn_)} looks spend ε {drawn_[-1]:.3g} "],
            "rho": [f"{drawn_[0]:.0f} to {drawn_[-1]:.0f} of 100"],
            "small": [f"{drawn_[0]:.2f}×", f"{drawn_[-1]:.2f}×"],
            "trust": [f"{drawn_.max():.2f}×" if drawn_.max() < 10 else f"{drawn_.max():,.0f}×"],
            "person": [f"up to {length(drawn_[1:].max(), 'km', 2)}"],
            "lottery": [f", {drawn_[0]:.0f} at ε 4"],
            "choice": [f"without Alex: {drawn_[0]:.0f}, with Alex: {drawn_[1]:.0f}"],
            "rounds": [f"{drawn_[0]:.2f}× after 1 round", f"{drawn_[-1]:.2f}× after {rounds.ROUNDS[-1]}"],
        }[name]
        assert all(words in title for words in wanted), title


def test_the_limits_price_the_rows_of_a_person_at_one_delta():
    words = " ".join(lessons.limits_in_words()["The unit"].split())
    n = 5_000
    delta = default_delta(n)
    two, ten = (number(epsilon_of_mu(rows * mu_of_epsilon(1.0, delta), delta)) for rows in (2, 10))
    assert f"2 rows has ε {two} at the same δ, {chance(delta)}, and a person with 10 rows has ε {ten}." in words
    assert f"with {n:,} people" in words and float(ten) > 12 > 3 > float(two) > 2
