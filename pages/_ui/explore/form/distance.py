"""Show the distance rho in the data's own unit (meters on a map); the session and addresses keep it in z units."""

from __future__ import annotations

import numpy as np

from dpviz.datasets import Dataset
from pages._ui.explore.form.numbers import converted
from pages._ui.frame.address.control import Control

__all__ = ["NAME", "field", "unit"]

_IN_UNITS = "{}_in_units_of_{}".format

NAME = "rho_distance"


def unit(data: Dataset) -> tuple[str, float]:
    """Return the unit in which the distance is typed, and the length of one z unit in that unit."""
    half, names = data.domain.half_width, {name.partition(" since ")[0] for name in data.domain.units}
    if len(names) > 1 or np.ptp(half):
        return "half-widths", 1.0
    name = "".join(names) or "units"
    return ("m", 1000 * float(half[0])) if name == "km" else (name, float(half[0]))


def field(rho: Control, data: Dataset) -> float:
    """Show rho in the data's unit; return it in z units, as the control's widget holds it.

    Raises
    ------
    ValueError
        If rho is not above 0.
    """
    name, length = unit(data)
    return converted(
        f"{rho.title}, {name}", _IN_UNITS(rho.key, data.dataset_id), rho,
        lambda z: z * length, lambda typed: typed / length, help=rho.help or None,
    )  # fmt: skip
