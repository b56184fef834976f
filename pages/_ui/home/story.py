"""Show Start's story, one component; each part of its record is made once for everybody."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import streamlit as st

from dpviz.atlas import averages
from dpviz.atlas.averages import Bets, Given
from dpviz.atlas.cells import STOPS
from dpviz.lessons import story as parts
from dpviz.lessons.story import StoryRuns
from dpviz.numbers import number
from pages._ui.address import links
from pages._ui.frame import keys
from pages._ui.frame.places import HOME, PAGES
from pages._ui.home.controls import as_run
from pages._ui.work import atlas
from pages._ui.work.atlas import Trust
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.workers import workers

__all__ = ["story"]

T = TypeVar("T")

_HERE = Path(__file__).parent
_DOORS = (  # screen, page, text of its link, description
    (1, "limits", "See how this works with a single number of clusters", ""),
    (3, "attacker", "Keep betting", ""),
    (6, "explore", "Explore", "Watch a run step by step, with the cost of each step."),
    (6, "data", "Your data", "Rehearse on made-up people first. Trust what most runs find."),
    (6, "class", "Teach", "Everybody in the room becomes one point and bets by phone."),
)

_component = st.components.v2.component(
    "dpviz_story",
    html='<div class="dp-story"></div>',
    css=parts.text_of("story.css") + (_HERE / "host.css").read_text(),
    js=parts.text_of("story.js") + (_HERE / "host.js").read_text(),
    isolate_styles=False,  # without isolation, the story's picture can stick to the top of the page
)


class _Parts:
    """The parts of the story that worker processes have made so far, one at a time."""

    def __init__(self) -> None:
        self._queue = Jobs(workers=1)
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def made(self, name: str, make: Callable[[], T]) -> T | None:
        """Return a part, or None while it is being made; the first call starts making it."""
        with self._lock:
            if name not in self._jobs:
                self._jobs[name] = self._queue.submit(f"Start: {name}", lambda job: workers().call(make))
            job = self._jobs[name]
        return job.result if job.status == "done" else None

    @property
    def failed(self) -> str:
        """Return one sentence if a part could not be made, else ""."""
        return next((job.error for job in list(self._jobs.values()) if job.status == "failed"), "")


@st.cache_resource(show_spinner=False)
def _parts() -> _Parts:
    return _Parts()


_stored = lru_cache(maxsize=8)(parts.of_chart)


@st.cache_resource(max_entries=8, show_spinner=False)
def _record(ready: tuple[str, ...], _given: Given | None, _bets: Bets | None, _reruns: Sequence[StoryRuns]) -> str:
    """Return the record of the finished parts as JSON; `ready` names them."""
    return json.dumps(parts.record(_given, _bets, _reruns), ensure_ascii=False, separators=(",", ":"))


def story() -> None:
    """Show the story at once, and fill in missing parts when they are made."""
    polls = not _whole()
    st.fragment(_draw, run_every=1.0 if polls else None)(polls)


def _reruns(needed: bool) -> list[StoryRuns]:
    """Return the finished reruns: stored ones or, if `needed`, those made in the background."""
    trust = atlas.trust(parts.SAMPLE, parts.METHOD)
    if trust is Trust.CHECKING:
        return []
    clouds: list[StoryRuns | None] = []
    for people in parts.EDITIONS:
        chart = atlas.chart(parts.SAMPLE, parts.METHOD, people) if trust is Trust.YES else None
        if chart is not None:
            clouds.append(_stored(chart))
        elif needed:
            clouds.append(_parts().made(f"runs, {people}", partial(parts.reruns, people)))
    here = [one for one in clouds if one is not None]
    return here if [one.people for one in here] == list(parts.EDITIONS[: len(here)]) else []


def _made(needed: bool) -> tuple[Given | None, Bets | None, list[StoryRuns]]:
    stored, reruns = atlas.given(), _reruns(needed)
    if not isinstance(stored, Trust):
        return *stored, reruns
    if stored is Trust.CHECKING:
        return None, None, reruns
    given = _parts().made("averages", averages.given)
    return given, None if given is None else _parts().made("bets", partial(averages.bets, given.alex)), reruns


def _whole() -> bool:
    given, bets, reruns = _made(False)
    return given is not None and bets is not None and len(reruns) == len(parts.EDITIONS)


def _draw(polls: bool) -> None:
    before = st.session_state.get(keys.HOME_STORY) or {}
    given, bets, reruns = _made(bool(before.get("needs")))
    ready = (
        *["given"] * (given is not None),
        *["bets"] * (bets is not None),
        *(f"{r.people} {r.runs}" for r in reruns),
    )
    opened = links.opened("home")
    data = {
        "record": _record(ready, given, bets, reruns),
        "doors": [_door(*door) for door in _DOORS],
        "screen": st.session_state.get(keys.HOME_SCREEN) or 1,
        "opened": 0 if opened is None else opened.number,
        "failed": _parts().failed,
        "others": [name for name in PAGES if name != HOME],
    }
    value = _component(
        key=keys.HOME_STORY, data=data, height="content", on_needs_change=lambda: None, on_door_change=lambda: None
    )
    atlas.note([atlas.trust(parts.SAMPLE, parts.METHOD)])
    if door := value.get("door"):
        _leave(door)
    if polls and given is not None and bets is not None and len(reruns) == len(parts.EDITIONS):
        st.rerun()  # all parts are finished: stop polling


def _door(screen: int, page: str, title: str, words: str) -> dict[str, Any]:
    query = as_run("") if page == "explore" else ""
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
    scene = parse_qsl(as_run(f"e={number(STOPS[at])}")) if page == "explore" else []
    st.switch_page(f"pages/{page}.py", query_params=scene)
