"""ε and People as drags: stored runs at every stop, drawn over the plane while somebody drags; let go, the page runs.

Only samples have stored runs. What comes from a file has no name here, so it is neither looked up nor stored.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas import files
from dpviz.atlas.cells import METHODS, PEOPLE, STOPS, Chapter
from dpviz.atlas.files import Chart
from dpviz.atlas.fingerprint import sources
from dpviz.datasets import SAMPLES, Dataset
from dpviz.figures import drag as figures
from dpviz.figures.drag import Edition
from dpviz.figures.view import View
from dpviz.postprocessing.bet import bet_of, odds_of_any
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Notion
from pages._ui import catalog, keys, links, prepared, stage
from pages._ui.explore.look import Choice, Look
from pages._ui.forms import fields_of
from pages._ui.pieces import Piece, gather
from pages._ui.player import view_of
from pages._ui.results import Result, keep, show
from pages._ui.session import session
from pages._ui.workers import workers

__all__ = ["edition_of", "section"]

_HERE = Path(__file__).parent
_TOPIC = "atlas"
_PROBES = 5.0  # seconds that probe runs are expected to take

_component = st.components.v2.component(
    "dpviz_drag",
    html='<div class="dpviz-drag"></div>',
    css=(_HERE / "drag.css").read_text(),
    js=(_HERE / "drag.js").read_text(),
    isolate_styles=False,  # the film lies over the plane, outside of the component
)


def section(key: str, choice: Choice, result: Result, look: Look) -> None:
    """Offer ε as a drag where there are stored runs of what the form says; else the page is as it is without them."""
    here, algorithm = edition_of(choice.data), choice.form.algorithm
    if here is None or algorithm is None or not _stored_are_like(choice, algorithm, result):
        return
    chapter = Chapter(here[0], choice.cls.slug)
    true = _true(chapter)
    if true is None:
        st.fragment(_wait, run_every=1.0)(chapter)
        return
    charts = _charts(chapter) if true else {}
    if here[1] not in charts:
        _missing(result)
    elif choice.form.seed < charts[here[1]].seeds:
        _draw(key, choice, algorithm, result, look, charts)


def edition_of(data: Dataset) -> tuple[str, int | None] | None:
    """Return a sample's name and how many of its people came (None: all), or None for any other data."""
    kind, _, name = data.dataset_id.partition(":")
    sample, _, people = name.partition(":")
    if data.private or kind != "sample" or sample not in SAMPLES:
        return None
    return sample, int(people) if people else None


def _stored_are_like(choice: Choice, algorithm: Algorithm, result: Result) -> bool:
    """Return whether runs like the one that the form asks for are stored, but for its ε, and one like them is drawn.

    A method with a distance has runs only where all columns have one scale.
    """
    specs, trace, drawn = params.specs(choice.cls), result.trace, edition_of(result.data)
    if choice.cls.slug not in METHODS or "epsilon" not in specs or not prepared.shows("form"):
        return False
    if choice.cls.notion is Notion.RHO and choice.data.domain.scale != "common":
        return False
    if choice.form.noiseless or trace.noiseless or trace.algorithm != choice.cls.slug or drawn is None:
        return False
    usual = choice.cls(n_clusters=choice.data.n_clusters)
    others = [name for name in specs if name != "epsilon"]
    asked = all(getattr(algorithm, name) == getattr(usual, name) for name in others)
    return (
        asked
        and drawn[0] == _sample(choice.data)
        and all(trace.parameters[name] == getattr(usual, name) for name in others)
    )


def _true(chapter: Chapter) -> bool | None:
    """Return whether stored runs are what the code releases today; None while probe runs are made.

    KMeans is probed too: the runs' losses are told as multiples of its own.
    """
    if files.stamped():
        return True
    both = (chapter, Chapter(chapter.sample, "kmeans"))
    pieces = [Piece(f"atlas {one.name} {sources()}", probed, (one,)) for one in both]
    now = gather(_TOPIC, "Stored runs", pieces, public=True, seconds=_PROBES)
    return None if now.active else all(now.ready.get(piece.name, False) for piece in pieces)


def probed(chapter: Chapter, on_step: Callable[[int, int], None]) -> bool:
    """Return whether the probe runs of a chapter come out again; in a worker process."""
    on_step(0, 1)
    agree = files.current(chapter)
    on_step(1, 1)
    return agree


def _wait(chapter: Chapter) -> None:
    if _true(chapter) is not None:
        st.rerun()


def _charts(chapter: Chapter) -> dict[int | None, Chart]:
    """Return number of people (None: all) -> stored runs, of every edition that can be read, fewest people first."""
    every = {people: files.read(chapter.sample, chapter.method, people) for people in (*_fewer(chapter.sample), None)}
    return {people: chart for people, chart in every.items() if chart is not None}


def _fewer(sample: str) -> tuple[int, ...]:
    return tuple(PEOPLE.get(sample, ()))


def _missing(result: Result) -> None:
    """Say once in a visit, below one run, that there are no stored runs where there should be some."""
    _, people = edition_of(result.data) or ("", None)
    if people not in (*_fewer(_sample(result.data)), None):
        return
    session.atlas_missed = session.atlas_missed or result.identity
    if session.atlas_missed == result.identity:
        st.caption("Stored runs are missing, damaged or of another version: pictures are made as they are asked for.")


def _draw(
    key: str, choice: Choice, algorithm: Algorithm, result: Result, look: Look, charts: dict[int | None, Chart]
) -> None:
    epsilon = float(algorithm.epsilon)  # type: ignore[attr-defined]
    fields = fields_of(
        choice.cls,
        choice.name,
        {"n_clusters": choice.data.n_clusters},
        st.session_state.get(keys.PRESET(choice.cls.slug)),
    )
    where = fields["epsilon"][1]
    names = {_name(choice.data, people): chart for people, chart in charts.items()}
    data = {
        "record": _record(
            choice.cls.slug,
            tuple(names),
            choice.form.seed,
            st.context.theme.type or "light",
            look.hidden,
            look.axes,
            result,
        ),
        "stage": stage.NAME,
        "scope": f".st-key-{keys.FIGURES(key)}",
        "edition": choice.name,
        "epsilon": epsilon,
        "busy": bool(session.job),
        "locked": prepared.locked(where),
        "fixed": prepared.locked(keys.EXPLORE_DATA),  # how many people there are
    }
    name = keys.EXPLORE_DRAG
    _component(
        key=name, data=data, height="content", on_released_change=partial(_released, name, where, tuple(names), result)
    )


def _sample(data: Dataset) -> str:
    """Return whose people the data are; "" if they are no sample's."""
    return (edition_of(data) or ("",))[0]


def _name(data: Dataset, people: int | None) -> str:
    """Return the public name of an edition of a sample, by the data of another one."""
    return _sample(data) if people is None else f"{_sample(data)}:{people}"


def _released(name: str, where: str, editions: tuple[str, ...], result: Result) -> None:
    """Let the form ask for the stop at which a drag ended, and the page run it; what is no stop is nothing.

    Until that run is there, `result` stays in sight, also where it is the replay that nobody asked for.
    """
    ended = st.session_state[name].get("released")
    if not isinstance(ended, list) or len(ended) != 3:  # the third one tells this end from an earlier one there
        return
    if ended[0] not in STOPS or ended[1] not in editions:
        return
    if prepared.locked(where) or (
        prepared.locked(keys.EXPLORE_DATA) and ended[1] != st.session_state.get(keys.EXPLORE_DATA)
    ):
        return
    st.session_state[where] = float(ended[0])
    catalog.choose(ended[1])
    if not session.shown:
        keep(result)
        show(result.identity)
    session.released = True
    links.rewind("explore")


@st.cache_resource(max_entries=64, show_spinner=False)
def _record(
    method: str,
    names: tuple[str, ...],
    seed: int,
    mode: str,
    hidden: bool,
    axes: tuple[int, int] | None,
    _result: Result,
) -> str:
    """Return what the browser needs, as JSON: the same for everybody who looks in the same way."""
    view = dataclasses.replace(view_of(_result, hidden=hidden, axes=axes), people=None, reference=None, missed=None)
    editions = [_edition(method, name, hidden=hidden) for name in names]
    on = bet_of(_result.trace.claimed, far=reach(_result.trace)).on
    return workers().call(_as_json, view, editions, seed, on)


def _edition(method: str, name: str, *, hidden: bool) -> Edition:
    """Return a chart with its public facts; its people and KMeans' centers, as stored, where these are asked for."""
    data = catalog.sample(name)
    sample, people = edition_of(data) or ("", None)
    chart, kmeans = files.read(sample, method, people), files.read(sample, "kmeans", people)
    if chart is None:
        raise ValueError(f"atlas: the runs of {method} on {name} are gone.")
    size = data.domain.n_features, data.n_public
    most = [
        odds_of_any(ALGORITHMS[method](n_clusters=data.n_clusters, epsilon=stop.epsilon).guarantee(*size))
        for stop in chart.stops
    ]
    reference = kmeans.stops[0].centers[0] if hidden and kmeans is not None else None
    return Edition(
        name, data.n_public, chart.stops, most, chart.groups, chart.best, data.X if hidden else None, reference
    )


def _as_json(view: View, editions: list[Edition], seed: int, on: str) -> str:
    return json.dumps(figures.record(view, editions, seed, on), ensure_ascii=False, separators=(",", ":"))
