"""Check data whose rows are pictures: the plane shows the released centers as pictures at every step."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.datasets import load_sample
from dpviz.figures import columns, pane, printed
from dpviz.figures.kit.mosaic import shades
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from pages._ui.explore.player.player import pictured
from tests.traces import trace

DIGITS = load_sample("digits")


def view(run, **values):
    fields = {"columns": DIGITS.columns, "units": DIGITS.units, "picture": DIGITS.picture, **values}
    return View(trace=run, colors=LIGHT, axes=None, **fields)


def plane(run, **values):
    return next(panel for panel in printed(view(run, **values)) if panel.name == "plane").figure


@pytest.mark.parametrize("slug", ["fastlloyd", "nsm"])
def test_every_step_shows_the_centers_known_by_then_and_the_last_one_the_result(slug):
    run = trace(slug, "digits", n_clusters=3)
    run = dataclasses.replace(run, cluster_centers=run.cluster_centers[::-1])  # unlike the last step's
    frames = plane(run).to_dict()["frames"]
    assert columns(DIGITS, run) is None and len(frames) == len(pane(run).shots(run))
    last = np.array(frames[-1]["data"][0]["z"], dtype=float)
    assert last == pytest.approx(np.array(shades(view(run), run.cluster_centers, 3), float), abs=1e-3, nan_ok=True)
    assert frames[-1]["data"][1]["text"] == ["1", "2", "3"]
    cells = [json.dumps(frame["data"][0]["z"]) for frame in frames]
    assert len(set(cells)) > 1 and all(json.loads(one) for one in cells)
    if slug == "fastlloyd":  # this method releases its starting centers
        begun = DIGITS.domain.denormalize(run.steps[0].released["centers"])
        assert np.array(json.loads(cells[0]), float) == pytest.approx(
            np.array(shades(view(run), begun, 3), float), abs=1e-3, nan_ok=True
        )
    if slug == "nsm":  # the first releases of this method are not centers
        assert "no center" in frames[0]["data"][1]["text"][0] and np.isnan(np.array(json.loads(cells[0]), float)).all()


@pytest.mark.parametrize(
    "slug", ["dpm", "hdpe-means", "nsm", "stemmer-kaplan", "dist-dp", "dp-lloyd", "dp-em", "em-mc"]
)
def test_no_method_draws_two_cells_of_a_picture(slug):
    run = trace(slug, "digits", **{} if slug == "dpm" else {"n_clusters": 3})
    assert columns(DIGITS, run) is None and pictured(SimpleNamespace(trace=run, data=DIGITS), None) == DIGITS.picture
    assert plane(run).to_dict()["data"][0]["type"] == "heatmap"


def test_pictures_are_made_of_released_values_alone():
    run = trace("fastlloyd", "digits", n_clusters=3)
    bare = dataclasses.replace(run, steps=tuple(dataclasses.replace(step, hidden=()) for step in run.steps))
    shown = plane(run, hidden=True, people=DIGITS.X, reference=DIGITS.X[:3])
    assert shown.to_json() == plane(bare).to_json() and "NOT PRIVATE" not in shown.to_json()
    assert "NOT PRIVATE" in plane(trace("kmeans", "digits", n_clusters=3)).to_json()


def test_until_a_center_is_released_the_hidden_layer_shows_some_of_the_rows():
    run, rows = trace("nsm", "digits", n_clusters=3), DIGITS.X.copy()
    rows[0, 0] = np.nan  # a row that the run skips
    frames = plane(run, hidden=True, people=rows).to_dict()["frames"]
    released = plane(run, hidden=False, people=rows)
    assert "NOT PRIVATE" in plane(run, hidden=True, people=rows).to_json() and len(released.to_dict()["data"]) == 2
    assert released.to_json() == plane(run).to_json()
    sheets = [np.array(frame["data"][2]["z"], float) for frame in frames]
    begun = np.array([sheet[:8, :8] for sheet in np.split(sheets[0][:8, :28], [10, 20], axis=1)])
    assert all(np.isclose(one, DIGITS.X[1:].reshape(-1, 8, 8) / 16, atol=1e-3).all((1, 2)).any() for one in begun)
    for frame, sheet, text in zip(frames, sheets, [frame["data"][1]["text"] for frame in frames], strict=True):
        centers = np.array(frame["data"][0]["z"], float)
        assert np.isnan(centers).all() != np.isnan(sheet).all()  # either rows or centers
        assert (text == [""]) == np.isnan(centers).all()


def test_a_picture_keeps_its_rows_and_stands_between_its_bounds():
    run = trace("fastlloyd", "digits", n_clusters=3)
    one = np.linspace(-8, 24, 64)  # some values lie outside the declared bounds, 0 and 16
    sheet = np.array(shades(view(run), one[None], 3), float)
    assert sheet[:8, :8] == pytest.approx(np.clip(one / 16, 0, 1).reshape(8, 8), abs=1e-3)
    assert np.isnan(sheet[8:]).all() and np.isnan(sheet[:, 8:]).all()
