"""Let visitors drag ε or People: during a drag, the plane shows stored runs at every stop; letting go starts a run."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import STOPS, Yardstick
from dpviz.atlas.files import Chart
from dpviz.figures.kit.view import View
from dpviz.figures.scenes import drag as figures
from dpviz.figures.scenes.drag import Edition
from dpviz.postprocessing.bet import bet_of, odds_of_any
from dpviz.postprocessing.verdict import reach
from pages._ui.explore.form.forms import fields_of, preset
from pages._ui.explore.look import Choice
from pages._ui.explore.player import stage
from pages._ui.explore.player.how import How
from pages._ui.explore.player.player import view_of
from pages._ui.explore.player.verdict import VERDICT
from pages._ui.explore.state import explore_state
from pages._ui.explore.stored import edition_of, sample_of
from pages._ui.frame import catalog, prepared
from pages._ui.frame.address import links
from pages._ui.frame.address.data import DATA
from pages._ui.frame.inside.client import PAGE
from pages._ui.frame.session import session
from pages._ui.work import atlas
from pages._ui.work.caches import per_run
from pages._ui.work.filling import Track, at
from pages._ui.work.results import Result, keep, show
from pages._ui.work.workers import workers

__all__ = ["section"]

_EXPLORE_DRAG = "explore_drag"

_HERE = Path(__file__).parent
_MORE = 3  # number of new stops after which the page is redrawn

_component = st.components.v2.component(
    "dpviz_drag",
    html='<div class="dpviz-drag"></div>',
    css=figures.text_of("track.css") + (_HERE / "drag.css").read_text(),
    js=PAGE + figures.text_of("track.js") + (_HERE / "drag.js").read_text(),
    isolate_styles=False,  # the film of stored runs covers the plane, which is outside the component
)


def section(scope: str, choice: Choice, result: Result, how: How) -> None:
    """Offer a drag of ε in the form if there are stored runs for the form's choices.

    During a drag, a film over the plane in the container with the key `scope` shows the stored runs. If there are none,
    runs of public data are made in the background, and the drag appears once it has stops.
    """
    here, algorithm = choice.stored, choice.form.algorithm
    like = algorithm is not None and _is_like(choice, algorithm, result)
    if here is not None and choice.row.drag is not None:
        with choice.row.drag:
            if not here.charts:
                atlas.note()
            elif like:
                names, mode = tuple(here.names), st.context.theme.type or "light"
                record = _record(choice.cls.slug, names, choice.form.seed, mode, how, result)
                _draw(scope, choice, result, record, names)
    if like and choice.track is not None:
        _fill(scope, choice, choice.track, result, how)


def _fill(scope: str, choice: Choice, track: Track, result: Result, how: How) -> None:
    """Draw the finished part of a track without stored runs, and have the rest made while the page is open."""
    algorithm, seed = choice.form.algorithm, choice.form.seed
    there, stops = track.chart, track.stops
    if there is not None and stops > 1 and algorithm is not None and choice.row.drag is not None:
        mode = st.context.theme.type or "light"
        edition = partial(_edition_of, choice, algorithm, *there)
        with choice.row.drag:
            record = _record_of(result, choice.name, stops, seed, mode, how, edition)
            _draw(scope, choice, result, record, (choice.name,))
    elif choice.row.drag is not None:
        choice.row.drag.caption("Runs at other values of ε are being made. In a moment ε becomes a slider.")
    if not track.whole:
        _follow(track, stops)


def _follow(track: Track, stops: int) -> None:
    """Have more of a track made after the page is drawn, and redraw it when more is finished."""
    looks = itertools.count()

    def follow() -> None:
        if next(looks) and not session.job:
            track.make()
            if track.stops >= min(stops + _MORE, len(STOPS)):
                st.rerun()

    st.fragment(follow, run_every=1.0)()


def _is_like(choice: Choice, algorithm: Algorithm, result: Result) -> bool:
    """Return whether the drawn run matches the form in everything but ε and the number of people, as stored runs do."""
    trace = result.trace
    others = [name for name in params.specs(choice.cls) if name != "epsilon"]
    return (
        trace.algorithm == choice.cls.slug
        and not trace.noiseless
        and (result.data.dataset_id == choice.data.dataset_id or sample_of(result.data) == sample_of(choice.data) != "")
        and all(trace.parameters[name] == getattr(algorithm, name) for name in others)
    )


def _draw(scope: str, choice: Choice, result: Result, record: str, names: tuple[str, ...]) -> None:
    """Draw the component for the editions of the data that have these public names."""
    fields = fields_of(
        choice.cls,
        choice.name,
        {"n_clusters": choice.data.n_clusters},
        preset(choice.cls).held,
    )
    where = fields["epsilon"].key
    data = {
        "record": record,
        "stage": stage.NAME,
        "scope": f".st-key-{scope}",
        "words": f".st-key-{VERDICT}",
        "edition": choice.name,
        "epsilon": float(choice.form.algorithm.epsilon),  # type: ignore[union-attr]
        "busy": bool(session.job),
        "locked": prepared.locked(where),
        "fixed": prepared.locked(DATA.key),  # whether the number of people is fixed
    }
    name = _EXPLORE_DRAG
    _component(key=name, data=data, height="content", on_released_change=partial(_released, name, where, names, result))


def _released(name: str, where: str, editions: tuple[str, ...], result: Result) -> None:
    """Set the form to the stop at which a drag ended, so that the page runs it; ignore anything that is not a stop.

    Until that run is finished, `result` stays visible, even if it is the initial replay.
    """
    ended = st.session_state[name].get("released")
    if not isinstance(ended, list) or len(ended) != 3:  # the third value tells this drag from an earlier one
        return
    if ended[0] not in STOPS or ended[1] not in editions:
        return
    if prepared.locked(where) or (prepared.locked(DATA.key) and ended[1] != DATA.held):
        return
    st.session_state[where] = float(ended[0])
    catalog.choose(ended[1])
    if not session.shown:
        keep(result)
        show(result.identity)
    explore_state.released = True
    links.rewind(session.page)


@st.cache_resource(max_entries=64, show_spinner=False)
def _record(
    method: str,
    names: tuple[str, ...],
    seed: int,
    mode: str,
    how: How,
    _result: Result,
) -> str:
    """Return the browser's data as JSON, the same for everybody with the same view."""
    return _json_of(_result, [_edition(method, name, hidden=how.hidden) for name in names], seed, how)


@per_run(shared=32, own=4)
def _record_of(
    identity: str, name: str, stops: int, seed: int, mode: str, how: How,
    _edition: Callable[[bool], Edition], _result: Result,
) -> str:  # fmt: skip
    """Return the browser's data for a track that was made for this data set; a file's track stays in its session."""
    return _json_of(_result, [_edition(how.hidden)], seed, how)


def _json_of(result: Result, editions: list[Edition], seed: int, how: How) -> str:
    view = dataclasses.replace(view_of(result, how), people=None, reference=None, missed=None)
    on = bet_of(result.trace.claimed, far=reach(result.trace), noun=result.data.noun).on
    return workers().call(_as_json, view, editions, seed, on)


def _edition_of(choice: Choice, algorithm: Algorithm, chart: Chart, yardstick: Yardstick, hidden: bool) -> Edition:
    """Return the runs that were made for the form, as an edition."""
    data = choice.data
    size = data.domain.n_features, data.n_public
    most = [odds_of_any(at(algorithm, stop.epsilon).guarantee(*size)) for stop in chart.stops]
    people, reference = (data.X, yardstick.centers) if hidden else (None, None)
    return Edition(choice.name, data.n_public, chart.stops, most, chart.groups, chart.best, people, reference)


def _edition(method: str, name: str, *, hidden: bool) -> Edition:
    """Return stored runs with their public facts and, on request, the sample's people and KMeans' centers."""
    data = catalog.sample(name)
    sample, people = edition_of(data) or ("", None)
    chart, kmeans = atlas.chart(sample, method, people), atlas.chart(sample, "kmeans", people)
    if chart is None:
        raise ValueError(f"atlas: the runs of {method} on {name} are gone.")
    size = data.domain.n_features, data.n_public
    asked: list[dict[str, Any]] = [{"n_clusters": data.n_clusters, "epsilon": stop.epsilon} for stop in chart.stops]
    most = [odds_of_any(ALGORITHMS[method](**values).guarantee(*size)) for values in asked]
    reference = kmeans.stops[0].centers[0] if hidden and kmeans is not None else None
    return Edition(
        name, data.n_public, chart.stops, most, chart.groups, chart.best, data.X if hidden else None, reference
    )


def _as_json(view: View, editions: list[Edition], seed: int, on: str) -> str:
    return json.dumps(figures.record(view, editions, seed, on), ensure_ascii=False, separators=(",", ":"))
