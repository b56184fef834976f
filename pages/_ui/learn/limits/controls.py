"""Declare the controls of Limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.datasets import SAMPLES
from pages._ui.explore.federated import reconstruction
from pages._ui.explore.form.fields import choice
from pages._ui.frame import keys
from pages._ui.frame.address.scene import Control


def limits(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Limits' one picture, which shows the rows that can be read off exact centers."""
    return [
        Control("d", keys.EXACT_DATA, "Sample", choice(SAMPLES[0], SAMPLES)),
        Control("noise", keys.EXACT_NOISE, "Published", choice("none", tuple(reconstruction.NOISE))),
    ]
