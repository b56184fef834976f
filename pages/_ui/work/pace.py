"""Estimate the time of a run: its rough work multiplied by this machine's pace, which every timed run corrects."""

from __future__ import annotations

import threading

from dpviz.algorithms import Algorithm

__all__ = ["Pace", "duration"]

START = 1e-8  # Seconds per operation of `Algorithm.work`; tests/pages/work/first_runs.csv has the measured times.
WEIGHT = 0.5  # Weight of the newest run, on a logarithmic scale.


class Pace:
    """Seconds per operation, by algorithm. Never record runs on private rows, whose times depend on the rows."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}
        self._lock = threading.Lock()

    def seconds(self, algorithm: Algorithm, n_features: int, n_public: int) -> float:
        """Return the expected time of a run, in seconds."""
        return self._known.get(algorithm.slug, START) * algorithm.work(n_features, n_public)

    def learn(self, algorithm: Algorithm, n_features: int, n_public: int, seconds: float) -> None:
        """Take a timed run into account; the first one replaces the starting value."""
        now = max(seconds, 1e-6) / algorithm.work(n_features, n_public)
        with self._lock:
            before = self._known.get(algorithm.slug, now)
            self._known[algorithm.slug] = before ** (1 - WEIGHT) * now**WEIGHT


def duration(seconds: float) -> str:
    """Return a time as text, to one significant digit: "less than a second", "about 20 seconds", "about 3 minutes"."""
    for unit, size in (("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        if seconds >= 0.95 * size:
            rounded = float(f"{max(seconds / size, 1.0):.0e}")
            return f"about {rounded:.0f} {unit}{'s' * (rounded != 1)}"
    return "less than a second"
