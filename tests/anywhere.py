"""Run what a browser must be able to run; `confine` makes this process one in which packages are missing.

`tests/test_anywhere.py` compares such a process with a normal one.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.machinery
import sys
import types
from typing import Any

MISSING = ("opendp", "pyarrow", "loky", "sqlalchemy", "sqlite3", "openpyxl", "tqdm", "segno", "streamlit", "dask")
ROOMS = ("algorithms", "datasets", "privacy", "postprocessing", "runs", "planning", "figures", "takeaway", "lessons")


def confine() -> None:
    """Make imports of the missing packages fail, and forbid to start threads and processes."""
    import multiprocessing.process
    import os
    import subprocess
    import threading

    def refused(*args: object, **more: object) -> None:
        raise RuntimeError("nothing can be started here")

    class Installed(importlib.machinery.PathFinder):
        @classmethod
        def find_spec(cls, fullname: str, *rest: Any) -> Any:
            return None if fullname in MISSING else super().find_spec(fullname, *rest)

    sys.meta_path = [Installed if finder is importlib.machinery.PathFinder else finder for finder in sys.meta_path]
    threading.Thread.start = multiprocessing.process.BaseProcess.start = refused  # type: ignore[assignment]
    subprocess.Popen.__init__ = os.fork = refused  # type: ignore[assignment]
    from dpviz.datasets.readers import apart

    apart.sys = types.SimpleNamespace(platform="emscripten")  # type: ignore[assignment]


def found() -> dict[str, str]:
    """Import the rooms, make runs with their pictures, a rehearsal and a lesson's run, and return what they show."""
    for room in ROOMS:
        importlib.import_module(f"dpviz.{room}")
    from dpviz import lessons
    from dpviz.algorithms import ALGORITHMS
    from dpviz.datasets import SAMPLES, load
    from dpviz.datasets.readers import Recoding, read_table
    from dpviz.figures.kit.theme import LIGHT
    from dpviz.figures.kit.view import View
    from dpviz.planning.facts import Facts
    from dpviz.planning.rehearsal import rehearse
    from dpviz.runs.single import reference, replay
    from dpviz.takeaway.replay import replay as page

    def short(content: str | bytes) -> str:
        return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]

    results, data = {}, load("town")
    kmeans = reference(data, 5, 0).trace.cluster_centers
    for slug in ("pe-means", "dpm", "nsm"):
        trace = replay(data, ALGORITHMS[slug](n_clusters=5), 0).trace
        results[slug] = short(trace.cluster_centers.tobytes())
        view = View(trace, LIGHT, data.view, data.columns, data.units, data.X, kmeans, hidden=True, noun=data.noun)
        results[f"{slug}, drawn"] = short(page(trace, view))
    for name in (*SAMPLES, "blobs:n_rows=300"):
        results[name] = short(load(name).X.tobytes())
    own = 'größe;b;c\n1,5;male;(3)\n1.234,5;"x; y";7\nNA;female;$5\n'.encode()
    rule = Recoding("b", "one-hot", ("male", "female"))
    for form in ({}, {"private": True, "header": True, "decimal": ","}):
        for name in ("own.csv", "own.csv.gz"):
            content = gzip.compress(own) if name.endswith(".gz") else own
            table = read_table(content, name, recode=(rule,), **form)
            results[f"{name} {form}"] = short(repr(table.notes).encode() + table.matrix(table.usable).tobytes())
    plan = rehearse(Facts.declare(2000, (0, 0), (10, 10), 4), "nsm", 1.0, 2)
    results["rehearsal"] = short(b"".join(centers.tobytes() for centers in plan.centers))
    results["lesson"] = short(repr(sorted(lessons.exhibit("small", 0).facts.items())))
    few = load("tiny")
    secure = ALGORITHMS["dpm"](n_clusters=2).run(few.X, domain=few.domain, noise="secure")
    results["secure"] = secure.name
    return results
