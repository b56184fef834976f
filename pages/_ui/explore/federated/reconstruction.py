"""Show why exact centers should not be published: the rows that follow from the rounds of plain Lloyd without noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.algorithms.lloyd.dp_lloyd import DPLloyd
from dpviz.audits.reconstruct import Read, exactly, published, read_off, wrongly
from dpviz.datasets import SAMPLES, Dataset
from dpviz.figures import Panel, View
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.reconstruction import legend, read_panel
from dpviz.numbers import counted
from dpviz.trace import Trace
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import FIGURES, PLAYER
from pages._ui.explore.player.transport import transport
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.catalog import sample

__all__ = ["NOISE", "Computed", "lesson", "panel_of", "picture", "plain_lloyd", "read_in", "read_on", "titles_of"]

ROUNDS = 15
NOISE = {"none": "Exact centers", "seeded": "Noisy centers, ε 1"}


def plain_lloyd(n_clusters: int) -> Algorithm:
    """Return Lloyd's algorithm, which in every round sums and counts the rows nearest to each center."""
    return DPLloyd(n_clusters=n_clusters, epsilon=1.0, iterations=ROUNDS, dead_cluster="keep")


DATA = Control("d", "exact_data", "Sample", choice(SAMPLES[0], SAMPLES), named=lambda name: sample(name).title)
PUBLISHED = Control(
    "noise", "exact_noise", "Published", choice("none", tuple(NOISE)), widget="segmented_control", named=NOISE
)


def lesson() -> None:
    """Show the reconstruction on a sample, at first without noise, and on request with noise."""
    st.header("Why not publish exact centers?")
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name, noise = DATA.draw(left), PUBLISHED.draw(right)
    trace, read = read_on(name, str(noise))
    data = sample(name)
    picture("exact", data, trace, read)
    st.html(markup.small(_WHY))


_WHY = (
    "A center is a sum divided by a count. Between two rounds only people who switch clusters change these sums: if "
    "just one person crosses from one cluster to another, the difference of the sums is that person's row, to the last "
    "digit. The center of a cluster with a single person is that person's row. This takes arithmetic and no other "
    "knowledge, which is why pictures of exact centers are marked NOT PRIVATE. Several people who cross at once can "
    "look like one, so some computed rows are nobody's, and an attacker cannot tell which. With noise no count is "
    "whole, and this arithmetic stops; that alone protects nobody: Start drags the noise against an attacker who goes "
    "on. Adapted from arXiv:2511.07073."
)


@st.cache_resource(max_entries=24, show_spinner="Reading off rows")
def read_on(name: str, noise: str) -> tuple[Trace, list[Read]]:
    """Return a run on a sample and the rows read off its releases."""
    return read_in(sample(name), noise)


def read_in(data: Dataset, noise: str) -> tuple[Trace, list[Read]]:
    """Return a run on a data set and the rows read off its releases; this needs no session."""
    trace = plain_lloyd(data.n_clusters).run(data.X, domain=data.domain, seed=0, noise=noise)
    return trace, read_off(published(trace), data.domain.radius)


@dataclasses.dataclass(frozen=True, eq=False)
class Computed:
    """The rows computed by a round: indices of the people whose rows they are, and rows (m, d) that are nobody's."""

    people: np.ndarray
    nobodys: np.ndarray

    def __len__(self) -> int:
        return len(self.people) + len(self.nobodys)


def titles_of(data: Dataset, trace: Trace, read: list[Read]) -> tuple[list[str], list[Computed]]:
    """Return, for every round, its sentence and the rows computed by then."""
    rounds, by_then = [step for step in trace.steps if step.kind == "noisy-iteration"], []
    for t in range(len(rounds)):
        so_far = [one for one in read if one.round <= t]
        by_then.append(Computed(exactly(so_far, data.X, data.domain), wrongly(so_far, data.X, data.domain)))
    titles = [f"Round {t + 1} of {len(rounds)} · {_sentence(trace, some)}" for t, some in enumerate(by_then)]
    return titles, by_then


def _sentence(trace: Trace, some: Computed) -> str:
    if not trace.noiseless:
        return "no count is whole, so this arithmetic stops"
    return f"{counted(len(some), 'row')} computed, {len(some.people):,} of them people's"


def panel_of(data: Dataset, trace: Trace, by_then: list[Computed], colors: Theme) -> Panel:
    """Return the picture of the rounds."""
    axes = data.view if data.domain.n_features > 1 else None
    view = View(trace, colors, axes, data.columns, data.units, people=data.X, hidden=True, noun=data.noun)
    rounds = [step for step in trace.steps if step.kind == "noisy-iteration"]
    centers = [data.domain.denormalize(np.asarray(step.released["centers"])) for step in rounds]
    return read_panel(view, centers, [data.X[one.people] for one in by_then], [one.nobodys for one in by_then])


def picture(key: str, data: Dataset, trace: Trace, read: list[Read]) -> None:
    """Show the rounds of a run of plain Lloyd, and the people whose rows are read off so far."""
    titles, by_then = titles_of(data, trace, read)
    panel = panel_of(data, trace, by_then, shell.colors())
    words = titles[-1].partition(" · ")[2]
    asked = f"from {counted(data.n_clusters, 'center')} in {len(titles)} rounds"
    st.html(f'<div class="dp-verdict"><b>{markup.escape(words)}</b> <span>{asked}</span></div>')
    transport(
        PLAYER(key), scope=FIGURES(key), titles=titles, marks=list(range(len(titles))), main=False,
        what="Rounds of Lloyd's algorithm", run=f"{data.dataset_id} {trace.claimed.private}",
    )  # fmt: skip
    with st.container(key=FIGURES(key)):
        draw(key, [panel.printed()])
        shell.key_line(legend(trace.noiseless), True)
