"""Check pictures of a plan: axes of the cloud name columns, with or without units, and the curve states its unit."""

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


def test_the_caption_says_where_a_curve_is_least_in_the_units_of_the_table():
    pe = [(0.25, 0.62), (1.0, 0.12), (2.0, 0.13), (4.0, 0.13)]
    panel = noise_panel(
        LIGHT, {"pe-means": pe, "nsm": [(0.25, 1.5), (4.0, 0.0082)]}, {"pe-means": "PE", "nsm": "N"}, "km"
    )
    assert "PE 620 m at ε 0.25, 120 m at ε 1, where it is least, 130 m at ε 4" in panel.alt
    assert "N 1.5 km at ε 0.25, 8.2 m at ε 4" in panel.alt and "chance" not in panel.alt
    assert {"10 m", "1 km"} <= set(panel.figure.layout.yaxis.ticktext)
    unknown = noise_panel(LIGHT, {"nsm": [(0.25, np.inf), (4.0, 0.5)]}, {"nsm": "N"}, "m")
    assert "N 50 cm at ε 4." in unknown.alt
