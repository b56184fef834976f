"""Check that colors outside Python equal the theme's: Streamlit's configuration and the icon."""

import re
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


def test_the_icon_is_a_released_center():
    fill, edge = re.findall(r'"(#\w{6})"', (HOUSE / "icon.svg").read_text())
    assert (fill, edge) == (LIGHT.released, LIGHT.ink)
