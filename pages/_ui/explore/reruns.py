"""Below the player: would it happen again? Twenty reruns as clouds, for every ε, and one after the other."""

from __future__ import annotations

import dataclasses
import html
import math
import zlib

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.figures import Panel, View
from dpviz.figures import reruns as figures
from dpviz.figures.reruns import CLOSE, Cloud
from dpviz.postprocessing.verdict import ratio_words, spread_words
from dpviz.sweeps.bootstrap import MEASURED, NARROW, WIDE, bootstrap, near_noise, worth
from dpviz.sweeps.reruns import Reruns, rerun, spread
from dpviz.trace import Trace
from pages._ui import controls, links, runs, shell
from pages._ui.catalog import is_public, sample
from pages._ui.explore import verdict
from pages._ui.forms import STOPS
from pages._ui.pace import duration
from pages._ui.panel import draw
from pages._ui.pieces import Gathered, Piece, gather, halt
from pages._ui.player import view_of
from pages._ui.prepared import kept
from pages._ui.results import Result
from pages._ui.scene import write
from pages._ui.transport import transport
from pages._ui.workers import workers

N = 20
_TOPIC = "reruns"
HOW = {"all": "All at once", "one": "One after the other"}
CAUTION = (
    "The same rows, other noise and another start each time: the cloud says how far one release can be from the next, "
    "not how far any of them is from the people it does not know."
)


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """The reruns of one run: an algorithm for every ε, the one that is shown first, and their seeds."""

    result: Result
    algorithms: dict[str, Algorithm]  # by label
    shown: str
    seeds: range

    @classmethod
    def of(cls, result: Result) -> Question:
        """Return what to rerun: at every stop of ε if that does not take too long."""
        trace = result.trace
        own = ALGORITHMS[trace.algorithm](**trace.parameters)
        epsilon = trace.parameters.get("epsilon")
        seed = int(trace.seed or 0)
        seeds = range(seed + 1, seed + 1 + N)
        if epsilon is None:
            return cls(result, {trace.name: own}, trace.name, seeds)
        stops = sorted({*STOPS, epsilon})
        if N * len(stops) * runs.seconds(result.data, own) > runs.MOST_SECONDS / 2:
            stops = [epsilon]
        every = {label(stop): dataclasses.replace(own, epsilon=stop) for stop in stops}
        return cls(result, every, label(epsilon), seeds)

    @property
    def seconds(self) -> float:
        """How long the reruns at the shown ε are expected to take."""
        return N * runs.seconds(self.result.data, self.algorithms[self.shown])

    def name(self, one: str) -> str:
        """Return the public name of the reruns at one ε."""
        return f"{N} reruns {runs.run_id(self.result.data, self.algorithms[one], self.seeds[0])}"

    def pieces(self) -> list[Piece]:
        """Return what is to be computed, the shown ε first, then its neighbors."""
        order = list(self.algorithms)
        near = sorted(order, key=lambda one: abs(order.index(one) - order.index(self.shown)))
        data, trace = self.result.data, self.result.trace
        if data.private:
            return [Piece(self.name(one), bootstrap, (trace, self.algorithms[one], self.seeds)) for one in near]
        return [Piece(self.name(one), rerun, ([data], self.algorithms[one], self.seeds)) for one in near]


def label(epsilon: float) -> str:
    """Return how one ε is called."""
    return f"ε {epsilon:g}"


def section(key: str, result: Result, *, hidden: bool, axes: tuple[int, int] | None, current: bool) -> None:
    """Offer reruns; on private rows every single one would spend ε, so there people made up from the release stand in.

    `current` says whether the run is the one that the form asks for: only then the form's scene leads to its reruns.
    """
    private = result.data.private
    st.header("Where another run may end" if private else "Would it happen again?")
    on = st.toggle(
        f"{N} simulated runs" if private else f"{N} reruns", **kept(f"{key}_again"),
        help="On people made up from what was released. No row is read, nothing is spent."
        if private
        else "The same rows and parameters, other noise. DEMO only: on private rows every rerun would spend ε.",
    )  # fmt: skip
    if not on:
        halt(_TOPIC)
        return
    question = Question.of(result)
    if question.seconds > runs.MOST_SECONDS:
        words = f"{N} reruns would take {duration(question.seconds)}, and this server allows "
        st.info(f"{words}{duration(runs.MOST_SECONDS)}: choose fewer centers or a smaller data set.")
        return
    now = _gather(question)
    st.fragment(_body, run_every=0.6 if now.active else None)(key, question, hidden, axes, current)


def _gather(question: Question) -> Gathered:
    return gather(_TOPIC, f"{N} reruns", question.pieces(), public=is_public(question.result.data))


def _body(key: str, question: Question, hidden: bool, axes: tuple[int, int] | None, current: bool) -> None:
    now = _gather(question)
    _progress(key, now)
    found = {one: now.found[question.name(one)] for one in question.algorithms if question.name(one) in now.found}
    if question.shown in found:
        _picture(key, question, found, hidden, axes, current)
    if not now.active and st.session_state.pop(f"{key}_again_going", False):
        st.rerun()  # the last poll: draw the page without polling
    if now.active:
        st.session_state[f"{key}_again_going"] = True


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
        st.error(now.problem)
    elif now.stopped:
        words, button = st.columns([5, 1], vertical_alignment="center")
        words.info("The reruns were cancelled; those that were finished are shown.")
        button.button("Go on", key=f"{key}_again_on", width="stretch", on_click=halt, args=(_TOPIC,))


def _picture(
    key: str,
    question: Question,
    found: dict[str, Reruns],
    hidden: bool,
    axes: tuple[int, int] | None,
    current: bool,
) -> None:
    result, labels = question.result, list(question.algorithms)
    seen = st.segmented_control(
        "Show", list(HOW), format_func=HOW.get, default="all", required=True, **kept(f"{key}_again_how"),
        label_visibility="collapsed",
    )  # fmt: skip
    all_at_once = seen != "one"
    identity = f"{question.name(question.shown)} {seen}"
    if all_at_once:
        titles = [said(question, one, found[one], hidden=hidden) if one in found else _later(one) for one in labels]
        first = labels.index(question.shown)
    else:
        ratios = _ratios(result, found[question.shown])
        titles = [_one(question, i, None if not hidden else ratios[i]) for i in range(N)]
        first = 0
    transport(
        f"{key}_again_player", scope=f"{key}_again_figures", titles=titles, marks=list(range(len(titles))),
        run=identity, opened=zlib.crc32(identity.encode()) + 1, step=first, play=not all_at_once, main=False,
        what="Privacy budget ε" if all_at_once else "Reruns",
    )  # fmt: skip
    plane, *side = _panels(question, found, hidden, axes, all_at_once=all_at_once)
    with st.container(key=f"{key}_again_figures"):
        left, right = st.columns([11, 9], gap="medium")
        with left:
            draw(f"{key}_again", [plane])
            shell.key_line(figures.LEGEND, hidden)
        with right:
            draw(f"{key}_again", side)
            if hidden and current:
                _worst(question, found)
    if result.data.private and result.trace.algorithm in MEASURED:
        with st.popover("How good is this simulation?"):
            _measured(result.trace.algorithm)
    caution = promised(result.trace) if result.data.private else CAUTION
    st.html(f'<p class="dp-small"><b>How this picture can fool you.</b> {html.escape(caution)}</p>')


def _measured(slug: str) -> None:
    """Show how wide simulated clouds were beside true ones, sample by sample."""
    rows = "".join(
        f"<tr><th scope=row>{html.escape(_short(name))}</th><td>{few:.2f}</td><td>{many:.2f}</td></tr>"
        for name, (few, many) in MEASURED[slug].items()
    )
    st.html(
        '<div class="dp-table dp-free"><table><thead><tr><th scope=col>Public sample</th><th scope=col>ε 0.5</th>'
        f"<th scope=col>ε 2</th></tr></thead><tbody>{rows}</tbody></table></div>"
        '<p class="dp-small">Width of the simulated cloud over that of true reruns, median over centers: 1 is right, '
        "below 1 too narrow.</p>"
    )


def _short(name: str) -> str:
    return sample(name).title.split(",")[0]


def promised(trace: Trace) -> str:
    """Return how good the simulation is known to be: what was measured beside true reruns, and what it cannot know."""
    words = [
        "Simulated from the release, no row was read: it says where another run may end, "
        "never where the true center is."
    ]
    if (known := worth(trace.algorithm)) is not None:
        low, high = known
        words.append(f"Beside true reruns on public samples its clouds were {low:.1f} to {high:.1f} times as wide.")
        if low < NARROW:
            words.append("So it can be much too narrow, most of all where groups touch or one may be lost.")
        if high > WIDE:
            words.append("Where groups are far apart it is too wide.")
    else:
        words.append("How wide its clouds are beside true reruns was not measured for this algorithm.")
    if lost := near_noise(trace):
        words.append(f"{lost} noisy sizes are near the noise: another run may lose these groups, or find others.")
    return " ".join(words)


def _panels(
    question: Question, found: dict[str, Reruns], hidden: bool, axes: tuple[int, int] | None, *, all_at_once: bool
) -> list[Panel]:
    """Return the figures, made again only when more is there or it is looked at in another way."""
    result, state = question.result, st.session_state
    look = (question.name(question.shown), tuple(found), st.context.theme.type, hidden, axes, all_at_once)
    made = state.get("reruns_panels")
    if made is None or made[0] != look:
        view = dataclasses.replace(view_of(result, hidden=hidden, axes=axes), missed=None)
        clouds = [
            Cloud(one, found[one].centers, _ratios(result, found[one]) if hidden else None)
            if one in found
            else Cloud(one, ())
            for one in question.algorithms
        ]
        own = list(question.algorithms).index(question.shown)
        state.reruns_panels = made = (look, workers().call(printed, view, clouds, None if all_at_once else own))
    return made[1]


def printed(view: View, clouds: list[Cloud], one: int | None) -> list[Panel]:
    """Return the panels ready to send: all clouds, or one of them run by run."""
    simulated = view.trace.seed is None
    note, what = ("simulated from the release", "simulated runs") if simulated else ("", "reruns")
    if one is None:
        panels = figures.clouds(view, clouds, f"Centers of {N} {what}", note)
    else:
        panels = figures.one_by_one(view, clouds[one], f"{N} {what} at {clouds[one].label}, one after the other", note)
    return [panel.printed() for panel in panels]


def _ratios(result: Result, some: Reruns) -> np.ndarray:
    """Return losses over KMeans' loss; 1 where both are nothing."""
    best = float(result.reference_loss or 0.0)
    if best > 0:
        return some.losses / best
    return np.where(some.losses > 0, math.inf, 1.0)


def said(question: Question, one: str, some: Reruns, *, hidden: bool) -> str:
    """Return what the reruns at one ε say, as a sentence for under the slider."""
    result = question.result
    trace, data = result.trace, result.data
    scatter = spread(some.centers, np.asarray(trace.cluster_centers), trace.domain)
    typical = float(np.nanmedian(scatter)) if np.isfinite(scatter).any() else math.nan
    words = [one]
    if hidden and result.reference_loss:
        ratios = _ratios(result, some)
        words.append(f"{int((ratios <= CLOSE).sum())} of {N} runs within 10 % of KMeans, worst {_times(ratios.max())}")
        groups = verdict.groups(result)
        every = sum(bool(groups.found_by(trace.domain.normalize(centers)).all()) for centers in some.centers)
        words.append(f"all {len(groups.means)} groups found in {every}")
    if math.isfinite(typical):
        words.append(f"a center scatters {spread_words(typical, trace.domain, data.columns, data.units)}")
    return " · ".join(words)


def _later(one: str) -> str:
    return f"{one} · not computed yet"


def _one(question: Question, index: int, ratio: float | None) -> str:
    beside = "" if ratio is None else f" · {_times(ratio)} KMeans' loss"
    if question.result.data.private:
        return f"{question.shown}, simulated run {index + 1} of {N}"
    return f"{question.shown}, rerun {index + 1} of {N} · seed {question.seeds[index]}{beside}"


def _times(ratio: float) -> str:
    return f"{ratio_words(float(ratio))} ×"


def _worst(question: Question, found: dict[str, Reruns]) -> None:
    """Offer the worst run of every ε as a link: its scene, with its seed."""
    scene = links.now("explore", controls.explore)
    entries = []
    for one, some in found.items():
        epsilon = getattr(question.algorithms[one], "epsilon", None)
        changed = {"s": some.seeds[some.worst]} | ({} if epsilon is None else {"e": epsilon})
        there = dataclasses.replace(scene, values={**scene.values, **changed}, step=None, play=False)
        address = html.escape(f"explore?{write(there, controls.explore)}", quote=True)
        ratio = _times(_ratios(question.result, some)[some.worst])
        entries.append(f'<a href="{address}" target="_self">{one}: {ratio}, seed {some.seeds[some.worst]}</a>')
    st.html(f'<p class="dp-small"><b>Open the worst run.</b> {" · ".join(entries)}</p>')
