"""Class' controls: its code and its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dpviz.params import ParamSpec
from pages._ui.address.scene import Control
from pages._ui.frame import keys


def classroom(known: Mapping[str, Any]) -> Sequence[Control]:
    """Class: its code, and the key that the QR code adds. They are secrets of the class and no widgets' values."""
    return [
        Control("code", keys.CLASS_CODE, "Code", ParamSpec(""), accepts=partial(_letters, 8)),
        Control("key", keys.CLASS_KEY, "Key", ParamSpec(""), accepts=partial(_letters, 40)),
    ]


def _letters(most: int, text: str) -> str:
    if len(text) > most or not re.fullmatch(r"[\w-]*", text, re.ASCII):
        raise ValueError("no code")
    return text
