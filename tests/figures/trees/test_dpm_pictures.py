"""Check DPM if rows are pictures: parts cover all rows, marks lie on the cut cells, and only true means are secret."""

import dataclasses

import numpy as np
import pytest

from dpviz.datasets import load_sample
from dpviz.figures import columns, pane
from dpviz.figures.kit.mosaic import corners, shades
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.trees.dpm_pictures import cells_left, parts_table, true_means
from tests.traces import trace

DIGITS = load_sample("digits")
RUN = trace("dpm", "digits", epsilon=4.0)
REGIONS = [step for step in RUN.steps if step.kind == "region"]


def view(run=RUN, *, hidden=True):
    people = DIGITS.X if hidden else None
    return View(
        run, LIGHT, None, DIGITS.columns, DIGITS.units, people, DIGITS.X[:3], hidden=hidden, picture=DIGITS.picture
    )


def plane(seen):
    (found,) = (panel.figure for panel in pane(seen.trace).panels(seen) if panel.name == "plane")
    names = [trace.name or trace.type for trace in found.data]
    return [dict(zip(names, frame.to_plotly_json()["data"], strict=True)) for frame in found.frames], found, names


@pytest.mark.slow
def test_no_columns_are_chosen_and_pictures_stand_in_the_planes_place():
    assert columns(DIGITS, RUN) is columns(DIGITS, RUN, trace("nsm", "digits", n_clusters=3)) is None
    frames, figure, _ = plane(view())
    assert len(frames) == len(RUN.steps) and figure.data[0].type == "heatmap"
    assert not any("ink" in (axis.title.text or "") for axis in (figure.layout.xaxis, figure.layout.yaxis))


def test_every_part_is_one_of_all_rows_and_keeps_its_place_until_it_is_cut():
    table = parts_table(RUN)
    assert table[table.frame == 0].node.tolist() == [1] and table[table.now].groupby("frame").size().eq(1).all()
    means, z = true_means(RUN, DIGITS.X), DIGITS.domain.normalize(DIGITS.X)
    for step in REGIONS:
        released = step.released
        inside = ((z >= released["low"]) & (z < released["high"] + 1e-9)).all(axis=1)
        if inside.any():
            np.testing.assert_allclose(means[released["node"]], DIGITS.X[inside].mean(axis=0))
    for t, parts in table.groupby("frame"):
        assert parts.place.is_unique and parts.place.is_monotonic_increasing, t
        share = sum(2.0 ** (1 - node.bit_length()) for node in parts.node)
        assert share == 1.0, t  # every row is in exactly one part
    last = table[table.frame == len(RUN.steps) - 1]
    averages = next(step for step in RUN.steps if step.kind == "averages").released
    assert last.node.tolist() == averages["nodes"].tolist() and last.place.tolist() == list(range(len(last)))


@pytest.mark.slow
def test_the_cell_of_the_cut_is_outlined_in_the_picture_of_the_part_that_is_cut():
    frames, _, _ = plane(view())
    table = parts_table(RUN)
    most = int(table.place.max()) + 1
    for t, step in enumerate(REGIONS):
        mark, column = frames[t]["cell of the cut"], step.released["column"]
        if column < 0:
            assert mark["x"] == [None]
            continue
        left, top = corners(view(), most)[int(table[(table.frame == t) & table.now].place.iloc[0])]
        assert np.nanmean(mark["x"][:4]) == pytest.approx(left + column % 8, abs=0.51)
        assert [min(mark["y"][:5]), max(mark["y"][:5])] == [top + column // 8 - 0.5, top + column // 8 + 0.5]
        assert [min(mark["x"][:5]), max(mark["x"][:5])] == [left + column % 8 - 0.5, left + column % 8 + 0.5]
        assert mark["line"]["dash"] == ("solid" if step.released["accepted"] else "2px,3px")


@pytest.mark.slow
def test_before_the_averages_a_cell_without_a_cut_is_empty_unless_true_means_are_shown():
    shown, figure, names = plane(view(hidden=False))
    assert "NOT PRIVATE" not in figure.to_json() and figure.data[1].colorscale[1][1] == LIGHT.released
    bare = dataclasses.replace(RUN, steps=tuple(dataclasses.replace(step, hidden=()) for step in RUN.steps))
    assert plane(view(bare, hidden=False))[1].to_json() == figure.to_json()  # Released values alone.
    cells = np.array(shown[1][names[1]]["z"], dtype=float)  # Two heatmaps share a name; the later is the released one.
    cut = REGIONS[0].released["column"]
    assert np.isfinite(cells).sum() == 2 and {int(np.isfinite(cells_left(RUN, node)).sum()) for node in (2, 3)} == {1}
    low, high = cells_left(RUN, 2)[cut], cells_left(RUN, 3)[cut]
    assert low < REGIONS[0].released["position"] * DIGITS.domain.half_width[cut] + DIGITS.domain.middle[cut] < high
    true, tagged, _ = plane(view())
    assert "NOT PRIVATE" in tagged.to_json() and tagged.data[0].colorscale[1][1] == LIGHT.hidden
    first = tagged.frames[0].data[0].z
    assert np.array(first, float) == pytest.approx(
        np.array(shades(view(), DIGITS.X.mean(axis=0)[None], int(parts_table(RUN).place.max()) + 1), float),
        abs=1e-3, nan_ok=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "k"), [(4.0, None), (4.0, 4), (1.0, 10)])  # fewer and more centers than parts
def test_the_last_pictures_are_the_released_centers(epsilon, k):
    run = trace("dpm", "digits", epsilon=epsilon, n_clusters=k or 2, exactly_k=k is not None)
    figure = plane(view(run))[1]
    most = max(int(parts_table(run).place.max()) + 1, len(run.cluster_centers))
    wanted = np.array(shades(view(run), run.cluster_centers, most), float)
    assert np.array(figure.data[1].z, float) == pytest.approx(wanted, abs=1e-3, nan_ok=True)
    assert list(figure.data[-1].text) == [str(i + 1) for i in range(len(run.cluster_centers))]
    assert not any(value is not None for line in figure.data[0].z for value in line)  # no cell shows a secret value
