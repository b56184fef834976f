"""Divide the noise of a federated sum: either clients draw it, so that none can subtract it all, or the server does.

If M >= 2 clients draw the noise of a sum, the promise holds even without the part of any one client:

- Gaussian: every client draws noise of variance sigma^2 / (M - 1). Without one client's part, a variance of sigma^2 is
  left; the variance of the published sum is M / (M - 1) sigma^2. Every part is a discrete Gaussian on the grid g of the
  ring. At every point, the sum of n such parts with standard deviation s has the probability of the discrete Gaussian
  of variance n s^2 up to a factor exp(+-10 sum_{k<n} exp(-2 pi^2 (s/g)^2 k / (k + 1))) (Kairouz, Liu and Steinke, "The
  Distributed Discrete Gaussian Mechanism for Federated Learning with Secure Aggregation", ICML 2021, section 4). A
  discrete Gaussian's delta at any epsilon is less than 1 + (g/sigma)^2 times the continuous one's (computed in the
  tests). A sigma below 2^15 g is refused. With every other sigma and up to 4,000 clients, the factor above differs
  from 1 by less than 10^-1000000, and the discrete delta exceeds the continuous one by less than 10^-9 of its value.
- Laplace: no exact sampler divides it into parts, so the first two clients each draw all of it. Without one client's
  noise, the other's remains; the published sum has twice the variance.

If the server draws the noise, as in the paper, the run equals a central run bit for bit. But the server then knows the
noise: if it also saw the result, it could subtract the noise and get the exact sums. The server must never see the
result.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from dpviz import validate
from dpviz.federated.ring import Ring
from dpviz.geometry import GRID
from dpviz.privacy.costs import Cost, Gaussian, Laplace
from dpviz.privacy.noise import Noise

__all__ = ["CLIENTS", "DRAWN_BY", "SERVER", "Asked", "Shares", "refuse"]

CLIENTS, SERVER = "clients", "server"
DRAWN_BY = (CLIENTS, SERVER)
# ways to draw noise of a given scale
MECHANISMS: dict[str, Cost] = {"Gaussian": Gaussian(1.0), "Laplace": Laplace(1.0)}
_NARROWEST = 2**15  # smallest sigma, in steps of the grid; see the module's docstring
_TRUST = {
    CLIENTS: "no party sees another's rows or can remove all noise; all follow the protocol, and at most one client "
    "shares what it sees with the server",
    SERVER: "no party sees another's rows; all follow the protocol; the server, which knows the noise, must never "
    "see the result; and no client shares what it sees with the server",
}


def refuse(what: str) -> NoReturn:
    """Refuse a request that is not a dense noisy sum."""
    raise PermissionError(f"Federated: {what} needs a trusted curator; federated clients reveal only noisy sums.")


@dataclasses.dataclass(frozen=True)
class Shares:
    """The share of the noise that every party adds to a sum.

    Attributes
    ----------
    drawn_by : "clients" or "server"
    n_clients : int
    """

    drawn_by: str
    n_clients: int

    def __post_init__(self) -> None:
        validate.one_of("Shares", DRAWN_BY, drawn_by=self.drawn_by)

    @property
    def trust(self) -> str:
        """Return a sentence that says who must be trusted, and with what."""
        return _TRUST[self.drawn_by]

    def ring(self, ring: Ring) -> Ring:
        """Return the ring in which words are added; noise from several clients needs digits even for whole numbers."""
        return ring if self.drawn_by == SERVER else dataclasses.replace(ring, whole_fraction=ring.fraction)

    def excess(self, mechanism: str) -> float:
        """Return the variance of the published noise relative to the variance on which the promise rests."""
        if self.drawn_by == SERVER or self.n_clients == 1:
            return 1.0
        return 2.0 if mechanism == "Laplace" else self.n_clients / (self.n_clients - 1)

    def server(self, noise: Noise, mechanism: str, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Return the noise that the server adds: all of it, or none."""
        if self.drawn_by == CLIENTS:
            return np.zeros(shape)
        return MECHANISMS[mechanism].draw(noise, scale, shape)

    def client(
        self, noise: Noise, mechanism: str, scale: float, shape: tuple[int, ...], place: int, digits: int
    ) -> np.ndarray:
        """Return the noise that the client at `place` adds, on the grid 2^-digits.

        Raises
        ------
        ValueError
            If the noise is too narrow for the ring's grid; nothing is drawn then.
        """
        if self.drawn_by == SERVER or (mechanism == "Laplace" and place > 1):
            return np.zeros(shape)
        if mechanism == "Gaussian":
            if scale < _NARROWEST * 2.0**-digits:
                raise ValueError(
                    f"Federated: noise of standard deviation {scale:.3g} is too narrow to be divided among the "
                    f"clients with {digits} fraction bits; use the 64-bit ring, or let the server draw the noise."
                )
            scale /= math.sqrt(max(self.n_clients - 1, 1))
        step = 2.0**-digits / GRID
        return MECHANISMS[mechanism].draw(noise, scale / step, shape) * step


class Asked:
    """The noise source of a federated run's curator, which draws nothing and records what the parties must draw."""

    def __init__(self, source: Noise) -> None:
        self.source = source
        self.reproducible = source.reproducible
        self.sampler = source.sampler
        self.wanted: list[tuple[str, float]] = []

    def gaussian(self, sd: float, shape: tuple[int, ...]) -> np.ndarray:
        """Record a request for Gaussian noise of standard deviation `sd`."""
        self.wanted.append(("Gaussian", sd))
        return np.zeros(shape)

    def laplace(self, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Record a request for Laplace noise of scale `scale`."""
        self.wanted.append(("Laplace", scale))
        return np.zeros(shape)

    def integer(self, below: int) -> NoReturn:
        """Refuse."""
        refuse("choosing by the exponential mechanism")

    def weighted(self, weights: Sequence[int]) -> NoReturn:
        """Refuse."""
        refuse("choosing the best of several candidates")

    def gumbel_argmax(self, utilities: np.ndarray, scale: float) -> NoReturn:
        """Refuse."""
        refuse("choosing by the exponential mechanism")

    def coins(self, probabilities: np.ndarray) -> NoReturn:
        """Refuse."""
        refuse("randomizing one report per row")

    def permutation(self, n: int) -> NoReturn:
        """Refuse."""
        refuse("mixing everybody's reports")

    def binomial(self, counts: np.ndarray, probability: float) -> NoReturn:
        """Refuse."""
        refuse("randomizing one report per row")
