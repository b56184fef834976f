"""Declare Class's controls: its code and its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dpviz.params import ParamSpec
from pages._ui.frame.address.control import Control

CLASS_CODE = "class_code"
CLASS_KEY = "class_key"


def classroom(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return Class's controls: its code, and the key in the QR code. Both are secrets of the class, not widgets."""
    return [
        Control("code", CLASS_CODE, "Code", ParamSpec(""), accepts=partial(_letters, 8)),
        Control("key", CLASS_KEY, "Key", ParamSpec(""), accepts=partial(_letters, 40)),
    ]


def _letters(most: int, text: str) -> str:
    if len(text) > most or not re.fullmatch(r"[\w-]*", text, re.ASCII):
        raise ValueError("no code")
    return text
