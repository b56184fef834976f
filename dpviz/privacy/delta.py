"""Put delta into words, the same everywhere: what it adds to a promise, what it is not, and what it allows."""

from __future__ import annotations

from typing import Any

from dpviz import validate
from dpviz.numbers import chance, number, odds
from dpviz.privacy.accounting import DEFAULT_DELTA, default_delta, excess_of_mu, mu_of_epsilon
from dpviz.privacy.guarantee import Neighboring

__all__ = ["allowed", "check_delta", "meaning", "no_failure"]

_ALONE = {
    Neighboring.ADD_REMOVE: "with you as without you",
    Neighboring.REPLACE: "with your row as with any other in its place",
    Neighboring.MOVE_RHO: "with your row where it is as anywhere up to rho away",
}
_WITH_ROWS = {
    Neighboring.ADD_REMOVE: "with one of your rows as without it",
    Neighboring.REPLACE: "with one of your rows as with any other in its place",
    Neighboring.MOVE_RHO: "with one of your rows where it is as anywhere up to rho away",
}
_PEOPLE = (300, 5000)  # the fewest and the most people of the samples' stored runs


def meaning(
    neighboring: Neighboring = Neighboring.ADD_REMOVE, *, rows_per_person: int = 1, pure: bool = False, far: str = "rho"
) -> str:
    """Return what epsilon and delta promise together, as a clause: the definition of (epsilon, delta)-DP.

    Parameters
    ----------
    pure : delta is 0
    far : longest move of a row that is hidden, in the data's units, under a promise about moves
    """
    pair = (_ALONE if rows_per_person == 1 else _WITH_ROWS)[neighboring].replace("rho", far)
    return f"whatever may be published is at most e^ε times as likely {pair}" + ", plus δ in all" * (not pure)


def no_failure(epsilon: float = 1.0, people: tuple[int, int] = _PEOPLE) -> str:
    """Return a sentence on how often Gaussian noise exceeds e^epsilon, as multiples of the default delta.

    Parameters
    ----------
    people : the sizes at whose default deltas the multiples are computed
    """
    few, many = (excess_of_mu(mu_of_epsilon(epsilon, delta), epsilon) / delta for delta in map(default_delta, people))
    return (
        f"δ is not the chance that the bound e^ε fails: with Gaussian noise at ε {number(epsilon)}, the privacy loss "
        f"exceeds ε with {few:.0f} to {many:.0f} times that chance ({people[0]:,} to {people[1]:,} people)."
    )


def allowed(delta: float, n: int) -> str:
    """Return what a delta above the default allows among `n` rows, as one sentence; "" if it is not above."""
    if delta <= default_delta(n) * (1 + 1e-9):
        return ""
    if delta * n < 1:
        return f"With n = {n}, this delta allows a method that exposes somebody {odds(delta * n)} times in 100."
    return (
        f"delta = {chance(delta)} is at least 1/n for n = {n}: a method that publishes each row as it is "
        f"with this chance, and so {number(delta * n)} of them on average, would satisfy the promise; choose a smaller "
        f"delta, such as the default {DEFAULT_DELTA}, which is {chance(default_delta(n))}."
    )


def check_delta(owner: str, delta: Any, n: int, *, private: bool) -> None:
    """Refuse a delta that no Gaussian noise can keep, and for a private run one that allows whole rows to be published.

    Raises
    ------
    ValueError
        If delta is at most 0, or if `private` is true and delta is at least 1/n; the message says what that means at n.
    """
    if not validate.is_finite(delta):  # None, or a value that the parameter's own check names
        return
    if delta <= 0:
        raise ValueError(
            f"{owner}: delta must be > 0; got {number(delta)}: at 0 the bound e^ε would hold for every output, which "
            f"Gaussian noise cannot promise; leave delta empty for {DEFAULT_DELTA}, here {chance(default_delta(n))}."
        )
    if private and delta * n >= 1:
        raise ValueError(f"{owner}: {allowed(delta, n)}")
