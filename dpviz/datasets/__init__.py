"""Define data sets with their declared public facts, and read them from files."""

from dpviz.datasets.blobs import (
    Blobs,
)
from dpviz.datasets.dataset import (
    Dataset,
)
from dpviz.datasets.loading import (
    SAMPLES,
    Clipping,
    Fewer,
    clipping,
    from_table,
    load,
    load_csv,
    load_sample,
    made,
    title_of_sample,
)
from dpviz.datasets.painted import (
    Painted,
)

__all__ = [
    "SAMPLES",
    "Blobs",
    "Clipping",
    "Dataset",
    "Fewer",
    "Painted",
    "clipping",
    "from_table",
    "load",
    "load_csv",
    "load_sample",
    "made",
    "title_of_sample",
]
