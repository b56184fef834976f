"""A game about one question; background jobs make its rounds in advance, for this session alone."""

from __future__ import annotations

import dataclasses
import functools
import secrets
import threading

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.audits.game import Question, Round, play
from pages._ui.frame.inside.patches import whole
from pages._ui.work import runs
from pages._ui.work.jobs import Job
from pages._ui.work.workers import workers

__all__ = ["Match"]

# numbers of rounds in the first batch (few, for an early picture), in a later one, and in any batch of an exact method
_FIRST, _BATCH, _EXACT = 4, 25, 50


@dataclasses.dataclass(eq=False)
class Match:
    """The rounds of a game about one question.

    Attributes
    ----------
    world : the world of all rounds, or None if a coin decides each round
    rounds : rounds made so far, oldest first, as the player sees them
    bets : the player's answers, True for "in"
    target : number of rounds to make
    seed : seed of the game; never shown, because it would reveal the coins
    """

    question: Question
    algorithm: Algorithm
    world: bool | None = None
    rounds: list[Round] = dataclasses.field(default_factory=list)
    bets: list[bool] = dataclasses.field(default_factory=list)
    target: int = 0
    seed: int = dataclasses.field(default_factory=lambda: secrets.randbits(62))
    job: Job | None = None
    _filled: bool = False  # Whether the job has reached its target and will make no more rounds.
    _stopped: bool = False  # Whether the job should stop.
    _lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    @property
    def busy(self) -> bool:
        """Return whether rounds are being made; a stopped job makes no more, even if its last batch still runs."""
        return self.job is not None and self.job.active and not self._filled and not self._stopped

    @property
    def error(self) -> str:
        """Return one sentence if making rounds failed, else ""."""
        return "" if self.job is None or self.job.status != "failed" else self.job.error

    @property
    def now(self) -> Round | None:
        """Return the round that the player should judge, or None while it is being made."""
        return self.rounds[len(self.bets)] if len(self.bets) < len(self.rounds) else None

    @functools.cached_property
    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the centers (k, d) known to an attacker beforehand, from a run with the person and a run without."""
        question = self.question
        inside, outside = (
            self.algorithm.run(X, domain=question.domain, seed=0).cluster_centers
            for X in (question.inside, question.outside)
        )
        return inside, outside

    def make(self, target: int) -> None:
        """Make rounds in the background until there are `target` of them."""
        with whole(), self._lock:
            if target <= self.target and (self.busy or len(self.rounds) >= target or self.error):
                return
            self.target = max(target, self.target)
            if not self.busy:
                self._filled = self._stopped = False
                self.job = runs.queue("Game", self._fill, self._seconds(target))

    def stop(self) -> None:
        """Stop making rounds, and keep the finished ones."""
        with self._lock:
            if self.job is not None:
                self.job.cancel()
            self._stopped, self.target = True, len(self.rounds)

    def _seconds(self, target: int) -> float:
        """Return the expected time of the missing rounds, each of which is a run."""
        domain = self.question.domain
        one = runs.pace().seconds(self.algorithm, domain.n_features, domain.n_public or len(self.question.inside))
        return (target - len(self.rounds)) * one

    def _fill(self, job: Job) -> None:
        size = _BATCH if self.algorithm.notion.private else _EXACT
        while self._more():
            job.advance(len(self.rounds), self.target)
            have = len(self.rounds)
            count = min(size if have or size == _EXACT else _FIRST, self.target - have)
            self.rounds += workers().call(play, self.question, self.algorithm, have, count, self.seed, self.world)
        job.advance(len(self.rounds), self.target)

    def _more(self) -> bool:
        """Return whether rounds are missing; if none are, the job ends, and a later request starts another job."""
        with self._lock:
            self._filled = len(self.rounds) >= self.target
            return not self._filled
