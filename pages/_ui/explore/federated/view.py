"""Show the section of Watch about clients: who learns what, who holds which row, and one round on the wire."""

from __future__ import annotations

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
from pages._ui.frame import keys, markup, shell
from pages._ui.frame.prepared import args

__all__ = ["form", "watch"]


def form(name: str, algorithm: Algorithm, seed: int) -> Wired:
    """Show the questions about clients; return the run that they describe."""
    with st.container(key=keys.FORM_CLIENTS, horizontal=True, vertical_alignment="bottom"):
        clients = st.slider("Clients", 2, 32, 4, **args(keys.FED_CLIENTS), width=220)
        how = st.segmented_control("Rows are spread", SPREADS, default="even", required=True, **args(keys.FED_SPREAD))
        drawn_by = st.segmented_control(
            "The noise is drawn by", DRAWN_BY, format_func=wire.DRAWN_BY.__getitem__, default=CLIENTS, required=True,
            help="If the clients draw the noise, no party can remove all of it. If the server draws the noise, as in "
                "the paper, it must never see the result.", **args(keys.FED_NOISE),
        )  # fmt: skip
        silent = st.selectbox(
            "A client falls silent", [None, *range(clients)], **args(keys.FED_SILENT), width=220, placeholder="nobody",
            help="This client stops answering in round 2.",
            format_func=lambda i: "nobody" if i is None else f"client-{i + 1}",
        )  # fmt: skip
        ring = st.selectbox("Ring", wire.RINGS, format_func=wire.RING_NAMES.__getitem__, **args(keys.FED_RING))
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
    st.session_state[keys.FED_ROUND] = min(st.session_state.get(keys.FED_ROUND, 1), last)
    who = range(asked.clients)
    if run.trace is not None:
        left, right = st.columns(2, gap="medium")
        with right:
            wire.beside_central(run.trace, same)
            client = st.selectbox("Seen from", who, format_func=lambda i: f"client-{i + 1}", **args(keys.FED_CLIENT))
        with left:
            axes = data.view if data.domain.n_features > 1 else None
            view = View(run.trace, shell.colors(), axes, data.columns, data.units)
            figure, alt = plot_clients(view, wire.parts_of(asked), client), "Which client holds which row."
            st.plotly_chart(figure, theme=None, config=wire.PLOT, key=keys.FED_PLANE, alt=alt)
    else:
        client = st.selectbox("Seen from", who, format_func=lambda i: f"client-{i + 1}", **args(keys.FED_CLIENT))
    st.header("What travels in a round")
    number = st.slider("Round", 1, last, **args(keys.FED_ROUND)) if last > 1 else 1
    round_ = run.rounds[number - 1]
    wire.lane(round_, f"client-{client + 1}", asked.drawn_by, asked.ring)
    wire.counters(run, round_, asked.clients, asked.ring)
    if run.trace is not None:
        _bytes(asked)
    st.header("What if nobody drew noise?")
    if st.toggle("Plain Lloyd, exact sums", **args(keys.FED_EXACT)):
        reconstruction.picture(keys.FED_EXACT, data, *wire.without_noise(asked))
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
