"""Check pictures of a plan: the columns of the cloud have names, with or without units, and the curve has its unit."""

import numpy as np
import pytest

from dpviz.domain import Domain
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes.plan import cloud_panel, noise_panel


@pytest.mark.parametrize(("units", "titles"), [((), ["age", "children"]), (("years", ""), ["age (years)", "children"])])
def test_the_axes_of_the_cloud_are_named(units, titles):
    domain = Domain.box(np.zeros(2), np.array([120.0, 10.0]), columns=("age", "children"), units=units)
    layout = cloud_panel(LIGHT, np.ones((5, 2)), [np.ones((3, 2))], domain).figure.layout
    assert [layout.xaxis.title.text, layout.yaxis.title.text] == titles


def test_the_least_noise_has_its_unit():
    panel = noise_panel(LIGHT, {"nsm": [(0.5, 2.0), (1.0, 1.068)]}, {"nsm": "NSM"}, "km")
    assert "NSM, ±1.1 km" in panel.figure.to_json()
