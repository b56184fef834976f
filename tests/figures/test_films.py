"""Check films: their events lead to every shot, draw what is in the trace, and in PRIVATE depend on released values."""

import dataclasses
import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import columns, pane, printed
from dpviz.figures.evolution.pe_means import votes_of
from dpviz.figures.kit.acts import nearest, sizes
from dpviz.figures.kit.layers import disc_sizes
from dpviz.figures.kit.panels import people_drawn, spend_table
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.trees.dpm_film import region_of
from dpviz.figures.trees.dpm_scores import scores_table
from dpviz.figures.trees.lsh_splits_film import nodes_of
from dpviz.testing.runs import built
from tests.figures.panes import ONE_OF_A_PANE
from tests.tiers import tiers
from tests.traces import MADE, on_two_groups, trace

LLOYD = ("dp-lloyd", "sulloyd", "glloyd", "fastlloyd")
EARLIER = ("pe-means", "aug-pe", "hdpe-means", "dpm")
PAID_ONCE = [slug for slug in ALGORITHMS if slug not in EARLIER]  # one event of a picture with a release pays for all


def shown(run, *, people=None):
    """Return the view of a run on made rows, with hidden layers if people are given."""
    d = run.domain.n_features
    axes = (0, 1) if d > 1 else None
    return View(run, LIGHT, axes, [f"c{i}" for i in range(d)], [""] * d, people=people, hidden=people is not None)


def film_of(view):
    plane = next(panel for panel in printed(view) if panel.name == "plane")
    return json.loads(plane.figure.to_json()), plane.figure.meta["film"]


@pytest.mark.parametrize("slug", tiers(ALGORITHMS, [*ONE_OF_A_PANE, "aug-pe"]))
def test_events_lead_to_every_shot_and_what_is_paid_is_paid_in_one(slug):
    run = on_two_groups(slug, 2)
    figure, told = film_of(shown(run, people=MADE["two groups, 2 columns"]))
    film, shots = figure["layout"]["meta"]["film"], pane(run).shots(run)
    assert len(film) == len(told) == len(shots) == len(figure["frames"])
    before = 0
    for events, words, shot in zip(film, told, shots, strict=True):
        paying = sum(event.get("pays", 1) for event in events)
        assert paying == (shot.releases > before) if slug in PAID_ONCE else paying <= 1
        before = shot.releases
        assert all(300 <= event["ms"] <= 5000 and event["head"] for event in events)
        assert [event["ms"] for event in events] == [one["ms"] for one in words]
        for event in events:
            layers = [act["layer"] for act in event.get("acts", ()) if "layer" in act]
            assert all(0 <= layer < len(figure["data"]) for layer in layers)
    assert any("acts" in event for event in film[0])


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug in ALGORITHMS if slug != "kmeans"])
def test_without_hidden_layers_a_film_is_the_same_whatever_the_secrets_are(slug):
    data, run = load_sample("town"), trace(slug, "town", n_clusters=5, epsilon=1.0)
    method = built(ALGORITHMS[slug], n_clusters=5, epsilon=1.0)
    other = method.run(data.X[::2], domain=data.domain, seed=0)  # one row more may hide behind whole pixels
    # the same releases with secrets of another file: whatever reads a secret draws something else
    secrets: dict[str, list] = {}
    for step in other.steps:
        if step.hidden:
            secrets.setdefault(step.kind, []).append(step.hidden)
    kept = [(step.kind, step.hidden) for step in run.steps if step.hidden]
    assert any(differs(mine, secrets[kind][0]) for kind, mine in kept if kind in secrets)
    steps = [
        dataclasses.replace(step, hidden=secrets[step.kind][i % len(secrets[step.kind])]) if step.hidden else step
        for i, step in enumerate(run.steps)
    ]
    swapped = dataclasses.replace(run, steps=steps)
    assert film_of(shown(run)) == film_of(shown(swapped))


def differs(some, others):
    """Return whether the true values of two steps differ."""
    pairs = [(one.statistic, other.statistic) for one, other in zip(some, others, strict=False)]
    return any(not np.array_equal(one[name], other[name]) for one, other in pairs for name in one if name in other)


def test_every_spark_flies_to_the_trial_point_that_got_the_vote():
    data, run = load_sample("town"), trace("pe-means", "town", n_clusters=5, epsilon=1.0)
    for step in run.steps:
        votes = votes_of(step.released["population"], data.domain.normalize(data.X))
        counted = np.bincount(votes, minlength=len(step.released["population"]))
        assert np.abs(counted - step.hidden[0].statistic["votes"]).sum() <= 4  # rows on a border, before rounding
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    events = pane(run).events(seen, pane(run).shots(run))
    vote, noise = events[1]
    assert (vote.kind, noise.kind, vote.pays, noise.pays) == ("vote", "noise", 0, 1)
    sparks = vote.acts[2]
    assert sparks["look"]["marker"]["color"] == LIGHT.hidden  # orange: secret
    assert len(sparks["from"]["index"]) == len(sparks["to"]["index"]) == 800
    assert noise.acts[2]["color"] == [LIGHT.hidden, LIGHT.released]  # it turns blue where noise is added


@pytest.mark.parametrize("slug", LLOYD)
def test_sums_lead_to_the_true_means_and_noise_moves_them_to_the_released_ones(slug):
    data, run = load_sample("town"), trace(slug, "town", n_clusters=5, epsilon=1.0)
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    rows = run.domain.clip(run.domain.normalize(data.X))
    iterations = [step for step in run.steps if "raw" in step.released]
    told = pane(run).events(seen, pane(run).shots(run))[1:]
    for step, (assign,), (add, noise), (move,) in zip(iterations, told[::3], told[1::3], told[2::3], strict=True):
        assert [one.kind for one in (assign, add, noise, move)] == ["assign", "sum", "noise", "move"]
        assert [one.pays for one in (assign, add, noise, move)] == [False, False, True, False]
        squares = ((rows[:, None] - step.released["start"]) ** 2).sum(axis=2)
        near, counts = squares.argmin(axis=1), squares.min(axis=1) <= step.released["radius"] ** 2
        counts |= not step.released["constrained"]
        arrow = next(act for act in add.acts if act.get("look", {}).get("name") == "arrow")
        tips = next(act for act in noise.acts if act.get("look", {}).get("name") == "noisy mean")
        assert arrow["look"]["line"]["color"] == LIGHT.hidden and tips["color"] == [LIGHT.hidden, LIGHT.released]
        for j in range(5):
            x, y = seen.plane(rows[counts & (near == j)].mean(axis=0))
            assert (arrow["to"]["x"][j], arrow["to"]["y"][j]) == pytest.approx((x, y), abs=0.01)
            assert (tips["from"]["x"][j], tips["from"]["y"][j]) == pytest.approx((x, y), abs=0.01)
        raw = seen.plane(step.released["raw"])
        assert (tips["to"]["x"], tips["to"]["y"]) == (pytest.approx(raw[:, 0]), pytest.approx(raw[:, 1]))
        (rolling,) = (act["count"] for act in noise.acts if "count" in act)
        assert rolling[1] == [round(float(count)) for count in step.released["noisy_counts"]]
        assert np.abs(np.array(rolling[0]) - np.bincount(near[counts], minlength=5)).sum() <= 4  # rows on a border
        sparks = next(act for act in add.acts if act.get("gone"))
        assert len(sparks["to"]["index"]) <= 800 and ("index" in sparks["from"]) == (len(sparks["to"]["index"]) < 800)


@pytest.mark.parametrize("sample", ["town", "wine"])
def test_each_candidate_of_nsm_fills_with_its_true_count_and_ends_at_the_noisy_one(sample):
    data, run = load_sample(sample), trace("nsm", sample, n_clusters=5, epsilon=1.0)
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    rows, shots = run.domain.clip(run.domain.normalize(data.X)), pane(run).shots(run)
    for shot, events in zip(shots, pane(run).events(seen, shots), strict=True):
        step = run.steps[shot.step]
        if [event.kind for event in events] == ["vote", "noise"]:
            vote, noise = events
            true = np.bincount(nearest(rows, step.released["population"]), minlength=len(step.released["population"]))
            pile, discs = vote.acts[1], noise.acts[-1]
            assert pile["size"][1].tolist() == np.rint(disc_sizes(true[true > 0])).tolist()
            assert discs["color"] == [LIGHT.hidden, LIGHT.released] and discs["size"][1] is None
            arrivals = np.bincount(vote.acts[2]["to"]["index"], minlength=int((true > 0).sum()))
            assert (arrivals <= true[true > 0] + 1).all() and arrivals.sum() == min(len(rows), 800)
        elif step.kind == "correction":
            true = np.bincount(nearest(rows, step.released["start"]), minlength=len(step.released["start"]))
            (rolling,) = (act["count"] for act in events[-1].acts if "count" in act)
            assert np.abs(np.array(rolling[0]) - true).sum() <= 4
            assert rolling[1] == [round(float(count)) for count in step.released["noisy_counts"]]


def told_of(slug, sample="town"):
    """Return a run on a sample with the events of every shot, hidden layers included, and its rows in z units."""
    data, run = load_sample(sample), trace(slug, sample, n_clusters=5, epsilon=1.0)
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    return run, pane(run).events(seen, pane(run).shots(run)), run.domain.clip(run.domain.normalize(data.X))


def lit(event, data, run):
    """Return the masks of the people (n,) that an event's acts light up, one mask per act, and those of all drawn."""
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units)
    drawn = people_drawn(seen.flat(data.X))[0]
    chosen = [act["to"]["index"] for act in event.acts if act.get("look", {}).get("name") == "rows"]
    return [np.isin(np.arange(len(data.X)), drawn[some]) for some in chosen], np.isin(np.arange(len(data.X)), drawn)


def numbers_of(event):
    """Return the numbers that an event writes, at its beginning and at its end."""
    return next((act["count"] for act in event.acts if "count" in act), [[], []])


def test_privtree_shows_the_true_counts_of_its_boxes_and_leaves_fill_with_theirs():
    run, told, rows = told_of("privtree")
    for step, (ask, _) in zip(run.steps[:4], told[:4], strict=True):
        box = region_of(rows, step.released["low"], step.released["high"])
        first, last = numbers_of(ask)
        assert not any(first) and np.abs(np.array(last) - np.bincount(box)).max() <= 3  # rows on a border
    count, noise, search = told[-1]
    true = run.steps[-1].hidden[0].statistic["leaves"][run.steps[-1].released["leaf_counts"] > 0]
    arrivals = np.bincount(count.acts[2]["to"]["index"], minlength=len(true))
    assert (arrivals <= true).all() and arrivals.sum() > 700
    assert noise.acts[1]["size"][0].tolist() == np.rint(disc_sizes(true)).tolist() and not search.pays


@pytest.mark.parametrize("sample", ["town", "highdim"])
def test_whoever_lies_in_a_picked_cell_of_em_mc_is_covered_once(sample):
    run, told, rows = told_of("em-mc", sample)
    rows, seen = rows @ run.steps[0].released.get("matrix", np.eye(rows.shape[1])), np.zeros(len(rows), dtype=bool)
    for step, (_, cover) in zip(run.steps[:-2], told[:-2], strict=True):
        inside = np.abs(rows[:, None] - step.released["cells"]).max(axis=2) <= step.released["side"] / 2
        new = inside & ~seen[:, None]
        assert np.abs(np.array(numbers_of(cover)[1]) - new.sum(axis=0)).sum() <= 4  # cells are drawn inside the bounds
        if sample == "town":
            masks, drawn = lit(cover, load_sample(sample), run)
            assert (sum(masks, np.zeros(len(rows), dtype=bool)) == new.any(axis=1) & drawn).all()
        seen |= inside.any(axis=1)


def test_lsh_splits_slides_rows_to_the_side_that_counts_them():
    run, told, rows = told_of("lsh-splits")
    levels = [step for step in run.steps if step.kind == "split-level"]
    for t, (_, count) in enumerate(told[:3]):
        true, noisy = numbers_of(count)
        node = nodes_of(rows, levels, t + 1)
        assert np.abs(np.array(true) - [(node == one).sum() for one in levels[t + 1].released["nodes"]]).max() <= 1
        assert noisy == [round(float(one)) for one in levels[t + 1].released["noisy_counts"]]
        (below, above), drawn = lit(count, load_sample("town"), run)
        inside = np.isin(nodes_of(rows, levels, t), levels[t].released["nodes"][levels[t].released["branched"]]) & drawn
        assert (below == inside & (node % 2 == 0)).all() and (above == inside & (node % 2 == 1)).all()
        sides = [act for act in count.acts if "shift" in act]
        assert [np.sign(np.dot(act["shift"], levels[t].released["direction"])) for act in sides] == [-1, 1]


def test_noise_moves_the_averages_of_stemmer_kaplans_cells_from_the_true_ones():
    run, told, rows = told_of("stemmer-kaplan")
    data = load_sample("town")
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units)
    for step, (_, noise), (_, moved) in zip(run.steps[:4], told[0:8:2], told[1:8:2], strict=True):
        released = step.released
        keys = np.floor((rows + released["offset"]) / released["width"]).astype(int)
        homes = [(keys == key).all(axis=1) for key in released["keys"]]
        if numbers_of(noise)[0]:
            assert np.abs(np.array(numbers_of(noise)[0]) - [home.sum() for home in homes]).max() <= 2
            assert numbers_of(noise)[1] == [round(float(one)) for one in released["noisy_counts"]]
        (tips,) = (act for act in moved.acts if act.get("look", {}).get("name") == "noisy mean")
        middle = (released["keys"] + 0.5) * released["width"] - released["offset"]
        for i, j in enumerate(np.flatnonzero(released["kept"])):
            mean = middle[j] + (rows[homes[j]] - middle[j]).sum(axis=0) / released["noisy_counts"][j]
            assert (tips["from"]["x"][i], tips["from"]["y"][i]) == pytest.approx(tuple(seen.plane(mean)), abs=0.02)


def cell_of(rows, run):
    """Return the number of the cell of a run's public grid in which each row (n, d) is, z units."""
    parts, half = run.steps[0].released["parts"], run.domain.box_z
    at = np.clip(np.floor((rows + half) * parts / (2 * half)), 0, parts - 1).astype(int)
    return np.ravel_multi_index(tuple(at.T), tuple(parts))


@pytest.mark.parametrize("slug", ["eugkm", "dp-dbscan"])
def test_cells_of_a_grid_fill_with_true_counts_which_noise_turns_into_the_released_ones(slug):
    run, told, rows = told_of(slug)
    data, (count, noise, *_) = load_sample("town"), told[0]
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    plane = next(panel.figure for panel in pane(run).panels(seen) if panel.name == "plane")
    layer = next(i for i, one in enumerate(plane.data) if one.name == "cell")
    drawn = plane.frames[0].data[plane.frames[0].traces.index(layer)]
    places = run.domain.normalize(np.stack([drawn.x, drawn.y], axis=1).astype(float))
    true = np.bincount(cell_of(rows, run), minlength=len(run.steps[0].released["cells"]))[cell_of(places, run)]
    fills, first = count.acts[-1], noise.acts[0]["size"][0]
    assert (first != sizes(true)).sum() <= 3 and (true > 0).sum() > 50  # rows on a border
    assert fills["to"]["index"].tolist() == np.flatnonzero(first).tolist()
    assert fills["size"][1].tolist() == first[first > 0].tolist() and noise.acts[0]["size"][1] is None
    assert noise.acts[0]["color"] == [LIGHT.hidden, LIGHT.released] and not count.pays and noise.pays


def test_the_tables_of_all_days_add_up_to_the_true_means_that_noise_moves_on_the_last_evening():
    run, told, rows = told_of("continual")
    data, (arrive, noise), last = load_sample("town"), told[-1], run.steps[-1].released
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units)
    home, cells = cell_of(rows, run), np.flatnonzero(last["cell_counts"] > last["counts_sd"])
    true = np.bincount(home, minlength=100)[cells]
    full = true > 0
    means = np.array([rows[home == cell].mean(axis=0) for cell in cells[full]])
    assert full.sum() > 10
    (pile,) = (act for act in arrive.acts if act.get("look", {}).get("name") == "true counts")
    first = noise.acts[0]["from"]
    for ends, chosen in ((pile["to"], slice(None)), (first, full)):
        found = np.stack([ends["x"], ends["y"]], axis=1)[chosen]
        assert found == pytest.approx(seen.plane(means), abs=0.1)  # rows on a border
    assert pile["size"][1] == pytest.approx(sizes(true[full]), abs=1)
    assert noise.acts[0]["size"][0] == pytest.approx(sizes(true), abs=1)
    tables = {int(step.released["day"]): step.hidden[0].statistic["counts"] for step in run.steps[1:]}
    released, sum_ = run.steps[15].released, sum(tables[day] for day in (15, 14, 12, 8))
    assert (
        told[15][1].acts[0]["size"][0].tolist() == sizes(sum_[released["cell_counts"] > released["counts_sd"]]).tolist()
    )


def test_shares_lead_each_gaussian_to_the_true_mean_that_noise_moves():
    run, told, rows = told_of("dp-em")
    data, first, (share, noise) = load_sample("town"), run.steps[0].released, told[1]
    offsets = rows[:, None] - first["centers"]
    fit = np.exp(-0.5 * np.einsum("nki,kij,nkj->nk", offsets, np.linalg.inv(first["covariances"]), offsets))
    shares = fit / fit.sum(axis=1, keepdims=True)
    moves = (shares[:, :, None] * offsets).sum(axis=0) / shares.sum(axis=0)[:, None]
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    place = seen.plane(first["centers"] + moves)
    (arrow,) = (act["to"] for act in share.acts if act.get("look", {}).get("name") == "arrow")
    (tip,) = (act for act in noise.acts if act.get("look", {}).get("name") == "noisy mean")
    for ends in (arrow, tip["from"]):
        assert np.stack([ends["x"], ends["y"]], axis=1) == pytest.approx(place, abs=0.1)
    few = trace("dp-em", "town", n_clusters=5, epsilon=0.3)  # a Gaussian without rows stays where it is
    told = pane(few).events(dataclasses.replace(seen, trace=few), pane(few).shots(few))
    assert few.steps[-1].released["dead"].any()
    for step, (shared, _) in zip(few.steps[1:], told[1:], strict=True):
        drawn = [len(act["to"]["x"]) for act in shared.acts if act.get("look", {}).get("name") == "arrow"]
        assert drawn == [int((~step.released["dead"]).sum())]
    released = seen.plane(run.steps[1].released["centers"])
    assert np.stack([tip["to"]["x"], tip["to"]["y"]], axis=1) == pytest.approx(released, abs=1e-4)


def test_a_cut_is_drawn_where_the_mechanism_drew_it_and_its_counts_roll_from_true_to_noisy():
    data, run = load_sample("town"), trace("dpm", "town", epsilon=1.0)
    seen = View(run, LIGHT, columns(data, run), data.columns, data.units, people=data.X, hidden=True)
    told = pane(run).events(seen, pane(run).shots(run))
    epsilon = spend_table(run).epsilon
    for t, (step, events) in enumerate(zip(run.steps, told, strict=True)):
        released = step.released
        if step.kind != "region":
            assert events[0].kind == "average"
        elif released["column"] < 0:
            assert [event.kind for event in events] == ["final"]
        else:
            *whole, score, pick, count = events
            assert [event.kind for event in whole] == ["whole"] * (t == 0)
            before = run.steps[t - 1].n_releases if t else 0
            assert sum(event.pays for event in whole) == pytest.approx(epsilon[before + len(whole)] - epsilon[before])
            assert score.pays == 0
            last = step.n_releases
            assert pick.pays == pytest.approx(epsilon[last - 2] - epsilon[last - 3])
            assert count.pays == pytest.approx(epsilon[last] - epsilon[last - 2])
            likeliest = scores_table(seen, t).probability.max()
            assert f"the best cut had 1 chance in {1 / likeliest:,.0f};" in pick.tail
            ball, column = pick.acts[-1]["to"], released["column"]
            at = released["position"] * data.domain.half_width[column] + data.domain.middle[column]
            assert ball["xy"[column]][-1] == pytest.approx(at, rel=1e-5)
            true, noisy = count.acts[-1]["count"]
            assert noisy == [round(float(value)) for value in released["child_counts"]]
            assert true == [round(float(one.statistic["count"])) for one in step.hidden if one.label == "count"][-2:]
            rows = np.clip(data.domain.normalize(data.X), run.steps[0].released["low"], run.steps[0].released["high"])
            inside = region_of(rows, released["low"][None], released["high"][None]) == 0
            assert abs(sum(true) - inside.sum()) <= 3  # both parts hold the region's people; some lie on its border
            assert ("stays whole" in count.head) == (not released["accepted"])


@pytest.mark.parametrize(("sample", "hidden_away"), [("town", False), ("highdim", True)])
def test_cells_that_the_plane_cannot_show_are_said_to_be_elsewhere(sample, hidden_away):
    _, told, _ = told_of("stemmer-kaplan", sample)
    tails = [event.tail for events in told for event in events if "are kept: " in event.tail]
    some = [tail for tail in tails if "are kept: 0 cells" not in tail]
    assert some and all(tail.endswith("in directions that the plane does not show") is hidden_away for tail in some)
