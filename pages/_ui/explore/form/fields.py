"""Controls that several pages share: a choice, a switch, ε, layers, a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.params import ParamSpec
from pages._ui.frame.address.scene import Control, number


def choice(default: Any, choices: Sequence[Any]) -> ParamSpec:
    return ParamSpec(default, choices=tuple(choices), kind="choice")


def switch(default: bool) -> ParamSpec:
    return ParamSpec(default, kind="bool")


def layers_control(key: str) -> Control:
    return Control("layers", key, "Show people and KMeans", switch(True))


def seed_control(key: str) -> Control:
    return Control("s", key, "Seed", number(0, 0), always=True)
