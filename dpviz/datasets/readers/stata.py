"""Read Stata files: numbers, words, dates, and numbers with value labels."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from dpviz.datasets.readers.arrow import from_arrow
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.table import Limits, Table, faults_as

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_stata"]


def read_stata(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read a .dta file.

    A column with value labels holds words; a number without a label is kept as text. The file stores the labels outside
    its rows, so every cell can be read independently.
    """
    import pandas as pd  # imported only here, so that other formats do not wait for the import

    sentence = f"{name}: the file cannot be read as a Stata file; save it again, or as CSV."
    with faults_as(sentence), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas' warnings quote column names
        with pd.read_stata(io.BytesIO(data), convert_categoricals=False, iterator=True) as file:
            frame, labels = file.read(), file.value_labels()
            label_of = dict(zip(frame.columns, file._lbllist, strict=True))
        advance(0.5)
        worded = {
            column: _worded(frame[column], labels[label], form.signs_of(column)[0])
            for column, label in label_of.items()
            if label in labels and pd.api.types.is_numeric_dtype(frame[column])
        }
        return from_arrow(pa.Table.from_pandas(frame.assign(**worded), preserve_index=False), name, form, limits)


def _worded(numbers: pd.Series, labels: Mapping[int, str], decimal: str) -> pd.Series:
    """Return the label of each number; a number without a label is written out with this decimal sign."""
    words = numbers.map(labels).astype("string")
    bare = numbers.notna() & words.isna()
    words[bare] = [f"{number:.17g}".replace(".", decimal) for number in numbers[bare]]
    return words
