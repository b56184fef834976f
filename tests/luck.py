"""Make private runs repeatable in tests, so that no test depends on luck."""

import itertools

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.privacy.noise import Seeded


class Lucky(Seeded):
    """A seed's noise that passes for secure noise: no truth is stored beside it, and its seed is hidden."""

    reproducible = False


def same_luck(monkeypatch):
    """From now on the first secure run draws what 0 gives, the second what 1 gives, and so on."""
    turns, own = itertools.count(), Algorithm._randomness

    def randomness(self, seed, noise):
        if noise != "secure":
            return own(self, seed, noise)
        own(self, seed, noise)  # refuses the same requests
        starts, draws = (np.random.default_rng(child) for child in np.random.SeedSequence(next(turns)).spawn(2))
        return starts, Lucky(draws)

    monkeypatch.setattr(Algorithm, "_randomness", randomness)
