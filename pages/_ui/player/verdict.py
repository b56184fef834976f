"""Above the picture: one sentence on whether the run was any good, and what could help where it was not."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.escape import plain
from dpviz.metrics import run_loss
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.verdict import (
    Groups,
    Verdict,
    demo_verdict,
    groups_of,
    private_verdict,
    regions_verdict,
)
from dpviz.trace import Trace
from pages._ui.frame import keys, markup
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result, drawn


@per_run(shared=256, own=64)
def groups(identity: str, _result: Result) -> Groups:
    """Return the groups that are there: the labels' where the data have as many as their k, else KMeans'."""
    data = _result.data
    return groups_of(data.X, data.domain, _result.reference.cluster_centers, data.groups)


@per_run(shared=256, own=64)
def _demo(identity: str, _result: Result) -> Verdict:
    data, reference, trace = _result.data, _result.reference.cluster_centers, drawn(_result)
    if has_regions(trace):
        return regions_verdict(trace, data.X, data.labels, reference)
    loss = run_loss(trace, data.X)
    return demo_verdict(trace, groups(_result), reference, (loss, _result.reference_loss), data.columns, data.units)


def missed(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means and radii per column (original units) and sizes of the groups that got no center; NOT PRIVATE."""
    return lost(result.trace, groups(result))


def lost(trace: Trace, there: Groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Likewise, of a run and the groups of its data; no session is needed."""
    domain, none = trace.domain, ~there.found_by(trace.domain.normalize(trace.cluster_centers))
    none &= not has_regions(trace)  # whose middles serve no group
    per_column = there.radii[none, None] * domain.half_width / np.sqrt(domain.n_features)
    return domain.denormalize(there.means[none]), per_column, there.sizes[none]


def of(result: Result, *, hidden: bool) -> Verdict:
    """Return the verdict: by the raw rows where hidden layers are shown, else by released values alone."""
    if hidden and result.reference is not None:
        return _demo(result)
    return private_verdict(drawn(result), result.data.columns, result.data.units)


def line(result: Result, *, hidden: bool) -> None:
    """Show the verdict, always at the same place."""
    verdict = of(result, hidden=hidden)
    tag = markup.tag() if hidden and result.reference is not None else ""
    first, *rest = verdict.parts
    mark = "" if verdict.good else '<span class="dp-caution" role="img" aria-label="Look closer">!</span> '
    words = "".join(f"<span>{markup.escape(part)}</span>" for part in rest)
    why = f'<p class="dp-why">{markup.escape(verdict.why)}</p>' if verdict.why else ""
    with st.container(key=keys.VERDICT, horizontal=True, vertical_alignment="center", gap="small"):
        st.html(
            f'<div class="dp-verdict" role="status">{mark}<b>{markup.escape(first)}</b>{words}{tag}{why}</div>',
            width="stretch",
        )
        if verdict.help:
            with st.popover("What could help", width="content"):
                st.markdown("\n".join(f"- {plain(sentence)}" for sentence in verdict.help))
