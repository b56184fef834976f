"""State a promise as a bet, in the same words everywhere: the attacker's question, and how many bets can be won."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from dpviz.privacy.guarantee import Guarantee, Neighboring

__all__ = ["Bet", "belief", "bet_of", "briefly", "odds_of_any", "with_more"]

_ALONE = {
    Neighboring.ADD_REMOVE: "whether {who} is in the data",
    Neighboring.REPLACE: "which of two values {who}'s row has",
    Neighboring.MOVE_RHO: "whether {who} is here or {far} away",
}
_WITH_ROWS = {
    Neighboring.ADD_REMOVE: "whether {who}, with up to {rows} rows, is in the data",
    Neighboring.REPLACE: "which of two values each of {who}'s up to {rows} rows has",
    Neighboring.MOVE_RHO: "whether {who}'s up to {rows} rows are here or {far} away",
}


class Bet(NamedTuple):
    """A bet at even odds, made by somebody who sees all released values.

    Attributes
    ----------
    on : the question, worded to follow "bets on"; it names the person and the change that the promise hides
    odds : the largest number of 100 bets that can be won; a coin wins 50, and 100 means that nothing is promised
    """

    on: str
    odds: int


def bet_of(promise: Guarantee, *, far: str = "rho", noun: str = "person", who: str = "") -> Bet:
    """Return the bet on one PERSON with up to `rows_per_person` rows, under the neighboring relation of the promise.

    Parameters
    ----------
    far : longest move of a row that is hidden, in the data's units, under a promise about moves
    noun : the word for a row, such as "flower"; a bet on several rows is always on a person
    who : the name of the person whom the bet is about, if there is one
    """
    rows = promise.rows_per_person
    who = who or (f"one {noun}" if rows == 1 else "one person")
    words = (_ALONE if rows == 1 else _WITH_ROWS)[promise.neighboring]
    return Bet(words.format(who=who, far=far, rows=rows), promise.person.odds)


def briefly(odds: int) -> str:
    """Return odds with their noun, for places without a sentence; without a noun they would read as a success rate."""
    return f"bet ≤ {odds} of 100"


def odds_of_any(promise: Guarantee) -> int:
    """Return how many of 100 bets on one person can be won at most, whatever the method with this ε and δ."""
    return dataclasses.replace(promise, mu=None, pure_epsilon=None, zcdp=None).person.odds


def belief(prior: float, epsilon: float) -> float:
    """Return the largest probability that somebody in the data can have for a reader after a release, by Bayes' rule.

    The release is at most e^epsilon times as likely with the person as without; `prior` is the probability beforehand.
    At even odds this is the chance of winning a bet against pure epsilon-DP.

    Raises
    ------
    ValueError
        If the prior is no probability.
    """
    if not 0 <= prior <= 1:
        raise ValueError(f"belief: prior must be a probability, from 0 to 1; got {prior}.")
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


def with_more(odds: int, more: int, people: int) -> str:
    """Return, in parentheses, the odds of the same bet at the same ε but with more people; "" if the odds are equal.

    Parameters
    ----------
    odds : the odds of the bet
    more : its odds with `people` people, whose default δ is smaller (see `default_delta`)
    """
    return f" ({more} with {people:,} people, whose δ is smaller)" if more != odds else ""
