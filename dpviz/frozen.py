"""Make values read-only, so that a trace always shows each frame as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["FrozenDict", "ReadOnly", "freeze"]

_PLAIN = (int, float, str, bool, type(None))


def freeze(value: Any) -> Any:
    """Return a value with read-only copies of its arrays.

    Dicts become `FrozenDict`s, lists become tuples, and NumPy scalars become Python numbers; any other value is
    returned as it is.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray):
        copy = np.array(value, copy=True)
        copy.setflags(write=False)
        return copy
    if isinstance(value, Mapping):
        return FrozenDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return tuple(freeze(item) for item in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


@dataclasses.dataclass(frozen=True, eq=False)
class ReadOnly:
    """Base of frozen dataclasses whose arrays are read-only copies, so that checks at construction stay valid."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, freeze(value))


class FrozenDict(Mapping[str, Any]):
    """A read-only, picklable mapping."""

    def __init__(self, items: Mapping[str, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)
