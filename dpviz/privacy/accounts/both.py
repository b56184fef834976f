"""Two private files of one kind, such as two months: what the runs on both promise a person who may be in both."""

from __future__ import annotations

import dataclasses

from dpviz.numbers import chance, counted, number
from dpviz.privacy.accounts.account import Account

__all__ = ["Both", "in_both"]


def in_both(rows_per_person: int) -> str:
    """Return, as text, a person whose rows may be in two files."""
    if rows_per_person == 1:
        return "a person in both files"
    return f"a person with up to {rows_per_person} rows in each file"


@dataclasses.dataclass(frozen=True)
class Both:
    """The accounts of an earlier file and a new one.

    Attributes
    ----------
    names : the files' names, the earlier one's first
    before, after : their accounts
    rows_per_person : the most rows that one person has in each file

    Raises
    ------
    ValueError
        If both are the same file, or one of them is public.
    """

    names: tuple[str, str]
    before: Account
    after: Account
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        old, new = self.names
        if self.before.key == self.after.key:
            raise ValueError(f"accounts: {old} and {new} hold the same bytes, so they have one account already.")
        for name, account in zip(self.names, (self.before, self.after), strict=True):
            if account.private is False:
                raise ValueError(f"accounts: {name} was declared public, so no account adds up what it spends.")

    @property
    def lines(self) -> tuple[str, ...]:
        """Return both accounts, and what they promise together, now and if the earlier file's last run is repeated."""
        wide = max(map(len, self.names)) + 1
        told = [
            f"{f'{name}:':{wide}} {account.summary if account.claims else 'no run yet'}"
            for name, account in zip(self.names, (self.before, self.after), strict=True)
        ]
        both = self.before.joined(self.after)
        told += self._promises(both)
        if self.before.claims:
            last = self.before.claims[-1]
            told.append(f"If the last run on {self.names[0]} ({last.name}) is repeated on {self.names[1]}:")
            told += self._promises(both.after(dataclasses.replace(last, id="next")))
        return (*told, "Nothing was spent.")

    def _promises(self, both: Account) -> list[str]:
        told = []
        for relation in both.relations:
            person = both.promise(relation, self.rows_per_person).person
            others = len(both.unprotected(relation))
            told.append(
                f"together, for {in_both(self.rows_per_person)}, {both.hides(relation)} in each: epsilon = "
                f"{number(person.epsilon, 4)}, delta = {chance(person.delta)}"
                + (f"; {counted(others, 'run')} promise nothing for it" if others else "")
            )
        return told
