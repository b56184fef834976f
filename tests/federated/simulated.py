"""Deal rows to clients, and list the algorithms that can run over clients."""

import numpy as np
from scipy.stats import chi2

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.federated import (
    WIDE,
    Client,
    Header,
    Server,
    spread,
)
from dpviz.federated.masks import Seeds

N = 600
BOX = Domain.box(-1, 1, 2, n_public=N)


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (3, 2))
    return np.clip(centers[rng.integers(3, size=n)] + rng.normal(0, 0.1, (n, 2)), -1.1, 1.1)


def make(slug):
    return ALGORITHMS[slug](n_clusters=3)


def dealt(n_clients=3, how="even"):
    return spread(rows(), n_clients, how, np.random.default_rng(1))


SEED, RUN = b"s" * 32, b"r" * 16
NAMES = ("a", "b", "c")
SEEDS = {
    name: Seeds(SEED, {other: "".join(sorted(name + other)).encode() * 16 for other in NAMES if other != name})
    for name in NAMES
}


def header(round_=0, size=5, digits=24):
    return Header(round_, "Test", {"": (size,)}, {"": digits})


def parties(ring=WIDE, run=RUN):
    return {name: Client(name, NAMES, SEEDS[name], run, ring) for name in NAMES}, Server(NAMES, ring)


def uniformity(payload):
    """Return the p-value of a chi-square test that bytes are uniform."""
    counts = np.bincount(np.frombuffer(payload, dtype=np.uint8), minlength=256)
    expected = counts.sum() / 256
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), 255)
