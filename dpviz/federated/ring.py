"""Encode statistics as integers modulo 2^bits, and refuse those that would not fit."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz import validate

__all__ = ["PAPER", "WIDE", "Ring"]


@dataclasses.dataclass(frozen=True)
class Ring:
    """Fixed-point numbers in Z modulo 2^bits; addition wraps, so a sum of masked words is the masked sum.

    Attributes
    ----------
    bits : number of bits in a word, 64 or 32
    fraction : number of binary digits after the point
    whole_fraction : the same for parts that are whole numbers before noise; 0 rounds their noise to whole numbers
    """

    bits: int = 64
    fraction: int = 24
    whole_fraction: int = 24

    def __post_init__(self) -> None:
        validate.one_of("Ring", (64, 32), bits=self.bits)
        for name in ("fraction", "whole_fraction"):
            validate.integer("Ring", 0, None, **{name: getattr(self, name)})
            validate.in_range("Ring", 0, min(24, self.bits - 2), **{name: getattr(self, name)})

    @property
    def word(self) -> np.dtype:
        """Return the unsigned little-endian type of a word."""
        return np.dtype(f"<u{self.bits // 8}")

    @property
    def word_bytes(self) -> int:
        """Return the number of bytes that a word takes on the wire."""
        return self.bits // 8

    def digits(self, grid: float) -> int:
        """Return the number of fraction digits for statistics on this grid.

        Raises
        ------
        ValueError
            If the ring would round a statistic, which would change its sensitivity.
        """
        if grid >= 1:
            return self.whole_fraction
        if grid < 2.0**-self.fraction:
            raise ValueError(
                f"Ring: sums on the 2^{np.log2(grid):.0f} grid do not fit {self.fraction} fraction bits, and rounding "
                "a client's sum would change its sensitivity; use the 64-bit ring, or set fraction_bits = "
                f"{self.fraction} if the algorithm has it."
            )
        return self.fraction

    def limit(self, digits: int) -> float:
        """Return the bound below which a value decodes to itself: 2^(bits - 1 - digits)."""
        return 2.0 ** (self.bits - 1 - digits)

    def check(self, what: str, worst: float, digits: int) -> None:
        """Refuse a sum that, judged by public values, could wrap.

        Raises
        ------
        OverflowError
            If `worst`, a bound on |sum| + |noise|, is not below the limit.
        """
        if not worst < self.limit(digits):
            raise OverflowError(
                f"Ring: fixed-point overflow in {what!r}: need |value| < {self.limit(digits):,.0f}, worst case "
                f"{worst:,.0f}; use a 64-bit ring, fewer fraction bits or a smaller n_max. Nothing was sent."
            )

    def encode(self, values: np.ndarray, digits: int) -> np.ndarray:
        """Return values as words, rounded to nearest (never toward zero, which would double the odds of 0)."""
        whole = np.rint(np.asarray(values, dtype=np.float64) * 2.0**digits).astype(np.int64)
        return whole.view(np.uint64).astype(self.word)

    def decode(self, words: np.ndarray, digits: int) -> np.ndarray:
        """Read words as two's complement fixed-point numbers."""
        signed = np.asarray(words, dtype=self.word).view(f"<i{self.word_bytes}")
        return signed.astype(np.float64) / 2.0**digits

    def read(self, payload: bytes, size: int) -> np.ndarray:
        """Return the words of a payload.

        Raises
        ------
        ValueError
            If the payload does not contain exactly `size` words.
        """
        if len(payload) != size * self.word_bytes:
            raise ValueError(
                f"Ring: a payload must hold {size} words, {size * self.word_bytes} bytes; got {len(payload)}."
            )
        return np.frombuffer(payload, dtype=self.word)


WIDE = Ring()
PAPER = Ring(bits=32, fraction=16, whole_fraction=0)
