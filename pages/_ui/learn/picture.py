"""Show the pictures of a lesson: frozen at the question, then with a player that starts at the right frame."""

from __future__ import annotations

import zlib
from typing import Any, Literal, NamedTuple

import streamlit as st

from dpviz import lessons
from dpviz.figures import Panel
from dpviz.figures.kit.film import PrintedFigure
from dpviz.lessons import Exhibit
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.transport import transport
from pages._ui.frame import prepared, shell
from pages._ui.frame.address import links
from pages._ui.learn import exhibits
from pages._ui.learn.place import Spot

__all__ = ["Look", "picture", "planes", "side_figures"]

MOST_TICKS = 60  # more would be a gray bar
_LESSON_PLAYER = "lesson_player"
_LESSON_TRANSPORT = "lesson_transport"
LESSON_FIGURES = "lesson_figures"
_LESSON_FIGURE = "lesson_{}".format
_LESSON_PART = "lesson_{}_{}".format
_STILL = "still"


class Look(NamedTuple):
    """The way in which a part of a lesson shows its pictures.

    Attributes
    ----------
    start : the frame shown first; a step in the opened address takes precedence
    still : whether the pictures are frozen at that frame; their player is then invisible
    pointed : whether a hint sends the player to the frame, whatever was requested before
    projected : whether the planes stand on a projector, where they take all the room that there is
    """

    start: int
    still: bool = False
    pointed: bool = False
    projected: bool = False


def _panels(place: Spot, *names: str) -> list[Panel]:
    assert place.lesson is not None
    return [panel for panel in exhibits.panels(place.lesson.name, place.seed) if panel.name in names]


def planes(place: Spot) -> int:
    """Return how many planes a lesson has."""
    return len(_panels(place, "plane"))


def picture(place: Spot, exhibit: Exhibit, look: Look) -> None:
    """Draw a lesson's planes under their player."""
    assert place.lesson is not None
    name, start = place.lesson.name, look.start
    panels = _panels(place, "plane")
    visit = f"{name} {place.seed} {place.part} {look.pointed and place.answers}"
    opened = links.opened("learn")
    if opened is not None and opened.scene.step is not None and not look.still and _the_same(opened, place):
        start, visit = (start if look.pointed else opened.scene.step), f"{visit} {opened.number}"
    with st.container(key=_STILL if look.still else _LESSON_TRANSPORT):
        transport(
            _LESSON_PLAYER, scope=LESSON_FIGURES, titles=list(exhibit.titles),
            marks=list(range(len(exhibit.titles))) if len(exhibit.titles) <= MOST_TICKS else [],
            film=_film(panels[0], exhibit), run=f"lesson {name} {place.seed}",
            opened=zlib.crc32(visit.encode()) + 1, step=start, main=not look.still,
            what="Steps of the lesson",
        )  # fmt: skip
    for i, (column, panel) in enumerate(zip(st.columns(len(panels), gap="small"), panels, strict=True)):
        with column, st.container(width="stretch" if look.projected else _width(panel)):
            draw(_LESSON_PART(name, i), [panel], name)
    shell.key_line(lessons.legend(name), hidden=True)


def _film(plane: Panel, exhibit: Exhibit) -> list[list[dict[str, Any]]] | None:
    """Return the events of a plane that is a film; the planes have captions, so the player says the lesson's own."""
    assert isinstance(plane.figure, PrintedFigure)
    film = plane.figure.meta.get("film")
    if film is None:
        return None
    return [[{**event, "says": title} for event in told] for told, title in zip(film, exhibit.titles, strict=True)]


def side_figures(place: Spot) -> None:
    """Draw a lesson's other figures."""
    assert place.lesson is not None
    if prepared.shows("panels"):
        with st.container(key="lesson_side"):
            draw(_LESSON_FIGURE(place.lesson.name), _panels(place, "side", "wide"))


def _width(panel: Panel) -> int | Literal["stretch"]:
    """Return the width of a plane of fixed aspect ratio with margins, so that the panel's tag is at its edge."""
    assert isinstance(panel.figure, PrintedFigure)
    shape = panel.figure.meta
    return round((shape["h"] - 72) / shape["ar"]) + 60 if "ar" in shape else "stretch"


def _the_same(opened: links.Opened, place: Spot) -> bool:
    asked = opened.scene.values
    assert place.lesson is not None
    return (asked["lesson"], asked["part"], asked.get("s", 0)) == (place.lesson.name, place.part, place.seed)
