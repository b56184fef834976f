"""Show why exact centers should not be published: the rows that follow from the rounds of plain Lloyd without noise."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.algorithms.lloyd.dp_lloyd import DPLloyd
from dpviz.audits.reconstruct import Read, exactly, published, read_off
from dpviz.datasets import SAMPLES, Dataset
from dpviz.figures import Panel, View
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.reconstruction import legend, read_panel
from dpviz.trace import Trace
from pages._ui.frame import keys, markup, shell
from pages._ui.frame.catalog import sample
from pages._ui.frame.prepared import args
from pages._ui.player.panel import draw
from pages._ui.player.transport import transport

__all__ = ["NOISE", "lesson", "panel_of", "picture", "plain_lloyd", "read_in", "read_on", "titles_of"]

ROUNDS = 15
NOISE = {"none": "Exact centers", "seeded": "Noisy centers, ε 1"}


def plain_lloyd(n_clusters: int) -> Algorithm:
    """Return Lloyd's algorithm, which in every round sums and counts the rows nearest to each center."""
    return DPLloyd(n_clusters=n_clusters, epsilon=1.0, iterations=ROUNDS, dead_cluster="keep")


def lesson() -> None:
    """Show the reconstruction on a sample, at first without noise, and on request with noise."""
    st.header("Why not publish exact centers?")
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.selectbox("Sample", SAMPLES, format_func=lambda n: sample(n).title, **args(keys.EXACT_DATA))
    noise = right.segmented_control(
        "Published", list(NOISE), format_func=NOISE.__getitem__, default="none", required=True, **args(keys.EXACT_NOISE)
    )
    trace, read = read_on(name, str(noise))
    data = sample(name)
    picture("exact", data, trace, read)
    st.html(markup.small(_WHY))


_WHY = (
    "A center is a sum divided by a count. Between two rounds only people who switch clusters change these sums: if "
    "just one person crosses from one cluster to another, the difference of the sums is that person's row, to the last "
    "digit. The center of a cluster with a single person is that person's row. This takes arithmetic and no other "
    "knowledge, which is why pictures of exact centers are marked NOT PRIVATE. With noise on every sum and count, the "
    "same arithmetic reveals no row. Adapted from arXiv:2511.07073."
)


@st.cache_resource(max_entries=24, show_spinner="Reading off rows")
def read_on(name: str, noise: str) -> tuple[Trace, list[Read]]:
    """Return a run on a sample and the rows read off its releases."""
    return read_in(sample(name), noise)


def read_in(data: Dataset, noise: str) -> tuple[Trace, list[Read]]:
    """Return a run on a data set and the rows read off its releases; this needs no session."""
    trace = plain_lloyd(data.n_clusters).run(data.X, domain=data.domain, seed=0, noise=noise)
    return trace, read_off(published(trace), data.domain.radius)


def titles_of(data: Dataset, trace: Trace, read: list[Read]) -> tuple[list[str], list[np.ndarray]]:
    """Return, for every round, its sentence and the indices of the rows read off by then."""
    rounds = [step for step in trace.steps if step.kind == "noisy-iteration"]
    who = [exactly([one for one in read if one.round <= t], data.X, data.domain) for t in range(len(rounds))]
    titles = [
        f"Round {t + 1} of {len(rounds)} · {len(rows):,} of {len(data.X):,} rows read off exactly"
        for t, rows in enumerate(who)
    ]
    return titles, who


def panel_of(data: Dataset, trace: Trace, who: list[np.ndarray], colors: Theme) -> Panel:
    """Return the picture of the rounds."""
    axes = data.view if data.domain.n_features > 1 else None
    view = View(trace, colors, axes, data.columns, data.units, people=data.X, hidden=True, noun=data.noun)
    rounds = [step for step in trace.steps if step.kind == "noisy-iteration"]
    centers = [data.domain.denormalize(np.asarray(step.released["centers"])) for step in rounds]
    return read_panel(view, centers, [data.X[rows] for rows in who])


def picture(key: str, data: Dataset, trace: Trace, read: list[Read]) -> None:
    """Show the rounds of a run of plain Lloyd, and the people whose rows are read off so far."""
    titles, who = titles_of(data, trace, read)
    panel, count, n = panel_of(data, trace, who, shell.colors()), len(who[-1]), len(data.X)
    words = f"<b>{count:,} of {n:,} rows read off exactly</b>" if count else "<b>No row can be read off</b>"
    st.html(f'<div class="dp-verdict">{words} <span>from {len(titles)} rounds</span></div>')
    transport(
        keys.PLAYER(key), scope=keys.FIGURES(key), titles=titles, marks=list(range(len(titles))), main=False,
        what="Rounds of Lloyd's algorithm", run=f"{data.dataset_id} {trace.claimed.private}",
    )  # fmt: skip
    with st.container(key=keys.FIGURES(key)):
        draw(key, [panel.printed()])
        shell.key_line(legend(trace.noiseless), True)
