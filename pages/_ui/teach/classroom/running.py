"""Run an algorithm on the points of a class, and show the run."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.numbers import fraction
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.verdict import reach
from pages._ui.explore.form.forms import STOPS
from pages._ui.explore.form.numbers import whole_number
from pages._ui.explore.player import verdict
from pages._ui.explore.player.how import How
from pages._ui.explore.player.player import player
from pages._ui.frame import markup
from pages._ui.frame.inside.patches import whole
from pages._ui.teach.classroom import components, compute
from pages._ui.teach.classroom.joining import many
from pages._ui.teach.classroom.room import Classroom
from pages._ui.teach.classroom.state import classroom_state
from pages._ui.work import runs
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result

__all__ = ["run"]

_CLASS_PANELS = "class_panels"


def run(room: Classroom, base: str) -> None:
    """Show the form of a run beside the class's last run."""
    # without the panels, the picture and its form fill one screen
    panels = bool(st.session_state.get(_CLASS_PANELS))
    form, picture = (st.container(), st.container()) if panels else st.columns(2, gap="medium")
    with form:
        _form(room)
    if classroom_state.class_job is not None:
        with picture:
            st.fragment(_poll, run_every=0.5)(room)
        return
    result: Result | None = room.result
    run = room.run  # read once, because the class might end meanwhile
    if result is None or run is None:
        picture.html(markup.odds("Press Run. The points go through the curator, like all rows here."))
        return
    with form:
        promise = result.trace.claimed
        bet = bet_of(promise, far=reach(result.trace))
        won = markup.text("A ", markup.bet(), f" on {bet.on} is right at most {bet.odds} times in 100.")
        words = won if promise.private else "Nothing is promised."
        st.html(
            f'<div class="dp-verdict"><b>{result.trace.name} on {result.data.title}.</b> <span>{words}</span></div>'
            + markup.fooled(
                "Every run on the same points spends ε again. Here the points are made up; with real people nobody "
                "would see the gray points or the diamonds."
            )
        )
        st.toggle(
            "All panels",
            key=_CLASS_PANELS,
            help="Shows the panels of Watch, such as votes, loss and the ledger.",
            persist_state="session",
        )
    with picture:
        step = components.mirror()
        room.show(step=len(run.titles) - 1 if step is None else min(step, len(run.titles) - 1))
        player("class", result, How(hidden=True, axes=(0, 1)), compact=not panels)


def _form(room: Classroom) -> None:
    """Show the form of a run on the class's points, and start it."""
    points = room.points()
    with st.container(horizontal=True, vertical_alignment="bottom", key="class_form"):
        slug = st.selectbox(
            "Algorithm",
            compute.METHODS,
            key="class_method",
            format_func=lambda slug: ALGORITHMS[slug].name,
            width=200,
        )
        k = whole_number("Centers k", 1, 12, 4, key="class_k", width=120)
        epsilon = st.segmented_control(
            "Privacy budget ε", STOPS, default=1.0, required=True, key="class_epsilon",
            format_func=fraction,
        )  # fmt: skip
        beside = st.segmented_control(
            "Made-up people to add", compute.BESIDE, default=compute.BESIDE[1], required=True,
            key="class_beside",
            help="A class is a small data set, and small data sets drown in noise, which is worth seeing, too.",
        )  # fmt: skip
        about = whole_number(
            "People declared", 2, 100_000, 200, key="class_about", width=140,
            help="Declared and public: the budget's δ follows from this number, not from the number of people who "
                "came.",
        )  # fmt: skip
        go = st.button("Run", type="primary", key="class_run", disabled=classroom_state.class_job is not None)
    if len(points) + beside < max(k, 2):
        st.info(f"{many(len(points), 'point')} cannot make {k} centers: wait for more phones, or add made-up people.")
    elif go:
        values = {"n_clusters": k} | ({} if slug == "kmeans" else {"epsilon": epsilon})
        _start(room, compute.data_of(points, beside, about, k), slug, values)


def _start(room: Classroom, data: compute.Dataset, slug: str, values: dict) -> None:
    inbox = []
    try:
        algorithm = ALGORITHMS[slug](**values)
        runs.check(data, algorithm)
    except ValueError as problem:
        st.error(plain(str(problem)))
        return
    make = lambda job: inbox.append(runs.execute(data, algorithm, 0, job))  # noqa: E731
    with whole():
        job = runs.queue("Class", make, runs.seconds(data, algorithm))
        classroom_state.class_job = (job, inbox)
    if job.wait(runs.QUICK):
        _take(room, job, inbox)


def _poll(room: Classroom) -> None:
    if classroom_state.class_job is None:
        return
    job, inbox = classroom_state.class_job
    if job.active:
        st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, "Running")
        return
    _take(room, job, inbox)
    st.rerun()


def _take(room: Classroom, job: Job, inbox: list[Result]) -> None:
    if job.status != "done":
        room.result = None
        del classroom_state.class_job
        st.error(plain(job.error or "The run was stopped."))
        return
    room.result = result = inbox[0]
    try:
        run = compute.frames_of(result.trace, result.data, verdict.groups(result))
    except Exception:
        del classroom_state.class_job  # otherwise every rerun would store the result again
        raise
    room.forget_scores()
    room.show(run=run, step=len(run.titles) - 1)
    del classroom_state.class_job  # comes last, so that the lines above run again if a click interrupts the script
