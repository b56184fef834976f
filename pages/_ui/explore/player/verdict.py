"""Show the verdict below the picture: released facts about a run, facts computed from the raw rows, and advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Dataset
from dpviz.metrics import run_loss
from dpviz.postprocessing.bet import bet_of, odds_of_any
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.verdict import (
    Groups,
    Verdict,
    demo_verdict,
    groups_of,
    private_verdict,
    reach,
    regions_verdict,
)
from dpviz.privacy.guarantee import Guarantee
from dpviz.runs.single import rivals
from dpviz.trace import Trace
from pages._ui.frame import markup
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result, drawn
from pages._ui.work.workers import workers

VERDICT = "verdict"


@per_run(shared=256, own=64)
def groups(identity: str, _result: Result) -> Groups:
    """Return the true groups: those of the labels if the labels have k groups, else those of KMeans.

    If the run missed some of KMeans' clusters, other starts of KMeans show which of these clusters they merge.
    """
    data, kmeans = _result.data, _result.reference
    assert kmeans is not None
    there, centers = groups_of(data.X, data.domain, kmeans.cluster_centers, data.groups), _result.trace.cluster_centers
    if there.known or there.found_by(data.domain.normalize(centers)).all():
        return there
    return there.doubted(map(data.domain.normalize, workers().call(rivals, data, kmeans)))


@per_run(shared=256, own=64)
def _demo(identity: str, _result: Result) -> Verdict:
    assert _result.reference is not None and _result.reference_loss is not None
    data, reference, trace = _result.data, _result.reference.cluster_centers, drawn(_result)
    if has_regions(trace):
        return regions_verdict(trace, data.X, data.labels, reference)
    loss = run_loss(trace, data.X)
    losses = loss, _result.reference_loss
    return demo_verdict(trace, groups(_result), reference, losses, data.columns, data.units, twice(_result))


def twice(result: Result) -> Guarantee | None:
    """Return what a run with twice the ε would promise, or None if its method allows no such ε."""
    domain, algorithm = result.data.domain, ALGORITHMS[result.trace.algorithm](**result.trace.parameters).scaled(2)
    if algorithm is None or not result.trace.claimed.private:
        return None
    return algorithm.guarantee(domain.n_features, result.data.n_public, rows_per_person=domain.rows_per_person)


def missed(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means and radii per column (original units) and sizes of the groups without a center; NOT PRIVATE."""
    return lost(result.trace, groups(result))


def lost(trace: Trace, there: Groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the missed groups of a run, given the groups of its data; this needs no session."""
    domain, none = trace.domain, there.missed_by(trace.domain.normalize(trace.cluster_centers))
    none &= not has_regions(trace)  # with regions no group counts as missed: the middle of a region is not a center
    per_column = there.radii[none, None] * domain.half_width / np.sqrt(domain.n_features)
    return domain.denormalize(there.means[none]), per_column, there.sizes[none]


def of(result: Result, *, hidden: bool) -> Verdict:
    """Return the verdict, made from the raw rows if hidden layers are shown, else from released values alone."""
    if hidden and result.reference is not None:
        return _demo(result)
    return private_verdict(drawn(result), result.data.columns, result.data.units, twice(result))


def lines(
    result: Result, *, hidden: bool, again: tuple[int, int] | None, more: str, beside: Callable[[Sequence[str]], None]
) -> None:
    """Show the verdict in two lines: released facts, which anybody may see, and facts that only the rows show.

    `again` has the number of runs that found all groups and the number of all runs; `more` states the same bet with
    more people, as `with_more` puts it; `beside` receives the advice and draws the end of the lines.
    """
    with st.container(key=VERDICT, horizontal=True, vertical_alignment="center", gap="small"):
        st.html(written(result, hidden=hidden, again=again, more=more), width="stretch")
        with st.container(key="ends", width="content", gap="xxsmall"):
            beside(of(result, hidden=hidden).help)


def written(result: Result, *, hidden: bool, again: tuple[int, int] | None = None, more: str = "") -> markup.Html:
    """Return the two lines of a verdict, or only the first line if no hidden layer is shown."""
    released = private_verdict(drawn(result), result.data.columns, result.data.units)
    text = markup.paragraph("promise", *_released(result, released, more))
    if hidden and result.reference is not None:
        text = markup.Html(text + markup.paragraph("truth", *_secret(result, of(result, hidden=True), again)))
    return markup.Html(f'<div class="dp-verdict" role="status">{text}</div>')


def _released(result: Result, verdict: Verdict, more: str) -> list[object]:
    """Return the released facts, as parts of a sentence."""
    trace = drawn(result)
    promise, facts = trace.claimed, ", ".join(verdict.parts[:-1])
    why = f" {verdict.why}" if verdict.why else ""
    if not promise.private and not promise.exact:
        return [markup.bold(f"Released: {facts}."), f" Privacy: {promise}."]
    if not promise.private:
        return [
            markup.bold(f"{facts}, exact."),
            " No privacy: a ",
            markup.bet(),
            " on anybody is right ",
            markup.bold("100 times in 100"),
            ".",
        ]
    bet, most = bet_of(promise, far=reach(trace), noun=result.data.noun), odds_of_any(promise)
    room = len(verdict.parts) == 2  # if the line has more parts, these odds are shown only in the strip
    end = f"; any method with this ε and δ: at most {most}." if most > bet.odds and room else "."
    times = markup.bold(f"{bet.odds} times in 100")
    right = [" A ", markup.bet(), f" on {bet.on} is right at most ", times]
    return [markup.bold(f"Released: {facts}."), *right, f"{more}{end}{why}"]


def whose(data: Dataset) -> str:
    """Return why hidden layers of these data may be shown."""
    made_up = "made-up" in f"{data.title} {data.facts.get('unit_of_privacy', '')}"
    return "these people are made up" if made_up else "these data are public"


def _secret(result: Result, verdict: Verdict, again: tuple[int, int] | None) -> list[object]:
    """Return the facts that only the rows show, as parts of a sentence. NOT PRIVATE."""
    first, *rest = [part for part in verdict.parts[:-1] if not part.startswith("off by")]
    if again is not None:
        rest.append(
            f"all {'groups' if groups(result).known else 'clusters'} found again in {again[0]} of {again[1]} runs"
        )
    why = f" {verdict.why}" if verdict.why else ""
    lead = markup.bold(f"Only you see this, because {whose(result.data)}: ")
    return [lead, markup.bold(first), f"{''.join(f', {part}' for part in rest)}.{why}"]
