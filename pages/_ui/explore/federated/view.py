"""Show the section of Watch about clients: who learns what, who holds which row, and one round on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.federated import CLIENTS, DRAWN_BY, SPREADS, Simulation
from dpviz.figures import View
from dpviz.figures.scenes.federated import plot_clients
from pages._ui.explore.federated import reconstruction, wire
from pages._ui.explore.federated.wire import Wired
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, choice, number, switch

__all__ = ["controls", "form", "watch"]

N_CLIENTS = Control("clients", "fed_clients", "Clients", number(4, 2, 32), always=True, widget="slider")
SPREAD = Control("spread", "fed_spread", "Rows are spread", choice("even", SPREADS), widget="segmented_control")
NOISE = Control(
    "noise", "fed_noise", "The noise is drawn by", choice(CLIENTS, DRAWN_BY), widget="segmented_control",
    named=wire.DRAWN_BY, help="If the clients draw the noise, no party can remove all of it. If the server draws the "
    "noise, as in the paper, it must never see the result.",
)  # fmt: skip
BARE = Control("bare", "fed_exact", "Plain Lloyd, exact sums", switch(False))
RING = Control("ring", "fed_ring", "Ring", choice("64", tuple(wire.RINGS)), named=wire.RING_NAMES)
ROUND = Control("round", "fed_round", "Round", number(1, 1, 10_000), widget="slider")


def controls(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of a run over several clients, whose number determines who may fall silent."""
    listed = [N_CLIENTS, SPREAD, NOISE, BARE, RING, wire.DELAY]
    if "clients" in known:
        listed += [_silent(known["clients"]), _seen_from(known["clients"]), ROUND]
    return listed


def _silent(clients: int) -> Control:
    return Control(
        "silent", "fed_silent", "A client falls silent", choice(None, (None, *range(clients))),
        help="This client stops answering in round 2.", placeholder="nobody",
        named=lambda i: "nobody" if i is None else _named(i),
    )  # fmt: skip


def _seen_from(clients: int) -> Control:
    return Control("from", "fed_client", "Seen from", choice(0, range(clients)), named=_named)


def _named(i: int) -> str:
    return f"client-{i + 1}"


def form(name: str, algorithm: Algorithm, seed: int) -> Wired:
    """Show the questions about clients; return the run that they describe."""
    with st.container(key="form_clients", horizontal=True, vertical_alignment="bottom"):
        clients = N_CLIENTS.draw(width=220)
        how = SPREAD.draw()
        drawn_by = NOISE.draw()
        silent = _silent(clients).draw(width=220)
        ring = RING.draw()
    drop = None if silent is None else (silent, 1)
    return Wired(name, algorithm, clients, how or "even", drawn_by or CLIENTS, wire.RINGS[ring], seed, drop)


def watch(data: Dataset, asked: Wired, run: Simulation, same: bool) -> None:
    """Show a run, beginning with who learns what."""
    st.html(markup.lede(wire.LEDE[asked.drawn_by]))
    if run.aborted:
        st.error(plain(f"{run.aborted} The privacy spent on earlier releases stays spent."))
    st.html(wire.who_learns_what(asked.drawn_by))
    last = len(run.rounds)
    if not last:
        return
    st.session_state[ROUND.key] = min(ROUND.held, last)
    seen_from = _seen_from(asked.clients)
    if run.trace is not None:
        left, right = st.columns(2, gap="medium")
        with right:
            wire.beside_central(run.trace, same)
            client = seen_from.draw()
        with left:
            axes = data.view if data.domain.n_features > 1 else None
            view = View(run.trace, shell.colors(), axes, data.columns, data.units)
            figure, alt = plot_clients(view, wire.parts_of(asked), client), "Which client holds which row."
            st.plotly_chart(figure, theme=None, config=wire.PLOT, key="fed_plane", alt=alt)
    else:
        client = seen_from.draw()
    st.header("What travels in a round")
    at = ROUND.draw(max_value=last) if last > 1 else 1
    round_ = run.rounds[at - 1]
    wire.lane(round_, f"client-{client + 1}", asked.drawn_by, asked.ring)
    wire.counters(run, round_, asked.clients, asked.ring)
    if run.trace is not None:
        _bytes(asked)
    st.header("What if nobody drew noise?")
    if BARE.draw():
        reconstruction.picture(BARE.key, data, *wire.without_noise(asked))
        st.caption(
            "The masks hide each client's part, but the sums still give people away to every client and to the server."
        )


def _bytes(asked: Wired) -> None:
    """Show the traffic of this method beside that of FastLloyd and PE-means."""
    rows = []
    for slug in dict.fromkeys(("fastlloyd", "pe-means", asked.algorithm.slug)):
        theirs = wire.federated(asked.by(slug))[0]
        rows.append((ALGORITHMS[slug].name, len(theirs.rounds), theirs.bytes // len(theirs.rounds), theirs.bytes))
    table = pd.DataFrame(rows, columns=["Algorithm", "Rounds", "Bytes per round", "Bytes in all"])
    counts = st.column_config.NumberColumn(format="localized")
    st.dataframe(table, hide_index=True, width="stretch", column_config=dict.fromkeys(table.columns[1:], counts))
    st.caption(
        "PE-means sends one word per trial point; the points themselves never travel, because every client derives "
        "them from released centers and a public seed. The federated version is our addition; the paper has none."
    )
