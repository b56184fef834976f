"""Say what is known about the number of clusters: from the rows of a public file, else what a release and a run can."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.figures.scenes.how_many import agreement_panel, loss_panel
from dpviz.numbers import counted, listed
from dpviz.postprocessing.coresets import numbers_of_centers
from dpviz.postprocessing.together import together
from dpviz.privacy.accounts import Claim, Refused
from dpviz.runs.how_many import AGREE, how_many, told
from pages._ui.explore.player.how import HOW_MANY
from pages._ui.explore.player.panel import draw
from pages._ui.frame import markup, shell
from pages._ui.frame.catalog import is_public
from pages._ui.work import private
from pages._ui.work.batch import Gathered, Piece, follow, gather
from pages._ui.work.results import Result

__all__ = ["section"]


def section(key: str, result: Result, *, hidden: bool) -> None:
    """Show the panel, folded: of a public file if hidden values may be shown, of a private one always."""
    data = result.data
    if not data.private and not hidden:
        return
    box = st.expander(plain(HOW_MANY.title), key=HOW_MANY.key, on_change="rerun")
    if not box.open:  # compute nothing while the box is folded
        return
    with box:
        if data.private:
            st.markdown("\n".join(f"- {plain(line)}" for line in (_free(result), _found(result), _cost(result))))
        else:
            follow(partial(_asked, data), partial(_rows, key, result), 0.7)


def _asked(data: Dataset) -> Gathered:
    piece = Piece(f"how many {data.dataset_id}", how_many, (data,))
    return gather("how many", "Numbers of clusters", [piece], public=is_public(data))


def _rows(key: str, result: Result, now: Gathered) -> None:
    """Show what the rows of a public file say."""
    if now.problem:
        st.error(plain(now.problem))
    if not now.ready:
        if now.active:
            st.html(markup.small("KMeans divides these rows into 1 to 12 clusters."))
        return
    (found,) = now.ready.values()
    k, colors = int(result.trace.parameters["n_clusters"]), shell.colors()
    st.html(markup.conclusion(markup.tag(), f" {told(found, k)}"))
    left, right = st.columns(2, gap="medium")
    with left:
        draw(f"{key}_how_many_loss", [loss_panel(colors, found.loss.tolist(), k)])
    with right:
        draw(f"{key}_how_many_agree", [agreement_panel(colors, found.agreement.tolist(), AGREE, k)])
    drawn = f"{found.n_rows:,} of {found.of_rows:,} rows, drawn at random"
    used = drawn if found.n_rows < found.of_rows else f"all {found.n_rows:,} rows"
    st.html(
        markup.small(
            f"KMeans on {used}. For the agreement they are divided into random halves; KMeans runs on each half, and "
            "the two results are compared on all of them (adjusted Rand index). Agreement says that the clusters are "
            "no accident of a few rows, not that k is right."
        )
    )


def _free(result: Result) -> str:
    """Say which k the release can be read for again, at no cost."""
    numbers, own = numbers_of_centers(result.trace), len(result.trace.cluster_centers)
    if len(numbers) == 1:
        return f"Free: nothing. This run releases {counted(own, 'center')} and no points that could be read again."
    return (
        f"Free: k = 1 to {numbers[-1]}. The slider above the cards reads the release again, and “Any k afterwards” "
        "shows the loss on its points."
    )


def _found(result: Result) -> str:
    """Name the methods that find the number of clusters themselves."""
    names = [cls.name for cls in ALGORITHMS.values() if cls.finds_k()]
    own = ALGORITHMS.get(result.trace.algorithm)
    this = " This run's method is one of them." if own is not None and own.finds_k() else ""
    return f"Methods that find the number of clusters themselves, within their ε: {listed(names)}.{this}"


def _cost(result: Result) -> str:
    """Say what this file's total would be after another run like this one with another k."""
    data, trace = result.data, result.trace
    cls = ALGORITHMS.get(trace.algorithm)
    if cls is None:
        return "Another k is another run, which costs its ε again."
    before, claim = private.account_of(data), Claim.of(cls(**trace.parameters), data.domain)
    start = "Paid: there is no question about k alone. Another k is another run, and a run like this one "
    try:
        before.check(claim)
    except Refused as refused:
        return f"{start}is refused: {str(refused).removeprefix('Account: ')}"
    relation, after = claim.neighboring, before.after(claim)
    return f"{start}would raise this file's total from {together(before, relation)} to {together(after, relation)}."
