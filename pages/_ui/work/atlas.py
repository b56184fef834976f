"""Look up stored runs in the atlas. Pages read the atlas only through this module.

Lookups use only the names of a sample and a method, so nothing of a visitor's file can be looked up or stored.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.atlas import averages, files, noised, rounds
from dpviz.atlas.averages import Bets, Given
from dpviz.atlas.cells import covers
from dpviz.atlas.files import Chart
from dpviz.atlas.noised import Noised
from dpviz.atlas.rounds import GAMES, Game
from dpviz.audits.game import Round
from dpviz.datasets import Dataset
from pages._ui.frame.session import session
from pages._ui.work.state import work_state

__all__ = ["chart", "covers", "drowned", "given", "note", "played"]

FOLDER = files.FOLDER


def chart(
    sample: str, method: str, people: int | None = None, values: tuple[tuple[str, Any], ...] = ()
) -> Chart | None:
    """Return the stored runs of a method on a sample, or None if there are none.

    Parameters
    ----------
    sample : name in SAMPLES; other names have no stored runs
    method : name of an algorithm; other names have no stored runs
    people : number of people in an edition with fewer people, None for the whole sample
    values : parameters whose values are not the method's defaults, as in `dpviz.atlas.cells.Chapter`
    """
    return files.read(sample, method, people, values, folder=FOLDER) if covers(sample, method, values) else None


def played(data: Dataset, algorithm: Algorithm, person: np.ndarray, world: bool | None = None) -> tuple[Round, ...]:
    """Return the stored rounds, if any, of the game about a person in a sample.

    Parameters
    ----------
    data : the data set, of which only the name of a sample is looked up
    algorithm : the algorithm under attack
    person : position of the person, shape (d,), original units
    world : the world of all rounds, None if a coin decided each round
    """
    mine = [game for game in GAMES if data.dataset_id == f"sample:{game.sample}" and game.world is world]
    if data.private or algorithm not in [game.algorithm() for game in mine]:
        return ()
    stored = rounds.read(FOLDER) or {}
    of = (game for game in mine if game.algorithm() == algorithm and np.array_equal(_person(game), person))
    return next((stored[game] for game in of if game in stored), ())


def given() -> tuple[Given, Bets] | None:
    """Return Start's stored averages and bets, or None if there are none."""
    return averages.read(FOLDER)


def drowned() -> tuple[Noised, ...]:
    """Return Start's averages at every strength of the noise, or () if they are not stored."""
    return noised.read(FOLDER) or ()


@functools.cache
def _person(game: Game) -> np.ndarray:
    return game.question().person


def note() -> None:
    """Say, on one page of a session, that there are no stored runs to show."""
    if work_state.atlas_absent in ("", session.page):
        work_state.atlas_absent = session.page  # only the page that showed the sentence first keeps showing it
        st.caption("Stored runs are missing or come from another version, so pictures are computed on request.")
