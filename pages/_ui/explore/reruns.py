"""Draw twenty reruns for every ε, as clouds or one after the other, to show whether the result would be similar."""

from __future__ import annotations

import dataclasses
import zlib
from functools import partial

import numpy as np
import streamlit as st

from dpviz.escape import plain
from dpviz.figures import Panel, View
from dpviz.figures.scenes import reruns as figures
from dpviz.figures.scenes.reruns import Cloud
from dpviz.postprocessing.regions import has_regions
from dpviz.runs.bootstrap import MEASURED
from dpviz.runs.reruns import Reruns, spread
from pages._ui.explore.player.how import CLOUDS, How
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import view_of
from pages._ui.explore.player.transport import transport
from pages._ui.explore.question import N, RerunQuestion, name_of, own_of, stored_of
from pages._ui.explore.rerun_words import in_words, later, measured, one_run, promised, ratios, times
from pages._ui.explore.state import explore_state
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import write
from pages._ui.frame.catalog import is_public
from pages._ui.work import runs
from pages._ui.work.batch import Gathered, follow, gather, halt, peek
from pages._ui.work.pace import duration
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

_AGAIN = "{}_again".format
_AGAIN_PLAYER = "{}_again_player".format
AGAIN_FIGURES = "{}_again_figures".format

_TOPIC = "reruns"
CAUTION = (
    "The same rows with different noise and a different start each time: the cloud shows how far one release can be "
    "from the next, but not how far any of them is from the truth."
)


def section(key: str, result: Result, how: How, *, current: bool) -> None:
    """Show reruns; private rows are replaced by people made up from the release, because every rerun would spend ε.

    `current` says whether this is the run that the form requests; only then can a link name the reruns.
    """
    if result.trace.noiseless:
        st.info("This run has no noise: another run differs only in its start.")
        halt(_TOPIC)
        return
    if has_regions(result.trace):
        st.info("This method releases regions, so its reruns have no centers to overlay.")
        halt(_TOPIC)
        return
    st.caption(
        f"{N} simulated runs, on people made up from the release. No row is read, and nothing is spent."
        if result.data.private
        else f"{N} runs on the same rows with different noise. Only in DEMO: on private rows every rerun would spend ε."
    )
    question = RerunQuestion.of(result)
    if question.seconds > runs.MOST_SECONDS:
        words = f"{N} reruns would take {duration(question.seconds)}, and this server allows "
        st.info(f"{words}{duration(runs.MOST_SECONDS)}: choose fewer centers or a smaller data set.")
        return
    follow(partial(_gather, question), partial(_body, key, question, how, current), 0.6)


def scatter_of(result: Result) -> np.ndarray | None:
    """Return the scatter (k,), in z units, of each center over stored or finished reruns, or None without reruns."""
    if result.trace.noiseless or has_regions(result.trace):
        return None
    own = own_of(result)
    some = stored_of(result, own) or peek(name_of(result, own), public=is_public(result.data))
    return None if some is None else spread(some.centers, np.asarray(result.trace.cluster_centers), result.trace.domain)


def _gather(question: RerunQuestion) -> Gathered:
    public = is_public(question.result.data)
    made = gather(_TOPIC, f"{N} reruns", question.pieces(), public=public, seconds=question.seconds)
    there = {question.name(one): some for one, some in question.stored.items()}
    return dataclasses.replace(made, ready={**there, **made.ready})


def _body(key: str, question: RerunQuestion, how: How, current: bool, now: Gathered) -> None:
    _progress(key, now)
    ready = {one: now.ready[question.name(one)] for one in question.algorithms if question.name(one) in now.ready}
    if question.current in ready:
        _picture(key, question, ready, how, current)


def _progress(key: str, now: Gathered) -> None:
    if now.active and now.job is not None:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        share = now.job.done / now.job.total if now.job.total else 0.0
        ahead = runs.jobs().position(now.job) if now.job.status == "queued" else 0
        words = f"{ahead} ahead in the queue" if ahead else f"{share:.0%} of all reruns"
        bar.progress(min(share, 1.0), words)
        if button.button("Cancel", key=f"{key}_again_cancel", width="stretch"):
            now.job.cancel()
    elif now.problem:
        st.error(plain(now.problem))
    elif now.stopped:
        left, button = st.columns([5, 1], vertical_alignment="center")
        left.info("The reruns were canceled; you see the finished ones.")
        button.button("Go on", key=f"{key}_again_on", width="stretch", on_click=halt, args=(_TOPIC,))


def _picture(
    key: str,
    question: RerunQuestion,
    ready: dict[str, Reruns],
    how: How,
    current: bool,
) -> None:
    result, labels, hidden = question.result, list(question.algorithms), how.hidden
    seen = CLOUDS.draw(label_visibility="collapsed")
    all_at_once = seen != "one"
    identity = f"{question.name(question.current)} {seen}"
    if all_at_once:
        titles = [in_words(question, one, ready[one], hidden=hidden) if one in ready else later(one) for one in labels]
        first = labels.index(question.current)
    else:
        losses = ratios(result, ready[question.current])
        titles = [one_run(question, i, None if not hidden else losses[i]) for i in range(N)]
        first = 0
    transport(
        _AGAIN_PLAYER(key), scope=AGAIN_FIGURES(key), titles=titles, marks=list(range(len(titles))),
        run=identity, opened=zlib.crc32(identity.encode()) + 1, step=first, play=not all_at_once, main=False,
        what="Privacy budget ε" if all_at_once else "Reruns",
    )  # fmt: skip
    plane, *side = _panels(question, ready, how, all_at_once=all_at_once)
    with st.container(key=AGAIN_FIGURES(key)):
        left, right = st.columns([11, 9], gap="medium")
        with left:
            draw(_AGAIN(key), [plane])
            shell.key_line(figures.LEGEND, hidden, result.data.noun)
        with right:
            draw(_AGAIN(key), side)
            if hidden and current:
                _worst(question, ready)
    if result.data.private and result.trace.algorithm in MEASURED:
        with st.popover("How good is this simulation?"):
            measured(result.trace.algorithm)
    caution = promised(result.trace) if result.data.private else CAUTION
    st.html(markup.fooled(caution))


def _panels(question: RerunQuestion, ready: dict[str, Reruns], how: How, *, all_at_once: bool) -> list[Panel]:
    """Return the figures, remade only when more reruns are finished or the view changes."""
    result = question.result
    look = (result.identity, tuple(ready), st.context.theme.type, how, all_at_once)
    pair = explore_state.reruns_panels
    if pair is None or pair[0] != look:
        view = dataclasses.replace(view_of(result, how), missed=None)
        clouds = [
            Cloud(one, ready[one].centers, ratios(result, ready[one]) if how.hidden else None)
            if one in ready
            else Cloud(one, ())
            for one in question.algorithms
        ]
        own = list(question.algorithms).index(question.current)
        explore_state.reruns_panels = pair = (look, workers().call(printed, view, clouds, None if all_at_once else own))
    return pair[1]


def printed(view: View, clouds: list[Cloud], one: int | None) -> list[Panel]:
    """Return the panels ready to send: all clouds, or one of them run by run."""
    simulated = view.trace.seed is None
    note, what = ("simulated from the release", "simulated runs") if simulated else ("", "reruns")
    every = [centers for cloud in (clouds if one is None else clouds[one : one + 1]) for centers in cloud.centers]
    numbers = f": {figures.numbers_of_centers(every)} each" * bool(every)
    if one is None:
        at = f" at each of {len(clouds)} values of ε" * (len(clouds) > 1)
        panels = figures.clouds(view, clouds, f"{N} {what}{at}{numbers}", note)
    else:
        panels = figures.one_by_one(view, clouds[one], f"{N} {what} at {clouds[one].label}{numbers}", note)
    return [panel.printed() for panel in panels]


def _worst(question: RerunQuestion, ready: dict[str, Reruns]) -> None:
    """Offer a link to the worst run at every ε, that is, to the scene with its seed."""
    scene = links.now("again", explore)
    entries = []
    for one, some in ready.items():
        epsilon = getattr(question.algorithms[one], "epsilon", None)
        changed = {"s": some.seeds[some.worst]} | ({} if epsilon is None else {"e": epsilon})
        there = dataclasses.replace(scene, values={**scene.values, **changed}, step=None, play=False)
        ratio = times(ratios(question.result, some)[some.worst])
        words = f"{one}: {ratio}, seed {some.seeds[some.worst]}"
        entries.append(markup.link(f"again?{write(there, explore)}", words))
    st.html(markup.small(markup.bold("Open the worst run:"), markup.Html(" " + " · ".join(entries))))
