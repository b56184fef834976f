"""Make private runs repeatable in tests, so that no test depends on chance."""

import itertools

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.privacy.noise import Seeded


class Lucky(Seeded):
    """Seeded noise that is treated like secure noise: a run stores neither its seed nor any true value."""

    reproducible = False


def same_luck(monkeypatch):
    """Seed all later secure runs: the first with 0, the second with 1, and so on."""
    turns, own = itertools.count(), Algorithm._randomness

    def randomness(self, seed, noise):
        if noise != "secure":
            return own(self, seed, noise)
        own(self, seed, noise)  # called only because it refuses invalid requests
        starts, draws = (np.random.default_rng(child) for child in np.random.SeedSequence(next(turns)).spawn(2))
        return starts, Lucky(draws)

    monkeypatch.setattr(Algorithm, "_randomness", randomness)
