"""Name data sets in addresses: a sample, blobs, or a visitor's file, which is named by its columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from dpviz.datasets import SAMPLES, made
from dpviz.params import ParamSpec
from pages._ui.frame import catalog
from pages._ui.frame.address.control import Control

FILE = "file:"  # Prefix of the column names of a visitor's public file.
MISSING = "missing"  # Stands for a visitor's file in a session that does not have it.
_MOST_COLUMNS = 64


@dataclasses.dataclass(frozen=True)
class DataControl(Control):
    """The picker of data, which addresses a sample or blobs by name and a visitor's file by its columns."""

    def to_widget(self, value: Any) -> Any:
        """Return the name of the data in this session, or `MISSING` for a file that the session does not have."""
        if not value.startswith(FILE):
            return value
        mine = (name for name, data in catalog.own().items() if not data.private and file_word(data.columns) == value)
        return next(mine, MISSING)

    def from_widget(self, value: Any) -> Any:
        """Return the word that an address uses for the data that have this name in the session."""
        return file_word(catalog.own()[value].columns) if value in catalog.own() else value


class SweepData(DataControl):
    """The picker of a sweep's data sets; an address leaves out people simulated from a run."""

    def to_widget(self, value: Any) -> Any:
        """Return the names of the data in this session, without missing files; a sample if nothing else is left."""
        names = [super(SweepData, self).to_widget(one) for one in value]
        return [name for name in names if name != MISSING] or [SAMPLES[0]]

    def from_widget(self, value: Any) -> Any:
        """Return the words of the data that an address can name."""
        return tuple(super(SweepData, self).from_widget(name) for name in value if is_linked(name))


def is_linked(name: str) -> bool:
    """Return whether an address can name a data set: one open to every session, or a public file."""
    own = catalog.own().get(name)
    return is_everybodys(name) if own is None else not own.private


def is_everybodys(name: str) -> bool:
    """Return whether every session can open a data set: a sample, a part of one, blobs or a painting."""
    return name in SAMPLES or (":" in name and made(name) is not None)


def file_word(columns: Iterable[str]) -> str:
    """Return the word that stands in an address for a file with these columns."""
    return FILE + ",".join(quote(name, safe="") for name in columns)


def columns_of(word: str) -> list[str]:
    """Return the columns that a file must have to match a word of an address."""
    return [unquote(name) for name in word.removeprefix(FILE).split(",")]


def public_data(text: str) -> str:
    """Return the name under which a sample, a part of a sample, blobs or a painting is opened.

    Raises
    ------
    ValueError
        If the text names none of these.
    """
    if text in SAMPLES:
        return text
    known = made(text)
    if known is None:
        raise ValueError("no such data")
    return known.key


def any_data(text: str) -> str:
    """Return the name of public data, or the word that stands for a file by its columns.

    Raises
    ------
    ValueError
        If the text is neither.
    """
    if not text.startswith(FILE):
        return public_data(text)
    names = columns_of(text)
    if not 1 <= len(names) <= _MOST_COLUMNS or not all(0 < len(n) <= 200 and n.isprintable() for n in names):
        raise ValueError("no columns")
    return file_word(names)


DATA = DataControl(
    "d", catalog.CHOSEN, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True, widget="selectbox"
)
