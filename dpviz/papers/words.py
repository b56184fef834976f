"""Name an item's data sets, curves and measures for readers."""

from __future__ import annotations

import re

from dpviz.algorithms import ALGORITHMS
from dpviz.sweeps.measures import METRICS

__all__ = ["axis_name", "curve_name", "measure_name", "plainly", "set_name"]

_MEASURES = {"auc": "area under loss curve", "seconds": "seconds", "milliseconds": "milliseconds", "bytes": "bytes"}
_AXES = {
    **{
        "epsilon": "ε",
        "alpha": "α",
        "rho_distance": "ρ",
        "n_clusters": "k",
        "delta": "δ",
        "n_rows": "rows",
        "n_features": "columns",
    },
    **{"variations_each": "variations L", "rounds": "rounds T", "centreness": "t", "quantile": "q", "repeats": "seeds"},
    **{"data": "data sets", "algorithms": "methods"},
}
_SETS = (  # names of generated sets contain their sizes
    (r"g2\w+?_(\d+)_50", r"G2, \1 columns"),
    (r"sklearn_(\d+)_(\d+)", r"blobs, k \1, \2 columns"),
    (r"unequal_(\d+)_(\d+)_0", r"Synth, k \1, \2 columns"),
    (r"timesynth_(\d+)k_(\d+)_(\d+)", r"TimeSynth, \1,000 rows, k \2, \3 columns"),
    (r"synth_(\d+)d", r"Synth, \1 columns"),
    (r"letters_dpm", "Letters"),
    (r"birch2_25k", "birch2, 25,000 rows"),
    (r"mnist_test", "MNIST, test"),
)


def set_name(data: str) -> str:
    """Return the name of a data set without its source."""
    name = data.split(":")[-1]
    return next((re.sub(shape, words, name) for shape, words in _SETS if re.fullmatch(shape, name)), name)


def curve_name(label: str) -> str:
    """Return the name of a curve: an algorithm's own, or the label as it is."""
    return ALGORITHMS[label].name if label in ALGORITHMS else label


def measure_name(metric: str) -> str:
    """Return the title of a measure."""
    return _MEASURES.get(metric) or METRICS[metric].title


def axis_name(axis: str) -> str:
    """Return the symbol of a parameter if it has one, else its name."""
    return _AXES.get(axis, axis.replace("_", " "))


def plainly(words: str) -> str:
    """Return a comparison with names in place of slugs and measures' keys, and symbols in place of parameter names."""
    words = re.sub(r"(?:(?:bench|sample):)?\b(\w+_\w+)", lambda match: set_name(match[0]), words)
    words = re.sub(r"\b(?:bench|sample):", "", words)
    for slug in sorted(ALGORITHMS, key=len, reverse=True):
        words = re.sub(rf"(?<![\w-]){slug}(?![\w-])", ALGORITHMS[slug].name, words)
    for name in ("auc", *(metric for metric in METRICS if "_" in metric)):
        words = re.sub(rf"\b{name}\b", measure_name(name), words)
    for name in _AXES:
        words = re.sub(rf"\b{name}\b", axis_name(name), words)
    return words
