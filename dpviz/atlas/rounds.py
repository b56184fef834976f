"""Stored rounds of the game "is this person in the data?", the same for everybody, in one Parquet file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import STORY, opened, yardstick
from dpviz.atlas.files import FOLDER, replace, table_of
from dpviz.atlas.machines import agrees
from dpviz.audits.game import Question, Round, people, play, present
from dpviz.sweeps.engines import on_this_machine

__all__ = ["GAMES", "NAME", "Game", "up_to_date", "make", "outcome", "read"]

NAME = "rounds.parquet"
_STEP = 2.0**-22  # resolution of a center, in z units
_BATCH, _PROBES = 25, 2  # number of rounds that one worker plays at a time, and number per game that a check repeats
_KINDS = {"game": "int8", "inside": "bool", "speaks": "double", "centers": ["double"]}


@dataclasses.dataclass(frozen=True)
class Game:
    """Rounds of the game "is this person in the data?" about one person of a sample.

    Attributes
    ----------
    sample : name of the sample
    method : name of the method, which runs with the sample's own k, ε 1 and otherwise its defaults
    who : "typical", "outlier" or "small", as in `dpviz.audits.game.people`
    world : the world of all rounds, or None if a coin decides in every round
    rounds : number of rounds, counted from round 0 of the game with seed 0
    """

    sample: str
    method: str
    who: str
    world: bool | None
    rounds: int

    def algorithm(self) -> Algorithm:
        """Return the method."""
        k, cls = opened(self.sample, None).data.n_clusters, ALGORITHMS[self.method]
        return cls(n_clusters=k, **({"epsilon": 1.0} if hasattr(cls, "epsilon") else {}))

    def question(self) -> Question:
        """Return the question of the game, with its two worlds."""
        data = opened(self.sample, None).data
        row = people(data.X, data.domain, yardstick(self.sample, None).groups)[self.who]
        return present(self.algorithm(), data.X, data.domain, data.n_public, data.X[row], row)


GAMES = (
    Game(*STORY, "outlier", None, 2_000),  # for the first question about Alex, and for the default deck of Present
    Game("town", "kmeans", "outlier", None, 100),
    Game("town", "pe-means", "outlier", True, 25),
    Game("town", "pe-means", "outlier", False, 25),
)


def outcome(game: Game, first: int, count: int) -> list[dict[str, Any]]:
    """Play rounds and return a row for each: inside, speaks, and centers (k' * d,) in z units, in steps of 2^-22."""
    question = game.question()
    return [
        {
            "game": GAMES.index(game),
            "inside": one.inside,
            "speaks": one.speaks,
            "centers": np.round(question.domain.normalize(one.centers).ravel() / _STEP) * _STEP,
        }
        for one in play(question, game.algorithm(), first, count, 0, game.world)
    ]


def make(folder: Path = FOLDER, *, workers: int = 1, on_run: Callable[[], None] = lambda: None) -> None:
    """Play all games and write them; the old file stays until the new one is complete."""
    batches = [(game, first) for game in GAMES for first in range(0, game.rounds, _BATCH)]
    rows: dict[tuple[Game, int], list[dict[str, Any]]] = {}
    for batch, outcomes in on_this_machine(batches, _played, _given_up, workers=workers):
        rows[batch] = outcomes
        for _ in outcomes:
            on_run()
    flat = [row for batch in batches for row in rows[batch]]
    replace(folder / NAME, flat, _KINDS, _inputs(), words=["game"], floats=["speaks", "centers.list.element"])


def _played(batch: tuple[Game, int]) -> tuple[tuple[Game, int], list[dict[str, Any]]]:
    game, first = batch
    return batch, outcome(game, first, min(_BATCH, game.rounds - first))


def _given_up(batch: tuple[Game, int], reason: str) -> Any:
    raise ValueError(f"atlas: rounds against {batch[0].method} on {batch[0].sample}: {reason}")


def _inputs() -> dict[str, Any]:
    """Return the settings from which the rounds are computed."""
    return {"games": [[repr(game), repr(game.algorithm())] for game in GAMES]}


def _load(folder: Path) -> list[dict[str, Any]] | None:
    stored = table_of(folder / NAME, _KINDS)
    if stored is None:
        return None
    rows, facts = stored[0].to_pylist(), stored[1]
    return rows if facts["games"] == _inputs()["games"] and len(rows) == sum(game.rounds for game in GAMES) else None


def _split(rows: list[dict[str, Any]]) -> Iterator[tuple[Game, list[dict[str, Any]]]]:
    for number, game in enumerate(GAMES):
        yield game, [row for row in rows if row["game"] == number]


def up_to_date(folder: Path = FOLDER) -> bool:
    """Return whether the first rounds of every stored game can be reproduced."""
    rows = _load(folder)
    return rows is not None and all(_again(game, rounds) for game, rounds in _split(rows))


def _again(game: Game, rounds: list[dict[str, Any]]) -> bool:
    result = outcome(game, 0, _PROBES)
    return all(
        agrees({**row, "centers": list(row["centers"])}, {**one, "centers": one["centers"].tolist()})
        for row, one in zip(rounds, result, strict=False)
    )


@lru_cache(maxsize=2)
def read(folder: Path = FOLDER) -> dict[Game, tuple[Round, ...]] | None:
    """Return the stored rounds of every game, or None if the file is missing, damaged or of another version."""
    rows = _load(folder)
    if rows is None:
        return None
    return {game: tuple(map(partial(_round, game), rounds)) for game, rounds in _split(rows)}


def _round(game: Game, row: dict[str, Any]) -> Round:
    domain = opened(game.sample, None).data.domain
    return Round(row["inside"], domain.denormalize(np.reshape(row["centers"], (-1, domain.n_features))), row["speaks"])
