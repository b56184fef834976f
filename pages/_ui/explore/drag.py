"""ε and People as drags: stored runs at every stop, drawn over the plane while somebody drags; let go, the page runs.

Only samples have stored runs. What comes from a file has no name here, so it is neither looked up nor stored.
"""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path

import streamlit as st

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import METHODS, PEOPLE, STOPS
from dpviz.atlas.files import Chart
from dpviz.datasets import SAMPLES, Dataset
from dpviz.figures.kit.view import View
from dpviz.figures.scenes import drag as figures
from dpviz.figures.scenes.drag import Edition
from dpviz.postprocessing.bet import bet_of, odds_of_any
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Notion
from pages._ui.address import links
from pages._ui.explore.look import Choice, Look
from pages._ui.explore.state import explore_state
from pages._ui.form.forms import fields_of
from pages._ui.frame import catalog, keys, prepared
from pages._ui.frame.session import session
from pages._ui.player import stage
from pages._ui.player.player import view_of
from pages._ui.work import atlas
from pages._ui.work.atlas import Trust
from pages._ui.work.results import Result, keep, show
from pages._ui.work.workers import workers

__all__ = ["edition_of", "section"]

_HERE = Path(__file__).parent

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
    sample, people = here
    trusts = _trusts(sample, choice.cls.slug)
    if people not in (*PEOPLE.get(sample, ()), None):
        return
    atlas.note(trusts)
    if Trust.CHECKING in trusts:
        st.fragment(_wait, run_every=1.0)(sample, choice.cls.slug)
    charts = _charts(sample, choice.cls.slug) if trusts == {Trust.YES} else {}
    if people in charts and choice.form.seed < charts[people].seeds:
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


def _trusts(sample: str, method: str) -> set[Trust]:
    """Return whether the runs of a method may be used, and KMeans', whose loss is their unit."""
    return {atlas.trust(sample, method), atlas.trust(sample, "kmeans")}


def _wait(sample: str, method: str) -> None:
    if Trust.CHECKING not in _trusts(sample, method):
        st.rerun()


def _charts(sample: str, method: str) -> dict[int | None, Chart]:
    """Return number of people (None: all) -> stored runs, of every edition that can be read, fewest people first."""
    every = {people: atlas.chart(sample, method, people) for people in (*PEOPLE.get(sample, ()), None)}
    return {people: chart for people, chart in every.items() if chart is not None}


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
    explore_state.released = True
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
    chart, kmeans = atlas.chart(sample, method, people), atlas.chart(sample, "kmeans", people)
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
