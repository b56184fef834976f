"""Words for reruns: their conclusion, the quality of their simulation, and their names."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from dpviz.figures.scenes.reruns import CLOSE, unlike
from dpviz.metrics import reference_name
from dpviz.numbers import percent, ratio_words
from dpviz.postprocessing.verdict import spread_words
from dpviz.runs.bootstrap import MEASURED, NARROW, WIDE, near_noise, worth
from dpviz.runs.reruns import Reruns, spread
from dpviz.trace import Trace
from pages._ui.explore.player import verdict
from pages._ui.explore.question import SEEDS, N, RerunQuestion
from pages._ui.explore.stored import complete, runs_of
from pages._ui.frame import markup
from pages._ui.frame.catalog import sample
from pages._ui.work.results import Result


def measured(slug: str) -> None:
    """Show, for each sample, the width of simulated clouds relative to true ones."""
    rows = (
        markup.row([f"{few:.2f}", f"{many:.2f}"], head=_short(name)) for name, (few, many) in MEASURED[slug].items()
    )
    st.html(
        markup.table(
            "Simulated reruns compared with true ones", ("Public sample", "ε 0.5", "ε 2"), rows, look="dp-free"
        )
        + markup.small(
            "The width of the simulated cloud divided by that of true reruns, as the median over centers: at 1 the "
            "width is right, and below 1 the cloud is too narrow."
        )
    )


def _short(name: str) -> str:
    return sample(name).title.split(",")[0]


def promised(trace: Trace) -> str:
    """Return the known quality of the simulation: its comparison with true reruns, and its limits."""
    words = [
        "Simulated from the release without reading a row: the cloud shows where another run may end, but never where "
        "the true center is."
    ]
    if (known := worth(trace.algorithm)) is not None:
        low, high = known
        words.append(
            f"On public samples, simulated clouds were {low:.1f} to {high:.1f} times as wide as those of true reruns."
        )
        if low < NARROW:
            words.append("The cloud can therefore be much too narrow, especially if groups touch or may be lost.")
        if high > WIDE:
            words.append("The cloud is too wide if groups are far apart.")
    else:
        words.append("For this algorithm the width of the clouds has not been compared with true reruns.")
    if lost := near_noise(trace):
        words.append(
            f"{lost} noisy size{'s are' if lost > 1 else ' is'} less than 4 standard deviations above 0: another run "
            f"may lose {'these groups' if lost > 1 else 'this group'}, or find others."
        )
    return " ".join(words)


def ratios(result: Result, some: Reruns) -> np.ndarray:
    """Return the ratios of losses to that of KMeans or KMedians; a ratio is 1 if both losses are 0."""
    best = float(result.reference_loss or 0.0)
    if best > 0:
        return some.losses / best
    return np.where(some.losses > 0, math.inf, 1.0)


def in_words(question: RerunQuestion, one: str, some: Reruns, *, hidden: bool) -> str:
    """Return the conclusion of the reruns at one ε, as a sentence below the slider."""
    result = question.result
    trace, data = result.trace, result.data
    scatter = spread(some.centers, np.asarray(trace.cluster_centers), trace.domain)
    typical = float(np.nanmedian(scatter)) if np.isfinite(scatter).any() else math.nan
    words = [one]
    if hidden and result.reference_loss:
        every, against = ratios(result, some), reference_name(trace)
        apart = unlike(some.centers, len(result.reference.cluster_centers), against) if result.reference else ""
        near = f"{int((every <= CLOSE).sum())} of {N} runs within {percent(CLOSE - 1)} of {against}"
        words.append(apart or f"{near}, worst {times(every.max())}")
        groups = verdict.groups(result)
        complete = sum(bool(groups.found_by(trace.domain.normalize(centers)).all()) for centers in some.centers)
        total = len(groups.means)
        words.append(f"all {total} {groups.words} found in {complete} of {N}{_in_all(question, one, total)}")
    if math.isfinite(typical):
        width = spread_words(typical, trace.domain, data.columns, data.units)
        words.append(f"a center scatters {'by ' * width.startswith('±')}{width}")
    return " · ".join(words)


def _in_all(question: RerunQuestion, one: str, n_groups: int) -> str:
    """Return in how many of all stored runs every group was found, or "" if only the reruns shown here are stored."""
    stop = runs_of(question.result.data, question.algorithms[one])
    if stop is None or len(stop.found) <= N:
        return ""
    n_complete, total = complete(stop, n_groups)
    return f", and in {n_complete} of all {total} stored runs"


def later(one: str) -> str:
    """Return the sentence for an ε whose reruns are not finished."""
    return f"{one} · not computed yet"


def one_run(question: RerunQuestion, index: int, ratio: float | None) -> str:
    """Return the name of one rerun, with its loss relative to the reference if that may be seen."""
    beside = "" if ratio is None else f" · {times(ratio)} {reference_name(question.result.trace)}"
    if question.result.data.private:
        return f"{question.current}, simulated run {index + 1} of {N}"
    seed = SEEDS[index]
    own = ", this run" if seed == question.result.trace.seed else ""
    return f"{question.current}, rerun {index + 1} of {N} · seed {seed}{own}{beside}"


def times(ratio: float) -> str:
    """Return a ratio as text."""
    return f"{ratio_words(float(ratio))} ×"
