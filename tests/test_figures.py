"""Tables behind the figures against literals; figures carry hidden layers only when asked; colors can be told apart."""

import json

import numpy as np
import pytest
from plotly.colors import hex_to_rgb

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane, pe
from dpviz.figures.panels import spend_frame
from dpviz.figures.theme import DARK, LIGHT, STYLES
from dpviz.figures.view import thin, xy
from dpviz.frozen import freeze
from dpviz.metrics import loss_path
from dpviz.trace import Hidden, Step


def view(slug="pe-means", *, hidden=True, sample="iris", axes=(0, 2)):
    data = load_sample(sample)
    trace = ALGORITHMS[slug](n_clusters=3).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    losses = loss_path(trace, data.X) if hidden else None
    people = data.X if hidden else None
    return View(
        trace, LIGHT, axes, data.columns, data.units, people, data.X[:3] if hidden else None, losses, 0.1, hidden
    )


def test_votes_frame_ranks_by_noisy_votes_and_hides_the_truth():
    released = freeze({"noisy_votes": np.array([1.0, 9.0, -2.0]), "kept": np.array([False, True, False])})
    step = Step(0, "generation", "", released, (Hidden("votes", 0, freeze({"votes": np.array([3.0, 7.0, 0.0])})),))
    table = pe.votes_frame(step, hidden=True)
    assert table.to_dict("list") == {
        "rank": [1, 2, 3],
        "noisy_votes": [9.0, 1.0, -2.0],
        "kept": [True, False, False],
        "true_votes": [7.0, 3.0, 0.0],
    }
    assert "true_votes" not in pe.votes_frame(step, hidden=False)


def test_spend_frame_is_concave_and_ends_at_the_total():
    seen = view()
    table = spend_frame(seen.trace)
    assert table.epsilon.iloc[0] == 0 and table.epsilon.iloc[-1] == pytest.approx(seen.trace.spent.epsilon)
    assert (np.diff(table.epsilon, 2) < 1e-9).all() and list(table.label)[:2] == ["", "votes"]


@pytest.mark.parametrize("axes", [(0, 2), None])
@pytest.mark.parametrize("slug", ALGORITHMS)
def test_every_trace_draws_and_all_panels_step_together(slug, axes):
    seen = view(slug, axes=axes)
    how = pane(seen.trace)
    found, frames = how.panels(seen), len(how.sentences(seen.trace))
    assert len(how.releases(seen.trace)) == frames and how.releases(seen.trace)[-1] == len(seen.trace.ledger)
    assert set(how.marks(seen.trace)) <= set(range(frames)) and how.caution
    assert found[0].name == "plane" and all(len(panel.figure.frames) == frames for panel in found)
    assert all(panel.alt and panel.figure.layout.title.text for panel in found)
    assert sum(len(panel.figure.to_json()) for panel in found) < 2_000_000
    for panel in found:
        last = panel.figure.frames[-1]
        for index, data in zip(last.traces, last.data, strict=True):
            assert data.x is None or str(list(data.x)) == str(list(panel.figure.data[index].x))  # nan is not nan


def test_hidden_layers_are_absent_unless_asked_for():
    seen = [view(hidden=hidden) for hidden in (True, False)]
    shown, private = (
        json.dumps([p.figure.to_plotly_json() for p in pane(v.trace).panels(v)], default=str) for v in seen
    )
    assert "NOT PRIVATE" in shown and "true votes" in shown and "KMeans" in shown
    assert "NOT PRIVATE" not in private and "true votes" not in private and "KMeans" not in private


def test_thinning_is_bounded_and_fixed():
    np.testing.assert_array_equal(thin(5, 9), np.arange(5))
    assert len(thin(5000, 900)) == 900 and np.array_equal(thin(5000, 900), thin(5000, 900))


def test_empty_marks_are_none_not_an_empty_list():
    assert xy(np.empty((0, 2))) == {"x": [None], "y": [None]}


def oklab(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lms = np.cbrt(linear @ np.array([[0.4122, 0.2119, 0.0883], [0.5363, 0.6807, 0.2817], [0.0514, 0.1074, 0.6300]]))
    return 100 * lms @ np.array([[0.2105, 1.9780, 0.0259], [0.7936, -2.4286, 0.7828], [-0.0041, 0.4506, -0.8087]])


VISION = {  # Machado, Oliveira and Fernandes 2009, severity 1, on linear-ish sRGB
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
