"""Declare Data's controls: the data set in use, and the public sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz import params
from dpviz.datasets import SAMPLES, Blobs
from dpviz.datasets.painted import check as check_painting
from dpviz.params import ParamSpec
from pages._ui.data import gallery
from pages._ui.explore.form.fields import choice
from pages._ui.frame import keys
from pages._ui.frame.address.data import DataControl, any_data
from pages._ui.frame.address.scene import Control

OWN_FILE = "Your file"  # the source that no address contains


def data(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Data: the data set in use, the public sources, and the generator's form."""
    listed: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data in use", ParamSpec(SAMPLES[0]), accepts=any_data),
        Control(
            "way", keys.DATA_WAY, "Where the data come from", choice("Samples", ("Samples", "Make blobs", "Paint"))
        ),
    ]
    if known.get("way") == "Paint":
        listed.append(Control("paint", keys.PAINTED, "Painting", ParamSpec(""), accepts=_painting))
    if known.get("way") == "Make blobs":
        listed += [
            Control(f"p.{name}", keys.BLOBS(name), gallery.label(name), spec, typed=spec.optional)
            for name, spec in params.specs(Blobs).items()
        ]
    return listed


def _painting(text: str) -> str:
    check_painting(text)
    return text
