"""Check that the colors of Streamlit's configuration equal the theme's."""

import tomllib
from pathlib import Path

import pytest

from dpviz.figures.kit.theme import DARK, LIGHT

HOUSE = Path(__file__).parents[3] / ".streamlit"


@pytest.mark.parametrize(("mode", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_streamlit_draws_in_the_colors_of_the_figures(mode, colors):
    ours = tomllib.loads((HOUSE / "config.toml").read_text())["theme"][mode]
    same = {"primaryColor": "released", "backgroundColor": "bg", "textColor": "ink", "borderColor": "line"}
    assert {name: ours[name] for name in same} == {name: getattr(colors, token) for name, token in same.items()}
