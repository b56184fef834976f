"""Below the player: one person in or out of the data, the same run in both worlds."""

from __future__ import annotations

import zlib

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.figures import Panel
from dpviz.figures.kit.view import View
from dpviz.figures.scenes import alex as figures
from dpviz.postprocessing.verdict import largest_gap, reach
from dpviz.runs.alex import Alex, Worlds, farthest, typical, worlds
from pages._ui.explore.state import explore_state
from pages._ui.frame import keys, markup, shell
from pages._ui.frame.catalog import is_public
from pages._ui.frame.prepared import kept, locked
from pages._ui.player.panel import draw
from pages._ui.player.player import view_of
from pages._ui.player.transport import transport
from pages._ui.work import runs
from pages._ui.work.batch import Gathered, Piece, gather, halt
from pages._ui.work.pace import duration
from pages._ui.work.results import Result
from pages._ui.work.workers import workers
from pages._ui.workspace.who import WHO, called

__all__ = ["section"]

N = 20
NEAR = 0.02  # of the picture's span: a click so close to a person means that person
_TOPIC = "alex"


def section(key: str, result: Result, *, hidden: bool, axes: tuple[int, int] | None) -> None:
    """Offer two worlds where the people are public or made up, and shown."""
    data = result.data
    if data.private or not hidden or result.trace.noiseless:
        halt(_TOPIC)
        return
    st.header("Alex in, Alex out")
    who = _choose(key, data)
    alex = _person(who, data)
    if alex is None:
        if who:
            st.info("There is no such person here; choose another one.")
        halt(_TOPIC)
        st.html(
            markup.small(
                "Choose a person, or click one in the picture that appears: the same run with and "
                "without that person, side by side. How well anybody can tell the two apart is what the "
                "promise limits."
            )
        )
        return
    expected = 2 * N * runs.seconds(data, ALGORITHMS[result.trace.algorithm](**result.trace.parameters))
    if expected > runs.MOST_SECONDS:
        st.info(f"Two worlds with {N} runs each would take {duration(expected)}: choose fewer centers.")
        return
    now = _gather(result, alex, who)
    st.fragment(_body, run_every=0.6 if now.active else None)(key, result, alex, who, axes)


def _choose(key: str, data: Dataset) -> str:
    state = st.session_state
    if taken := state.pop(keys.ALEX_NEXT(key), None):
        state[keys.ALEX(key)] = taken
    now = state.get(keys.ALEX(key), "")
    choices = [*WHO, *([now] if now not in WHO else [])]
    return st.selectbox(
        "Alex is", choices, format_func=called, **kept(keys.ALEX(key)),
        help="Or click a person, or an empty place, in the picture.",
    )  # fmt: skip


def _person(who: str, data: Dataset) -> Alex | None:
    """Return who that is in these data, or None if there is no such person."""
    if who in ("far", "typical"):
        return (farthest if who == "far" else typical)(data)
    kind, _, rest = who.partition(":")
    if kind == "row" and int(rest) < len(data.X) and np.isfinite(data.X[int(rest)]).all():
        return Alex(data.X[int(rest)], int(rest))
    if kind == "at":
        try:
            place = np.array([float(part) for part in rest.split(",")])
        except ValueError:
            return None
        if len(place) == data.domain.n_features and np.isfinite(place).all():
            return Alex(np.clip(place, data.domain.low, data.domain.high))
    return None


def _gather(result: Result, alex: Alex, who: str) -> Gathered:
    trace = result.trace
    algorithm, seed = ALGORITHMS[trace.algorithm](**trace.parameters), int(trace.seed or 0)
    piece = Piece(
        f"alex {who} {result.identity}", worlds, (result.data, algorithm, alex, seed, range(seed + 1, seed + 1 + N))
    )
    expected = 2 * N * runs.seconds(result.data, algorithm)
    return gather(_TOPIC, "Two worlds", [piece], public=is_public(result.data), seconds=expected)


def _body(key: str, result: Result, alex: Alex, who: str, axes: tuple[int, int] | None) -> None:
    now, state = _gather(result, alex, who), st.session_state
    if now.active and now.job is not None:
        state[keys.ALEX_GOING(key)] = True
        share = now.job.done / now.job.total if now.job.total else 0.0
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(min(share, 1.0), f"{share:.0%} of {2 * N + 2} runs in two worlds")
        if button.button("Cancel", key=keys.ALEX_CANCEL(key), width="stretch"):
            now.job.cancel()
        return
    if now.problem:
        st.error(plain(now.problem))
    elif now.stopped:
        st.button("Go on", key=keys.ALEX_ON(key), on_click=halt, args=(_TOPIC,))
    for both in now.ready.values():
        _picture(key, result, alex, who, both, axes)
    if state.pop(keys.ALEX_GOING(key), False):
        st.rerun()


def _picture(key: str, result: Result, alex: Alex, who: str, both: Worlds, axes: tuple[int, int] | None) -> None:
    titles = sentences(result, both)
    identity = f"{who} {result.identity}"
    transport(
        keys.ALEX_PLAYER(key), scope=keys.ALEX_FIGURES(key), titles=titles, marks=list(range(len(titles))),
        run=identity, opened=zlib.crc32(identity.encode()) + 1, step=0, main=False, what="Two worlds",
    )  # fmt: skip
    view = view_of(result, hidden=True, axes=axes)
    look = (identity, st.context.theme.type, axes)
    made = explore_state.alex_panels
    if made is None or made[0] != look:
        explore_state.alex_panels = made = (look, workers().call(printed, view, alex, both))
    with st.container(key=keys.ALEX_FIGURES(key)):
        spot = draw(keys.ALEX(key), made[1], pick=axes is not None or result.data.domain.n_features == 1)
        shell.key_line(figures.LEGEND, True)
    if spot is not None and not locked(keys.ALEX(key)):
        taken = clicked(view, result.data, spot)
        if taken != who:
            st.session_state[keys.ALEX_NEXT(key)] = taken
            st.rerun()
    st.html(
        markup.fooled(
            "Clouds that overlap do not prove the promise: 20 runs show only large differences. The "
            "promise holds for every person, also for those whom nobody clicks."
        )
    )
    st.page_link("pages/attacker.py", label="Play it as a game: in or out?")


def printed(view: View, alex: Alex, both: Worlds) -> list[Panel]:
    """Return the panel ready to send."""
    one, other = both.here, both.there
    ones, clouds = (one.one, other.one), (one.fresh.centers, other.fresh.centers)
    panel = figures.worlds_panel(view, alex.place, both.moved, ones, clouds, (one.kmeans, other.kmeans))
    return [panel.printed()]


def sentences(result: Result, both: Worlds) -> list[str]:
    """Return what is said at the five steps."""
    trace, data = result.trace, result.data
    if both.moved is None:
        first, second = "Alex is in", "Alex is out"
    else:
        far = reach(trace) if trace.claimed.rho_distance is not None else "the middle of the bounds"
        first = "Alex is here"
        second = f"Alex is {far} away" if trace.claimed.rho_distance is not None else f"Alex is at {far}"

    def gap(one: np.ndarray, other: np.ndarray) -> str:
        return largest_gap(one, other, trace.domain, data.columns, data.units)

    released, plain = gap(both.here.one, both.there.one), gap(both.here.kmeans, both.there.kmeans)
    return [
        f"{first} · one run of {trace.name}, and KMeans",
        f"{second} · same noise seed: {trace.name} moves by {released} at most, KMeans by {plain} every time",
        f"{first} · {N} runs with fresh noise",
        f"{second} · {N} runs with fresh noise",
        f"Both worlds · filled where {first}, hollow where {second}",
    ]


def clicked(view: View, data: Dataset, spot: tuple[float, float]) -> str:
    """Return who a click means: the nearest person, or somebody new where nobody is near."""
    low, high = view.bounds()
    span = np.maximum(high - low, 1e-300)
    gaps = np.linalg.norm((view.flat(data.X) - np.asarray(spot)) / span, axis=1)
    row = int(np.nanargmin(gaps))
    if gaps[row] <= NEAR:
        return f"row:{row}"
    place = data.domain.middle.copy()
    for axis, value in zip(view.axes or (0,), spot, strict=False):
        place[axis] = value
    return "at:" + ",".join(f"{value:.6g}" for value in np.clip(place, data.domain.low, data.domain.high))
