"""Show both worlds of a run, with Alex and without, step by step, and a lens on what exact centers reveal."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.figures import Panel
from dpviz.figures.kit.view import View
from dpviz.figures.scenes import alex as figures
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.verdict import largest_gap
from dpviz.privacy.guarantee import Notion
from dpviz.runs.alex import Worlds, clouds, worlds
from pages._ui.explore.attacker.setup import ATTACKER_WHO_NEXT, WHO, Setup
from pages._ui.explore.attacker.state import attacker_state
from pages._ui.explore.player.how import How
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import view_of
from pages._ui.explore.player.transport import transport
from pages._ui.frame import markup, shell
from pages._ui.frame.catalog import is_public
from pages._ui.frame.prepared import locked
from pages._ui.work import atlas, runs
from pages._ui.work.batch import Gathered, Piece, follow, gather, halt
from pages._ui.work.pace import duration
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

__all__ = ["section"]

_ALEX = "alex"
_ALEX_PLAYER = "alex_player"
ALEX_FIGURES = "alex_figures"

N = 20
SEEDS = range(1, N + 1)  # Seeds of the runs with Alex; the seeds of the runs without Alex follow.
NEAR = 0.02  # A click that is closer to a person than this share of the picture's span selects that person.
_TOPIC = "alex"
Clouds = tuple[tuple[np.ndarray, ...], ...]  # centers of many runs with Alex and without, or ()


def section(result: Result, setup: Setup, how: How) -> None:
    """Show a run in both worlds if hidden layers allow people to be drawn."""
    expected = 2 * N * runs.seconds(result.data, setup.algorithm)
    why = ""
    if result.trace.noiseless:
        why = "This run has no noise: it distinguishes the two worlds as exactly as KMeans does."
    elif has_regions(result.trace):
        why = "This method releases regions, so it has no centers to overlay."
    elif expected > runs.MOST_SECONDS:
        why = f"Two worlds with {N} runs each would take {duration(expected)}: choose fewer centers."
    if why or not how.hidden:
        halt(_TOPIC)
        if why:
            st.info(why)
        return
    follow(partial(_gather, result, setup), partial(_body, result, setup, how), 0.6)


def _gather(result: Result, setup: Setup) -> Gathered:
    """Have the run made in both worlds and, unless stored, the clouds: many runs in each world with fixed seeds."""
    seed, data, of = int(result.trace.seed or 0), result.data, (result.data, setup.algorithm, setup.alex)
    elsewhere = setup.question.elsewhere
    pieces = [Piece(_name(result, setup), worlds, (*of, seed, elsewhere))]
    if not _stored(setup):
        pieces.append(Piece(_clouds_name(setup), clouds, (*of, SEEDS, elsewhere)))
    expected = 2 * (1 + N * (len(pieces) - 1)) * runs.seconds(data, setup.algorithm)
    return gather(_TOPIC, "Two worlds", pieces, public=is_public(data), seconds=expected)


def _name(result: Result, setup: Setup) -> str:
    return f"alex {setup.who} {setup.ask} {setup.far} {result.identity}"


def _clouds_name(setup: Setup) -> str:
    return f"alex clouds {setup.who} {setup.ask} {setup.far} {runs.run_id(setup.data, setup.algorithm, SEEDS[0])}"


def _stored(setup: Setup) -> Clouds:
    """Return the centers of stored runs with Alex and without, or () if there are none."""
    if setup.question.elsewhere is not None:  # stored rounds ask whether Alex is in the data
        return ()
    both = [atlas.played(setup.data, setup.algorithm, setup.alex.place, world)[:N] for world in (True, False)]
    return tuple(tuple(one.centers for one in rounds) for rounds in both) if all(len(one) == N for one in both) else ()


def _body(result: Result, setup: Setup, how: How, now: Gathered) -> None:
    """Draw the finished part, with the progress below it, so that the picture stays in place when the bar goes."""
    made = now.ready.get(_clouds_name(setup), ())
    if (both := now.ready.get(_name(result, setup))) is not None:
        _picture(result, setup, both, _stored(setup) or tuple(some.centers for some in made), how)
    if now.active and now.job is not None:
        share = now.job.done / now.job.total if now.job.total else 0.0
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(min(share, 1.0), f"{share:.0%} of the runs in two worlds")
        if button.button("Cancel", key="alex_cancel", width="stretch"):
            now.job.cancel()
    elif now.problem:
        st.error(plain(now.problem))
    elif now.stopped:
        st.button("Go on", key="alex_on", on_click=halt, args=(_TOPIC,))


def _picture(result: Result, setup: Setup, both: Worlds, many: Clouds, how: How) -> None:
    """Draw both worlds; if there are no clouds yet, the steps that show clouds say so."""
    titles = sentences(result, setup, both, computed=bool(many))
    identity = f"{setup.who} {setup.ask} {setup.far} {result.identity}"
    transport(
        _ALEX_PLAYER, scope=ALEX_FIGURES, titles=titles, marks=list(range(len(titles))),
        run=identity, opened=zlib.crc32(identity.encode()) + 1, step=0, what="Two worlds",
    )  # fmt: skip
    view = view_of(result, how)
    look = (identity, bool(many), st.context.theme.type, how)
    panels = attacker_state.attacker_panels
    if panels is None or panels[0] != look:
        made = workers().call(printed, view, setup.alex.place, both, many or ((), ()), setup.worlds)
        attacker_state.attacker_panels = panels = (look, made)
    spot = None
    with st.container(key=ALEX_FIGURES):
        left, right = st.columns([11, 8], gap="medium")
        with left:
            spot = draw(_ALEX, panels[1][:1], pick=True)
            shell.key_line(figures.legend(setup.worlds, N), True, result.data.noun)
        with right:
            draw(_ALEX, panels[1][1:])
            st.html(markup.odds(drowned(result, view, both, many[0] if many else ())))
    if spot is not None and not locked(WHO.key):
        taken = clicked(view, result.data, spot)
        if taken != setup.who:
            st.session_state[ATTACKER_WHO_NEXT] = taken
            st.rerun()
    every = f"The promise holds for every {result.data.noun}, including those that nobody clicks."
    few = "Overlapping clouds do not prove the promise: 20 runs show only large differences."
    st.html(markup.fooled(f"{few} {every}" if result.trace.claimed.private else few))


def printed(
    view: View, place: np.ndarray, both: Worlds, many: Sequence[Sequence[np.ndarray]], names: tuple[str, str]
) -> list[Panel]:
    """Return the plane and the lens, ready to send; `many` are the centers of many runs in the worlds with `names`."""
    one, other = both.here, both.there
    plane = figures.worlds_panel(
        view, place, both.moved, (one.one, other.one), (many[0], many[1]), (one.kmeans, other.kmeans), names
    )
    lens = figures.lens_of(view, (one.kmeans, other.kmeans))
    here, there = (_near(view, lens, cloud) for cloud in many)
    first, second = (_near(view, lens, [world.one]) for world in (one, other))
    ends = lens.here, lens.there
    frames = [(ends[0], first), (ends[1], second), (ends[0], here), (ends[1], there), (ends[0], [*here, *there])]
    return [plane.printed(), figures.lens_panel(view, lens, frames, names).printed()]


def _near(view: View, lens: figures.Lens, runs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return, for each run, the released center nearest to the lens."""
    return [figures.nearest(centers, lens.here, view.trace.domain) for centers in runs]


def drowned(result: Result, view: View, both: Worlds, cloud: Sequence[np.ndarray]) -> markup.Html:
    """Return the conclusion of the lens: how far Alex moves KMeans' center and how far noise moves the released one."""
    data, domain = result.data, result.trace.domain

    def gap(one: np.ndarray, other: np.ndarray) -> str:
        return largest_gap(one[None], other[None], domain, data.columns, data.units)

    lens = figures.lens_of(view, (both.here.kmeans, both.there.kmeans))
    known = markup.text(markup.bold(f"KMeans: {gap(lens.here, lens.there)}"), ", always the same: Alex is known.")
    if result.trace.claimed.notion is Notion.NONE or not cloud:
        return known
    seen = _near(view, lens, cloud)
    jumps = np.linalg.norm(np.diff(domain.normalize(np.array(seen)), axis=0), axis=1)
    typical = int(np.argsort(jumps)[len(jumps) // 2])
    move = np.linalg.norm(np.diff(domain.normalize(np.array([lens.here, lens.there])), axis=0))
    less = f", no farther than Alex moves KMeans' center: add noise or {data.nouns}."
    end = " anyway: the noise hides Alex." if jumps[typical] > move else less
    jump = gap(seen[typical], seen[typical + 1])
    return markup.text(known, " ", markup.bold(f"Released: jumps {jump} from run to run"), end)


def sentences(result: Result, setup: Setup, both: Worlds, *, computed: bool) -> list[str]:
    """Return the sentences of the five steps; `computed` says whether the runs with fresh noise have been made."""
    trace, data = result.trace, result.data
    if setup.ask == "moved":
        first, second = "Alex is here", f"Alex is {trace.domain.length(setup.far)} away"
    elif both.moved is None:
        first, second = "Alex is in", "Alex is out"
    else:
        first, second = "Alex is in", f"Another {data.noun} is in the middle instead"

    def gap(one: np.ndarray, other: np.ndarray) -> str:
        return largest_gap(one, other, trace.domain, data.columns, data.units)

    released, plain = gap(both.here.one, both.there.one), gap(both.here.kmeans, both.there.kmeans)
    later = "" if computed else " · not computed yet"
    return [
        f"{first} · one run of {trace.name}, and KMeans",
        f"{second} · same noise seed: {trace.name} moves by {released} at most, KMeans by {plain} every time",
        f"{first} · {N} runs with fresh noise{later}",
        f"{second} · {N} runs with fresh noise{later}",
        f"Both worlds · filled {setup.worlds[0]}, hollow {setup.worlds[1]}{later}",
    ]


def clicked(view: View, data: Dataset, spot: tuple[float, float]) -> str:
    """Return the word for the person that a click selects: the nearest one, or a new one if nobody is near."""
    low, high = view.bounds()
    span = np.maximum(high - low, 1e-300)
    gaps = np.linalg.norm((view.flat(data.X) - np.asarray(spot)) / span, axis=1)
    row = int(np.nanargmin(gaps))
    if gaps[row] <= NEAR:
        return f"row:{row}"
    place = data.domain.middle.copy()
    if view.axes is None and len(place) > 1:
        place = data.domain.denormalize(view.directions.lift(np.asarray(spot)))
    else:
        for axis, value in zip(view.axes or (0,), spot, strict=False):
            place[axis] = value
    place = np.clip(place, data.domain.low, data.domain.high)
    return "at:" + ",".join(np.format_float_positional(x, precision=6, fractional=False, trim="-") for x in place)
