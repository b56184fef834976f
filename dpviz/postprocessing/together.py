"""Put into words what all claims on a file promise together."""

from __future__ import annotations

from dpviz.numbers import chance, number
from dpviz.postprocessing.bet import Bet, bet_of
from dpviz.privacy.accounts import Account
from dpviz.privacy.guarantee import Neighboring

__all__ = ["bet", "together"]


def together(account: Account, relation: Neighboring) -> str:
    """Return, as text, the total of the claims on a file under a neighboring relation."""
    if not account.under(relation):
        return "nothing"
    total = account.total(relation)
    return f"ε = {number(total.epsilon)}, δ = {chance(total.delta)}"


def bet(account: Account, relation: Neighboring, rows_per_person: int, far: str) -> Bet:
    """Return the bet on one person that all claims on a file together allow; `far` is as in `bet_of`."""
    return bet_of(account.promise(relation, rows_per_person), far=far)
