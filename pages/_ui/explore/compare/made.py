"""Make the runs of a comparison: use those that exist, and make the rest in one background job."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence

import streamlit as st

from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.runs.public import started
from pages._ui.explore.compare.state import Batch, Side, compare_state
from pages._ui.frame.inside.patches import whole
from pages._ui.work import results, runs
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """Finished runs on one data set, in order."""

    runs: tuple[Result, ...]

    @property
    def identity(self) -> str:
        """Return the name under which values made from all of these runs are cached."""
        return json.dumps([run.identity for run in self.runs])

    @property
    def data(self) -> Dataset:
        """Return the data set of the runs."""
        return self.runs[0].data


def comparison(data: Dataset, asked: Sequence[Side]) -> Comparison | None:
    """Return the finished runs, or have them made, show the progress, and return None.

    A method that takes public rows starts from some of a public set's.
    """
    try:
        asked = [dataclasses.replace(side, algorithm=started(side.algorithm, data)) for side in asked]
    except ValueError as problem:
        st.error(plain(f"{problem} Use fewer centers or another method."))
        return None
    wanted = tuple(runs.run_id(data, side.algorithm, side.seed) for side in asked)
    batch: Batch | None = compare_state.compare_batch
    if batch is not None and batch.wanted != wanted:
        batch.job.cancel()
        batch = None
    # read the job before the finished runs, so that a job that is over has delivered all of them
    over = batch is not None and batch.job.status == "done"
    by_identity = _found(wanted, batch)
    # a finished job leaves a gap if a run that existed before the job has since been dropped
    if len(by_identity) < len(set(wanted)) and (batch is None or over):
        missing = [side for i, side in zip(wanted, asked, strict=True) if i not in by_identity]
        inbox: list[Result] = []
        work = functools.partial(_make, data, missing, inbox)
        with whole():
            expected = sum(runs.seconds(data, side.algorithm) for side in missing)
            batch = Batch(wanted, inbox, runs.queue("Comparison", work, expected))
            compare_state.compare_batch = batch
        batch.job.wait(runs.QUICK)
        by_identity = _found(wanted, batch)
    if len(by_identity) == len(set(wanted)):
        return Comparison(tuple(by_identity[identity] for identity in wanted))
    assert batch is not None
    st.fragment(_watch, run_every=0.4)(batch)
    return None


def _found(wanted: Sequence[str], batch: Batch | None) -> dict[str, Result]:
    """Return the existing runs by identity, and store those of the batch for the session's other pages."""
    mine = {result.identity: result for result in (batch.inbox if batch else ())}
    for result in mine.values():
        if results.find(result.identity) is None:
            results.keep(result)
    runs = {identity: mine.get(identity) or results.find(identity) for identity in wanted}
    return {identity: result for identity, result in runs.items() if result is not None}


def _make(data: Dataset, missing: Sequence[Side], inbox: list[Result], job: Job) -> None:
    """Make the missing runs one by one."""
    for side in missing:
        inbox.append(runs.execute(data, side.algorithm, side.seed, job))


def _watch(batch: Batch) -> None:
    """Show the progress of the runs, and redraw the page when they are finished."""
    job = batch.job
    if job.active:
        ahead = runs.jobs().position(job)
        words = ", ".join(filter(None, (f"run {len(batch.inbox) + 1}", runs.releases(job))))
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(
            min(job.done / job.total, 1.0) if job.total else 0.0,
            f"{ahead} runs ahead in the queue" if ahead else f"Running: {words}",
        )
        if button.button("Cancel", key="compare_cancel", width="stretch"):
            job.cancel()
        return
    if job.status == "done":
        st.rerun()
    st.error("The runs were canceled." if job.status == "cancelled" else plain(f"{job.error} Change that run."))
    if st.button("Try again", key="compare_again"):
        del compare_state.compare_batch
        st.rerun()
