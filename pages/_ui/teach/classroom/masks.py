"""Deal masks that cancel: whole numbers modulo `RING`, each uniform by itself, that add up to 0 in all."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from dpviz.privacy.noise import Secure

__all__ = ["FEWEST", "HIGHEST", "RING", "Round", "Share", "deal"]

RING = 10_000  # of every sum, only the last four digits count
HIGHEST = 9  # the highest number that a phone may choose; the sum over a full class stays below RING
FEWEST = 3  # with two phones, the sum would tell each of them the other's number


def deal(phones: int) -> list[int]:
    """Return a mask for each of at least one phone: uniform, even all but one together, and 0 in all, modulo `RING`."""
    noise = Secure()
    masks = [noise.integer(RING) for _ in range(phones - 1)]
    return [*masks, -sum(masks) % RING]


class Share(NamedTuple):
    """A phone's part in a round.

    Attributes
    ----------
    seat : number of its seat
    whole : the number that it chose, 0 to `HIGHEST`, which only the phone and the server know
    mask : its mask, 0 to `RING` - 1
    """

    seat: int
    whole: int
    mask: int

    @property
    def masked(self) -> int:
        """Return the phone's masked number, which everybody may see."""
        return (self.whole + self.mask) % RING


@dataclasses.dataclass(eq=False)
class Round:
    """One round of masks.

    Attributes
    ----------
    shares : the parts of the phones that had chosen a number when it began, by the tokens of their seats
    sent : tokens of the seats whose masked numbers are on the screen
    """

    shares: Mapping[str, Share]
    sent: set[str] = dataclasses.field(default_factory=set)

    @property
    def shown(self) -> dict[int, int | None]:
        """Return every seat's masked number, by the number of the seat; None if it has not been sent."""
        return {share.seat: share.masked if token in self.sent else None for token, share in self.shares.items()}

    @property
    def sum(self) -> int:
        """Return the sum of the masked numbers that were sent, modulo `RING`: once all were, the sum of the numbers."""
        return sum(self.shares[token].masked for token in self.sent) % RING

    @property
    def missing(self) -> int:
        """Return how many masked numbers have not been sent; while there are any, the sum is uniform."""
        return len(self.shares) - len(self.sent)
