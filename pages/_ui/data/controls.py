"""Declare Data's controls: the data set in use, and the public sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dpviz import params
from dpviz.datasets import Blobs
from dpviz.datasets.painted import check as check_painting
from dpviz.params import ParamSpec
from pages._ui.data import gallery
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.address.data import DATA

PAINTED = "painted"

OWN_FILE = "Your file"  # the source that no address contains
WAY = Control(
    "way", "data_way", "Source of the data", choice("Samples", ("Samples", "Make blobs", "Paint")),
    widget="segmented_control",
)  # fmt: skip


def data(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Data: the data set in use, the public sources, and the generator's form."""
    listed: list[Control] = [
        dataclasses.replace(DATA, title="Data in use", always=False),
        WAY,
    ]
    if known.get("way") == "Paint":
        listed.append(Control("paint", PAINTED, "Painting", ParamSpec(""), accepts=_painting))
    if known.get("way") == "Make blobs":
        listed += [gallery.recipe_of(name, spec) for name, spec in params.specs(Blobs).items()]
    return listed


def _painting(text: str) -> str:
    check_painting(text)
    return text
