"""Show Start's story, one component; each part of its record is made once for everybody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpviz.atlas import averages
from dpviz.atlas.averages import Bets, Given
from dpviz.atlas.cells import STOPS
from dpviz.atlas.noised import Noised
from dpviz.lessons import story as parts
from dpviz.lessons.story import StoryRuns
from dpviz.numbers import number
from pages._ui.frame.address import links
from pages._ui.frame.inside.client import PAGE
from pages._ui.frame.places import HOME, PAGES
from pages._ui.start.controls import SCREEN
from pages._ui.work import atlas
from pages._ui.work.batch import Gathered, Piece, follow, gather

__all__ = ["story"]

_HOME_STORY = "home_story"

_HERE = Path(__file__).parent
_AVERAGES, _RUNS = "Start: averages", "Start: runs of {} people"
_DOORS = (  # screen, page, text of its link, description
    (1, "limits", "See how this works with a single number of clusters", ""),
    (3, "attacker", "Keep betting", ""),
    (3, "learn", "What a bet means, as a picture", ""),
    (6, "explore", "Explore", "Watch a run step by step, with the cost of each step."),
    (6, "data", "Your data", "Rehearse on made-up people first. Trust what most runs find."),
    (6, "class", "Teach", "Everybody in the room becomes one point and bets by phone."),
)
_RUN = {"v": "1", "d": "town", "a": "pe-means", "k": "5", "e": "1", "s": "0"}  # the run behind the link to Explore
_QUERIES = {"explore": _RUN, "learn": {"v": "1", "part": "definition"}}

_component = st.components.v2.component(
    "dpviz_story",
    html='<div class="dp-story"></div>',
    css=parts.text_of("story.css") + (_HERE / "host.css").read_text(),
    js=PAGE + parts.text_of("story.js") + (_HERE / "host.js").read_text(),
    isolate_styles=False,  # without isolation, the story's picture can stick to the top of the page
)


_stored = lru_cache(maxsize=8)(parts.of_chart)


@st.cache_resource(max_entries=8, show_spinner=False)
def _record(
    ready: tuple[str, ...],
    _given: Given | None,
    _bets: Bets | None,
    _reruns: Sequence[StoryRuns],
    _noised: Sequence[Noised],
) -> str:
    """Return the record of the finished parts as JSON; `ready` names them."""
    return json.dumps(parts.record(_given, _bets, _reruns, _noised), ensure_ascii=False, separators=(",", ":"))


def story() -> None:
    """Show the story; if stored parts are missing, show it at once and fill them in when they are made."""
    if _missing(True):
        atlas.note()
    follow(_gathered, _draw, 1.0)


def _missing(needed: bool) -> list[Piece]:
    """Return the parts that are not stored: averages with bets and, if `needed`, reruns."""
    pieces = [] if atlas.given() else [Piece(_AVERAGES, averages.compute, ())]
    for people in parts.EDITIONS if needed else ():
        if atlas.chart(parts.SAMPLE, parts.METHOD, people) is None:
            pieces.append(Piece(_RUNS.format(people), parts.reruns, (people,)))
    return pieces


def _gathered() -> Gathered:
    """Return the parts made so far that are not stored, and have the others made."""
    needed = bool((st.session_state.get(_HOME_STORY) or {}).get("needs"))
    return gather("start", "Start", _missing(needed), public=True)


def _reruns(ready: dict[str, Any]) -> list[StoryRuns]:
    """Return the stored reruns, or those made in the background, of all editions up to the first that is missing."""
    every: list[StoryRuns] = []
    for people in parts.EDITIONS:
        chart = atlas.chart(parts.SAMPLE, parts.METHOD, people)
        one = ready.get(_RUNS.format(people)) if chart is None else _stored(chart)
        if one is None:
            break
        every.append(one)
    return every


def _draw(gathered: Gathered) -> None:
    given, bets = atlas.given() or gathered.ready.get(_AVERAGES, (None, None))
    reruns, noised = _reruns(gathered.ready), atlas.drowned()
    ready = (
        *["averages"] * (given is not None),
        *["noise"] * bool(noised),
        *(f"{one.people} {one.runs}" for one in reruns),
    )
    opened = links.opened("home")
    data = {
        "record": _record(ready, given, bets, reruns, noised),
        "doors": [_door(*door) for door in _DOORS],
        "screen": SCREEN.held or 1,
        "opened": 0 if opened is None else opened.number,
        "failed": gathered.problem,
        "others": [name for name in PAGES if name != HOME],
    }
    value = _component(
        key=_HOME_STORY, data=data, height="content", on_needs_change=lambda: None, on_door_change=lambda: None
    )
    if door := value.get("door"):
        _leave(door)


def _door(screen: int, page: str, title: str, words: str) -> dict[str, Any]:
    query = urlencode(_QUERIES.get(page, {}))
    return {
        "screen": screen, "page": page, "title": title, "words": words, "href": f"./{page}{'?' * bool(query)}{query}",
    }  # fmt: skip


def _leave(door: Any) -> None:
    """Go to the page of the chosen link, if it is valid; Explore opens the run at the ε of the last drag."""
    page, stop = (door.get("page"), door.get("stop")) if isinstance(door, dict) else (None, None)
    if page not in [page for _, page, *_ in _DOORS]:
        return
    at = STOPS.index(averages.EPSILON)
    if isinstance(stop, int) and not isinstance(stop, bool) and 0 <= stop < len(STOPS):
        at = stop
    scene = _QUERIES.get(page, {}) | ({"e": number(STOPS[at])} if page == "explore" else {})
    st.switch_page(f"pages/{page}.py", query_params=scene)
