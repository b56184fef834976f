"""Compare the canvas with its reference, Plotly, on figures of every family in light and dark mode."""

import dataclasses
import io
import json

import numpy as np
import pytest
from PIL import Image

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import STOPS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.scenes import tradeoff
from dpviz.metrics import loss_path, normalized_loss
from dpviz.sweeps.summary import Summary
from pages._ui.explore.tradeoff.form import FIRST
from tests.browser.stage_page import open_stage
from tests.figures.panes import ONE_OF_A_PANE
from tests.sweeps.handmade import row, rows, runs

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

# Pictures are averaged over squares of 4 x 4 pixels. The difference between two squares is the largest difference in a
# channel, as a share of the channel's range. On average, squares differ by less than MEAN; less than SHARE of them
# differ by more than LARGE.
MEAN, SHARE, LARGE = 0.004, 0.006, 0.12
WIDTHS = {"plane": 560, "side": 470, "wide": 590}
BOTH = """async ([panels, step, dark]) => {
    document.body.className = dark ? "dark" : "";
    document.body.replaceChildren();
    (window.shown ?? []).forEach((stage) => stage.close());
    window.shown = [];
    for (const [width, figure] of panels) {
        const row = document.body.appendChild(Object.assign(document.createElement("div"), {className: "row"}));
        const [left, right] = [0, 1].map(() => row.appendChild(document.createElement("div")));
        left.style.width = right.style.width = `${width}px`;
        const lacking = S.lacks(figure);
        if (lacking) return lacking;
        const stage = new S.Stage(left.appendChild(document.createElement("canvas")), figure, {step});
        window.shown.push(stage);
        const {data, layout} = stage.shown(stage.step, width);
        await Plotly.newPlot(right, data, layout, {displayModeBar: false});
    }
    return "";
}"""
PLACES = """() => [...document.querySelectorAll(".row")].map((row) => [...row.children].map((one) => {
    const edge = one.getBoundingClientRect();
    return [edge.x + scrollX, edge.y + scrollY, edge.width, edge.height].map(Math.round);
}))"""


def figures(slug, sample, colors, *, pictured=False):
    data = load_sample(sample)
    run = {"domain": data.domain, "seed": 0}
    trace = ALGORITHMS[slug](n_clusters=data.n_clusters).run(data.X, **run)
    best = ALGORITHMS["kmeans"](n_clusters=data.n_clusters).run(data.X, **run).cluster_centers
    axes = (0, 1) if sample == "town" else None
    losses, least = loss_path(trace, data.X), normalized_loss(data.X, best, data.domain)
    view = View(trace, colors, axes, data.columns, data.units, data.X, best, losses, least, True)
    view = dataclasses.replace(view, picture=data.picture if pictured else None)
    return [(panel.name, json.loads(panel.figure.to_json())) for panel in pane(trace).panels(view)]


def squares(picture):
    height, width = (n // 4 * 4 for n in picture.shape[:2])
    return picture[:height, :width].reshape(height // 4, 4, width // 4, 4, 3).mean((1, 3)) / 255


@pytest.fixture(scope="module")
def page(browser):
    found = open_stage(browser)
    found.add_script_tag(url="/plotly.js")
    yield found
    found.close()


def alike(page, panels, step, mode):
    """Check that the canvas draws these figures as Plotly does, without a film's captions, lenses and dimmed parts."""
    for _, figure in panels:
        if figure["layout"].get("meta", {}).pop("film", None):
            figure["layout"]["title"]["text"] = ""
    lacking = page.evaluate(BOTH, [[[WIDTHS[name], figure] for name, figure in panels], step, mode == "dark"])
    assert lacking == ""  # the canvas can draw all of these figures
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")).astype(float)
    for (_, figure), ((x, y, width, height), (right, top, _, _)) in zip(panels, page.evaluate(PLACES), strict=True):
        canvas, plotly = (picture[b : b + height, a : a + width] for a, b in ((x, y), (right, top)))
        apart = np.abs(squares(canvas) - squares(plotly)).max(axis=2)
        title = figure["layout"]["title"]["text"]
        assert apart.mean() < MEAN, (title, step, apart.mean())
        assert (apart > LARGE).mean() < SHARE, (title, step, (apart > LARGE).mean())


@pytest.mark.parametrize("slug", [slug for slug in ALGORITHMS if slug not in ONE_OF_A_PANE])
def test_the_canvas_draws_the_others_of_a_pane_too(page, slug):
    for name, figure in figures(slug, "town", LIGHT):
        assert page.evaluate("figure => S.lacks(figure)", figure) == "", name


@pytest.mark.parametrize(("sample", "mode"), [("town", "light"), ("iris", "dark")])
@pytest.mark.parametrize("slug", ONE_OF_A_PANE)
def test_the_canvas_shows_what_plotly_shows(page, slug, sample, mode):
    panels = figures(slug, sample, DARK if mode == "dark" else LIGHT)
    last = len(panels[0][1]["frames"]) - 1
    for step in {last // 2, last} if sample == "town" else {last}:
        alike(page, panels, step, mode)


@pytest.mark.parametrize("slug", ["dpm", "fastlloyd"])
def test_the_canvas_shows_the_pictures_that_plotly_shows(page, slug):
    ((_, plane), *_) = panels = figures(slug, "digits", DARK, pictured=True)
    assert plane["data"][0]["type"] == "heatmap"
    for step in (1, len(plane["frames"]) - 1):
        alike(page, panels[:1], step, "dark")


@pytest.mark.parametrize("more", [{"times": True}, {"log": False}, {"single": False, "labels": False, "height": 340}])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_canvas_shows_what_plotly_shows_of_a_sweep(page, mode, more):
    losses = {slug: {e: [5 + i + seed / e for seed in range(6)] for e in STOPS} for i, slug in enumerate(FIRST)}
    losses["dpm"][STOPS[0]] = [8000 + 9 * seed for seed in range(6)]  # above the picture
    every = Summary(rows(*(runs(slug, some) for slug, some in losses.items()), row("kmeans", None, 0, 2.0)), "loss")
    points, colors = every.points, DARK if mode == "dark" else LIGHT
    figure = tradeoff.curves(
        points, every.runs, colors, tradeoff.styles(points), axis="epsilon", metric="Loss", title="Data: loss", **more
    )
    assert any("↑" in note.text for note in figure.layout.annotations)
    alike(page, [("wide", json.loads(figure.to_json()))], 0, mode)
