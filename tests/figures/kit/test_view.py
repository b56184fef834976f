"""Check that frames that do not fit their figure are refused in a sentence that states what is needed."""

import plotly.graph_objects as go
import pytest

from dpviz.figures.kit.layers import NOWHERE, layered, waiting
from dpviz.figures.kit.theme import LIGHT, base
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from tests.traces import trace

BARS = {"x": [1.0], "y": [2.0]}


def test_frames_that_do_not_fit_their_traces_are_refused():
    figure = go.Figure(go.Bar(x=[0], y=[0]))
    with pytest.raises(ValueError, match=r"add_frames: per_frame must have one frame .* got none\."):
        add_frames(figure, [0], [])
    with pytest.raises(ValueError, match=r"each of the 1 traces .* frame 1 has 2 updates\."):
        add_frames(figure, [0], [[BARS], [BARS, BARS]])
    add_frames(figure, [0], [[BARS], [{"x": [], "y": []}]])
    assert [frame.name for frame in figure.frames] == ["0", "1"]


def test_a_side_panel_that_is_empty_at_a_picture_is_refused():
    figure = base(LIGHT, "Counts", height=150).add_bar()
    last = waiting(figure, LIGHT, 1.0, 1.0)
    add_frames(figure, [0], [[xy(NOWHERE)], [BARS]])
    with pytest.raises(ValueError, match=r"Panel: a side panel .*; 'Counts' is empty at 0: say when more comes"):
        Panel("side", figure, "Bars.")
    assert Panel("wide", figure, "Bars.").figure is figure
    add_frames(figure, [0, last], [[xy(NOWHERE), {"text": ["later"]}], [BARS, {"text": [""]}]])
    assert Panel("side", figure, "Bars.").figure.blank() == []
    lying = base(LIGHT, "Shares", height=150).add_bar(orientation="h")
    add_frames(lying, [0], [[{"x": [0.0], "y": ["a"]}], [{"x": [0.5], "y": ["a"]}]])
    assert lying.blank() == ["0"], "a bar of length 0 shows nothing"


def test_a_layer_that_has_no_look_is_refused():
    view = View(trace("kmeans"), LIGHT, (0, 1), ("a", "b"), ("", ""))
    with pytest.raises(ValueError, match=r"layered: a frame may name only the layers in looks, center; got centre\."):
        layered(view, "Centers", {"center": {}}, [{"centre": BARS}], "")
