"""The Federated page's parts: the cached run, and one round from one client's side."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES
from dpviz.federated import PAPER, WIDE, Ring, Round, Simulation, payload_bytes, refusal, simulate, spread
from dpviz.figures.federated import plot_words
from pages._ui import shell
from pages._ui.catalog import sample

RINGS = {"64-bit words, 24 fraction bits": WIDE, "32-bit words, 16 fraction bits (the paper's)": PAPER}
PLOT = {"displayModeBar": False}


def algorithm(slug: str, name: str, epsilon: float, ring: Ring):
    """Return the algorithm as it runs on this page; on a narrow ring with as many fraction bits as it has."""
    values = {"n_clusters": sample(name).n_clusters, "epsilon": epsilon}
    if slug == "fastlloyd":
        values["fraction_bits"] = ring.fraction
    return ALGORITHMS[slug](**values)


@st.cache_data(show_spinner=False)
def offered() -> tuple[list[str], list[str]]:
    """Return the slugs that can run federated, and a sentence for each one that cannot."""
    reasons = {slug: refusal(cls(), 2, 5000) for slug, cls in ALGORITHMS.items()}
    return [slug for slug, reason in reasons.items() if not reason], [reason for reason in reasons.values() if reason]


@st.cache_resource(max_entries=16, show_spinner="The clients are at work …")
def parts_of(name: str, clients: int, how: str, seed: int) -> list[np.ndarray]:
    """Return the rows of every client."""
    return spread(sample(name).X, clients, how, np.random.default_rng(seed))


@st.cache_resource(max_entries=24, show_spinner="The clients are at work …")
def federated(
    slug: str, name: str, epsilon: float, clients: int, how: str, ring: Ring, seed: int, drop: tuple[int, int] | None
) -> tuple[Simulation, bool]:
    """Return the run, and whether the central run with the same seed is the same, bit for bit."""
    data, runs = sample(name), algorithm(slug, name, epsilon, ring)
    parts = parts_of(name, clients, how, seed)
    most = {f"client-{i + 1}": 4 * max(len(part), 1) for i, part in enumerate(parts)}
    run = simulate(runs, parts, data.domain, seed=seed, ring=ring, drop=drop, capacities=most)
    if run.trace is None:
        return run, False
    central = runs.run(data.X, domain=data.domain, seed=seed)
    return run, central.to_json(include_hidden=True) == run.trace.to_json(include_hidden=True)


def first_numbers(values: np.ndarray) -> str:
    """Return the first numbers of an array."""
    flat = np.asarray(values).ravel()
    return ", ".join(f"{value:.4g}" for value in flat[:3]) + (" …" if flat.size > 3 else "")


def _words(payload: bytes, word_bytes: int) -> str:
    return " ".join(payload[i : i + word_bytes][::-1].hex() for i in range(0, 2 * word_bytes, word_bytes)) + " …"


def lane(round_: Round, client: str, ring: Ring) -> None:
    """Show one round: what the client computes, what leaves it, what the server adds, what comes back."""
    header, size = round_.header, ring.word_bytes
    local = b"".join(ring.encode(round_.locals[client][p], header.digits[p]).tobytes() for p in header.shapes)
    sent = b"".join(round_.uploads[client].values())
    noise = b"".join(ring.encode(round_.noise[p], header.digits[p]).tobytes() for p in header.shapes)
    back = b"".join(round_.broadcast.values())
    part = next(iter(header.shapes))
    what = part or "votes"
    noisy = sum(own[part] for own in round_.locals.values()) + round_.noise[part]
    cells = (
        ("1. Computed", local, True, f"{client}'s {what}: {first_numbers(round_.locals[client][part])}"),
        ("2. Leaves it", sent, False, f"The same words, masked: {_words(sent, size)}"),
        ("3. Added", noise, True, f"The server's own noise: {first_numbers(round_.noise[part])}"),
        ("4. Comes back", back, False, f"The masked sum of all. Unmasked, the noisy {what}: {first_numbers(noisy)}"),
    )
    for column, (title, payload, hidden, words) in zip(st.columns(4, gap="small"), cells, strict=True):
        figure = plot_words(shell.colors(), payload, size, title, hidden=hidden)
        column.plotly_chart(figure, theme=None, config=PLOT, key=f"wire_{title[:1]}", alt=words)
        column.html(f'<p class="dp-small" style="overflow-wrap:anywhere">{html.escape(words)}</p>')


def counters(run: Simulation, round_: Round, clients: int, ring: Ring) -> None:
    """Show rounds and bytes, counted, beside the formula."""
    words = round_.header.words
    formula = payload_bytes(clients, words, ring.word_bytes)
    cells = st.columns(4)
    cells[0].metric("Rounds", len(run.rounds))
    cells[1].metric("Words in this round", f"{words:,}")
    cells[2].metric("Bytes in this round", f"{round_.bytes_up + round_.bytes_down:,}")
    cells[3].metric("Bytes in the run", f"{run.bytes:,}")
    st.html(
        f'<p class="dp-small">Counted on the wire, both directions, all clients; by the formula 2 M b words = '
        f"2 × {clients} × {ring.word_bytes} × {words:,} = {formula:,}. For FastLloyd a round has "
        "k (d + 1) words. The paper's Table 3 (2 clients, k = 2, d = 2: 192 bytes) is this formula with 8-byte words, "
        "although its text states a 32-bit ring.</p>"
    )


def samples() -> list[str]:
    """Return the samples small enough for this page."""
    return [name for name in SAMPLES if len(sample(name).X) * sample(name).domain.n_features <= 200_000]
