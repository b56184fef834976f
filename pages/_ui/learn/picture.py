"""The pictures of a lesson: frozen beside the question, then with a player that starts where it should."""

from __future__ import annotations

import zlib
from typing import Literal

import streamlit as st

from dpviz import lessons
from dpviz.figures import Panel
from dpviz.figures.kit.film import Printed
from dpviz.lessons import SEEDS, Stage
from pages._ui.address import links
from pages._ui.frame import keys, markup, prepared, shell
from pages._ui.learn import stage_cache
from pages._ui.learn.place import Place
from pages._ui.player.panel import draw
from pages._ui.player.transport import transport

__all__ = ["picture"]


def picture(place: Place, stage: Stage, start: int, *, still: bool = False, pointed: bool = False) -> None:
    """Draw a lesson's figures, at first at frame `start`; a step in the address that was opened wins.

    `still` freezes them there: the player drives them unseen. `pointed`: a hint leads to the frame, whatever was
    asked for before.
    """
    assert place.lesson is not None
    name = place.lesson.name
    found = stage_cache.panels(name, place.seed)
    planes = [panel for panel in found if panel.name == "plane"]
    side = [panel for panel in found if panel.name == "side"]
    wide = [panel for panel in found if panel.name == "wide"]
    visit = f"{name} {place.seed} {place.part} {pointed and place.answers}"
    opened = links.opened("learn")
    if opened is not None and opened.scene.step is not None and not still and _the_same(opened, place):
        start, visit = (start if pointed else opened.scene.step), f"{visit} {opened.number}"
    with st.container(key=keys.STILL if still else keys.LESSON_TRANSPORT):
        transport(
            keys.LESSON_PLAYER, scope=keys.LESSON_FIGURES, titles=list(stage.titles),
            marks=list(range(len(stage.titles))), run=f"lesson {name} {place.seed}",
            opened=zlib.crc32(visit.encode()) + 1, step=start, main=not still,
            what="Steps of the lesson",
        )  # fmt: skip
    with st.container(key=keys.LESSON_FIGURES, gap="xsmall"):
        several = len(planes) > 1
        columns = st.columns(len(planes) if several else [11, 9], gap="medium")
        for i, panel in enumerate(planes):
            with columns[i]:
                with st.container(width=_width(panel)):
                    draw(keys.LESSON_PART(name, i), [panel], name)
                if not several:
                    shell.key_line(lessons.legend(name), hidden=True)
        if several:
            shell.key_line(lessons.legend(name), hidden=True)
        elif not still and prepared.shows("panels"):
            with columns[1]:
                draw(keys.LESSON_FIGURE(name), side)
        if not still and prepared.shows("panels"):
            draw(keys.LESSON_FIGURE(name), wide)
    if not still:
        _draws(place)


def _width(panel: Panel) -> int | Literal["stretch"]:
    """Return how wide a plane is that keeps its scales, with its margins: its tag then is at its edge."""
    assert isinstance(panel.figure, Printed)
    shape = panel.figure.meta
    return round((shape["h"] - 72) / shape["ar"]) + 60 if "ar" in shape else "stretch"


def _the_same(opened: links.Opened, place: Place) -> bool:
    asked = opened.scene.values
    assert place.lesson is not None
    return (asked["lesson"], asked["part"], asked.get("s", 0)) == (place.lesson.name, place.part, place.seed)


def _draws(place: Place) -> None:
    """Offer the same with other noise."""
    assert place.lesson is not None
    fixed = prepared.locked(keys.LEARN_SEED(place.lesson.name))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Other noise", key=keys.LESSON_DRAW, icon=":material/casino:", shortcut="D", disabled=fixed):
            st.session_state[keys.LEARN_SEED(place.lesson.name)] = (place.seed + 1) % len(SEEDS)
            st.rerun()
        st.html(
            markup.small(
                f"Draw {place.seed + 1} of {len(SEEDS)}: the same people, other noise. Every number in "
                "this lesson is computed from the draw that is shown."
            ),
            width="stretch",
        )
