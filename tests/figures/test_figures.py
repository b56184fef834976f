"""Check that figures' tables match literals, hidden layers appear only on request, and colors can be told apart."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
from plotly.colors import hex_to_rgb
from plotly.validator_cache import ValidatorCache

from dpviz import figures
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import PANES, View, pane
from dpviz.figures.evolution import hdpe_means
from dpviz.figures.kit import layers, panels, votes
from dpviz.figures.kit.panels import spend_table
from dpviz.figures.kit.release_labels import turns
from dpviz.figures.kit.shots import complete
from dpviz.figures.kit.theme import DARK, LIGHT, STYLES
from dpviz.figures.kit.view import thin, xy
from dpviz.figures.nsm import nsm
from dpviz.figures.scenes import splitting
from dpviz.frozen import freeze
from dpviz.metrics import loss_path, normalized_loss
from dpviz.trace import Hidden, Step
from tests.figures.panes import ONE_OF_A_PANE
from tests.tiers import tiers
from tests.traces import trace as run_of


def view(slug="pe-means", *, hidden=True, sample="iris", axes=(0, 2)):
    data, trace = load_sample(sample), run_of(slug, sample, n_clusters=3)
    losses = loss_path(trace, data.X) if hidden else None
    people = data.X if hidden else None
    return View(
        trace, LIGHT, axes, data.columns, data.units, people, data.X[:3] if hidden else None, losses, 0.1, hidden
    )


def test_votes_frame_ranks_by_noisy_votes_and_hides_the_truth():
    released = freeze({"noisy_votes": np.array([1.0, 9.0, -2.0]), "kept": np.array([False, True, False])})
    step = Step("generation", "", released, hidden=(Hidden("votes", 0, freeze({"votes": np.array([3.0, 7.0, 0.0])})),))
    table = votes.votes_table(step, hidden=True)
    assert table.to_dict("list") == {
        "rank": [1, 2, 3],
        "noisy_votes": [9.0, 1.0, -2.0],
        "kept": [True, False, False],
        "true_votes": [7.0, 3.0, 0.0],
    }
    assert "true_votes" not in votes.votes_table(step, hidden=False)


def test_spend_frame_is_concave_and_ends_at_the_total():
    seen = view()
    table = spend_table(seen.trace)
    assert table.epsilon.iloc[0] == 0 and table.epsilon.iloc[-1] == pytest.approx(seen.trace.spent.epsilon)
    assert (np.diff(table.epsilon, 2) < 1e-9).all() and list(table.label)[:2] == ["", "votes"]


@pytest.mark.slow
@pytest.mark.parametrize("axes", [(0, 2), pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("slug", tiers(ALGORITHMS, ONE_OF_A_PANE))
def test_every_trace_draws_and_all_panels_step_together(slug, axes):
    seen = view(slug, axes=axes)
    how = pane(seen.trace)
    found, shots = how.panels(seen), how.shots(seen.trace)
    frames = len(shots)
    assert shots[-1].releases == len(seen.trace.ledger) and complete(shots)[-1] == len(seen.trace.steps) - 1
    assert any(shot.tick for shot in shots) and all(shot.head for shot in shots) and how.caution
    assert found[0].name == "plane" and all(len(panel.figure.frames) == frames for panel in found)
    assert all(panel.alt and panel.figure.layout.title.text for panel in found)
    counted = [re.fullmatch(r"(\w+) (\d+) of (\d+)", shot.head) for shot in shots]
    words = {one[1].lower() for one in counted if one}
    for panel in found:  # panels of loss and ε count what the line above the picture counts, or the player's steps
        if panel.alt.startswith("A line: "):
            axis = panel.figure.layout.xaxis
            assert axis.title.text == ("".join(words) if len(words) == 1 else "step")
            for at, name in zip(axis.tickvals or (), axis.ticktext or (), strict=True):
                assert counted[at - 1][2] == name and (at == 1 or not counted[at - 2] or counted[at - 2][2] != name)
    size = 0
    for panel in found:
        last = panel.figure.frames[-1]
        for index, data in zip(last.traces, last.data, strict=True):
            assert data.x is None or str(list(data.x)) == str(
                list(panel.figure.data[index].x)
            )  # compared as text, because nan does not equal nan
        validated = go.Figure(panel.figure.data, panel.figure.layout, panel.figure.frames)
        sent = plotly.io.to_json(panel.printed().figure, validate=False)  # as st.plotly_chart does
        assert json.loads(validated.to_json()) == json.loads(sent)
        assert sent == panel.figure.to_json() == panel.printed().figure.to_json()
        size += len(sent)
    assert size < 2_000_000


def test_one_algorithm_of_every_pane_stands_for_the_others():
    runs = [run_of(slug, "tiny", n_clusters=2) for slug in ONE_OF_A_PANE]
    assert {id(pane(run)) for run in runs} == {id(pane) for pane in PANES.values()}


@pytest.mark.slow
def test_hidden_layers_are_absent_unless_asked_for():
    seen = [view(hidden=hidden) for hidden in (True, False)]
    shown, private = (
        json.dumps([p.figure.to_plotly_json() for p in pane(v.trace).panels(v)], default=str) for v in seen
    )
    assert "NOT PRIVATE" in shown and "true votes" in shown and "KMeans" in shown
    assert "NOT PRIVATE" not in private and "true votes" not in private and "KMeans" not in private


@pytest.mark.parametrize("slug", [slug for slug in ALGORITHMS if slug != "kmeans"])
def test_no_family_draws_hidden_layers_unless_asked_for(slug):
    seen = view(slug, hidden=False)
    drawn = json.dumps([p.figure.to_plotly_json() for p in pane(seen.trace).panels(seen)], default=str).lower()
    assert "not private" not in drawn and '"true' not in drawn and "kmeans" not in drawn


@pytest.mark.parametrize("end", [0.02, 1.004, 80.0])
def test_the_words_of_a_step_without_centers_stand_within_the_axis(end):
    trace = run_of("eugkm", "town", n_clusters=3)
    losses = np.array([np.nan] * (len(trace.steps) - 1) + [end])
    seen = View(trace, LIGHT, (0, 1), ("x", "y"), ("", ""), None, None, losses, 1.0, True)
    figure = panels.loss_panel(seen, pane(trace).shots(trace)).figure
    low, high = figure.layout.yaxis.range
    assert all(low < frame.data[0].y[0] < high for frame in figure.frames)


def radius_step(learned):
    edges = np.array([2.0, 1.4, 1.0, 0.7])
    released = {"noisy_counts": np.array([1.0, -3.0, 40.0, 60.0]), "edges": edges, "noise_sd": 5.0, "radius": learned}
    return Step(
        "radius", "", freeze(released), hidden=(Hidden("radius", 0, freeze({"radius": np.array([0, 0, 42, 58])})),)
    )


def test_nsm_radius_frame_marks_the_shells_beyond_the_learned_radius():
    table = nsm.radius_table(radius_step(1.0), hidden=True)
    assert table.outside.tolist() == [True, True, False, False] and table.true_counts.tolist() == [0, 0, 42, 58]
    assert not nsm.radius_table(radius_step(2.0), hidden=False).outside.any()
    assert "true_counts" not in nsm.radius_table(radius_step(1.0), hidden=False)


def test_nsm_strength_frame_calls_signal_what_noise_alone_does_not_reach():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(50, 50))
    noise = 3.0 * (noise + noise.T) / 2  # variance 9 on the diagonal and 9/2 elsewhere, as in the release
    moment = noise + np.diag([400.0] + [0.0] * 49)
    table = nsm.strength_table(Step("moment", "", freeze({"moment": moment, "noise_sd": 3.0})), hidden=True)
    assert table.signal.sum() == 1 and table.strength.iloc[0] == pytest.approx(400, rel=0.05)
    assert (np.diff(table.strength) <= 0).all() and "true_strength" not in table


def test_nsm_outline_is_the_shadow_of_a_ball_in_original_units():
    seen = view("nsm", axes=(0, 2))
    d, half = seen.trace.domain.n_features, (seen.trace.domain.high - seen.trace.domain.low) / 2
    ring = layers.outline(seen, 0.5 * np.eye(d), np.zeros(d)) - seen.trace.domain.middle[[0, 2]]
    scale = half[[0, 2]] if seen.trace.domain.scale == "column" else np.full(2, half.max())
    np.testing.assert_allclose(np.linalg.norm(ring / scale, axis=1), 0.5)
    stretched = layers.outline(seen, np.diag([1.0, 9.0, 0.5, 9.0]), np.zeros(d)) - seen.trace.domain.middle[[0, 2]]
    np.testing.assert_allclose(np.abs(stretched / scale).max(axis=0), [1.0, 0.5], rtol=1e-2)


def test_nsm_draws_free_assignments_dashed_and_paid_moves_solid():
    seen = view("nsm", sample="blobs", axes=(0, 1))
    figure, kinds = pane(seen.trace).panels(seen)[0].figure, [shot.step for shot in nsm.shots(seen.trace)]
    layers = {trace.name: trace for trace in figure.data}
    assert layers["free"].line.dash == "4px,4px" and layers["paid"].line.dash is None

    def drawn(layer, kind):
        frames = [f for f, t in zip(figure.frames, kinds, strict=True) if seen.trace.steps[t].kind == kind]
        place = list(layers).index(layer) - figure.frames[0].traces[0]
        return [np.isfinite(np.asarray(f.data[place].x, dtype=float)).sum() for f in frames]

    points = len(seen.trace.coreset.points)
    assert drawn("free", "solve") == [2 * points] and drawn("paid", "solve") == [0]
    moved = [2 * step.released["moved"].sum() for step in seen.trace.steps if step.kind == "correction"]
    assert drawn("paid", "correction") == moved and not any(drawn("free", "correction"))
    assert all(drawn("trials", kind)[0] > 0 for kind in ("candidates", "zoom"))


def test_nsm_says_when_a_row_is_read_and_what_it_costs():
    seen = view("nsm", sample="town", axes=(0, 1))
    shots = pane(seen.trace).shots(seen.trace)
    lines, done = [shot.sentence for shot in shots], [shot.releases for shot in shots]
    free = next(i for i, line in enumerate(lines) if line.startswith("Search at no cost"))
    assert "nothing is spent" in lines[free] and done[free] == done[free - 1] < done[free + 1]
    assert lines[0].startswith("Radius") and "of the declared radius" in lines[0] and done[0] == 1


def test_hdpe_budget_frame_adds_up_and_follows_the_final_share():
    table = hdpe_means.budget_table(run_of("hdpe-means", "wine", n_clusters=3))
    assert table.part.tolist() == ["votes", "sums", "counts"] and table.share.sum() == pytest.approx(1)
    assert table.share[1:].sum() == pytest.approx(0.8) and table.releases.tolist()[1:] == [1, 1]


@pytest.mark.parametrize("slug", ONE_OF_A_PANE)
def test_every_pane_draws_a_single_column(slug):
    X = np.random.default_rng(0).uniform(0, 1, (200, 1))
    trace = ALGORITHMS[slug](n_clusters=3).run(X, domain=Domain.box([0.0], [1.0], n_public=200), seed=0)
    for hidden in (False, True):
        people, reference = (X, X[:3]) if hidden else (None, None)
        losses = loss_path(trace, X) if hidden else None
        panels = pane(trace).panels(View(trace, LIGHT, None, ("x",), ("",), people, reference, losses, 0.1, hidden))
        assert all(panel.figure.data and panel.alt for panel in panels)


def test_hdpe_draws_the_projection_left_and_centers_only_after_the_recovery():
    seen = view("hdpe-means", sample="highdim", axes=(0, 1))
    how, found = pane(seen.trace), pane(seen.trace).panels(seen)
    left = next(panel for panel in found if "16 projected columns" in panel.alt)
    people = np.stack([left.figure.data[0].x, left.figure.data[0].y], axis=1)
    matrix = seen.trace.steps[0].released["projection"]
    shown = seen.people[thin(len(seen.people), 800)]
    np.testing.assert_allclose(people, seen.trace.domain.normalize(shown) @ matrix[:, :2], atol=1e-5)
    right = next(panel for panel in found if "brought back" in panel.alt).figure
    moving, _ = right.frames[0].traces
    drawn = [np.isfinite(np.asarray(frame.data[0].x, dtype=float)).sum() for frame in right.frames]
    assert drawn[:-1] == [0] * (len(drawn) - 1) and drawn[-1] == 3 and right.data[moving].name == "released center"
    assert how.shots(seen.trace)[-1].sentence.startswith("One noisy average")


def test_a_projection_of_a_map_keeps_its_own_axes_around_its_people():
    seen = view("hdpe-means", sample="town", axes=(0, 1))
    plane = next(panel.figure for panel in pane(seen.trace).panels(seen) if panel.name == "plane")
    people, reach = np.abs([plane.data[0].x, plane.data[0].y]), plane.layout.xaxis.range[1]
    assert 0.25 * reach < people.max() and np.quantile(people, 0.99) < reach
    assert plane.layout.xaxis.title.text == "projected column 1" and plane.layout.xaxis.showticklabels is not False


@pytest.mark.slow
def test_vote_splitting_steps_two_runs_together_and_shows_who_lost_a_group():
    data = load_sample("town")
    reference = ALGORITHMS["kmeans"](n_clusters=5).run(data.X, domain=data.domain, seed=0).cluster_centers
    best = normalized_loss(data.X, reference, data.domain)
    views = []
    for slug in ("aug-pe", "pe-means"):
        trace = ALGORITHMS[slug](n_clusters=5, epsilon=4.0).run(data.X, domain=data.domain, seed=0)
        losses = loss_path(trace, data.X)
        views.append(View(trace, LIGHT, (0, 1), data.columns, data.units, data.X, reference, losses, best, True))
    voted, clustered = (splitting.found_table(view) for view in views)
    np.testing.assert_allclose(voted.loss_ratio, views[0].losses / best)
    assert clustered.found.iloc[-1] == 5 and clustered.loss_ratio.iloc[-1] < 1.2
    assert voted.found.min() < 5 and voted.loss_ratio.iloc[-1] >= 2
    panels, lines = splitting.panels(*views), splitting.sentences(*views)
    frames = splitting.PHASES * len(views[0].trace.steps)
    assert [len(panel.figure.frames) for panel in panels] == [len(lines)] * 3 == [frames] * 3
    assert f"{voted.found.iloc[-1]} of 5 groups" in lines[-1] and lines[-1].endswith("5 of 5")
    assert all("NOT PRIVATE" in panel.figure.to_json() for panel in panels)


def test_thinning_is_bounded_and_fixed():
    np.testing.assert_array_equal(thin(5, 9), np.arange(5))
    assert len(thin(5000, 900)) == 900 and np.array_equal(thin(5000, 900), thin(5000, 900))


def test_empty_marks_are_none_not_an_empty_list():
    assert xy(np.empty((0, 2))) == {"x": [None], "y": [None]}


def oklab(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lms = np.cbrt(linear @ np.array([[0.4122, 0.2119, 0.0883], [0.5363, 0.6807, 0.2817], [0.0514, 0.1074, 0.6300]]))
    return 100 * lms @ np.array([[0.2105, 1.9780, 0.0259], [0.7936, -2.4286, 0.7828], [-0.0041, 0.4506, -0.8087]])


VISION = {  # Machado, Oliveira and Fernandes 2009, severity 1, applied to gamma-encoded sRGB
    "normal": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_algorithm_colors_can_be_told_apart(mode, vision):
    colors = [np.array(hex_to_rgb(getattr(style, mode))) / 255 for style in STYLES.values()]
    seen = [oklab(np.clip(VISION[vision] @ color, 0, 1)) for color in colors]
    apart = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(apart) > 8


def contrast(a, b):
    def luminance(color):
        rgb = np.array(hex_to_rgb(color)) / 255
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(colors):
    assert min(contrast(colors.ink, colors.bg), contrast(colors.muted, colors.bg)) >= 4.5
    assert min(contrast(colors.released, colors.panel), contrast(colors.hidden, colors.hidden_tag)) >= 4.5
    assert contrast(colors.person, colors.panel) >= 3


def test_releases_too_narrow_for_their_names_are_named_by_their_turns():
    labels = [f"{kind} {i}" for i in range(1, 21) for kind in ("cells, table", "averages")]
    assert turns([*labels, "weights 1"], np.ones(41)) == [("cells and averages × 20", 0, 39)]
    assert turns(labels[:4], np.ones(4)) == []  # every name has enough room
    assert turns([f"votes, round {i}" for i in range(1, 30)], np.ones(29)) == [("votes × 29", 0, 28)]
    assert turns([], np.ones(0)) == []


@pytest.mark.parametrize(
    ("high", "ratio", "stretched"),
    [((100, 8), 0.3, "y, stretched"), ((8, 100), 1 / 0.3, "x, stretched"), ((10, 8), 0.8, "")],
)
def test_a_plane_of_a_long_strip_can_be_seen_and_says_that_it_is_stretched(high, ratio, stretched):
    domain = Domain.box([0, 0], high, n_public=10, scale="common")
    low, high = np.zeros(2), np.array(high, dtype=float)
    layout = panels.bounded(LIGHT, "t", low, high, ("x", "y"), domain, height=470).layout
    assert layout.meta["ar"] == pytest.approx(ratio) and bool(layout.yaxis.scaleanchor) == (not stretched)
    assert {layout.xaxis.title.text, layout.yaxis.title.text} - {"x", "y"} == ({stretched} if stretched else set())


def test_people_who_share_a_place_are_one_mark_whose_area_counts_them():
    answers = np.repeat([[1.0, 2.0], [3.0, 4.0]], [4, 16], axis=0)
    asked = np.vstack([answers, [[np.nan, 0.0]]])
    rows, sizes = panels.people_drawn(asked)
    spots = asked[rows]
    np.testing.assert_array_equal(spots, [[1, 2], [3, 4]])
    np.testing.assert_allclose(sizes, [7, 14])  # areas in the ratio 4 to 16
    apart = np.arange(20.0).reshape(10, 2)
    np.testing.assert_array_equal(panels.people_drawn(apart)[0], np.arange(len(apart)))
    assert panels.people_drawn(apart)[1] == 3.5


def drawn_symbols(script):
    """Return the marker symbols that the stage's script draws, hollow ones too."""
    names = re.findall(r'^  "?([a-z-]+)"?: (?:polygon|segments|\(c, r\))', script, re.MULTILINE)
    endings = re.findall(r"`\$\{name\}(-[a-z-]+)`", script)
    return {name + end for name in names for end in ("", *endings)}


def test_the_stage_draws_every_symbol_that_a_figure_names():
    folder = Path(figures.__file__).parent
    known = set(ValidatorCache.get_validator("scatter.marker", "symbol").values) - {"arrow"}  # lessons draw their own
    drawn = drawn_symbols((folder / "stage" / "marks.js").read_text())
    used = {
        (node.value, path.name)
        for path in folder.rglob("*.py")
        if path.name not in ("tradeoff.py", "theme.py")  # Trade-off's chart, with a mark for each method, is Plotly's
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known
    }
    assert {symbol for symbol, _ in used} > {"diamond-open", "circle-open-dot", "line-ew-open"}
    assert {(symbol, name) for symbol, name in used if symbol not in drawn} == set()


def test_a_center_on_the_bounds_is_drawn_whole():
    seen = view("dp-lloyd", hidden=False)
    plane = pane(seen.trace).panels(seen)[0].figure
    (centers,) = (trace for trace in plane.data if trace.name == "released center")
    assert centers.cliponaxis is False
