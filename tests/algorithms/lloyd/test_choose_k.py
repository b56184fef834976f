"""Check Choose-k: what it tries, what leaves, what it says, and what it refuses."""

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.lloyd.choose_k import ChooseK
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.lloyd.choose_k import candidates_table
from dpviz.privacy.guarantee import Notion
from tests.traces import trace

X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 2500, axis=0) + np.random.default_rng(0).normal(0, 0.1, (5000, 2))
BOX = Domain.box(-1, 1, 2, n_public=5000)


def test_two_groups_are_found_and_cost_what_was_asked_for():
    run = ChooseK(k_max=5, epsilon=4.0).run(X, domain=BOX, seed=0)
    assert len(run.cluster_centers) == 2
    assert sorted(run.cluster_centers[:, 0].round(1).tolist()) == [-0.5, 0.5]
    assert (run.claimed.notion, run.claimed.epsilon, run.claimed.delta) == (Notion.CENTRAL, 4.0, 2e-6)
    assert run.claimed.mu is run.claimed.pure_epsilon is run.claimed.zcdp is None
    assert [entry.name for entry in run.ledger] == ["choice"]


def test_a_private_run_holds_nothing_about_the_others():
    run = ChooseK(epsilon=4.0, tries=3).run(X, domain=BOX, noise="secure")
    assert not any(step.hidden for step in run.steps)
    names = {"centers", "k", "k_min", "k_max", "tries", "most", "cost", "cost_sd"}
    assert set(run.steps[0].released) == names and len(run.ledger) == 1
    assert run.steps[0].released["tries"] == 3, "the mean, which is public"
    told = run.to_json(include_hidden=True)
    assert "tried" not in told and "scores" not in told


def test_the_steps_and_the_ledger_are_the_same_for_every_number_of_candidates():
    tried, shapes = set(), set()
    for seed in range(8):
        run = ChooseK(k_min=2, k_max=2, tries=2).run(X, domain=BOX, seed=seed)
        tried.add(int(run.steps[0].hidden[0].statistic["tried"][0]))
        shapes.add((tuple(step.kind for step in run.steps), tuple(step.n_releases for step in run.steps)))
    assert len(tried) > 2 and shapes == {(("choice", *["noisy-iteration"] * 3), (1, 1, 1, 1))}


def test_the_winner_has_the_smallest_score_of_those_that_count():
    for seed in range(3):
        step = ChooseK(epsilon=2.0).run(X, domain=BOX, seed=seed).steps[0]
        table, secret = candidates_table(step), step.hidden[0].statistic
        assert table.won.sum() == 1 and table[table.won].score.item() == table.score.min()
        assert table[table.won].k.item() == step.released["k"] and len(table) == secret["tried"][0]
        assert len(secret["ends"]) == table.k.sum()


def test_the_range_of_k_is_public_and_ends_at_the_number_of_rows():
    assert ChooseK().sizes(5000) == range(2, 11) and ChooseK().sizes(4) == range(2, 5)
    assert ChooseK(k_min=3, k_max=5).sizes(4000) == range(3, 6)
    assert ChooseK(exactly_k=True, n_clusters=7, k_min=9).sizes(50) == range(7, 8)


def test_exactly_k_chooses_among_starts():
    run = ChooseK(exactly_k=True, n_clusters=3).run(X, domain=BOX, seed=0)
    assert len(run.cluster_centers) == 3 and run.steps[0].released["k_min"] == run.steps[0].released["k_max"] == 3
    assert "its centers are published" in run.steps[0].title
    assert ChooseK.called(run.parameters, 3) == "Choose-k, 3 centers" and ChooseK.called({}, 3) == "Choose-k"


@pytest.mark.parametrize(
    ("values", "n", "words"),
    [
        ({"k_min": 6, "k_max": 5}, 100, "Choose-k: k_min must be <= k_max = 5; got 6"),
        ({"k_max": 20}, 10, "Choose-k: k_max must be <= n = 10; got 20"),
        ({"k_min": 12, "k_max": 12}, 10, "Choose-k: k_min must be <= n = 10; got 12"),
        ({"k_min": 12}, 100, "Choose-k: k_min must be <= 10, the largest k without a k_max; got 12"),
        ({"tries": 0}, 100, "Choose-k: tries must be >= 1; got 0"),
    ],
)
def test_a_bad_range_is_refused_before_anything_is_read(values, n, words):
    with pytest.raises(ValueError, match=words):
        ChooseK(**values).check_domain(Domain.box(-1, 1, 2, n_public=n), n)


def test_it_advises_against_too_few_rows_and_doubts_a_choice_by_noise_and_the_end_of_the_range():
    assert any("are too few to try 10 centers" in line for line in ChooseK().advice(2, 300))
    assert ChooseK().advice(2, 50_000) == ()
    few = ChooseK(epsilon=0.2).run(X[::100], domain=Domain.box(-1, 1, 2, n_public=50), seed=0)
    assert any("noise rather than rows may have chosen k" in line for line in few.warnings)
    end = ChooseK(epsilon=20.0, k_min=1, k_max=2).run(X, domain=BOX, seed=0)
    assert any("the largest k that was tried won" in line for line in end.warnings)
    assert ChooseK(epsilon=20.0).run(X, domain=BOX, seed=0).warnings == ()


def film(hidden):
    data, run = load_sample("town"), trace("choose-k", "town", epsilon=4.0)
    view = View(run, LIGHT, (0, 1), data.columns, data.units, people=data.X if hidden else None, hidden=hidden)
    return run, pane(run).events(view, pane(run).shots(run))


def test_in_demo_small_pictures_of_the_candidates_appear_and_all_but_one_fall():
    run, told = film(hidden=True)
    start, tried, chosen = told[0]
    assert [one.kind for one in told[0]] == ["start", "try", "choose"] and [e.pays for e in told[0]] == [0, 1, 0]
    table = candidates_table(run.steps[0])
    dots = tried.acts[-1]
    assert len(dots["to"]["x"]) == table.k.sum() and dots["look"]["marker"]["color"] == LIGHT.hidden
    falling = [act for act in chosen.acts if "fall" in act]
    assert len(falling[-1]["to"]["x"]) == table.k.sum() - run.steps[0].released["k"]
    assert all(event.kind == "move" and event.pays == 0 for events in told[1:] for event in events)


def test_without_secrets_the_film_shows_no_candidate():
    _, told = film(hidden=False)
    assert [len(event.acts) for event in told[0]] == [1, 1, 1]


def test_it_is_listed_beside_the_other_methods_of_its_family():
    slugs = list(ALGORITHMS)
    assert slugs.index("fastlloyd") < slugs.index("choose-k") < slugs.index("eugkm") and ChooseK.finds_k()
