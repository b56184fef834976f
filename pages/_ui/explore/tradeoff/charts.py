"""Draw each figure of a sweep once for all visitors, and name its axes and data sets."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st

from dpviz.figures import Panel
from dpviz.figures.kit.film import PrintedFigure
from dpviz.figures.kit.theme import Style
from dpviz.figures.scenes import tradeoff
from dpviz.sweeps.summary import Summary
from pages._ui.explore.player import panel
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.catalog import sample

T = TypeVar("T")

CAMERA = Control("camera", "sweep_picture", "Camera", choice("SVG", ("SVG", "PNG")), widget="segmented_control")
SIGNS = {"epsilon": "ε", "n_rows": "n", "n_clusters": "k", "rho_distance": "rho", "delta": "δ"}
_NAMES = {**SIGNS, "n_rows": "people", "n_clusters": "centers"}
_shared: weakref.WeakKeyDictionary[Summary, dict[Hashable, Any]] = weakref.WeakKeyDictionary()


def shared(every: Summary, what: Hashable, make: Callable[[], T]) -> T:
    """Return a value made from a summary, computed once for all visitors who look at the same rows."""
    charts = _shared.setdefault(every, {})
    if what not in charts:
        charts[what] = make()
    chart: T = charts[what]
    return chart


def named(axis: str) -> str:
    """Return the name of an axis for use in a sentence."""
    return _NAMES.get(axis, axis.replace("_", " "))


def sign(axis: str) -> str:
    """Return the name of an axis for use before a value."""
    return SIGNS.get(axis, axis.replace("_", " "))


def title(data: str) -> str:
    """Return the name of a data set of a sweep."""
    return sample(data.removeprefix("sample:")).title if data.startswith("sample:") else data


def brief(data: str) -> str:
    """Return the name of a data set for the title of a figure."""
    return title(data).partition(",")[0]


def icon(style: Style) -> str:
    """Return a curve's symbol as HTML."""
    code = base64.b64encode(tradeoff.glyph(style, shell.colors()).encode()).decode()
    return f'<img alt="" src="data:image/svg+xml;base64,{code}">'


def chart(every: Summary, key: str, draw: Callable[[], Any], alt: str, *look: Hashable) -> Any:
    """Show and return a figure of a summary; its camera button saves it in the chosen format.

    `key` and `look` must determine the figure, given the summary and the colors.
    """
    figure, printed = shared(every, (key, shell.colors(), *look), lambda: (plot := draw(), PrintedFigure.of(plot)))
    saved = {"format": CAMERA.held.lower(), "filename": "dpviz-tradeoff"}
    wide = Panel("wide", printed, f"{alt} Not private.")
    panel.draw(key, [wide], saved=saved | {"scale": 1 if saved["format"] == "svg" else 2})
    return figure


def under(notion: str) -> None:
    """State, below a figure, the promise of all its runs."""
    st.html(markup.small(tradeoff.promise(notion)))
