"""Provide data for a sweep: samples, blobs, public files of this session, and people simulated from a coreset.

Worker processes open data by name. Public files of this session, and people drawn from released values, are written to
a folder that only this server can read. The folder is in memory if the system allows this, and it is removed when the
server stops. Rows of private data are never written.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd

from dpviz.datasets import SAMPLES, Dataset
from dpviz.postprocessing.people import simulate
from pages._ui.explore.tradeoff.state import tradeoff_state
from pages._ui.explore.tradeoff.sweeps import shelf
from pages._ui.frame import catalog
from pages._ui.frame.session import session
from pages._ui.work import results

_MADE_UP = "made up:"


def choices() -> list[str]:
    """Return the names of the data sets that this session can choose."""
    mine = [name for name, data in catalog.own().items() if not data.private]
    return [*made_up(), *mine, *session.made, *SAMPLES]


def made_up() -> list[str]:
    """Return the names of the data sets of people simulated from this session's released coresets."""
    traces = {result.identity: result.trace for result in results.history()}
    return [_MADE_UP + one for one, trace in traces.items() if trace.coreset is not None and not trace.noiseless]


def open_choice(name: str) -> Dataset:
    """Return the data set with a chosen name."""
    if not name.startswith(_MADE_UP):
        return catalog.sample(name)
    choice = tradeoff_state.made_up
    if name not in choice:
        result = results.find(name.removeprefix(_MADE_UP))
        if result is None or result.trace.coreset is None:
            raise ValueError("sweep: the run that these people were made from is gone; run it again on Watch.")
        n = result.data.n_public
        X = simulate(result.trace.coreset, result.trace.domain, n, np.random.default_rng(0))
        settings, _, run = result.label.partition(" · ")
        title = f"Made up from {run}, {settings}"
        choice[name] = dataclasses.replace(result.data, X=X, labels=None, title=title, private=False)
    return choice[name]


def source(name: str) -> str:
    """Return the name under which worker processes open a chosen data set."""
    data = open_choice(name)
    if catalog.is_public(data) and not name.startswith(_MADE_UP):
        return f"sample:{data.dataset_id.removeprefix('sample:')}"
    written = tradeoff_state.sweep_files
    if name not in written:
        written[name] = _write(data)
        shelf().titles[written[name]] = data.title
    return written[name]


def _write(data: Dataset) -> str:
    """Write a data set and its dictionary; return the path."""
    path = Path(shelf().folder.name) / f"{len(shelf().titles)}.csv"
    table = pd.DataFrame(data.X, columns=list(data.columns))
    if data.labels is not None:
        table["known group"] = data.labels
    table.to_csv(path, index=False)
    domain = data.domain
    facts = {
        "columns": [
            {"name": name, "low": float(low), "high": float(high), "unit": unit, "weight": weight}
            for name, low, high, unit, weight in zip(
                data.columns,
                domain.low,
                domain.high,
                data.units,
                domain.weights or [1.0] * domain.n_features,
                strict=True,
            )
        ],
        "scale": domain.scale,
        "radius": domain.radius,
        "n_public": domain.n_public,
        "rows_per_person": domain.rows_per_person,
        "n_clusters": data.n_clusters,
        "label": None if data.labels is None else "known group",
        "title": data.title,
    }
    path.with_suffix(".json").write_text(json.dumps(facts))
    return str(path)
