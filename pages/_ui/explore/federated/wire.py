"""Cache runs over several clients, and show one round as one client sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.audits.reconstruct import Read, published, read_off
from dpviz.datasets import Dataset
from dpviz.federated import (
    CLIENTS,
    PAPER,
    SERVER,
    WIDE,
    Ring,
    Simulation,
    Traffic,
    payload_bytes,
    simulate,
    spread,
)
from dpviz.figures.scenes.federated import plot_words
from dpviz.numbers import number
from dpviz.trace import Trace
from pages._ui.explore.federated.reconstruction import plain_lloyd
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control
from pages._ui.frame.address.control import number as number_of
from pages._ui.frame.catalog import is_public, sample

T = TypeVar("T")
MOST_CELLS = 200_000
RINGS = {"64": WIDE, "32": PAPER}  # rings by the number of bits in a word
RING_NAMES = {"64": "64-bit words, 24 fraction bits", "32": "32-bit words, 16 fraction bits (the paper's)"}
PLOT = {"displayModeBar": False}
DELAY = Control(
    "delay", "fed_delay", "Network delay per send (ms)", number_of(0.25, 0, 10_000),
    help="A round has two sends: one up and one down. The paper simulates 0.25 ms, a local network.",
)  # fmt: skip
DRAWN_BY = {CLIENTS: "the clients", SERVER: "the server"}
LEDE = {
    CLIENTS: "Every client adds its part of the noise, and masks that cancel in the sum. The server adds the masked "
    "words and sends the sum back. The server sees random words; the clients see noisy sums, and no party can remove "
    "more noise than its own part.",
    SERVER: "Every client adds masks that only clients know. The server adds the masked words and its own noise, and "
    "sends the sum back. The server sees random words, and must never see the result; the clients see what a trusted "
    "curator would have published, and nothing more.",
}
_LEARNS = {  # who draws the noise -> party, what it sees, what it could remove
    CLIENTS: (
        (
            "The server",
            "uniformly random words, whatever the data, and the result, like everybody else",
            "nothing, because it drew no noise",
        ),
        (
            "A client",
            "the noisy sums",
            "its own rows and its own noise; the promise counts only the noise that remains",
        ),
        (
            "One client and the server together",
            "the noisy sum of the others, which still carries the promised noise",
            "that client's rows and noise; with each further client, less noise remains",
        ),
    ),
    SERVER: (
        (
            "The server",
            "uniformly random words, whatever the data; it must never see the result",
            "all of the noise: if it saw the result, it would know the exact sums",
        ),
        ("A client", "the noisy sums, exactly as a central run publishes them", "its own rows"),
        ("One client and the server together", "the exact sums of the other clients", "all of the noise"),
    ),
}


def who_learns_what(drawn_by: str) -> markup.Html:
    """Return a table of the parties, what each sees, and what it could remove."""
    rows = [markup.row(cells, head=party) for party, *cells in _LEARNS[drawn_by]]
    return markup.Html(
        markup.table("Who learns what", ("Who learns what", "sees", "could remove"), rows, look="dp-free dp-beside")
        + markup.small(
            "If a client falls silent, the masks no longer cancel: the round is aborted and nobody learns anything "
            "from it. A party that secretly draws no noise cannot be caught: the protocol assumes that everybody "
            "follows it."
        )
    )


@dataclasses.dataclass(frozen=True)
class Wired:
    """A run of an algorithm over clients, on the data set `name`; `drop`: a client, and the round it misses."""

    name: str
    algorithm: Algorithm
    clients: int
    how: str
    drawn_by: str
    ring: Ring
    seed: int
    drop: tuple[int, int] | None

    def by(self, slug: str) -> Wired:
        """Return the same run with another method at the same k and ε, without a silent client."""
        mine = {name: getattr(self.algorithm, name) for name in ("n_clusters", "epsilon")}
        return dataclasses.replace(self, algorithm=ALGORITHMS[slug](**mine), drop=None)

    @property
    def runs(self) -> Algorithm:
        """Return the algorithm that runs, which takes the ring's number of fraction bits if it has such a parameter."""
        bits: dict[str, Any] = {"fraction_bits": self.ring.fraction}
        return (
            dataclasses.replace(self.algorithm, **bits) if hasattr(self.algorithm, "fraction_bits") else self.algorithm
        )


def _kept(entries: int) -> Callable[[Callable[[Wired], T]], Callable[[Wired], T]]:
    """Cache values made from a run; those made from a session's own file stay in that session."""

    def wrap(make: Callable[[Wired], T]) -> Callable[[Wired], T]:
        words = "The clients are at work …"
        name: dict[str | type[Any], Callable[[Any], Any]] = {Wired: repr}
        everybody = st.cache_resource(max_entries=entries, show_spinner=words, hash_funcs=name)(make)
        mine = st.cache_resource(max_entries=entries, show_spinner=words, scope="session", hash_funcs=name)(make)

        @wraps(make)
        def cached(asked: Wired) -> T:
            return (everybody if is_public(sample(asked.name)) else mine)(asked)

        return cached

    return wrap


@_kept(16)
def parts_of(asked: Wired) -> list[np.ndarray]:
    """Return the rows of every client."""
    return spread(sample(asked.name).X, asked.clients, asked.how, np.random.default_rng(asked.seed))


@_kept(24)
def federated(asked: Wired) -> tuple[Simulation, bool]:
    """Return the run, and whether the central run with the same seed agrees bit for bit, except for who is trusted."""
    data, runs, seed, ring = sample(asked.name), asked.runs, asked.seed, asked.ring
    run = simulate(runs, parts_of(asked), data.domain, seed=seed, ring=ring, drop=asked.drop, drawn_by=asked.drawn_by)
    if run.trace is None or asked.drawn_by == CLIENTS:
        return run, False
    central = _trusting(runs.run(data.X, domain=data.domain, seed=seed), run.trace.claimed.trust)
    return run, central.to_json(include_hidden=True) == run.trace.to_json(include_hidden=True)


@_kept(12)
def without_noise(asked: Wired) -> tuple[Trace, list[Read]]:
    """Return a noiseless run of plain Lloyd over the same clients, and the rows that follow from its sums."""
    data = sample(asked.name)
    lloyd = plain_lloyd(data.n_clusters)
    run = simulate(lloyd, parts_of(asked), data.domain, seed=asked.seed, noise="none", drawn_by=SERVER)
    assert run.trace is not None
    return run.trace, read_off(published(run.trace), data.domain.radius)


def _trusting(trace: Trace, trust: str) -> Trace:
    claimed, spent = (dataclasses.replace(promise, trust=trust) for promise in (trace.claimed, trace.spent))
    return dataclasses.replace(trace, claimed=claimed, spent=spent)


def beside_central(trace: Trace, same: bool) -> None:
    """Compare the run with a central run of the same parameters."""
    excess = max(entry.excess for entry in trace.ledger)
    if excess > 1:
        st.info(
            f"The released noise has **{number(excess)} times** the variance of a central run at the same ε: each "
            f"client knows its own share of the noise and could subtract it, so the others' shares alone must be "
            f"enough. That is the price of trusting no single party with all of the noise."
        )
    elif same:
        st.success("The central run with the same seed gives the same centers, ledger and frames, bit for bit.")
    else:
        st.info(
            "This ring rounds the server's noise to its own grid, so the central run with the same seed differs by "
            "that rounding. With 64-bit words the two runs agree bit for bit."
        )


def first_numbers(values: np.ndarray) -> str:
    """Return the first numbers of an array as text."""
    flat = np.asarray(values).ravel()
    return ", ".join(number(value) for value in flat[:3]) + (" …" if flat.size > 3 else "")


def _words(payload: bytes, word_bytes: int) -> str:
    return " ".join(payload[i : i + word_bytes][::-1].hex() for i in range(0, 2 * word_bytes, word_bytes)) + " …"


def lane(round_: Traffic, client: str, drawn_by: str, ring: Ring) -> None:
    """Show one round: the client's statistic, the added noise, the words sent, and the sum that comes back."""
    header, size = round_.header, ring.word_bytes
    who = client if drawn_by == CLIENTS else SERVER
    own, drawn = round_.locals[client], round_.noise[who]
    local = b"".join(ring.encode(own[p], header.digits[p]).tobytes() for p in header.shapes)
    noise = b"".join(ring.encode(drawn[p], header.digits[p]).tobytes() for p in header.shapes)
    sent, back = b"".join(round_.uploads[client].values()), b"".join(round_.broadcast.values())
    part = next(iter(header.shapes))
    what = part or "votes"
    noisy = np.sum([each[part] for each in (*round_.locals.values(), *round_.noise.values())], axis=0)
    computed = ("Computed", local, True, f"{client}'s {what}: {first_numbers(own[part])}")
    added = ("Noise", noise, True, f"Drawn by {'this client' if who == client else who}: {first_numbers(drawn[part])}")
    leaves = ("Sent", sent, False, f"The same words, masked: {_words(sent, size)}")
    if drawn_by == CLIENTS:
        leaves = (*leaves[:3], f"Their sum, masked: {_words(sent, size)}")
    back_ = ("Returned", back, False, f"The masked sum of all. Unmasked, the noisy {what}: {first_numbers(noisy)}")
    cells = (computed, added, leaves, back_) if drawn_by == CLIENTS else (computed, leaves, added, back_)
    for i, (column, (name, payload, hidden, words)) in enumerate(
        zip(st.columns(4, gap="small"), cells, strict=True), 1
    ):
        figure = plot_words(shell.colors(), payload, size, f"{i}. {name}", hidden=hidden)
        column.plotly_chart(figure, theme=None, config=PLOT, key=f"wire_{i}", alt=words)
        column.html(f'<p class="dp-small" style="overflow-wrap:anywhere">{markup.escape(words)}</p>')
    stays = "1 and 2 stay with the client" if drawn_by == CLIENTS else "1 stays with the client and 3 with the server"
    travels = "3 and 4" if drawn_by == CLIENTS else "2 and 4"
    st.html(
        markup.small(
            "Each row is one word of the ring, and each square is a byte of that word, darker for larger values. "
            f"{stays}; only this simulation can show them (NOT PRIVATE). Only {travels} travel."
        )
    )


def counters(run: Simulation, round_: Traffic, clients: int, ring: Ring) -> None:
    """Show how many rounds and bytes were counted, with the formula for the bytes."""
    words = round_.header.words
    formula = payload_bytes(clients, words, ring.word_bytes)
    cells = st.columns(4)
    cells[0].metric("Rounds", len(run.rounds))
    cells[1].metric("Words in this round", f"{words:,}")
    cells[2].metric("Bytes in this round", f"{round_.bytes_up + round_.bytes_down:,}")
    cells[3].metric("Bytes in the run", f"{run.bytes:,}")
    st.html(
        markup.small(
            "The bytes are counted on the wire, in both directions and over all clients; the formula gives 2 M b words "
            f"= 2 × {clients} × {ring.word_bytes} × {words:,} = {formula:,}. FastLloyd sends k (d + 1) words in a "
            f"round. The paper's Table 3 (2 clients, k = 2, d = 2: 192 bytes) is this formula "
            "with 8-byte words, although its text states a 32-bit ring."
        )
    )
    _network(len(run.rounds))


def _network(rounds: int) -> None:
    """Show the effect of the network's delay, and the protocol with which FastLloyd's paper compares its own."""
    delay = DELAY.draw()
    st.html(
        markup.small(
            f"At {number(delay)} ms per send, a round waits {number(2 * delay)} ms for the network and this run "
            f"{number(2 * delay * rounds)} ms, in addition to computing. FastLloyd's Table 3 (2 clients, "
            "10,000 rows, k = 2, d = 2) prints 3.03 ms and 192 bytes a round, and quotes 10,500 ms "
            "and 256 million bytes a round for MohLloyd, which encrypts every step: 3,465 times "
            "slower. Our own times are on the Papers page."
        )
    )


def small(data: Dataset) -> bool:
    """Return whether a data set is small enough to spread over clients here."""
    return data.X.size <= MOST_CELLS
