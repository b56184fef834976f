"""Check that frames that do not fit their figure are refused with a sentence on what to give."""

import plotly.graph_objects as go
import pytest

from dpviz.figures.kit.layers import layered
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View, add_frames
from tests.traces import trace

BARS = {"x": [1.0], "y": [2.0]}


def test_frames_that_do_not_fit_their_traces_are_refused():
    figure = go.Figure(go.Bar(x=[0], y=[0]))
    with pytest.raises(ValueError, match=r"add_frames: per_frame must have one frame .* got none\."):
        add_frames(figure, [0], [])
    with pytest.raises(ValueError, match=r"each of the 1 traces shows, .* frame 1 has 2 updates\."):
        add_frames(figure, [0], [[BARS], [BARS, BARS]])
    add_frames(figure, [0], [[BARS], [{"x": [], "y": []}]])
    assert [frame.name for frame in figure.frames] == ["0", "1"]


def test_a_layer_that_has_no_look_is_refused():
    view = View(trace("kmeans"), LIGHT, (0, 1), ("a", "b"), ("", ""))
    with pytest.raises(ValueError, match=r"layered: a frame may name only the layers in looks, center; got centre\."):
        layered(view, "Centers", {"center": {}}, [{"centre": BARS}], "")
