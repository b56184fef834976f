"""Draw exact discrete noise with whole numbers only, where OpenDP is not installed, such as in a browser.

Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", algorithms 1 to 3. The choice is
the exponential mechanism by rejection, with the law of the largest utility plus Gumbel noise. Randomness comes from the
operating system. How long a draw takes depends on its value, as with OpenDP.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from secrets import randbelow

__all__ = ["NAME", "choose", "gaussian", "laplace"]

NAME = "exact samplers of dpviz itself"


def gaussian(sd: float, n: int) -> list[int]:
    """Draw n whole numbers x with probabilities proportional to exp(-x^2 / (2 sd^2))."""
    return [_gaussian(Fraction(sd)) for _ in range(n)]


def laplace(scale: float, n: int) -> list[int]:
    """Draw n whole numbers x with probabilities proportional to exp(-|x| / scale)."""
    return [_laplace(Fraction(scale)) for _ in range(n)]


def choose(utilities: Sequence[float], scale: float) -> int:
    """Return an index i with probability proportional to exp(utilities[i] / scale); all utilities are finite."""
    top = Fraction(max(utilities))
    while True:
        i = randbelow(len(utilities))
        if _happens((top - Fraction(utilities[i])) / Fraction(scale)):
            return i


def _gaussian(sd: Fraction) -> int:
    whole, variance = int(sd) + 1, sd * sd
    while True:
        value = _laplace(Fraction(whole))
        if _happens((abs(value) - variance / whole) ** 2 / (2 * variance)):
            return value


def _laplace(scale: Fraction) -> int:
    top, bottom = scale.as_integer_ratio()
    while True:
        rest = randbelow(top)
        if not _happens(Fraction(rest, top)):
            continue
        turns = 0
        while _happens(Fraction(1)):
            turns += 1
        value, negative = (rest + top * turns) // bottom, randbelow(2)
        if value or not negative:  # 0 has one sign
            return -value if negative else value


def _happens(exponent: Fraction) -> bool:
    """Return True with probability exp(-exponent), for an exponent of 0 or more."""
    top, bottom = exponent.as_integer_ratio()
    while top > bottom:
        if not _happens_once(1, 1):
            return False
        top -= bottom
    return _happens_once(top, bottom)


def _happens_once(top: int, bottom: int) -> bool:
    """Return True with probability exp(-top / bottom), for a fraction of at most 1."""
    k = 1
    while randbelow(bottom * k) < top:
        k += 1
    return k % 2 == 1
