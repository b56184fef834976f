"""Put the noisy number of rows outside the declared bounds into words; only the released number is used."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpviz.numbers import listed, number
from dpviz.trace import Trace

__all__ = ["advice", "answer", "half_width"]

CONFIDENCE = 0.95


def half_width(sd: float) -> float:
    """Return the half-width of the 95% interval of a count with Laplace noise of standard deviation `sd`."""
    return sd / math.sqrt(2) * -math.log(1 - CONFIDENCE)


def answer(trace: Trace, n_public: int) -> str:
    """Return the answer as a sentence; noise may push the number below 0 or above n, which only the words correct."""
    count, sd = _released(trace)
    shown = min(max(count, 0.0), float(n_public))
    step = 10.0 ** max(0, math.floor(math.log10(half_width(sd))))
    return (
        f"About {step * round(shown / step):,.0f} of {n_public:,} rows lie outside your bounds "
        f"(±{number(half_width(sd), 2)}, 95 %)."
    )


def advice(trace: Trace, n_public: int, columns: Sequence[str]) -> str:
    """Return what to do; `columns` names those whose bounds are suspected, () if none is.

    A hundredth of the rows moved to a bound changes few centers, and a number within its noise may be 0.
    """
    count, sd = _released(trace)
    if count - half_width(sd) > n_public / 100:
        where = f"the bounds of {listed(columns)}" if columns else "the bounds of the columns that may reach farther"
        return f"A run moves their values to the bounds: widen {where} first."
    if count + half_width(sd) <= n_public / 100:
        return "That is at most one row in a hundred: these bounds cut little off."
    return "The noise leaves open whether that is much: a larger ε would tell."


def _released(trace: Trace) -> tuple[float, float]:
    released = trace.steps[-1].released
    return float(released["noisy_count"]), float(released["count_sd"])
