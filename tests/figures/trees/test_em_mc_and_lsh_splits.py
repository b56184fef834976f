"""Check figures of EM-MC and LSH-Splits: cells are squares of released size, and hyperplanes cross the middle."""

import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.trees import em_mc, lsh_splits
from dpviz.takeaway.replay import replay_parts
from tests.tiers import tiers
from tests.traces import trace as run_of


def view(slug, sample="town", *, hidden=True, axes=None):
    data = load_sample(sample)
    trace = run_of(slug, sample, n_clusters=3, epsilon=4.0)
    people = data.X if hidden else None
    return View(trace, LIGHT, axes, data.columns, data.units, people, data.X[:3] if hidden else None, hidden=hidden)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "axes"), tiers([("town", None), ("iris", (0, 2)), ("wine", (0, 1)), ("iris", None), ("digits", None)], 3)
)
@pytest.mark.parametrize("slug", ["em-mc", "lsh-splits"])
def test_all_panels_step_together(slug, sample, axes):
    seen = view(slug, sample, axes=axes)
    how = pane(seen.trace)
    found = how.panels(seen)
    assert how in (em_mc.PANE, lsh_splits.PANE)
    assert all(len(panel.figure.frames) == len(seen.trace.steps) for panel in found)
    assert sum(len(panel.figure.to_json()) for panel in found) < 2_000_000
    assert len(how.shots(seen.trace)) == len(seen.trace.steps)


def test_cells_frame_is_squares_of_the_released_side():
    seen = view("em-mc")
    table = em_mc.cells_table(seen)
    covers = [step.released for step in seen.trace.steps if step.kind == "cover"]
    assert len(table) == sum(len(said["cells"]) for said in covers)
    first, said = table[table.frame == 0], covers[0]
    width = said["side"] * seen.trace.domain.half_width
    np.testing.assert_allclose(first.x1 - first.x0, width[0])
    np.testing.assert_allclose(first.y1 - first.y0, width[1])
    np.testing.assert_allclose((first.x0 + first.x1) / 2, seen.trace.domain.denormalize(said["cells"])[:, 0])


@pytest.mark.slow
def test_projected_cells_people_and_centers_share_the_run_s_own_projection():
    seen = view("em-mc", "digits")
    said, domain = seen.trace.steps[0].released, seen.trace.domain
    figure = em_mc.PANE.panels(seen)[0].figure
    people = next(data for data in figure.data if data.name == "person")
    inside = domain.normalize(load_sample("digits").X) @ said["matrix"]
    assert np.abs(np.subtract(people.x[0], inside[:, 0])).min() < 1e-5
    assert said["cells"].shape[1] == 3 and em_mc.cells_table(seen).x1.max() <= domain.radius * 2


def test_a_projected_plane_is_no_map_though_its_columns_share_a_unit():
    seen = view("em-mc", "iris", axes=(2, 3))
    layout, radius = em_mc.PANE.panels(seen)[0].figure.layout, seen.trace.domain.radius
    assert layout.xaxis.range == layout.yaxis.range == pytest.approx((-1.08 * radius, 1.08 * radius))
    assert layout.xaxis.title.text == "public random direction 1"


def test_covered_frame_is_the_true_number_of_new_rows():
    seen = view("em-mc")
    table = em_mc.covered_table(seen.trace)
    assert table.covered.sum() <= len(load_sample("town").X) and table.covered.max() > 0
    assert table.grid.nunique() == 5


def test_hyperplanes_pass_through_the_middle_at_right_angles_to_their_normal():
    seen = view("lsh-splits")
    lines = [line for line in lsh_splits.hyperplanes(seen) if len(line)]
    assert lines
    for line, step in zip(lines, seen.trace.steps, strict=False):
        np.testing.assert_allclose(line.mean(axis=0), seen.trace.domain.middle, atol=1e-9)
        z = seen.trace.domain.normalize(line)
        assert abs((z[1] - z[0]) @ step.released["direction"]) < 1e-9
    assert not any(len(line) for line in lsh_splits.hyperplanes(view("lsh-splits", "iris")))


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["em-mc", "lsh-splits"])
def test_hidden_layers_are_absent_unless_asked_for(slug):
    shown, private = (
        json.dumps([p.figure.to_plotly_json() for p in pane(seen.trace).panels(seen)], default=str)
        for seen in (view(slug, hidden=True), view(slug, hidden=False))
    )
    assert "NOT PRIVATE" in shown and "KMeans" in shown and "NOT PRIVATE" not in private and "KMeans" not in private


def test_the_page_is_told_when_nothing_was_split():
    assert any("no bucket was split" in sentence for sentence in view("lsh-splits", "tiny").trace.warnings)
    assert view("lsh-splits").trace.warnings == ()


@pytest.mark.filterwarnings("error")
def test_a_side_too_narrow_for_the_ring_shows_no_count():
    data = load_sample("tiny")
    trace = ALGORITHMS["lsh-splits"](n_clusters=2, epsilon=1.0).run(data.X, domain=data.domain, seed=3)
    assert "NaN" not in replay_parts(trace)[1]
