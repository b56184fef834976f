"""Federated: rows stay with their clients; watch one round of masked sums, byte for byte."""

import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.federated import CLIENTS, DRAWN_BY, SPREADS
from dpviz.figures import View
from dpviz.figures.scenes.federated import plot_clients
from pages._ui.address import links
from pages._ui.federated import wire
from pages._ui.form.numbers import whole_number
from pages._ui.frame import catalog, keys, markup, shell
from pages._ui.frame.catalog import sample
from pages._ui.frame.prepared import kept
from pages._ui.limits import reconstruction
from pages._ui.workspace import federated

links.enter(__file__, federated.clients, has=("form", "navigation"))
slugs, refused = wire.offered()
with st.sidebar:
    titles = {n: sample(n).title for n in wire.offered_data()}
    catalog.follow(keys.FED_DATA, list(titles))
    name = st.selectbox("Data", titles, format_func=titles.get, **kept(keys.FED_DATA))
    slug = st.selectbox(
        "Algorithm", slugs, slugs.index("fastlloyd"), format_func=lambda s: ALGORITHMS[s].name, **kept(keys.FED_SLUG)
    )
    with st.expander("Which algorithms cannot run federated"):
        st.markdown("\n".join(f"- {plain(reason)}" for reason in refused))
    epsilon = st.select_slider("Privacy budget ε", (0.25, 0.5, 1.0, 2.0, 4.0), 1.0, **kept(keys.FED_EPSILON))
    clients = st.slider("Clients", 2, 32, 4, **kept(keys.FED_CLIENTS))
    how = st.segmented_control("Rows are spread", SPREADS, default="even", required=True, **kept(keys.FED_SPREAD))
    drawn_by = st.segmented_control(
        "The noise is drawn by", DRAWN_BY, format_func=wire.DRAWN_BY.get, default=CLIENTS, required=True,
        help="The clients: no party can take off all of it. The server, as in the paper: then it must "
        "never see the result.", **kept(keys.FED_NOISE),
    )  # fmt: skip
    more = st.expander("More")
    ring = wire.RINGS[more.selectbox("Ring", wire.RINGS, format_func=wire.RING_NAMES.get, **kept(keys.FED_RING))]
    silent = st.selectbox(
        "A client falls silent", [None, *range(clients)], **kept(keys.FED_SILENT),
        help="It stops answering in round 2.", format_func=lambda i: "nobody" if i is None else f"client-{i + 1}",
    )  # fmt: skip
    seed = whole_number("Seed", 0, **kept(keys.FED_SEED))

data = sample(name)
drop = None if silent is None else (silent, 1)
problem, run, same = "", None, False
try:
    run, same = wire.federated(name, slug, epsilon, clients, how, drawn_by, ring, seed, drop)
except (OverflowError, ValueError, PermissionError) as error:
    problem = str(error)
shell.strip(data.title, ALGORITHMS[slug].name, run.trace.claimed if run and run.trace else None)
links.notice("federated", federated.clients)
links.keep("federated", federated.clients)
shell.title()
st.html(markup.lede(wire.LEDE[drawn_by]))
if problem:
    st.error(plain(problem))
    st.stop()
if run.aborted:
    st.error(plain(f"{run.aborted} What was released before stays spent."))
if not run.rounds:
    st.stop()

picked, chosen = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
last = len(run.rounds)
st.session_state[keys.FED_ROUND] = min(st.session_state.get(keys.FED_ROUND, 1), last)
number = picked.slider("Round", 1, last, key=keys.FED_ROUND) if last > 1 else 1
client = chosen.selectbox(
    "Seen from", range(clients), format_func=lambda i: f"client-{i + 1}", key=keys.FED_CLIENT,
)  # fmt: skip
round_ = run.rounds[number - 1]
wire.lane(round_, f"client-{client + 1}", drawn_by, ring)
wire.counters(run, round_, clients, ring)

left, right = st.columns(2, gap="medium")
with left:
    if run.trace is not None:
        axes = (0, 1) if data.domain.n_features > 1 else None
        view = View(run.trace, shell.colors(), axes, data.columns, data.units)
        parts = wire.parts_of(name, clients, how, seed)
        st.plotly_chart(
            plot_clients(view, parts, client),
            theme=None,
            config=wire.PLOT,
            key=keys.FED_PLANE,
            alt="Who holds which row.",
        )
with right:
    if run.trace is not None:
        wire.beside_central(run.trace, same)
    st.markdown(wire.WHO_LEARNS_WHAT[drawn_by])
    if run.trace is not None:
        rows = []
        for other in dict.fromkeys(("fastlloyd", "pe-means", slug)):
            theirs = wire.federated(name, other, epsilon, clients, how, drawn_by, ring, seed, None)[0]
            rows.append((ALGORITHMS[other].name, len(theirs.rounds), theirs.bytes // len(theirs.rounds), theirs.bytes))
        table = pd.DataFrame(rows, columns=["Algorithm", "Rounds", "Bytes per round", "Bytes in all"])
        counts = st.column_config.NumberColumn(format="localized")
        st.dataframe(table, hide_index=True, width="stretch", column_config=dict.fromkeys(table.columns[1:], counts))
        st.caption(
            "PE-means sends one word per trial point; the points themselves never travel, because every client "
            "makes them from released centers and a public seed. Running it federated is ours, not the paper's."
        )
st.header("What if nobody drew noise?")
if st.toggle("Plain Lloyd, exact sums", **kept(keys.FED_EXACT)):
    reconstruction.picture(keys.FED_EXACT, data, *wire.without_noise(name, clients, how, seed))
    st.caption("The masks hide each client's part. The sums still give people away, to every client and to the server.")
