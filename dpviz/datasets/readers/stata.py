"""Stata files: the numbers, without their value labels."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import pyarrow as pa

from dpviz.datasets.readers.arrow import from_arrow
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.table import Limits, Table, faults_as

__all__ = ["read_stata"]


def read_stata(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read a .dta file."""
    import pandas as pd  # here, since the other formats need not wait for it

    sentence = f"{name}: the file cannot be read as a Stata file; save it again, or as CSV."
    with faults_as(sentence), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns with names of columns in its words
        frame = pd.read_stata(io.BytesIO(data), convert_categoricals=False)
        advance(0.5)
        return from_arrow(pa.Table.from_pandas(frame, preserve_index=False), name, form, limits)
