"""Make private runs repeatable in tests, so that no test depends on chance."""

import itertools

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.privacy.noise import Seeded


class Lucky(Seeded):
    """Seeded noise that passes for secure noise: no truth is stored with it, and its seed is hidden."""

    reproducible = False


def same_luck(monkeypatch):
    """Seed secure runs from now on: the first with 0, the second with 1, and so on."""
    turns, own = itertools.count(), Algorithm._randomness

    def randomness(self, seed, noise):
        if noise != "secure":
            return own(self, seed, noise)
        own(self, seed, noise)  # called because it refuses invalid requests
        starts, draws = (np.random.default_rng(child) for child in np.random.SeedSequence(next(turns)).spawn(2))
        return starts, Lucky(draws)

    monkeypatch.setattr(Algorithm, "_randomness", randomness)
